/* arc study gaussians: Adam.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "train.h"

DEVICE float read_sum(const void *sums, size_t i, int scale_log2) {
  if (scale_log2 < 0) return ((const float *)sums)[i];
  return arc_fixed_to_f32(((const long long *)sums)[i], scale_log2);
}

/* What the views of a step add to the statistics. One thread per Gaussian. */
__global__ void __launch_bounds__(LINE_THREADS)
    add_statistics(view_statistics to, gradient_sums sums, int scale_log2) {
  size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = (size_t)sums.count;
  if (k >= n) return;
  to.pull[sums.first + k] += read_sum(sums.values, 59 * n + k, scale_log2);
  to.views[sums.first + k] += read_sum(sums.values, 60 * n + k, scale_log2);
}

/* One thread a float. `to` may be `from`. */
__global__ void __launch_bounds__(LINE_THREADS)
    adam(adam_floats from, adam_floats to, const void *sums, size_t count, adam_step step) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float gradient = step.share * read_sum(sums, i, step.scale_log2);
  float mean = from.means[i], square = from.squares[i];
  float rate = (int)(i % (unsigned)step.period) < step.first ? step.rate : step.rate_of_others;
  float change = adam_change(step.decay, gradient, 1e-15f, &mean, &square);
  to.parameters[i] = from.parameters[i] - rate * change;
  to.means[i] = mean;
  to.squares[i] = square;
}
