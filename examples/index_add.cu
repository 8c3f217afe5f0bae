/* index_add.cu - rows in memory are added to the rows that an index names: PyTorch's index_add_.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/index_add.cu -o index_add                   on a GPU
   g++ -std=c++17 -I. -x c++ examples/index_add.cu -x none simt/simt.cpp -o index_add   without one */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"
#include "arc/index_add.cuh"

enum { OUT = 100, WIDTH = 16, ROWS = 5000 };
enum { THREADS = 128, BLOCKS = 4, WARPS = BLOCKS * THREADS / 32 };

/* Where a row goes: half of all to one row of out, as words of a text do. */
static __host__ __device__ int key_of(int row) { return row % 2 ? 7 : row * 37 % OUT; }

/* Each warp takes consecutive rows, 32 per call: a key of many rows stays in registers. */
__global__ void add_rows(float *out, const int *index, const float *values) {
  arc_target_f32 target = arc_target_f32_rows(out, WIDTH /* stride */, WIDTH);
  arc_index_add_f32 rows = arc_index_add_begin_f32(target, values, WIDTH /* stride */);
  int warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = (int)threadIdx.x % 32;
  int first = (int)((long long)ROWS * warp / WARPS),
      end = (int)((long long)ROWS * (warp + 1) / WARPS);
  for (; first < end; first += 32) {
    int row = first + lane;
    bool active = row < end; /* lanes beyond the end call too, and add nothing */
    arc_index_add_rows_f32(&rows, active ? index[row] : 0, row, active);
  }
  arc_index_add_end_f32(&rows); /* adds what is left in registers */
}

int main(void) {
  static float sums[OUT * WIDTH], wanted[OUT * WIDTH], values[ROWS * WIDTH];
  static int index[ROWS];
  float *out, *device_values;
  int *device_index, wrong = 0;
  for (int row = 0; row < ROWS; ++row) index[row] = key_of(row);
  for (int i = 0; i < ROWS * WIDTH; ++i) { /* whole numbers: sums are exact in any order */
    values[i] = (float)(i % 61);
    wanted[WIDTH * key_of(i / WIDTH) + i % WIDTH] += values[i];
  }
  if (cudaMalloc(&out, sizeof sums) != cudaSuccess) {
    printf("index_add: skipped, no CUDA device\n");
    return 77;
  }
  cudaMalloc(&device_values, sizeof values);
  cudaMalloc(&device_index, sizeof index);
  cudaMemset(out, 0, sizeof sums);
  cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(device_index, index, sizeof index, cudaMemcpyHostToDevice);
  SIMT_LAUNCH(add_rows, BLOCKS, THREADS, 0, 0, out, device_index, device_values);
  cudaError_t status = cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < OUT * WIDTH; ++i) wrong += sums[i] != wanted[i];
  printf("index_add: %d rows of %d values into %d, %d sums wrong, %s\n", (int)ROWS, (int)WIDTH,
         (int)OUT, wrong, cudaGetErrorString(status));
  cudaFree(out), cudaFree(device_values), cudaFree(device_index);
  return fflush(stdout) != 0 || status != cudaSuccess || wrong != 0;
}
