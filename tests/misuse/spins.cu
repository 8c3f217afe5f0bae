// spins.cu -- a lane waits in a loop for a flag that nobody sets.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;
  if (lane == 7)
    while (atomicAdd(out, 0) == 0) {}
  __syncwarp();
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;
  if (lane == 7)
    while (atomicAdd(out, 0) == 0) {}
  if (lane == 8) atomicExch(out, 3);
  __syncwarp();
}

MISUSE(spins, 1, 32, 3);
