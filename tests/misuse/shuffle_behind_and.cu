// shuffle_behind_and.cu -- the second operand of && is evaluated by some lanes only.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane < 8 && __any_sync(FULL, lane == 3)) atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int any = __any_sync(FULL, lane == 3);
  if (lane < 8 && any) atomicAdd(out, 1);
}

MISUSE(shuffle_behind_and, 1, 32, 8);
