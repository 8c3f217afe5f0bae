// masks_meet.cu -- lanes come to one shuffle with different masks.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = lane < 8 ? 0x0000ffffu : 0x0000fff0u;
  if (lane < 16) atomicAdd(out, __shfl_xor_sync(mask, lane, 1));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = lane < 8 ? 0x000000ffu : 0x0000ff00u;
  if (lane < 16) atomicAdd(out, __shfl_xor_sync(mask, lane, 1));
}

MISUSE(masks_meet, 1, 32, 120);
