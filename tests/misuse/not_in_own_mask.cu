// not_in_own_mask.cu -- a lane calls with a mask that does not name it.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  // Lanes 16 to 31 call as well.
  int sum = __reduce_add_sync(0x0000ffffu, lane);
  if (lane == 0) atomicAdd(out, sum);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane >= 16) return;
  int sum = __reduce_add_sync(0x0000ffffu, lane);
  if (lane == 0) atomicAdd(out, sum);
}

MISUSE(not_in_own_mask, 1, 32, 120);
