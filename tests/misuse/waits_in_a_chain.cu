// waits_in_a_chain.cu -- lanes wait for lanes that wait for one that has left: the cause is last.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 31) return;
  if (lane < 8) __syncwarp(0x0000ffffu);
  if (lane >= 8 && lane < 16) __syncwarp(0x00ffff00u);
  if (lane >= 16) __syncwarp(0xffff0000u);
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 31) return;
  if (lane < 16) __syncwarp(0x0000ffffu);
  if (lane >= 16) __syncwarp(0x7fff0000u);
  atomicAdd(out, 1);
}

MISUSE(waits_in_a_chain, 1, 32, 31);
