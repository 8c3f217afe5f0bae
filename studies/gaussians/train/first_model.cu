/* arc study gaussians: the model that training starts from.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "../../../bench/common/program_run.h"
#include "../../../bench/common/random.h"
#include "train.h"

/* The first harmonic, a constant. */
#define SH_0 0.28209479f

/* The mean squared distance to the three nearest points. One thread a point, from number `begin` on;
   all pairs. */
__global__ void __launch_bounds__(LINE_THREADS)
    nearest_three(const float *points, int count, int begin, float *mean_squares) {
  int i = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float x = points[3 * (size_t)i], y = points[3 * (size_t)i + 1], z = points[3 * (size_t)i + 2];
  float first = INFINITY, second = INFINITY, third = INFINITY;
  for (int j = 0; j < count; ++j) {
    float dx = points[3 * (size_t)j] - x, dy = points[3 * (size_t)j + 1] - y;
    float dz = points[3 * (size_t)j + 2] - z, square = dx * dx + dy * dy + dz * dz;
    if (j == i || square >= third) continue;
    third = fmaxf(square, second);
    float middle = fminf(square, second);
    second = fmaxf(middle, first);
    first = fminf(middle, first);
  }
  float sum = 0.0f, found = 0.0f;
  if (first < INFINITY) sum += first, found += 1.0f;
  if (second < INFINITY) sum += second, found += 1.0f;
  if (third < INFINITY) sum += third, found += 1.0f;
  mean_squares[i] = found > 0.0f ? sum / found : 1.0f;
}

/* Part by part, of so many pairs: an interrupt is seen in between. */
static void find_nearest(const float *points, int count, float *mean_squares) {
  static const long long PAIRS = SIMT_ON_CPU ? 1ll << 22 : 1ll << 40;
  const long long most = PAIRS / count + LINE_THREADS, part = most < count ? most : count;
  for (long long begin = 0; begin < count && !interrupts; begin += part) {
    SIMT_LAUNCH(nearest_three, line_blocks((size_t)part), LINE_THREADS, 0, 0, points, count,
                (int)begin, mean_squares);
    device_check(cudaDeviceSynchronize(), "measuring the points");
  }
}

static void start_shapes(gaussians_host *g) {
  size_t n = (size_t)g->count;
  device_memory memory = {0, 0};
  device_array points = {nullptr, 0}, squares = {nullptr, 0};
  device_reserve(&memory, &squares, n * sizeof(float), "memory for the points");
  device_upload(&memory, &points, g->position, "the points");
  find_nearest((const float *)points.data, g->count, (float *)squares.data);
  const auto host = device_read<float>(squares.data, n, "measuring the points");
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) g->scale[3 * i + k] = 0.5f * logf(fmaxf(host[i], 1e-7f));
    g->rotation[4 * i] = 1.0f;
    g->opacity[i] = logf(0.1f / 0.9f);
  }
  device_release(&memory, &points);
  device_release(&memory, &squares);
}

bool start_model(gaussians_host *g, const scene *data, int count, int sh_degree, unsigned seed,
                 error_line *error) {
  const bool drawn = data->points.empty();
  if (!gaussians_allocate(g, drawn ? count : (int)data->points.size(), sh_degree, error))
    return false;
  for (int i = 0; i < g->count; ++i)
    for (int k = 0; k < 3; ++k) {
      float low = data->box_low[k], high = data->box_high[k];
      float place = hashed_random(seed, 6ull * (unsigned)i + k);
      float colour =
          drawn ? hashed_random(seed, 6ull * (unsigned)i + 3 + k) : data->points[i].rgb[k];
      g->position[3 * i + k] = drawn ? low + place * (high - low) : data->points[i].position[k];
      g->sh[SH_FLOATS * (size_t)i + k] = (colour - 0.5f) / SH_0;
    }
  start_shapes(g);
  return !interrupts || error_set(error, "interrupted before the first model was made");
}
