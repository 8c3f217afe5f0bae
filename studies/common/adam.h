/* arc studies: the arithmetic of Adam (Kingma and Ba 2015). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <math.h>

#include "device.h"

/* Of one step: what both moments keep and take, and what they lack since they began at 0. */
typedef struct adam_decay {
  float keep_mean, take_mean, keep_square, take_square; /* beta, 1 - beta */
  float mean_share, square_share;                       /* 1 - beta^step */
} adam_decay;

/* step: its number, from 1 on; as_many: gradients that it stands for, 1 but in batches. */
static inline adam_decay adam_decay_at(double beta_mean, double beta_square, int as_many,
                                       int step) {
  const double mean = pow(beta_mean, as_many), square = pow(beta_square, as_many);
  return {(float)mean,
          (float)(1.0 - mean),
          (float)square,
          (float)(1.0 - square),
          (float)(1.0 - pow(beta_mean, step)),
          (float)(1.0 - pow(beta_square, step))};
}

/* What a number goes down by, at rate 1; moves its moments. */
DEVICE float adam_change(adam_decay d, float slope, float epsilon, float *mean, float *square) {
  *mean = d.keep_mean * *mean + d.take_mean * slope;
  *square = d.keep_square * *square + d.take_square * slope * slope;
  return *mean / d.mean_share / (sqrtf(*square / d.square_share) + epsilon);
}

/* A step of rows of numbers, each column with its own rate and bounds. */
template <int WIDTH>
struct adam_columns {
  adam_decay decay;
  float epsilon, rate[WIDTH], low[WIDTH], high[WIDTH];
};

/* One thread a number. */
template <int WIDTH>
__global__ void __launch_bounds__(LINE_THREADS)
    adam_rows(float *numbers, const float *slopes, float *means, float *squares, size_t count,
              adam_columns<WIDTH> step) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int k = (int)(i % WIDTH);
  if (i >= count) return;
  const float change = adam_change(step.decay, slopes[i], step.epsilon, &means[i], &squares[i]);
  numbers[i] = fminf(fmaxf(numbers[i] - step.rate[k] * change, step.low[k]), step.high[k]);
}

/* A step of numbers that lie on the device (adam.cu, library `neural`). */
typedef struct adam_numbers {
  float *numbers, *moments; /* two moments a number */
  const float *sums;        /* of gradients; a number whose sum is 0 stays, moments and all */
  size_t count;
  float scale, rate; /* of the sums; of the step */
  adam_decay decay;
  float *averages; /* of the numbers over the steps, which move by this share; null: none */
  float average_share;
} adam_numbers;
void adam_take_step(const adam_numbers *s);

/* Uniform from -limit to limit; lies in adam.cu, too. */
void randomize(float *numbers, size_t count, float limit, unsigned long long seed);
