// empty_mask.cu -- a vote of nobody.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned nobody = __ballot_sync(FULL, lane > 40);
  out[0] = __any_sync(nobody, lane == 3);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  unsigned nobody = __ballot_sync(FULL, lane > 40);
  if (nobody >> lane & 1u) out[0] = __any_sync(nobody, lane == 3);
  if (lane == 0) atomicAdd(out, 7);
}

MISUSE(empty_mask, 1, 32, 7);
