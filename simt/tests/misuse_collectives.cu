// misuse_collectives.cu -- deliberate misuses: lanes that meet, or do not.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

// Named lanes have returned before the shuffle.
CASE(lanes_leave_early, 1, 32, 378) {
  if (lane() >= 28) return;
  int v = __shfl_xor_sync(wrong ? FULL : 0x0fffffffu, lane(), 1);
  atomicAdd(out, v);
}

// A block of 50 threads names 32 lanes in its second warp.
CASE(full_mask_in_partial_warp, 1, 50, 50) {
  unsigned mask = wrong || threadIdx.x < 32 ? FULL : 0x0003ffffu;
  int any = __any_sync(mask, lane() == 2);
  atomicAdd(out, any);
}

// Half a warp shuffles with everybody's mask, the rest goes on.
CASE(shuffle_in_branch, 1, 32, 512) {
  int v = lane();
  if (lane() < 16 || !wrong) v = __shfl_down_sync(FULL, v, 1);
  if (lane() >= 16) v = lane();
  __syncwarp();
  atomicAdd(out, v);
}

// Two shuffles on one line of source, one in each branch.
CASE(one_line, 1, 32, 2096) {
  int v;
  if (wrong)
    v = lane() & 1 ? __shfl_xor_sync(FULL, lane(), 1) : __shfl_xor_sync(FULL, lane() + 100, 1);
  else
    v = __shfl_xor_sync(FULL, lane() & 1 ? lane() : lane() + 100, 1);
  atomicAdd(out, v);
}

// The report names the block and the warp.
CASE(where_it_happened, dim3(2, 3), 96, 575) {
  bool bad = blockIdx.x == 1 && blockIdx.y == 2 && threadIdx.x >= 64 && lane() == 30;
  if (bad && wrong) return;
  int any = __any_sync(FULL, lane() == 0);
  if (!bad) atomicAdd(out, any);
}

// Lanes wait for lanes that wait for one that has left: the cause is last.
CASE(waits_in_a_chain, 1, 32, 31) {
  if (lane() == 31) return;
  if (lane() < 8) __syncwarp(0x0000ffffu);
  if (lane() >= 8 && lane() < 16) __syncwarp(wrong ? 0x00ffff00u : 0x0000ffffu);
  if (lane() >= 16) __syncwarp(wrong ? 0xffff0000u : 0x7fff0000u);
  atomicAdd(out, 1);
}

// A named lane waits at __syncthreads() instead.
CASE(named_lane_at_barrier, 1, 64, 120) {
  int v = 0;
  if (lane() < 20 || !wrong) v = __shfl_sync(FULL, lane(), 3);
  if (lane() < 20) atomicAdd(out, v);
  __syncthreads();
}

// A ballot on one side of an if, a vote on the other.
CASE(operations_meet, 1, 32, 32) {
  unsigned ballot = 0, all = 0;
  if (lane() < 4 || !wrong) ballot = __ballot_sync(FULL, 1);
  if (lane() >= 4 || !wrong) all = (unsigned)__all_sync(FULL, 1);
  if (lane() < 4 ? ballot : all) atomicAdd(out, 1);
}

// Lanes come to one shuffle with different masks.
CASE(masks_meet, 1, 32, 120) {
  unsigned low = wrong ? 0x0000ffffu : 0x000000ffu, high = wrong ? 0x0000fff0u : 0x0000ff00u;
  if (lane() < 16) atomicAdd(out, __shfl_xor_sync(lane() < 8 ? low : high, lane(), 1));
}

// __syncwarp() with masks that disagree. It may stand at different places.
CASE(syncwarp_masks_meet, 1, 32, 32) {
  if (lane() < 16)
    __syncwarp(wrong ? 0x00ffffffu : FULL);
  else
    __syncwarp(wrong ? 0xffffff00u : FULL);
  atomicAdd(out, 1);
}

// A lane calls with a mask that does not name it: lanes 16 to 31 call as well.
CASE(not_in_own_mask, 1, 32, 120) {
  if (lane() >= 16 && !wrong) return;
  int sum = __reduce_add_sync(0x0000ffffu, lane());
  if (lane() == 0) atomicAdd(out, sum);
}

// A vote of nobody.
CASE(empty_mask, 1, 32, 7) {
  unsigned nobody = __ballot_sync(FULL, lane() > 40);
  if (wrong || nobody >> lane() & 1u) out[0] = __any_sync(nobody, lane() == 3);
  if (lane() == 0) atomicAdd(out, 7);
}

// A width that is not a power of two.
CASE(shuffle_width, 1, 32, 496) {
  atomicAdd(out, __shfl_xor_sync(FULL, lane(), 1, wrong ? 24 : 16));
}

// Two halves of a warp shuffle apart and read across.
CASE(reads_outside_mask, 1, 32, 496) {
  unsigned half = lane() < 16 ? 0x0000ffffu : 0xffff0000u;
  int v = __shfl_xor_sync(half, lane(), wrong ? 16 : 8);
  atomicAdd(out, v);
}

// __activemask() taken for a promise that all lanes are there.
CASE(activemask_as_whole_warp, 1, 32, 2048) {
  for (int i = 0; i < 64; ++i) {
    int first = __shfl_sync(wrong ? __activemask() : FULL, lane() + 1, 0);
    atomicAdd(out, first);
    __syncwarp();
  }
}

// A mask from __activemask() is used after a lane has gone its own way. Without that, all lanes take
// part in some group, whatever the groups.
CASE(activemask_kept, 64, 32, 2048) {
  unsigned mask = __activemask();
  if (lane() == 31 && wrong) return;
  int sum = __reduce_add_sync(mask, 1);
  if (lane() == __ffs((int)mask) - 1) atomicAdd(out, sum);
}

static __device__ __forceinline__ int largest(int v);
static __device__ __forceinline__ int largest_of_two(int a, int b) {
  return largest(a > b ? a : b);
}
#define largest_of_two(...) SIMT_CALL_OF(largest_of_two(__VA_ARGS__))
static __device__ __forceinline__ int largest(int v) {
  for (int step = 16; step > 0; step /= 2) v = max(v, __shfl_xor_sync(FULL, v, step));
  return v;
}
#define largest(...) SIMT_CALL_OF(largest(__VA_ARGS__))
static __device__ __forceinline__ int sync_and_negate(int v) {
  __syncwarp();
  return -v;
}
#define sync_and_negate(...) SIMT_CALL_OF(sync_and_negate(__VA_ARGS__))

// Two calls of one library function, one in each branch: not one call of the whole warp.
CASE(calls_in_both_branches, 1, 32, 62) {
  int most = 0;
  if (wrong && lane() & 1)
    most = largest_of_two(lane(), 3);
  else if (wrong)
    most = largest(lane());
  else
    most = largest_of_two(lane() & 1 ? lane() : 3, 3);
  most += largest(lane());
  // __syncwarp() may still be executed at different places, and a call is over after its statement.
  int v = lane() & 1 ? sync_and_negate(lane()) : -sync_and_negate(lane());
  v = lane() < 4 ? sync_and_negate(v) : (__syncwarp(), v);
  v += __shfl_xor_sync(FULL, v, 0);
  atomicMax(out, v == 1000 ? 0 : most);
}

// A lane waits in a loop for a flag that nobody sets.
CASE(spins, 1, 32, 3) {
  if (lane() == 7)
    while (atomicAdd(out, 0) == 0) {
    }
  if (lane() == 8 && !wrong) atomicExch(out, 3);
  __syncwarp();
}

// A misuse is told even though another lane spins for ever.
CASE(misuse_beside_a_spinner, 1, 32, 1) {
  if (lane() == 3) __syncwarp(wrong ? 0x00000001u : 0x00000008u);
  if (lane() == 3) atomicExch(out, 1);
  if (lane() == 4)
    while (atomicAdd(out, 0) == 0) {
    }
}
