// barrier_in_if.cu -- half of the block comes to the barrier.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  if (threadIdx.x < 48) __syncthreads();
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  __syncthreads();
  if (threadIdx.x < 48) atomicAdd(out, 1);
}

MISUSE(barrier_in_if, 1, 96, 48);
