/* arc example gaussians: Adam.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_ADAM_CUH
#define GAUSSIANS_ADAM_CUH

#include "train.h"

#define ADAM_EPSILON 1e-15f

/* One thread a float. */
__global__ void __launch_bounds__(LINE_THREADS)
    adam(float *parameters, const float *gradients, float *means, float *squares, size_t count,
         adam_step step) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float gradient = gradients[i];
  float mean = 0.9f * means[i] + 0.1f * gradient;
  float square = 0.999f * squares[i] + 0.001f * gradient * gradient;
  float rate = (int)(i % (unsigned)step.period) < step.first ? step.rate : step.rate_of_others;
  means[i] = mean;
  squares[i] = square;
  parameters[i] -=
      rate * (mean / step.correction_1) / (sqrtf(square / step.correction_2) + ADAM_EPSILON);
}

#endif
