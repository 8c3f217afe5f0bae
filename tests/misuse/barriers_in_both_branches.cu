// barriers_in_both_branches.cu -- both sides of an if have a barrier of their own.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

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

MISUSE(barriers_in_both_branches, 1, 64, 96);
