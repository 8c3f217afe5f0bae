// lanes_leave_early.cu -- named lanes have returned before the shuffle.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane >= 28) return;
  int v = __shfl_xor_sync(FULL, lane, 1);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane >= 28) return;
  int v = __shfl_xor_sync(0x0fffffffu, lane, 1);
  atomicAdd(out, v);
}

MISUSE(lanes_leave_early, 1, 32, 378);
