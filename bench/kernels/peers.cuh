/* peers.cuh - warp-level reductions as others write them, by hand, without a line of arc.
   SPDX-License-Identifier: Apache-2.0

   All 32 lanes of the warp call; keys and values of inactive lanes are garbage. */
#ifndef ARC_BENCH_PEERS_CUH
#define ARC_BENCH_PEERS_CUH

#include "simt/simt.cuh"

#include "baseline.cuh"

#define SWEEP_ALL_LANES 0xffffffffu

/* Whether the active lanes, one at least, hold one key. What somebody pays whose reduction can
   serve but one key a warp: three votes and a shuffle at most. */
static __device__ __forceinline__ bool sweep_one_key(unsigned active_lanes, int key, bool active) {
  int first = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  return __all_sync(SWEEP_ALL_LANES, !active || key == first);
}

/* The reduction of rasterizers: a warp without an active lane leaves after one vote; else five
   shuffles a value, and lane 0 adds the sums one by one. `key` is that of lane 0. */
static __device__ __forceinline__ void sweep_add_shuffle_skip(float *rows, int stride, int width,
                                                              int key, const float *values,
                                                              bool active) {
  if (!__any_sync(SWEEP_ALL_LANES, active)) return;
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = active ? values[i] : 0.0f;
    SWEEP_UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(SWEEP_ALL_LANES, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(row + i, sum);
  }
}

/* Where keys may differ: the same if they do not, else plain atomics. */
static __device__ __forceinline__ void sweep_add_shuffle_skip_keyed(float *rows, int stride,
                                                                    int width, int key,
                                                                    const float *values,
                                                                    bool active) {
  unsigned active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  if (active_lanes == 0) return;
  if (!sweep_one_key(active_lanes, key, active)) {
    sweep_add_plain(rows, stride, width, key, values, active);
    return;
  }
  key = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  sweep_add_shuffle_skip(rows, stride, width, key, values, active);
}

/* Match, then shared-memory float atomics at the slot of the group's lowest lane, which adds the
   sum to memory. The waits mend the race of the original: a lane might add before the slot is
   cleared, and the leader read before all have added. A lane whose key nobody shares adds
   directly. Blocks of up to 256 threads. */
static __device__ __forceinline__ void sweep_add_match_shared(float *rows, int stride, int width,
                                                              int key, const float *values,
                                                              bool active) {
  __shared__ float slots[256];
  unsigned active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  if (!active) return;
  unsigned group = __match_any_sync(active_lanes, key);
  unsigned lane = threadIdx.x % 32, leader = (unsigned)__ffs((int)group) - 1;
  float *row = rows + (long long)key * stride;
  float *slot = slots + (threadIdx.x - lane + leader);
  if (group == 1u << lane) {
    for (int i = 0; i < width; ++i) atomicAdd(row + i, values[i]);
    return;
  }
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    if (lane == leader) *slot = 0.0f;
    __syncwarp(group);
    atomicAdd(slot, values[i]);
    __syncwarp(group);
    if (lane == leader) atomicAdd(row + i, *slot);
  }
}

#endif
