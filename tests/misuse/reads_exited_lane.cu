// reads_exited_lane.cu -- a shuffle whose source has returned.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane >= 16) return;
  int v = __shfl_sync(0x0000ffffu, lane, lane + 16);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane >= 16) return;
  int v = __shfl_sync(0x0000ffffu, lane, lane + 16, 16);
  atomicAdd(out, v);
}

MISUSE(reads_exited_lane, 1, 32, 120);
