/* arc studies: a step of Adam for numbers on the device. SPDX-License-Identifier: Apache-2.0 */
#include "adam.h"

#include "device.h"
#include "numbers.cuh"
#include "../../bench/common/random.h"

__global__ void __launch_bounds__(LINE_THREADS) take_step(adam_numbers s) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.count) return;
  if (s.sums[i] != 0.0f) {
    float2 moments = load_pair(s.moments + 2 * i);
    s.numbers[i] -=
        s.rate * adam_change(s.decay, s.scale * s.sums[i], 1e-15f, &moments.x, &moments.y);
    store_pair(s.moments + 2 * i, moments.x, moments.y);
  }
  if (s.averages != nullptr) s.averages[i] += s.average_share * (s.numbers[i] - s.averages[i]);
}

void adam_take_step(const adam_numbers *s) {
  SIMT_LAUNCH(take_step, line_blocks(s->count), LINE_THREADS, 0, 0, *s);
}

__global__ void __launch_bounds__(LINE_THREADS)
    draw_numbers(float *numbers, size_t count, float limit, unsigned long long seed) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = limit * (2.0f * hashed_random(seed, i) - 1.0f);
}

void randomize(float *numbers, size_t count, float limit, unsigned long long seed) {
  SIMT_LAUNCH(draw_numbers, line_blocks(count), LINE_THREADS, 0, 0, numbers, count, limit, seed);
}
