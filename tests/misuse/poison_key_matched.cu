// poison_key_matched.cu -- the key of an inactive lane takes part in a match.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  int key = lane % 5 == 4 ? simt_poison_key() : lane % 5;
  unsigned peers = __match_any_sync(FULL, key);
  atomicAdd(out, __popc(peers));
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int key = lane % 5 == 4 ? simt_poison_key() : lane % 5;
  unsigned peers = __match_any_sync(FULL, lane % 5 == 4 ? -1 : key);
  atomicAdd(out, __popc(peers));
}

MISUSE(poison_key_matched, 1, 32, 206);
