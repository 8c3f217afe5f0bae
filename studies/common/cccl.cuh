/* arc studies: how CUDA's own libraries add n values per lane: cub::WarpReduce, cooperative groups.
   SPDX-License-Identifier: Apache-2.0

   Two of the ways (ways.cuh). The sweep has its own, bench/kernels/cub.cu and cg.cu, which know
   whether keys differ. GPU only. The whole warp calls; width is a literal. */
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/warp/warp_reduce.cuh>

/* The warp's one key, taken from an active lane, of which there is one. */
DEVICE int cccl_key_of(int key, unsigned lanes) {
  return __shfl_sync(~0u, key, __ffs((int)lanes) - 1);
}

/* A value after the other over the whole warp, where all active lanes hold one key (`one_key`, a
   literal: they do); else plain atomics. At most 1024 threads per block. */
DEVICE void cccl_add_warp(float *base, int stride, int width, int key, const float *values,
                          bool active, bool one_key) {
  typedef cub::WarpReduce<float> reduction;
  __shared__ reduction::TempStorage storage[32];
  const unsigned lanes = __ballot_sync(~0u, active);
  if (lanes == 0u) return;
  const int first_key = cccl_key_of(key, lanes);
  if (!one_key) one_key = __all_sync(~0u, !active || key == first_key);
  const int thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  float *row = base + (long long)(one_key ? first_key : key) * stride;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    if (!one_key && active) atomicAdd(row + i, values[i]);
    if (!one_key) continue;
    const float sum = reduction(storage[thread / 32]).Sum(active ? values[i] : 0.0f);
    if (thread % 32 == 0) atomicAdd(row + i, sum);
  }
}

/* The active lanes, parted by key, and the first of each part adds; with `one_key`, a literal, the
   whole warp. */
DEVICE void cccl_add_groups(float *base, int stride, int width, int key, const float *values,
                            bool active, bool one_key) {
  namespace cg = cooperative_groups;
  if (one_key) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned lanes = warp.ballot(active);
    if (lanes == 0u) return;
    float *row = base + (long long)cccl_key_of(key, lanes) * stride;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const float sum = cg::reduce(warp, active ? values[i] : 0.0f, cg::plus<float>());
      if (warp.thread_rank() == 0) atomicAdd(row + i, sum);
    }
  } else if (active) {
    const auto group = cg::labeled_partition(cg::coalesced_threads(), key);
    float *row = base + (long long)key * stride;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const float sum = cg::reduce(group, values[i], cg::plus<float>());
      if (group.thread_rank() == 0) atomicAdd(row + i, sum);
    }
  }
}
