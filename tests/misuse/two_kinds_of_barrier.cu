// two_kinds_of_barrier.cu -- one thread takes another kind of barrier.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

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

MISUSE(two_kinds_of_barrier, 1, 64, 64);
