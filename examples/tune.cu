/* tune.cu - the tuner around a launch picks path and threshold at run time.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/tune.cu -o tune                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/tune.cu -x none simt/simt.cpp -o tune   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"
#include "arc_tune.h"

enum { ROWS = 100, WIDTH = 4, UPDATES = SIMT_ON_CPU ? 1 << 9 : 1 << 20, LAUNCHES = 600 };

static __host__ __device__ int key_of(int update) { return update / 11 % ROWS; }

/* A path is a literal in each call, so one that is chosen at run time is a switch. */
__global__ void add_ones(float *rows, arc_tune_policy policy) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  arc_options options = arc_options_default();
  int key = key_of((int)(blockIdx.x * blockDim.x + threadIdx.x));
  const float ones[WIDTH] = {1.0f, 1.0f, 1.0f, 1.0f};
  options.threshold = policy.threshold;
  switch (policy.path) {
    case ARC_PATH_TREE:
      options.path = ARC_PATH_TREE;
      arc_add_with_f32(target, key, ones, true, options);
      break;
    default:
      options.path = ARC_PATH_AUTO;
      arc_add_with_f32(target, key, ones, true, options);
  }
}

int main(void) {
  static arc_tune tune;
  static float sums[ROWS * WIDTH], wanted[ROWS];
  float *rows, ms = 0.0f;
  int wrong = 0;
  cudaEvent_t start, stop;
  arc_tune_config config = arc_tune_config_default(); /* ARC_PATH_AUTO with thresholds 0..32 */
  arc_tune_add(&config, ARC_PATH_TREE, 0, 32);
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("tune: skipped, no CUDA device\n");
    return 77;
  }
  cudaEventCreate(&start), cudaEventCreate(&stop);
  wrong += arc_tune_init(&tune, &config) != ARC_TUNE_OK;
  for (int update = 0; update < UPDATES; ++update) wanted[key_of(update)] += 1.0f;
  for (int launch = 0; launch < LAUNCHES; ++launch) { /* a program's own iterations */
    arc_tune_policy policy = arc_tune_next(&tune);
    cudaMemset(rows, 0, sizeof sums);
    cudaEventRecord(start);
    SIMT_LAUNCH(add_ones, UPDATES / 256, 256, 0, 0, rows, policy);
    cudaEventRecord(stop);
    wrong += cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost) != cudaSuccess;
    cudaEventElapsedTime(&ms, start, stop);
    if (policy.ticket != 0) arc_tune_report(&tune, policy.ticket, 1000.0 * ms);
    for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i / WIDTH];
  }
  printf("tune: %d launches, %d sums wrong; path %d, threshold %d (%d: arc decides)\n",
         (int)LAUNCHES, wrong, tune.result.choice.path, tune.result.choice.threshold,
         ARC_THRESHOLD_AUTO);
  cudaFree(rows), cudaEventDestroy(start), cudaEventDestroy(stop);
  return fflush(stdout) != 0 || wrong != 0;
}
