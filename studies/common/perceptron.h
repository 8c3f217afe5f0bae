/* arc studies: a small perceptron, run and trained by one kernel each.
   SPDX-License-Identifier: Apache-2.0

   32 inputs, HIDDEN layers of 64 or 128 neurons, each clamped at zero from below, and up to 16
   outputs. Parameters and their gradients are floats, in the order of `matrix_first` and
   `bias_first`. On tensor cores the kernels multiply halves, which perceptron_pack makes from the
   parameters. Without tensor cores they multiply floats. */
#pragma once

#include "device.h"

enum { INPUTS = 32, HIDDEN = 4, MATRICES = HIDDEN + 1, OUTPUTS = 16, TILE = 16 };

#define PERCEPTRON_FN static __host__ __device__ constexpr __forceinline__

/* Matrix m takes layer m to layer m + 1: matrix_out rows of matrix_in weights. */
PERCEPTRON_FN int matrix_in(int width, int m) { return m == 0 ? (int)INPUTS : width; }
PERCEPTRON_FN int matrix_out(int width, int m) { return m == HIDDEN ? (int)OUTPUTS : width; }
PERCEPTRON_FN int matrix_first(int width, int m) {
  const int hidden = m == 0 ? 0 : (m - 1) * width * width;
  return m == 0 ? 0 : width * INPUTS + hidden;
}
PERCEPTRON_FN int weight_count(int width) { return matrix_first(width, HIDDEN) + width * OUTPUTS; }
PERCEPTRON_FN int bias_first(int width, int m) { return weight_count(width) + m * width; }
PERCEPTRON_FN int parameter_count(int width) { return bias_first(width, HIDDEN) + OUTPUTS; }
/* Where the bias of neuron i of a layer stands: two that one lane sums lie together. */
PERCEPTRON_FN int bias_place(int i) { return i / 16 * 16 + i % 8 * 2 + i % 16 / 8; }

typedef struct perceptron {
  int width;   /* 64 or 128 */
  bool tensor; /* on tensor cores, in half precision: GPUs from sm_80 on */
  int outputs; /* that mean something */
  float *parameters;
  float *sums;     /* their gradients, which training adds to */
  bool by_blocks;  /* sums: an array of parameters for each block of training, to which nobody else
                     adds, so that they repeat to the last bit */
  void *packed[2]; /* halves of weight_count: matrices, and transposed ones */
} perceptron;

typedef struct perceptron_batch {
  int samples;
  const void *inputs;   /* for each pair of inputs, that pair for each sample; halves if tensor */
  const float *targets; /* for each output, the sample's; training only */
  const float *losses;  /* what a sample's loss counts; null: 1; training only */
  float *outputs;       /* the same; not of training */
  float *slopes;        /* the loss by each input, as inputs, floats; training only */
} perceptron_batch;

/* On the device; sums: room for so many blocks of training, if more than one by blocks. */
perceptron perceptron_take(device_pool *pool, int width, bool tensor, int outputs, int blocks);
/* Whether the device has tensor cores that serve. */
bool perceptron_has_tensor(void);
/* Random weights such that activations keep their size from layer to layer (He et al. 2015), biases
   of 0, packed. */
void perceptron_reset(const perceptron *p, unsigned long long seed);
/* After each change of the parameters. */
void perceptron_pack(const perceptron *p, cudaStream_t stream);
void perceptron_run(const perceptron *p, const perceptron_batch *b, cudaStream_t stream);
/* The loss: the sum over samples and outputs of half the squared difference from the targets, times
   what the sample counts. */
void perceptron_train(const perceptron *p, const perceptron_batch *b, cudaStream_t stream);
/* Blocks of training so many samples, at most. */
int perceptron_blocks(bool tensor, int samples);
