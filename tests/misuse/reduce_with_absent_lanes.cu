// reduce_with_absent_lanes.cu -- __reduce_max_sync() in a loop that some lanes have left.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane % 3 == 0) return;
  atomicMax(out, __reduce_max_sync(FULL, lane));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned mask = __ballot_sync(FULL, lane % 3 != 0);
  if (lane % 3 == 0) return;
  atomicMax(out, __reduce_max_sync(mask, lane));
}

MISUSE(reduce_with_absent_lanes, 1, 32, 31);
