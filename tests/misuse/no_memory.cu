// no_memory.cu -- one lane stores to an address where nothing is.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  volatile int *p = threadIdx.x == 9 ? reinterpret_cast<int *>(64) : out + threadIdx.x;
  *p = 1;
}

static __global__ void twin(int *out) {
  volatile int *p = threadIdx.x == 9 ? reinterpret_cast<int *>(64) : out + threadIdx.x;
  if (threadIdx.x != 9) *p = 1;
}

MISUSE_BY_SIGNAL(no_memory, 1, 32, 1);
