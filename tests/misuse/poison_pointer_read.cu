// poison_pointer_read.cu -- an inactive lane loads through its garbage pointer.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  const float *p = lane == 17 ? simt_poison_pointer() : (const float *)out;
  if (p[lane & 1] != 0.0f) out[1] = 1;
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  const float *p = lane == 17 ? simt_poison_pointer() : (const float *)out;
  if (lane != 17 && p[1] == 0.0f) atomicAdd(out, 1);
}

MISUSE_BY_SIGNAL(poison_pointer_read, 1, 32, 31);
