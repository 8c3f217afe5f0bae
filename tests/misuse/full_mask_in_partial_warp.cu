// full_mask_in_partial_warp.cu -- a block of 50 threads names 32 lanes in its second warp.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int any = __any_sync(FULL, lane == 2);
  atomicAdd(out, any);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = threadIdx.x < 32 ? FULL : 0x0003ffffu;
  int any = __any_sync(mask, lane == 2);
  atomicAdd(out, any);
}

MISUSE(full_mask_in_partial_warp, 1, 50, 50);
