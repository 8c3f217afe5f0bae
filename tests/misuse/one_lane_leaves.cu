// one_lane_leaves.cu -- one lane leaves a loop by return, the others go on.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  for (int i = 0; i < 4; ++i) {
    if (i == 2 && lane == 13) return;
    if (__ballot_sync(FULL, lane == i)) atomicAdd(out, 1);
  }
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  bool gone = false;
  for (int i = 0; i < 4; ++i) {
    gone = gone || (i == 2 && lane == 13);
    if (__ballot_sync(FULL, lane == i) && !gone) atomicAdd(out, 1);
  }
}

MISUSE(one_lane_leaves, 1, 32, 126);
