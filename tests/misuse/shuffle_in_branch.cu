// shuffle_in_branch.cu -- half a warp shuffles with everybody's mask, the rest goes on.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = lane;
  if (lane < 16) v = __shfl_down_sync(FULL, v, 1);
  __syncwarp();
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = __shfl_down_sync(FULL, lane, 1);
  if (lane >= 16) v = lane;
  __syncwarp();
  atomicAdd(out, v);
}

MISUSE(shuffle_in_branch, 1, 32, 512);
