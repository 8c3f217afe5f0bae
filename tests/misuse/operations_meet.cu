// operations_meet.cu -- a ballot on one side of an if, a vote on the other.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned v;
  if (lane < 4)
    v = __ballot_sync(FULL, 1);
  else
    v = (unsigned)__all_sync(FULL, 1);
  if (v) atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned ballot = __ballot_sync(FULL, 1);
  unsigned all = (unsigned)__all_sync(FULL, 1);
  if (lane < 4 ? ballot : all) atomicAdd(out, 1);
}

MISUSE(operations_meet, 1, 32, 32);
