/* hot.cu - rows to which the whole grid adds are summed by each block first.
   SPDX-License-Identifier: Apache-2.0

   Pixels add to the few parameters of their camera and, now and then, to a light's row far away,
   which is no hot one.

   nvcc -arch=native -I. examples/hot.cu -o hot                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/hot.cu -x none simt/simt.cpp -o hot   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"
#include "arc/hot.cuh"

enum { CAMERAS = 4, ROWS = 40, WIDTH = 12, PIXELS = 5000, THREADS = 128, BLOCKS = 6 };

static __host__ __device__ int row_of(int pixel) {
  return pixel % 50 == 0 ? CAMERAS + pixel % (ROWS - CAMERAS) : pixel * CAMERAS / PIXELS;
}
static __host__ __device__ float value_of(int pixel, int k) { return (float)((pixel + k) % 5); }

__global__ void add_pixels(float *rows) {
  __shared__ float sums[ARC_HOT_BYTES(sizeof(float), CAMERAS, WIDTH, THREADS) / sizeof(float)];
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  arc_hot_f32 hot = arc_hot_begin_f32(target, sums, 0 /* first key */, CAMERAS);
  int step = (int)(gridDim.x * blockDim.x), pixel = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  for (int first = 0; first < PIXELS; first += step, pixel += step) { /* all lanes of a warp */
    float values[WIDTH];
    for (int k = 0; k < WIDTH; ++k) values[k] = value_of(pixel, k);
    arc_hot_add_f32(&hot, row_of(pixel), values, pixel < PIXELS);
  }
  arc_hot_end_f32(&hot);
}

int main(void) {
  static float sums[ROWS * WIDTH], wanted[ROWS * WIDTH];
  float *rows;
  int wrong = 0;
  for (int pixel = 0; pixel < PIXELS; ++pixel) /* whole numbers: sums are exact in any order */
    for (int k = 0; k < WIDTH; ++k) wanted[WIDTH * row_of(pixel) + k] += value_of(pixel, k);
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("hot: skipped, no CUDA device\n");
    return 77;
  }
  cudaMemset(rows, 0, sizeof sums);
  SIMT_LAUNCH(add_pixels, BLOCKS, THREADS, 0, 0, rows);
  cudaError_t status = cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < ROWS * WIDTH; ++i) wrong += sums[i] != wanted[i];
  printf("hot: %d pixels, %d values each into %d rows, %d sums wrong, %s\n", (int)PIXELS,
         (int)WIDTH, (int)ROWS, wrong, cudaGetErrorString(status));
  cudaFree(rows);
  return fflush(stdout) != 0 || status != cudaSuccess || wrong != 0;
}
