// poison_pointer_added.cu -- an inactive lane adds through its garbage pointer.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  float *p = lane < 30 ? (float *)out + 1 : simt_poison_pointer();
  atomicAdd(p + lane, 1.0f);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  float *p = lane < 30 ? (float *)out + 1 : simt_poison_pointer();
  if (lane < 30) atomicAdd(p + lane, 1.0f);
  atomicAdd(out, 1);
}

MISUSE(poison_pointer_added, 1, 32, 32);
