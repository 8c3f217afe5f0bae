/* try.cu - the same file, built three ways: is arc for this kernel?
 * SPDX-License-Identifier: Apache-2.0
 *
 *   cd examples
 *   nvcc -I.. try.cu -o plain
 *   nvcc -I.. -include arc/drop_in.cuh try.cu -o dropped_in                one flag: is it faster?
 *   nvcc -I.. -include arc/drop_in.cuh -DARC_PROFILE=1 try.cu -o profiled  what would a call gain?
 *
 * Points fall into cells; a cell counts them, and sums weights and positions. Neighbours among the
 * points often share a cell, as a scanner saw them one after the other. */
#include "simt/simt.cuh"
#if defined(TRY_DROP_IN) /* the same without the flag; on the CPU warp behind simt.cuh */
#include "arc/drop_in.cuh"
#endif

#include <math.h>
#include <stdio.h>
#include <vector>

enum { POINTS = 1 << 14, CELLS = 512 };

static __global__ void add_points(float *cells, int *last, const float *points, int *listed) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const float *point = points + 3 * i;
  const int cell = (int)(point[0] * CELLS);
  if (point[2] <= 0.0f) return; /* outside */
  atomicAdd(&cells[4 * cell + 0], point[2]);
  atomicAdd(&cells[4 * cell + 1], point[2] * point[0]);
  atomicAdd(&cells[4 * cell + 2], point[2] * point[1]);
  atomicAdd(&cells[4 * cell + 3], 1.0f);
  if (point[2] > 0.78f) last[atomicAdd(listed, 1)] = i;
}

int main() {
  std::vector<float> points(3 * POINTS), sums(4 * CELLS);
  std::vector<double> must(4 * CELLS);
  for (int i = 0; i < POINTS; ++i) {
    const unsigned random = (unsigned)i * 2654435761u >> 8;
    const float x = (float)(i / 50 % CELLS) / CELLS, weight = (float)(random % 1000) / 1000 - 0.2f;
    const float point[3] = {x, (float)(random % 777) / 777, weight};
    for (int k = 0; k < 3; ++k) points[3 * i + k] = point[k];
    const double terms[4] = {weight, weight * x, weight * point[1], 1};
    for (int k = 0; weight > 0 && k < 4; ++k) must[4 * (int)(x * CELLS) + k] += terms[k];
  }
  float *device_points, *cells;
  int *last;
  cudaMalloc((void **)&device_points, sizeof(float) * points.size());
  cudaMalloc((void **)&cells, sizeof(float) * sums.size());
  cudaMalloc((void **)&last, sizeof(int) * (POINTS + 1));
  cudaMemcpy(device_points, points.data(), sizeof(float) * points.size(), cudaMemcpyHostToDevice);
  cudaMemset(cells, 0, sizeof(float) * sums.size());
  cudaMemset(last, 0, sizeof(int) * (POINTS + 1));
  SIMT_LAUNCH(add_points, POINTS / 256, 256, 0, 0, cells, last, device_points, last + POINTS);
  cudaMemcpy(sums.data(), cells, sizeof(float) * sums.size(), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int i = 0; i < 4 * CELLS; ++i) wrong += fabs(sums[i] - must[i]) > 1e-4 * (1 + must[i]);
  printf("try: %d of %d sums are wrong\n", wrong, 4 * CELLS);
#if defined(ARC_PROFILE) && ARC_PROFILE
  if (arc_profile_print(stdout, "masks.csv")) return 1;
#endif
  cudaFree(device_points), cudaFree(cells), cudaFree(last);
  return wrong != 0 || fflush(stdout) != 0;
}
