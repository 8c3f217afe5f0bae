// match_in_branch.cu -- a match of lanes that do not all come.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane != 9) atomicAdd(out, __popc(__match_any_sync(FULL, lane / 8)));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane != 9) atomicAdd(out, __popc(__match_any_sync(0xfffffdffu, lane / 8)));
}

MISUSE(match_in_branch, 1, 32, 241);
