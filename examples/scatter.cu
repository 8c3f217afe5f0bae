/* scatter.cu - every lane adds to the row of its own key; equal keys of a warp are summed first.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/scatter.cu -o scatter                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/scatter.cu -x none simt/simt.cpp -o scatter   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"

enum { ROWS = 100, WIDTH = 3, UPDATES = 4000, THREADS = 256 };

/* Where an update goes: five neighbours share a key, as pixels that see one texel do. */
static __host__ __device__ int key_of(int update) { return update / 5 * 37 % ROWS; }

/* Whole numbers, so that sums are exact in any order. */
static __host__ __device__ float value_of(int update, int i) {
  return (float)(update % 61 + 64 * i);
}

__global__ void scatter(float *rows) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int update = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  bool active = update < UPDATES; /* lanes beyond the end call too, and add nothing */
  float values[WIDTH];
  for (int i = 0; i < WIDTH; ++i) values[i] = value_of(update, i);
  arc_add_f32(target, key_of(update), values, active);
}

int main(void) {
  static float sums[ROWS * WIDTH], wanted[ROWS * WIDTH];
  float *rows;
  int wrong = 0;
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("scatter: skipped, no CUDA device\n");
    return 77;
  }
  cudaMemset(rows, 0, sizeof sums);
  SIMT_LAUNCH(scatter, (UPDATES + THREADS - 1) / THREADS, THREADS, 0, 0, rows);
  cudaError_t status = cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost);
  for (int update = 0; update < UPDATES; ++update)
    for (int i = 0; i < WIDTH; ++i) wanted[WIDTH * key_of(update) + i] += value_of(update, i);
  for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i];
  printf("scatter: %d updates of %d values into %d rows, %d sums wrong, %s\n", (int)UPDATES,
         (int)WIDTH, (int)ROWS, wrong, cudaGetErrorString(status));
  cudaFree(rows);
  return fflush(stdout) != 0 || status != cudaSuccess || wrong != 0;
}
