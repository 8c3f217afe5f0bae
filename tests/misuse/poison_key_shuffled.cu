// poison_key_shuffled.cu -- the key of an inactive lane is broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int key = lane < 4 ? simt_poison_key() : 10 + lane;
  int leader = __shfl_sync(FULL, key, 0);
  if (key == leader) atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int key = lane < 4 ? simt_poison_key() : 10 + lane;
  unsigned active = __ballot_sync(FULL, lane >= 4);
  // An inactive lane may still receive its own key.
  int leader = __shfl_sync(FULL, key, lane < 4 ? lane : __ffs((int)active) - 1);
  if (lane >= 4 && key == leader) atomicAdd(out, 1);
}

MISUSE(poison_key_shuffled, 1, 32, 1);
