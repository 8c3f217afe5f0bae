// misuse_barriers.cu -- deliberate misuses: barriers that not all threads of the block come to.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

// Warps go round a loop with a barrier a different number of times.
CASE(barrier_in_loop, 1, 96, 288) {
static __global__ void misuse(int *out) {
  int rounds = 2 + (int)threadIdx.x / 32;
  for (int i = 0; i < rounds; ++i) {
    atomicAdd(out, 1);
    __syncthreads();
  }
}

static __global__ void twin(int *out) {
  int rounds = 2 + (int)threadIdx.x / 32;
  for (int i = 0; i < 4; ++i) {
    if (i < rounds) atomicAdd(out, 1);
    __syncthreads();
  }
}
}

// Threads beyond the end return before a barrier.
CASE(barrier_after_return, 1, 256, 200) {
static __global__ void misuse(int *out) {
  if (threadIdx.x >= 200) return;
  atomicAdd(out, 1);
  __syncthreads();
}

static __global__ void twin(int *out) {
  if (threadIdx.x < 200) atomicAdd(out, 1);
  __syncthreads();
}
}

// Both sides of an if have a barrier of their own.
CASE(barriers_in_both_branches, 1, 64, 96) {
static __global__ void misuse(int *out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
  }
}

static __global__ void twin(int *out) {
  if (threadIdx.x % 2 == 0)
    atomicAdd(out, 1);
  else
    atomicAdd(out, 2);
  __syncthreads();
}
}

// One thread takes another kind of barrier.
CASE(two_kinds_of_barrier, 1, 64, 64) {
static __global__ void misuse(int *out) {
  int any = 0;
  if (threadIdx.x == 5)
    any = __syncthreads_or(1);
  else
    __syncthreads();
  atomicAdd(out, any);
}

static __global__ void twin(int *out) {
  int any = __syncthreads_or(threadIdx.x == 5);
  atomicAdd(out, any);
}
}

// Both sides of an if call a function with a barrier.
CASE(barrier_in_both_calls, 1, 64, 64) {
static __device__ __forceinline__ int any_of_block(int v) {
  return __syncthreads_or(v);
}
#define any_of_block(...) SIMT_CALL_OF(any_of_block(__VA_ARGS__))

static __global__ void misuse(int *out) {
  if (threadIdx.x < 32)
    atomicAdd(out, any_of_block(1));
  else
    atomicAdd(out, any_of_block(0));
}

static __global__ void twin(int *out) {
  atomicAdd(out, any_of_block(threadIdx.x < 32));
}
}
