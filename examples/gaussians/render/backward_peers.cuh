/* arc example gaussians: ways to add without arc, for comparison.
   SPDX-License-Identifier: Apache-2.0

   The whole warp calls with one key, and some lane is hit; lanes that are not hit hold zeros. */
#ifndef GAUSSIANS_BACKWARD_PEERS_CUH
#define GAUSSIANS_BACKWARD_PEERS_CUH

#include "backward.h"

#if !SIMT_ON_CPU
#include <cub/warp/warp_reduce.cuh>
#endif

/* i is a literal once loops are unrolled. */
static __device__ __forceinline__ float *sum_address(splat_sums sums, bool rows, int key, int i) {
  size_t k = (size_t)key;
  if (rows) return sums.means + SPLAT_ROW * k + i;
  if (i < SUM_XX) return sums.means + 2 * k + i;
  if (i < SUM_U) return sums.conics + 3 * k + (i - SUM_XX);
  if (i < SUM_RED) return sums.opacities + k;
  return sums.colours + 3 * k + (i - SUM_RED);
}

static __device__ __forceinline__ void add_plain(splat_sums sums, bool rows, int key,
                                                 const float *values, bool hit) {
  if (!hit) return;
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) atomicAdd(sum_address(sums, rows, key, i), values[i]);
}

static __device__ __forceinline__ void add_shuffles(splat_sums sums, bool rows, int key,
                                                    const float *values) {
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) {
    float sum = values[i];
    UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(WHOLE_WARP, sum, step);
    if ((threadIdx.x & 31u) == 0u) atomicAdd(sum_address(sums, rows, key, i), sum);
  }
}

#if !SIMT_ON_CPU
static __device__ __forceinline__ void add_cub(splat_sums sums, bool rows, int key,
                                               const float *values) {
  __shared__ cub::WarpReduce<float>::TempStorage storage[TILE_WARPS];
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) {
    float sum = cub::WarpReduce<float>(storage[threadIdx.x >> 5]).Sum(values[i]);
    if ((threadIdx.x & 31u) == 0u) atomicAdd(sum_address(sums, rows, key, i), sum);
  }
}
#else
static __device__ __forceinline__ void add_cub(splat_sums, bool, int, const float *) {}
#endif

/* Mixes the values into the bits kept so far: about the least that a compiler accepts as a use. */
static __device__ __forceinline__ unsigned keep_values(unsigned kept, const float *values) {
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) kept ^= __float_as_uint(values[i]);
  return kept;
}

static __device__ __forceinline__ void count_lanes(unsigned long long *histogram, bool hit) {
  int lanes = __popc(__ballot_sync(WHOLE_WARP, hit));
  if ((threadIdx.x & 31u) == 0u) atomicAdd(&histogram[lanes], 1ull);
}

#endif
