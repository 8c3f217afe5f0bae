/* arc study hashgrid: a hash grid and a small perceptron learn a picture or a signed distance.
   SPDX-License-Identifier: Apache-2.0

   The program compares ways to add to the rows of the grid. ../common/grid.cu holds the kernels of
   the grid, ../common/perceptron.cu those of the perceptron; trainer.cu joins them. */
#include <math.h>
#include <string.h>

#include <vector>

#include "../common/arrays.h"
#include "../common/image_io.h"
#include "arc_tune.h"
#include "trainer.h"

#include "arc.cuh"

static const char *const scene_names[] = {"picture", "distance", nullptr};
static const char *const order_names[] = {"random", "rays", nullptr};
static const char *const row_names[] = {"half", "float", nullptr};
static const char *const width_names[] = {"64", "128", nullptr};

typedef struct settings {
  int scene, order, rows, width, batch_log2;
  bool levels;
  const char *image;
} settings;

static settings given = {SCENE_PICTURE, ORDER_RANDOM, 1, 0, SIMT_ON_CPU ? 8 : 18, false, nullptr};
static trainer its;
static scene shown;
static device_pool picture; /* on the device */

static option options[] = {
    {"hashgrid: a hash grid and a small perceptron learn a picture or a signed distance.\n"
     "\nusage: hashgrid [options]\n"},
    {"--scene", OPTION_NAME, &given.scene, "what to learn", 0, -1, scene_names},
    {"--image", OPTION_INPUT, &given.image,
     "the picture to learn, PPM or PNG; default: a built-in one"},
    {"--order", OPTION_NAME, &given.order, "the order of the samples", 0, -1, order_names},
    {"--batch", OPTION_INT, &given.batch_log2, "2^N samples per batch", 5, 22},
    {"--width", OPTION_NAME, &given.width, "neurons of a hidden layer", 0, -1, width_names},
    {"--rows", OPTION_NAME, &given.rows, "the type of the grid's gradients", 0, -1, row_names},
    {"--levels", OPTION_FLAG, &given.levels, "prints a table of the grid's levels first"},
    {"--scene --order", OPTION_WITHOUT, nullptr, "--dataset or --experiment"},
    {}};

/* ---- begin and end --------------------------------------------------------------------------- */

static bool load_picture(error_line *error) {
  const int side = SIMT_ON_CPU ? 32 : 1024;
  image its_picture;
  if (given.image == nullptr) its_picture = image_procedural(side, side);
  if (given.image != nullptr && !image_read(&its_picture, given.image, error)) return false;
  shown = {SCENE_PICTURE, 2, 3, its_picture.width, its_picture.height, nullptr};
  shown.rgb = take_copy(&picture, its_picture.rgb, "the picture");
  return true;
}

/* A dataset is a scene and an order: "picture_random". */
static void choose_dataset(const char *dataset) {
  for (int s = 0; s < SCENES; ++s)
    if (!strncmp(dataset, scene_names[s], strlen(scene_names[s]))) given.scene = s;
  given.order = strstr(dataset, "rays") != nullptr ? ORDER_RAYS : ORDER_RANDOM;
}

static bool check_options(const workload_options *o, error_line *error) {
  if (given.image != nullptr && given.scene != SCENE_PICTURE)
    return error_set(error, "--image is for --scene picture");
  if (given.rows == 0 && (o->compare || o->experiment != nullptr))
    return error_set(error,
                     "--rows half is for training and --levels: halves differ from way to way "
                     "by more than comparisons accept");
  return true;
}

static bool begin(const char *dataset, workload_options *o, error_line *error) {
  if (dataset != nullptr) choose_dataset(dataset);
  if (!check_options(o, error)) return false;
  if (given.scene == SCENE_PICTURE && !load_picture(error)) return false;
  const int side = SIMT_ON_CPU ? 32 : 512;
  if (given.scene == SCENE_DISTANCE) shown = {SCENE_DISTANCE, 3, 1, side, side, nullptr};
  const trainer_options options = {given.order,
                                   given.batch_log2,
                                   SIMT_ON_CPU ? 10 : 19,
                                   given.width == 0 ? 64 : 128,
                                   perceptron_has_tensor(),
                                   given.rows == 0,
                                   (unsigned long long)o->seed};
  trainer_begin(&its, &shown, &options);
  printf("grid       %d levels, %d to %d cells along an axis, %d rows of %s\n", (int)LEVELS,
         its.g.level[0].cells, its.g.level[LEVELS - 1].cells, its.g.rows, row_names[given.rows]);
  printf("perceptron %d hidden layers of %d, %s\n", (int)HIDDEN, options.width,
         options.tensor ? "halves on tensor cores" : "floats");
  printf("samples    %d a batch, %s, of a %s\n", its.samples, order_names[given.order],
         scene_names[given.scene]);
  trainer_reset(&its);
  trainer_forward(&its, 0);
  levels_choose(&its, given.levels);
  return true;
}

static void end(void) {
  trainer_end(&its);
  device_give_back(&picture);
}

/* ---- what workload_main calls ---------------------------------------------------------------- */

static void reset(void) { trainer_reset(&its); }
static void forward(int iteration) { trainer_forward(&its, iteration); }
static void update(int iteration) { trainer_update(&its, iteration); }
static void gradient(int way, int threshold) { trainer_add(&its, way, threshold, 0, LEVELS); }

static workload_sums sums(void) { return {trainer_sums(&its), (size_t)its.g.rows * FEATURES}; }

/* What the network says, and should, of so many samples: all of output 0 first. */
typedef struct answers {
  std::vector<float> got, wanted;
} answers;

static answers ask(sample_draw d, int count) {
  answers a;
  const size_t outputs = (size_t)shown.outputs, batch = (size_t)its.samples;
  std::vector<float> got(batch * outputs), wanted(batch * outputs);
  a.got.resize(outputs * (size_t)count);
  a.wanted.resize(outputs * (size_t)count);
  for (; d.first < count && !interrupts; d.first += its.samples) {
    const size_t n = (size_t)(count - d.first < its.samples ? count - d.first : its.samples);
    trainer_evaluate(&its, &d);
    device_to_host(got.data(), its.outputs, got.size() * sizeof(float), "outputs");
    device_to_host(wanted.data(), its.targets, wanted.size() * sizeof(float), "targets");
    for (size_t o = 0; o < outputs; ++o) {
      const size_t to = o * (size_t)count + (size_t)d.first;
      memcpy(&a.got[to], &got[o * batch], n * sizeof(float));
      memcpy(&a.wanted[to], &wanted[o * batch], n * sizeof(float));
    }
  }
  return a;
}

static void measure_errors(const answers *a, double *psnr, double *l1) {
  image_error e;
  image_error_add(&e, a->got, a->wanted);
  *psnr = image_psnr(e.squares, e.numbers);
  *l1 = e.absolute / e.numbers;
}

/* Train: a batch as those it was trained on. Test: all pixels, or random points in space. */
static bool judge(int, workload_quality *q, error_line *error) {
  const bool is_picture = shown.rgb != nullptr;
  const sample_draw train = {its.o.order, its.samples, 0, its.o.seed + 77ull};
  const sample_draw test = {is_picture ? ORDER_LATTICE : ORDER_RANDOM, its.samples, 0,
                            its.o.seed + 78ull};
  const answers trained = ask(train, its.samples);
  const answers tested = ask(test, is_picture ? shown.width * shown.height : its.samples);
  measure_errors(&trained, &q->train_psnr, &q->train_l1);
  measure_errors(&tested, &q->test_psnr, &q->test_l1);
  return isfinite(q->test_psnr) ||
         error_set(error, "the network diverged: its outputs are not finite numbers");
}

/* Of a distance: blue inside, orange outside, a dark line every twentieth. */
static void distance_colour(float distance, float rgb[3]) {
  const float shade = fabsf(sinf(distance * 62.8319f)) < 0.25f ? 0.6f : 1.0f;
  const float fade = shade * (1.0f - 0.6f * fminf(fabsf(distance), 1.0f));
  rgb[0] = distance < 0.0f ? 0.3f * fade : fade;
  rgb[1] = distance < 0.0f ? 0.6f * fade : 0.7f * fade;
  rgb[2] = distance < 0.0f ? fade : 0.4f * fade;
}

static bool write(const char *file, error_line *error) {
  const int pixels = shown.width * shown.height;
  image out = image_of(shown.width, shown.height);
  const answers a = ask({ORDER_LATTICE, its.samples, 0, 0ull}, pixels);
  for (int i = 0; i < pixels; ++i)
    for (int c = 0; shown.rgb != nullptr && c < 3; ++c)
      out.rgb[3 * (size_t)i + (size_t)c] = a.got[(size_t)(c * pixels + i)];
  for (int i = 0; i < pixels && shown.rgb == nullptr; ++i)
    distance_colour(a.got[(size_t)i], &out.rgb[3 * (size_t)i]);
  return image_write(&out, file, error);
}

int main(int argc, char **argv) {
  static const char *const datasets[] = {"picture_random", "picture_rays", "distance_random",
                                         "distance_rays", nullptr};
  static const char *const own_ways[] = {"vector", "levels", nullptr};
  static const workload w = {
      "hashgrid", options, datasets, (1u << WAYS) - 1u, own_ways, 0u,   SIMT_ON_CPU ? 2 : 300,
      begin,      reset,   forward,  gradient,          update,   sums, judge,
      write,      end};
  return workload_main(argc, argv, &w);
}
