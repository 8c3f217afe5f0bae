// activemask_as_whole_warp.cu -- __activemask() taken for a promise that all lanes are there.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  for (int i = 0; i < 64; ++i) {
    int first = __shfl_sync(__activemask(), lane + 1, 0);
    atomicAdd(out, first);
    __syncwarp();
  }
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  for (int i = 0; i < 64; ++i) {
    int first = __shfl_sync(FULL, lane + 1, 0);
    atomicAdd(out, first);
    __syncwarp();
  }
}

MISUSE(activemask_as_whole_warp, 1, 32, 2048);
