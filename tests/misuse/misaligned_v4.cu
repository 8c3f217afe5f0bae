// misaligned_v4.cu -- a vector reduction of four floats to an address that only two could take.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  float *row = (float *)out + 4;

  simt_red_add_v4_f32(row + 2 * threadIdx.x, 1.0f, 2.0f, 3.0f, 4.0f);
}

static __global__ void twin(int *out) {
  float *row = (float *)out + 4;

  simt_red_add_v4_f32(row + 4 * threadIdx.x, 1.0f, 2.0f, 3.0f, 4.0f);
  __syncwarp();
  atomicAdd(out, (int)row[4 * threadIdx.x + 3]);
}

MISUSE(misaligned_v4, 1, 32, 128);
