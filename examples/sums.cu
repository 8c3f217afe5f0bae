/* sums.cu - an add in two steps: the program clamps and counts the sums of a warp before it adds
   them. SPDX-License-Identifier: Apache-2.0

   A trainer may clamp each sum that a warp sends, so that no outlier moves a Gaussian far away, and
   count the sums that a Gaussian gets, which densification uses.

   nvcc -arch=native -I. examples/sums.cu -o sums                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/sums.cu -x none simt/simt.cpp -o sums   without one */
#include <math.h>
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"
#include "arc/sums.cuh"

enum { ROWS = 50, WIDTH = 9, PIXELS = 3000, THREADS = 128, WARPS = (PIXELS + 31) / 32 };
#define LIMIT 100.0f

/* The warp's pixels see one Gaussian; every fifth pixel misses it. */
static __host__ __device__ int gaussian_of(int pixel) { return pixel / 32 * 7 % ROWS; }
static __host__ __device__ bool hits(int pixel) { return pixel < PIXELS && pixel % 5 != 3; }
static __host__ __device__ float value_of(int pixel, int k) { return (float)((pixel + k) % 9); }

__global__ void add_clamped(float *rows, int *counts) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int pixel = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float values[WIDTH];
  for (int k = 0; k < WIDTH; ++k) values[k] = value_of(pixel, k);
  arc_options options = arc_options_default();
  options.promises |= ARC_PROMISE_ONE_KEY;
  options.threshold = 0; /* one sum per warp and parameter, however few lanes hit */
  arc_sum_f32 sum =
      arc_sum_begin_with_f32(target, gaussian_of(pixel), values, hits(pixel), options);
  if (arc_sum_next_f32(&sum)) { /* one step, since width, key and threshold are as they are */
    if (sum.owned && sum.parameter == 0) atomicAdd(&counts[sum.key], 1);
    sum.value = fminf(sum.value, LIMIT);
    arc_sum_add_f32(&sum);
  }
}

int main(void) {
  static float sums[ROWS * WIDTH], wanted[ROWS * WIDTH];
  static int counts[ROWS], wanted_counts[ROWS];
  float *rows;
  int *device_counts, wrong = 0;
  for (int warp = 0; warp < WARPS; ++warp)
    for (int k = 0; k < WIDTH; ++k) {
      float sum = 0;
      for (int pixel = 32 * warp; pixel < 32 * warp + 32; ++pixel)
        if (hits(pixel)) sum += value_of(pixel, k);
      wanted[WIDTH * gaussian_of(32 * warp) + k] += fminf(sum, LIMIT);
      wanted_counts[gaussian_of(32 * warp)] += k == 0;
    }
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("sums: skipped, no CUDA device\n");
    return 77;
  }
  cudaMalloc(&device_counts, sizeof counts);
  cudaMemset(rows, 0, sizeof sums);
  cudaMemset(device_counts, 0, sizeof counts);
  SIMT_LAUNCH(add_clamped, (PIXELS + THREADS - 1) / THREADS, THREADS, 0, 0, rows, device_counts);
  cudaMemcpy(counts, device_counts, sizeof counts, cudaMemcpyDeviceToHost);
  cudaError_t status = cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i];
  for (int i = 0; i < ROWS; ++i) wrong += counts[i] != wanted_counts[i];
  printf("sums: %d pixels, %d values each into %d rows, %d sums and counts wrong, %s\n",
         (int)PIXELS, (int)WIDTH, (int)ROWS, wrong, cudaGetErrorString(status));
  cudaFree(rows), cudaFree(device_counts);
  return fflush(stdout) != 0 || status != cudaSuccess || wrong != 0;
}
