// A library function is handed an address where no memory is: the report names the call.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __device__ __forceinline__ void store_one(int *address SIMT_CALLER) {
  SIMT_CALLED;
  *address = 1;
}

static __global__ void misuse(int *out) {
  store_one(threadIdx.x == 4 ? (int *)64 : out);
}

static __global__ void twin(int *out) {
  store_one(out);
}

MISUSE_BY_SIGNAL(no_memory_in_call, 1, 32, 1);
