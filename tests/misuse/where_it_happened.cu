// where_it_happened.cu -- the report names the block and the warp.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;
  bool bad = blockIdx.x == 1 && blockIdx.y == 2 && threadIdx.x >= 64 && lane == 30;
  if (!bad) atomicAdd(out, __any_sync(FULL, lane == 0));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;
  bool bad = blockIdx.x == 1 && blockIdx.y == 2 && threadIdx.x >= 64 && lane == 30;
  int any = __any_sync(FULL, lane == 0);
  if (!bad) atomicAdd(out, any);
}

MISUSE(where_it_happened, dim3(2, 3), 96, 575);
