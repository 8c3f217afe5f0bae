// barrier_in_loop.cu -- warps go round a loop with a barrier a different number of times.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

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

MISUSE(barrier_in_loop, 1, 96, 288);
