// reads_outside_mask.cu -- two halves of a warp shuffle apart and read across.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int v = __shfl_xor_sync(half, lane, 16);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int v = __shfl_xor_sync(half, lane, 8);
  atomicAdd(out, v);
}

MISUSE(reads_outside_mask, 1, 32, 496);
