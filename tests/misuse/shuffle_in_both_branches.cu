// shuffle_in_both_branches.cu -- both sides of an if shuffle, each at a place of its own.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v;
  if (lane & 1)
    v = __shfl_xor_sync(FULL, lane, 1);
  else
    v = __shfl_xor_sync(FULL, lane + 100, 1);
  atomicAdd(out, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = __shfl_xor_sync(FULL, lane & 1 ? lane : lane + 100, 1);
  atomicAdd(out, v);
}

MISUSE(shuffle_in_both_branches, 1, 32, 2096);
