// stack_overflow.cu -- a lane recurses without end.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __device__ int depth(int *out, int levels) {
  volatile int frame[64];
  frame[levels % 64] = levels;
  return levels > 0 ? depth(out, levels - 1) + (frame[levels % 64] == levels) : out[2];
}

static __global__ void misuse(int *out) {
  out[1] = depth(out, (int)threadIdx.x == 2 ? 1 << 30 : 4);
}

static __global__ void twin(int *out) {
  atomicAdd(out, depth(out, (int)threadIdx.x == 2 ? 5 : 4));
}

MISUSE_BY_SIGNAL(stack_overflow, 1, 32, 129);
