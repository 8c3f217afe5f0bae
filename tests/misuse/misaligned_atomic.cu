// misaligned_atomic.cu -- an address between two floats.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  if (threadIdx.x == 40) atomicAdd((float *)((char *)out + 6), 1.0f);
}

static __global__ void twin(int *out) {
  if (threadIdx.x == 40) atomicAdd((float *)((char *)out + 4), 1.0f);
  __syncthreads();
  if (threadIdx.x == 0 && ((float *)out)[1] == 1.0f) atomicAdd(out, 5);
}

MISUSE(misaligned_atomic, 1, 64, 5);
