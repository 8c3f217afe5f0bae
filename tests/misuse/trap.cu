// trap.cu -- __trap() is executed.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (__all_sync(FULL, lane >= 0)) __trap();
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (!__all_sync(FULL, lane >= 0)) __trap();
  atomicAdd(out, 1);
}

MISUSE(trap, 1, 32, 32);
