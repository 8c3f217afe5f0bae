// poison_value_in_vector.cu -- the value of an inactive lane in a vector reduction.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  float *row = (float *)out + 4;
  int lane = (int)threadIdx.x % 32;

  float v = lane < 9 ? 1.0f : simt_poison_f32();
  if (lane < 10) simt_red_add_v4_f32(row + 4 * lane, v, v, v, v);
}

static __global__ void twin(int *out) {
  float *row = (float *)out + 4;
  int lane = (int)threadIdx.x % 32;

  float v = lane < 9 ? 1.0f : simt_poison_f32();
  if (lane < 9) simt_red_add_v4_f32(row + 4 * lane, v, v, v, v);
  if (lane < 9) atomicAdd(out, (int)row[4 * lane]);
}

MISUSE(poison_value_in_vector, 1, 32, 9);
