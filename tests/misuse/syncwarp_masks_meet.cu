// syncwarp_masks_meet.cu -- __syncwarp() with masks that disagree.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane < 16)
    __syncwarp(0x00ffffffu);
  else
    __syncwarp(0xffffff00u);
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  // __syncwarp() itself may stand at different places.
  if (lane < 16)
    __syncwarp();
  else
    __syncwarp();
  atomicAdd(out, 1);
}

MISUSE(syncwarp_masks_meet, 1, 32, 32);
