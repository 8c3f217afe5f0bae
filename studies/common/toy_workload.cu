/* arc studies: the smallest workload, for the tests of workload.cu; its own way adds wrong sums.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "ways.cuh"

enum { ROWS = 4, THREADS = 96, BROKEN = WAYS };
static const char *const datasets[] = {"values", "zeros", nullptr};

static device_memory memory;
static device_array sums_array;
static float scale;
static bool is_wrong, is_nan;

template <int way>
__global__ void add(float *sums, float scale, bool nan, int threshold, unsigned long long *counts) {
  const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const way_rows rows = way_rows_begin(sums, 1, 1, counts);
  const bool breaks = way == BROKEN && t == 40;
  const float value = breaks && nan ? NAN : scale * (float)(t + 1);
  const bool active = t < THREADS - 7 && (nan || !breaks);
  way_add(&rows, t % ROWS, &value, active, way == BROKEN ? (int)WAY_PLAIN : way, threshold, 0u);
}

static void gradient(int way, int threshold) {
#define ADD(way) add<way>
  static void (*const kernels[])(float *, float, bool, int, unsigned long long *) = {EACH_WAY(ADD),
                                                                                     ADD(BROKEN)};
  SIMT_LAUNCH(kernels[way + 1], 1, THREADS, 0, 0, (float *)sums_array.data, scale, is_nan,
              threshold, workload_counts());
}

static bool begin(const char *dataset, workload_options *, error_line *) {
  device_reserve(&memory, &sums_array, ROWS * sizeof(float), "sums");
  scale = dataset == nullptr || !strcmp(dataset, "values") ? 1.0f : 0.0f;
  return true;
}

static void forward(int) { device_clear(sums_array.data, sums_array.bytes); }
static void nothing(void) {}
static void update(int) {}
static void end(void) { device_release(&memory, &sums_array); }

static workload_sums sums(void) { return {(const float *)sums_array.data, ROWS}; }

static bool judge(int iterations, workload_quality *quality, error_line *error) {
  *quality = {30.0, 0.5, NAN, NAN};
  return !is_wrong || error_set(error, "wrong after %d iterations", iterations);
}

int main(int argc, char **argv) {
  static const char *const own_ways[] = {"broken", nullptr};
  option options[] = {{"toy_workload: adds a few numbers.\n"},
                      {"--wrong", OPTION_FLAG, &is_wrong, "the result is wrong"},
                      {"--nan", OPTION_FLAG, &is_nan, "a sum is no number"},
                      {}};
  const workload w = {"toy_workload", options, datasets, ~0u,    own_ways, 0u,    2,       begin,
                      nothing,        forward, gradient, update, sums,     judge, nullptr, end};
  return workload_main(argc, argv, &w);
}
