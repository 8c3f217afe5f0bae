// misuse_beside_a_spinner.cu -- a misuse is told even though another lane spins for ever.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 3) __syncwarp(0x00000001u);
  if (lane == 3) atomicExch(out, 1);
  if (lane == 4)
    while (atomicAdd(out, 0) == 0) {}
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 3) __syncwarp(0x00000008u);
  if (lane == 3) atomicExch(out, 1);
  if (lane == 4)
    while (atomicAdd(out, 0) == 0) {}
}

MISUSE(misuse_beside_a_spinner, 1, 32, 1);
