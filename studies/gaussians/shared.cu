/* arc study gaussians: pictures for other languages, a shared library of one function.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "program.h"

static bool draw_bytes(const char *ply, const char *line, int width, int height, unsigned char *rgb,
                       error_line *error) {
  gaussians_host model;
  draw_input in = {};
  drawer d;
  view v;
  const options o = options_default();
  if (width < 1 || width > IMAGE_MAX_SIDE || height < 1 || height > IMAGE_MAX_SIDE)
    return error_set(error, "width and height must be 1 to %d, not %d and %d", (int)IMAGE_MAX_SIDE,
                     width, height);
  if (!has_device("gaussians", error) || !camera_read(&v, line, error) ||
      !ply_read(&model, ply, error))
    return false;
  camera_resize(&v.camera, width, height);
  draw_upload(&in, &model, true, false);
  draw_begin(&d, &o.train.frame, &in.memory);
  draw_adaptively(&d);
  const device_camera camera = camera_on_device(&v.camera);
  draw_view(&d, in.model, in.count, in.degree, &camera);
  image picture = image_of(width, height);
  frame_read_picture(&d.f, &picture);
  const byte_block bytes = image_bytes(&picture);
  std::copy(bytes.begin(), bytes.end(), rgb);
  draw_end(&d);
  draw_free(&in);
  return true;
}

/* What gaussians --draw writes with --size of a camera, which is a line of a cameras.txt: three
   bytes per pixel, rows from the top. Null, or a line that says what is wrong. */
extern "C" const char *gaussians_draw(const char *ply, const char *camera, int width, int height,
                                      unsigned char *rgb) {
  static thread_local error_line error;
  return draw_bytes(ply, camera, width, height, rgb, &error) ? nullptr : error.text;
}
