// Two calls of one library function, one in each branch: not one call of the whole warp.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __device__ __forceinline__ int largest(int v SIMT_CALLER);
static __device__ __forceinline__ int largest_of_two(int a, int b SIMT_CALLER) {
  SIMT_CALLED;
  return largest(a > b ? a : b);
}
static __device__ __forceinline__ int largest(int v SIMT_CALLER_AGAIN) {
  SIMT_CALLED;
  for (int step = 16; step > 0; step /= 2) v = max(v, __shfl_xor_sync(FULL, v, step));
  return v;
}
static __device__ __forceinline__ int sync_and_negate(int v SIMT_CALLER) {
  SIMT_CALLED;
  __syncwarp();
  return -v;
}

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int most;
  if (lane & 1)
    most = largest_of_two(lane, 3);
  else
    most = largest(lane);
  atomicMax(out, most);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int most = largest_of_two(lane & 1 ? lane : 3, 3);
  most += largest(lane);
  // __syncwarp() may still be executed at different places, and a call is over when it returns.
  int v = lane & 1 ? sync_and_negate(lane) : -sync_and_negate(lane);
  v = (lane < 4 ? sync_and_negate(v) : (__syncwarp(), v)) + __shfl_xor_sync(FULL, v, 0);
  atomicMax(out, v == 1000 ? 0 : most);
}

MISUSE(calls_in_both_branches, 1, 32, 62);
