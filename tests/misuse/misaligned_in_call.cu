// A library function is handed a misaligned address: the report names the call, too.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __device__ __forceinline__ void add_one(float *address SIMT_CALLER) {
  SIMT_CALLED;
  atomicAdd(address, 1.0f);
}

static __global__ void misuse(int *out) {
  if (threadIdx.x == 4) add_one((float *)((char *)out + 6));
}

static __global__ void twin(int *out) {
  if (threadIdx.x == 4) add_one((float *)((char *)out + 4));
  if (threadIdx.x == 4 && ((float *)out)[1] == 1.0f) atomicAdd(out, 5);
}

MISUSE(misaligned_in_call, 1, 32, 5);
