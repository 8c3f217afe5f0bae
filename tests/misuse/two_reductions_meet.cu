// two_reductions_meet.cu -- a sum meets a maximum.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = lane < 16 ? __reduce_add_sync(FULL, lane) : __reduce_max_sync(FULL, lane);
  atomicMax(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int sum = __reduce_add_sync(FULL, lane), most = __reduce_max_sync(FULL, lane);
  atomicMax(out, lane < 16 ? sum : most);
}

MISUSE(two_reductions_meet, 1, 32, 496);
