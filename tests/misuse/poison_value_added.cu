// poison_value_added.cu -- the value of an inactive lane goes into a sum.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  bool active = lane != 11;
  float v = active ? 1.0f : simt_poison_f32();
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
  if (lane == 0) atomicAdd((float *)out + 1, v);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  bool active = lane != 11;
  float v = active ? 1.0f : simt_poison_f32();
  if (!active) v = 0.0f;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
  if (lane == 0) atomicAdd(out, (int)v);
}

MISUSE(poison_value_added, 1, 32, 31);
