// reads_never_launched_lane.cu -- a partial warp reads beyond its end.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = __shfl_down_sync(0x000fffffu, lane, 8);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = __shfl_sync(0x000fffffu, lane, lane + 8 < 20 ? lane + 8 : lane);
  atomicAdd(out, v);
}

MISUSE(reads_never_launched_lane, 1, 20, 286);
