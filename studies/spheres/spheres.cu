/* arc study spheres: spheres learnt from pictures of them. SPDX-License-Identifier: Apache-2.0

   Where to read on: spheres.h (how a pixel is computed), gradient.cu (the kernel that adds). */
#include "spheres.h"

#include <math.h>
#include <string.h>

#include "../common/arrays.h"
#include "../common/image_io.h"

static const char *const scene_names[] = {"small", "large", nullptr};
static const int scene_spheres[] = {SIMT_ON_CPU ? 200 : 10000, SIMT_ON_CPU ? 800 : 250000};
static const char *const layout_names[] = {"spheres", "row", nullptr};

static int scene_name, spheres, views = SIMT_ON_CPU ? 3 : 12, camera_layout = CAMERA_BY_SPHERE;
static int size[] = {SIMT_ON_CPU ? 48 : 1024, SIMT_ON_CPU ? 40 : 1024};

static scene the_scene;
static renderer the_renderer;
static float *targets; /* of all views, one after the other */
static int drawn_view;

static float *target_of(int view) { return targets + (size_t)view * picture_floats(&the_renderer); }

static void draw(int view) { renderer_draw(&the_renderer, &the_scene.cameras[(size_t)view]); }

/* Planes, from the device. */
static std::vector<float> read_picture(const float *planes) {
  return device_read<float>(planes, picture_floats(&the_renderer), "a picture");
}

static void draw_targets(void) {
  const size_t floats = picture_floats(&the_renderer);
  targets = take_zeros<float>(&the_renderer.arrays, ((size_t)views + 1) * floats, "pictures");
  renderer_set(&the_renderer, the_scene.rows.data());
  for (int v = 0; v <= views && !interrupts; ++v) {
    draw(v);
    device_check(cudaMemcpy(target_of(v), the_renderer.p.colour, floats * sizeof(float),
                            cudaMemcpyDeviceToDevice),
                 "pictures");
  }
}

static void reset(void) { renderer_set(&the_renderer, the_scene.first.data()); }

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  if (dataset != nullptr) scene_name = strcmp(dataset, scene_names[0]) != 0;
  const int count = spheres > 0 ? spheres : scene_spheres[scene_name];
  if (o->out != nullptr && 2 * size[0] > IMAGE_MAX_SIDE)
    return error_set(error, "--out holds two pictures side by side: --size is at most %d wide",
                     IMAGE_MAX_SIDE / 2);
  the_scene = scene_make(count, views, size[0], size[1], o->seed);
  renderer_begin(&the_renderer, count, size[0], size[1]);
  draw_targets();
  reset();
  printf("scene      %d spheres of mean radius %.4g, %d views and one to test, %d x %d pixels\n",
         count, the_scene.radius, views, size[0], size[1]);
  return true;
}

static void forward(int iteration) {
  drawn_view = iteration % views;
  draw(drawn_view);
  renderer_clear_sums(&the_renderer);
}

static void gradient(int way, int threshold) {
  renderer_gradient(&the_renderer, target_of(drawn_view), way, threshold, camera_layout,
                    workload_counts());
}

static void update(int iteration) { renderer_step(&the_renderer, iteration, the_scene.radius); }

static workload_sums sums(void) {
  return {the_renderer.p.sums, ((size_t)the_renderer.p.spheres + 1) * ROW_FLOATS};
}

static bool judge(int, workload_quality *quality, error_line *error) {
  image_error e[2]; /* of the views learnt from, of the other */
  for (int v = 0; v <= views && !interrupts; ++v) {
    draw(v);
    image_error_add(&e[v == views], read_picture(the_renderer.p.colour),
                    read_picture(target_of(v)));
  }
  *quality = {image_psnr(e[0].squares, e[0].numbers), e[0].absolute / e[0].numbers,
              image_psnr(e[1].squares, e[1].numbers), e[1].absolute / e[1].numbers};
  return e[0].squares + e[1].squares >= 0 ||
         error_set(error, "a picture has pixels that are not finite numbers");
}

/* The view that was not learnt from, and right of it what it should be. */
static bool write(const char *file, error_line *error) {
  const size_t columns = (size_t)size[0], plane = columns * (size_t)size[1];
  image both = image_of(2 * size[0], size[1]);
  draw(views);
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<float> p = read_picture(side ? target_of(views) : the_renderer.p.colour);
    for (size_t i = 0; i < 3 * plane; ++i) {
      const size_t row = i % plane / columns, column = side * columns + i % columns;
      both.rgb[3 * (row * 2 * columns + column) + i / plane] = p[i];
    }
  }
  return image_write(&both, file, error);
}

static void end(void) { renderer_end(&the_renderer); }

static option options[] = {
    {"spheres: learns spheres from pictures of them, through a differentiable renderer that\n"
     "blends the 5 closest spheres of a pixel (Pulsar's).\n\nusage: spheres [options]\n"},
    {"--scene", OPTION_NAME, &scene_name, "10000 or 250000 spheres, on the CPU warp 200 or 800", 0,
     -1, scene_names},
    {"--spheres", OPTION_INT, &spheres, "how many spheres; default: as the scene", 1, 4000000},
    {"--size", OPTION_SIZE, size, "size of the pictures; default: 1024x1024, on the CPU warp 48x40",
     1, IMAGE_MAX_SIDE},
    {"--views", OPTION_INT, &views, "how many views to learn from", 1, 100},
    {"--camera", OPTION_NAME, &camera_layout,
     "where the camera's gradient goes: a part to each sphere's row, or to a row of its own", 0, -1,
     layout_names},
    {"--scene", OPTION_WITHOUT, nullptr, "--spheres, --dataset or --experiment"},
    {}};

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"divergent", "sorted", "walk", nullptr};
  const unsigned all_ways = (1u << WAYS) - 1u, with_threshold = 7u;
  const workload w = {
      "spheres", options, scene_names, all_ways, own_ways, with_threshold, SIMT_ON_CPU ? 6 : 600,
      begin,     reset,   forward,     gradient, update,   sums,           judge,
      write,     end};
  return workload_main(argc, argv, &w);
}
