/* divergent.cu - rays walk through cells and add 52 values per step: rows of more than 16 values.
   SPDX-License-Identifier: Apache-2.0

   nvcc -arch=native -I. examples/divergent.cu -o divergent                     on a GPU
   g++ -std=c++17 -I. -x c++ examples/divergent.cu -x none simt/simt.cpp -o divergent   without one

   A call holds all its values in registers. So add a wide row in parts of 8 to 16 values, each with
   a target of its own. In divergent code lanes may arrive at one call with different parts, which
   is not legal. So arc_lanes_here names the lanes that go through all parts together. The loop is
   not unrolled and builds the target inside, so that no part keeps registers after it is added. */
#include <stdio.h>

#include "simt/simt.cuh" /* SIMT_LAUNCH is <<<>>> under nvcc */
#include "arc.cuh"

enum { RAYS = SIMT_ON_CPU ? 1024 : 1 << 18, STEPS = 12, CELLS = 500, ROW = 49, PART = 12 };

/* Whole numbers, so that sums are exact in any order. Eight neighbouring rays share a cell. */
static __host__ __device__ int cell_of(int ray, int step) {
  return (int)((unsigned)(ray / 8 * STEPS + step) * 2654435761u >> 8) % CELLS;
}
static __host__ __device__ int steps_of(int ray) { return STEPS - ray % 3; }
static __host__ __device__ float basis_of(int ray, int i) { return (float)((ray + i) % 5 - 2); }
static __host__ __device__ float colour_of(int ray, int step, int c) {
  return (float)((ray + 3 * step + c) % 3 - 1);
}

/* 16 coefficients times 3 colours and a density in a row of the cell; 3 values of its position in
   another array, known one step later. */
__global__ void before(float *rows, float *positions) {
  const int ray = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  for (int step = 0; step < steps_of(ray); ++step) {
    float *row = rows + (long long)ROW * cell_of(ray, step);
    for (int i = 0; i < 48; ++i)
      atomicAdd(&row[i], basis_of(ray, i / 3) * colour_of(ray, step, i % 3));
    atomicAdd(&row[48], basis_of(ray, step));
    for (int c = 0; c < 3 && step > 0; ++c)
      atomicAdd(&positions[3 * cell_of(ray, step - 1) + c], colour_of(ray, step, c));
  }
}

__global__ void after(float *rows, float *positions) {
  const int ray = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  for (int step = 0; step < steps_of(ray); ++step) {
    const int cell = cell_of(ray, step);
    const unsigned here = arc_lanes_here(); /* they differ in cell, step, and in what they hit */
    float values[PART], density = basis_of(ray, step), moved[3];
#if !SIMT_ON_CPU
#pragma unroll 1
#endif
    for (int first = 0; first < 48; first += PART) {
      for (int i = 0; i < PART; ++i)
        values[i] = basis_of(ray, (first + i) / 3) * colour_of(ray, step, i % 3);
      arc_add_masked_f32(arc_target_f32_rows(rows + first, ROW, PART), cell, values, true, here);
    }
    arc_add_masked_f32(arc_target_f32_rows(rows + 48, ROW, 1), cell, &density, true, here);
    for (int c = 0; c < 3; ++c) moved[c] = colour_of(ray, step, c);
    arc_add_masked_f32(arc_target_f32_rows(positions, 3, 3), cell_of(ray, step - 1), moved,
                       step > 0, here);
  }
}

int main(void) {
  enum { COUNT = CELLS * (ROW + 3) };
  static float sums[COUNT], wanted[COUNT];
  float *rows, *positions, ms = 0.0f;
  int wrong = 0;
  cudaEvent_t start, stop;
  if (cudaMalloc(&rows, sizeof sums) != cudaSuccess) {
    printf("divergent: skipped, no CUDA device\n");
    return 77;
  }
  positions = rows + CELLS * ROW;
  for (int ray = 0; ray < RAYS; ++ray)
    for (int step = 0; step < steps_of(ray); ++step) {
      float *row = wanted + ROW * cell_of(ray, step);
      for (int i = 0; i < 48; ++i) row[i] += basis_of(ray, i / 3) * colour_of(ray, step, i % 3);
      row[48] += basis_of(ray, step);
      for (int c = 0; c < 3 && step > 0; ++c)
        wanted[CELLS * ROW + 3 * cell_of(ray, step - 1) + c] += colour_of(ray, step, c);
    }
  cudaEventCreate(&start), cudaEventCreate(&stop);
  for (int launch = 0; launch < 4; ++launch) { /* each kernel once to warm up */
    cudaMemset(rows, 0, sizeof sums);
    cudaEventRecord(start);
    if (launch % 2 == 0) SIMT_LAUNCH(before, RAYS / 128, 128, 0, 0, rows, positions);
    if (launch % 2 == 1) SIMT_LAUNCH(after, RAYS / 128, 128, 0, 0, rows, positions);
    cudaEventRecord(stop);
    wrong += cudaMemcpy(sums, rows, sizeof sums, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < COUNT; ++i) wrong += sums[i] != wanted[i];
    cudaEventElapsedTime(&ms, start, stop);
    if (launch >= 2 && !SIMT_ON_CPU) printf("%s %.4f ms\n", launch == 2 ? "before" : "after ", ms);
  }
  printf("divergent: %d cells of %d values, %d sums wrong\n", (int)CELLS, ROW + 3, wrong);
  cudaFree(rows), cudaEventDestroy(start), cudaEventDestroy(stop);
  return fflush(stdout) != 0 || wrong != 0;
}
