// Two shuffles on one line of source, one in each branch.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;
  int v = lane & 1 ? __shfl_xor_sync(FULL, lane, 1) : __shfl_xor_sync(FULL, lane + 100, 1);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;
  int v = __shfl_xor_sync(FULL, lane & 1 ? lane : lane + 100, 1);
  atomicAdd(out, v);
}

MISUSE(one_line, 1, 32, 2096);
