// shuffle_width.cu -- a width that is not a power of two.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  atomicAdd(out, __shfl_xor_sync(FULL, lane, 1, 24));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  atomicAdd(out, __shfl_xor_sync(FULL, lane, 1, 16));
}

MISUSE(shuffle_width, 1, 32, 496);
