/* studies/gaussians/bench: what all measurements share.
   SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <math.h>

#include "../../../bench/common/random.h"

unsigned datasets_of(const bench_options *b) {
  if (b->datasets != 0u) return b->datasets;
  if (b->o.input.path != nullptr) return 1u;
  if (b->o.kind != 0) return 1u << b->o.kind;
  return 1u << SCENE_SMALL | 1u << SCENE_MEDIUM | 1u << SCENE_LARGE;
}

const char *dataset_name(const options *o, int kind) {
  return kind != 0 ? scene_kind_name(kind) : o->input.path;
}

/* kind 0: --scene. */
static bool measure_dataset(const options *o, int kind, measure_view function, void *state,
                            error_line *error) {
  scene data;
  gaussians_host model;
  trainer t;
  options mine = *o;
  if (mine.views == 0) mine.views = 1;
  mine.input.hold_out = 0;
  if (!(kind != 0
            ? setup_truth(&data, &model, &mine, kind, error)
            : setup_load(&data, &mine, error) && setup_first_model(&model, &data, &mine, error)))
    return interrupts > 0; /* the table so far is written */
  if (kind != 0) scene_blacken(&data);
  mine.train.iterations = 0;
  trainer_begin(&t, &data, &mine.train);
  trainer_set_model(&t, &model);
  function(&t, dataset_name(o, kind), o->repeats, state);
  trainer_end(&t);
  return true;
}

bool measure_datasets(const bench_options *b, measure_view function, void *state,
                      error_line *error) {
  unsigned datasets = datasets_of(b);
  bool done = true;
  for (int kind = 0; kind <= SCENE_LARGE && done && !interrupts; ++kind)
    if ((datasets >> kind & 1u) != 0u) done = measure_dataset(&b->o, kind, function, state, error);
  return done;
}

void measure_slope(trainer *t) {
  size_t values = 3 * (size_t)t->cameras[0].width * t->cameras[0].height;
  std::vector<float> slope(values);
  for (size_t i = 0; i < values; ++i)
    slope[i] = (2.0f * hashed_random(7, i) - 1.0f) / (float)values;
  device_upload(&t->memory, &t->f.slope, slope, "the slope");
}

int measure_status(void) { return interrupts ? printf("interrupted\n"), interrupted_status() : 0; }

std::string threshold_of_way(add_way way, int threshold) {
  if (way == ADD_DEFAULT) return threshold_word(ARC_BALANCE_THRESHOLD);
  return threshold_word(add_way_has_threshold(way) ? threshold : -1);
}

/* ---- sums ----------------------------------------------------------------------------------- */

float measure_backward(trainer *t, backward_launcher launcher, int threshold) {
  size_t bytes = SPLAT_ROW * sums_of_array(t->count) * sizeof(float);
  device_reserve(&t->memory, &t->f.sums, bytes, "memory for the sums");
  device_clear(t->f.sums.data, bytes);
  t->f.settings.threshold = threshold;
  const backward_arguments a = frame_backward_arguments(&t->f);
  const float ms = device_time([&] { launcher(t->f.tiles, &a); });
  device_check(cudaGetLastError(), "launching");
  return ms;
}

/* Of the last launch, SPLAT_WIDTH a splat. */
static std::vector<float> read_sums(const trainer *t, sum_layout layout) {
  std::vector<float> rows(SPLAT_ROW * sums_of_array(t->count)), sums;
  backward_arguments arguments = {};
  arguments.sums = {t->count, rows.data(), nullptr};
  const way_arguments host = way_arguments_of(&arguments);
  device_to_host(rows.data(), t->f.sums.data, rows.size() * sizeof(float), "reading the sums");
  for (int i = 0; i < t->count; ++i)
    for (int k = 0; k < SPLAT_WIDTH; ++k) sums.push_back(*sum_address(&host, layout, i, k));
  return sums;
}

sums_oracle oracle_of(trainer *t) {
  static const int array_of[SPLAT_WIDTH] = {0, 0, 1, 1, 1, 2, 3, 3, 3};
  const size_t count = SPLAT_WIDTH * (size_t)t->count;
  float largest[4] = {0.0f};
  sums_oracle o;
  measure_backward(t, way_launcher(ADD_PLAIN, SUMS_ARRAYS, 1), 0);
  o.wanted = read_sums(t, SUMS_ARRAYS);
  measure_backward(t, way_launcher(ADD_MAGNITUDES, SUMS_ARRAYS, 1), 0);
  o.room = read_sums(t, SUMS_ARRAYS);
  for (size_t i = 0; i < count; ++i) {
    float *array = &largest[array_of[i % SPLAT_WIDTH]];
    *array = fmaxf(*array, o.room[i]);
  }
  for (size_t i = 0; i < count; ++i)
    o.room[i] = 1e-4f * o.room[i] + 1e-6f * largest[array_of[i % SPLAT_WIDTH]];
  return o;
}

double sums_difference(const trainer *t, sum_layout layout, const sums_oracle *o) {
  const std::vector<float> got = read_sums(t, layout);
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = fabs((double)got[i] - o->wanted[i]) / o->room[i];
    worst = fmax(worst, isfinite(difference) ? difference : INFINITY);
  }
  return worst;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

void count_lanes_of_frame(trainer *t, int pixels, unsigned long long *histogram) {
  unsigned long long host[LANE_COUNTS];
  device_array device = {nullptr, 0};
  device_reserve(&t->memory, &device, sizeof host, "memory for the histogram");
  device_clear(device.data, sizeof host);
  backward_arguments a = frame_backward_arguments(&t->f);
  a.sums.words = (long long *)device.data;
  way_launcher(ADD_COUNT, SUMS_ROWS, pixels)(t->f.tiles, &a);
  device_to_host(host, device.data, sizeof host, "counting lanes");
  for (int i = 0; i < LANE_COUNTS; ++i) histogram[i] += host[i];
  device_release(&t->memory, &device);
}
