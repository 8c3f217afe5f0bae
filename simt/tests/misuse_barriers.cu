// misuse_barriers.cu -- deliberate misuses: barriers that not all threads of the block come to.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

// Warps go round a loop with a barrier a different number of times.
CASE(barrier_in_loop, 1, 96, 288) {
  int rounds = 2 + (int)threadIdx.x / 32;
  for (int i = 0; i < (wrong ? rounds : 4); ++i) {
    if (i < rounds) atomicAdd(out, 1);
    __syncthreads();
  }
}

// Threads beyond the end return before a barrier.
CASE(barrier_after_return, 1, 256, 200) {
  bool inside = threadIdx.x < 200;
  if (!inside && wrong) return;
  if (inside) atomicAdd(out, 1);
  __syncthreads();
}

// More warps are absent than a report lists.
CASE(barrier_of_one_warp, 1, 256, 8) {
  if (lane() == 0) atomicAdd(out, 1);
  if (threadIdx.x < 32 || !wrong) __syncthreads();
}

// Both sides of an if have a barrier of their own.
CASE(barriers_in_both_branches, 1, 64, 96) {
  bool even = threadIdx.x % 2 == 0;
  atomicAdd(out, even ? 1 : 2);
  if (even && wrong)
    __syncthreads();
  else
    __syncthreads();
}

// One thread takes another kind of barrier.
CASE(two_kinds_of_barrier, 1, 64, 64) {
  int any = 0;
  if (threadIdx.x == 5 || !wrong)
    any = __syncthreads_or(threadIdx.x == 5);
  else
    __syncthreads();
  atomicAdd(out, any);
}

static __device__ __forceinline__ int any_of_block(int v) { return __syncthreads_or(v); }
#define any_of_block(...) SIMT_CALL_OF(any_of_block(__VA_ARGS__))

// Both sides of an if call a function with a barrier.
CASE(barrier_in_both_calls, 1, 64, 64) {
  if (threadIdx.x < 32 && wrong)
    atomicAdd(out, any_of_block(1));
  else
    atomicAdd(out, any_of_block(threadIdx.x < 32));
}
