// barrier_after_return.cu -- threads beyond the end return before a barrier.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  if (threadIdx.x >= 200) return;
  atomicAdd(out, 1);
  __syncthreads();
}

static __global__ void twin(int *out) {
  if (threadIdx.x < 200) atomicAdd(out, 1);
  __syncthreads();
}

MISUSE(barrier_after_return, 1, 256, 200);
