// misaligned_v2.cu -- a vector reduction of two floats to an odd float.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  float *row = (float *)out + 4;

  if (threadIdx.x == 6) simt_red_add_v2_f32(row + 1, 1.0f, 2.0f);
}

static __global__ void twin(int *out) {
  float *row = (float *)out + 4;

  if (threadIdx.x == 6) simt_red_add_v2_f32(row, 1.0f, 2.0f);
  __syncwarp();
  if (threadIdx.x == 0) atomicAdd(out, (int)row[1]);
}

MISUSE(misaligned_v2, 1, 32, 2);
