// ballot_in_loop.cu -- a ballot in a loop whose trip count differs from lane to lane.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  for (int i = 0; i < lane % 4 + 1; ++i)
    if (__ballot_sync(FULL, i == 0)) atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  for (int i = 0; i < 4; ++i)
    if (__ballot_sync(FULL, i == 0) && i < lane % 4 + 1) atomicAdd(out, 1);
}

MISUSE(ballot_in_loop, 1, 32, 32);
