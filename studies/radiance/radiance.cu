/* arc study radiance: a cache of radiance that learns while the program renders.
   SPDX-License-Identifier: Apache-2.0

   An iteration is one of the BATCHES steps of a frame. The program compares
   ways to add to the rows of the grid (../common/grid.cu). cache.cu holds the cache, tracer.cuh the
   paths. */
#include <math.h>
#include <string.h>

#include <vector>

#include "../common/image_io.h"
#include "radiance.h"

#include "arc.cuh"

enum { DRAW_CACHE, DRAW_PATHS };
static const char *const setting_names[] = {"indirect", "direct", nullptr};
static const char *const draw_names[] = {"cache", "paths", nullptr};

typedef struct settings {
  int setting, view, drawn, samples, size[2];
  bool reproducible;
  const char *scene;
} settings;

static settings given = {
    SETTING_INDIRECT, 0, DRAW_CACHE, 1, {SIMT_ON_CPU ? 48 : 1920, SIMT_ON_CPU ? 27 : 1080}, false,
    nullptr};
static cache its;
static room shown;
static int batch;

static option options[] = {
    {"radiance: a cache of radiance that learns while the program renders.\n"
     "\nusage: radiance [options]\n"},
    {"--setting", OPTION_NAME, &given.setting, "how the lamp lights the room", 0, -1,
     setting_names},
    {"--view", OPTION_INT, &given.view, "which view of the room", 0, VIEWS - 1},
    {"--size", OPTION_SIZE, given.size, "size of the picture", 8, 8192},
    {"--samples", OPTION_INT, &given.samples, "samples per pixel of the picture", 1, 1000000},
    {"--draw", OPTION_NAME, &given.drawn,
     "how to render: by paths that end in the cache, or by whole paths", 0, -1, draw_names},
    {"--reproducible", OPTION_FLAG, &given.reproducible, "sums that repeat to the last bit"},
    {"--scene", OPTION_INPUT, &given.scene,
     "writes pictures of the room from 64 places, rendered by paths, into this folder: a scene for "
     "gaussians"},
    {"--samples --draw --scene", OPTION_NEEDS, nullptr, "--out"},
    {"--setting", OPTION_WITHOUT, nullptr, "--dataset or --experiment"},
    {"--reproducible", OPTION_WITHOUT, nullptr,
     "--path, --threshold, --tune, --compare-paths or --experiment"},
    {}};

/* ---- what workload_main calls ---------------------------------------------------------------- */

static bool begin(const char *dataset, workload_options *o, error_line *) {
  for (int s = 0; s < SETTINGS && dataset != nullptr; ++s)
    if (!strcmp(dataset, setting_names[s])) given.setting = s;
  const cache_options options_of_cache = {SIMT_ON_CPU ? 256 : 16384, SIMT_ON_CPU ? 9 : 15,
                                          perceptron_has_tensor(), given.reproducible,
                                          (unsigned long long)o->seed};
  cache_begin(&its, &options_of_cache);
  room_make(&shown, given.setting);
  printf("room       %s, %d boxes, %d balls\n", setting_names[given.setting], shown.box_count,
         shown.ball_count);
  printf("cache      %d levels, %d rows of %d; %d hidden layers of 64, %s\n", (int)CACHE_LEVELS,
         its.g.rows, (int)FEATURES, (int)HIDDEN,
         its.o.tensor ? "halves on tensor cores" : "floats");
  printf("training   %d paths per frame, %d batches of %d records\n", its.o.paths, (int)BATCHES,
         its.batch[0].samples);
  cache_reset(&its);
  return true;
}

static void end(void) { cache_end(&its); }
static void reset(void) { cache_reset(&its); }

static void forward(int iteration) {
  camera eye;
  batch = iteration % BATCHES;
  camera_make(&eye, given.view, given.size[0], given.size[1]);
  if (batch == 0) cache_trace(&its, &shown, &eye, (unsigned)(iteration / BATCHES));
  cache_forward(&its, batch);
}

static void gradient(int way, int threshold) { cache_add(&its, batch, way, threshold); }
static void update(int) { cache_update(&its); }

static workload_sums sums(void) { return {its.table_sums, (size_t)its.g.rows * FEATURES}; }

/* With random numbers that training has none of. */
static std::vector<float> draw_room(const camera *eye, int samples, const cache *by) {
  film f;
  film_begin(&f, eye->width, eye->height, its.o.tensor);
  const std::vector<float> light = film_draw(&f, by, &shown, eye, samples, 0x80000000u);
  film_end(&f);
  return light;
}

/* As a picture stores it, 0 to 1; exposed for longer where the lamp is behind the wall. */
static float shade(float light) {
  light *= given.setting == SETTING_INDIRECT ? 6.0f : 1.0f;
  return powf(light / (1.0f + light), 1.0f / 2.2f);
}

static void compare(int view, double *psnr, double *l1) {
  camera eye;
  camera_make(&eye, view, SIMT_ON_CPU ? 16 : 480, SIMT_ON_CPU ? 9 : 270);
  std::vector<float> got = draw_room(&eye, SIMT_ON_CPU ? 4 : 16, &its);
  std::vector<float> wanted = draw_room(&eye, SIMT_ON_CPU ? 32 : 2048, nullptr);
  for (float &light : got) light = shade(light);
  for (float &light : wanted) light = shade(light);
  image_error e;
  image_error_add(&e, got, wanted);
  *psnr = image_psnr(e.squares, e.numbers);
  *l1 = e.absolute / e.numbers;
}

/* Train: the view that training paths begin in; test: the other one. Both against paths alone. */
static bool judge(int, workload_quality *q, error_line *error) {
  compare(given.view, &q->train_psnr, &q->train_l1);
  compare(1 - given.view, &q->test_psnr, &q->test_l1);
  return isfinite(q->train_psnr) ||
         error_set(error, "the cache diverged: its outputs are not finite numbers");
}

static bool write_picture(const camera *eye, const cache *by, const char *file, error_line *error) {
  image out = {eye->width, eye->height, draw_room(eye, given.samples, by)};
  for (float &light : out.rgb) light = shade(light);
  return image_write(&out, file, error);
}

/* A line of cameras.txt (../gaussians/scene/scene.h). */
static void write_camera(FILE *to, const camera *c, const char *name) {
  const float pixels = 1.0f / sqrtf(c->right[0] * c->right[0] + c->right[1] * c->right[1] +
                                    c->right[2] * c->right[2]);
  float rows[3][3];
  for (int k = 0; k < 3; ++k) {
    rows[0][k] = pixels * c->right[k];
    rows[1][k] = pixels * c->down[k];
    rows[2][k] = c->corner[k] + 0.5f * (c->width * c->right[k] + c->height * c->down[k]);
  }
  fprintf(to, "%d %d %.9g %.9g %.9g %.9g", c->width, c->height, pixels, pixels, 0.5 * c->width,
          0.5 * c->height);
  for (const float *row : rows)
    fprintf(to, " %.9g %.9g %.9g %.9g", row[0], row[1], row[2],
            -(row[0] * c->eye[0] + row[1] * c->eye[1] + row[2] * c->eye[2]));
  fprintf(to, " %s\n", name);
}

static bool write_scene(const char *folder, error_line *error) {
  enum { PLACES = SIMT_ON_CPU ? 4 : 64 };
  char path[4096], name[32];
  output_file cameras;
  bool done = true;
  snprintf(path, sizeof path, "%s/images", folder);
  if (!make_folder(folder, error) || !make_folder(path, error)) return false;
  snprintf(path, sizeof path, "%s/cameras.txt", folder);
  if (!output_file_open(&cameras, path, error)) return false;
  fprintf(cameras.stream, "cameras %d\n", (int)PLACES);
  for (int i = 0; i < PLACES && done && !interrupts; ++i) {
    camera eye;
    camera_around(&eye, i, PLACES, given.size[0], given.size[1]);
    snprintf(name, sizeof name, "place_%02d%s", i, IMAGE_HAVE_PNG ? ".png" : ".ppm");
    snprintf(path, sizeof path, "%s/images/%s", folder, name);
    done = write_picture(&eye, nullptr, path, error);
    write_camera(cameras.stream, &eye, name);
  }
  if (done && !interrupts) return output_file_commit(&cameras, error);
  output_file_abandon(&cameras);
  return done;
}

static bool write(const char *file, error_line *error) {
  camera eye;
  camera_make(&eye, given.view, given.size[0], given.size[1]);
  return write_picture(&eye, given.drawn == DRAW_CACHE ? &its : nullptr, file, error) &&
         (given.scene == nullptr || write_scene(given.scene, error));
}

int main(int argc, char **argv) {
  static const workload w = {
      "radiance", options, setting_names, (1u << WAYS) - 1u, nullptr, 0u,   SIMT_ON_CPU ? 8 : 400,
      begin,      reset,   forward,       gradient,          update,  sums, judge,
      write,      end};
  return workload_main(argc, argv, &w);
}
