// stale_mask.cu -- a mask from before some of its lanes left the loop.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = __ballot_sync(FULL, lane < 24);
  for (int i = 0; lane < 24; ++i) {
    int sum = __reduce_add_sync(mask, 1);
    if (lane == 0) atomicAdd(out, sum);
    if (i == lane / 8) break;
  }
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = __ballot_sync(FULL, lane < 24);
  for (int i = 0; lane < 24; ++i) {
    int sum = __reduce_add_sync(mask, 1);
    if (lane == __ffs((int)mask) - 1) atomicAdd(out, sum);
    mask = __ballot_sync(mask, i != lane / 8);
    if (i == lane / 8) break;
  }
}

MISUSE(stale_mask, 1, 32, 48);
