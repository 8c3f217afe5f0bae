// activemask_kept.cu -- a mask from __activemask() is used after a lane has gone its own way.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;
  unsigned mask = __activemask();
  if (lane == 31) return;
  int sum = __reduce_add_sync(mask, 1);
  if (lane == __ffs((int)mask) - 1) atomicAdd(out, sum);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;
  unsigned mask = __activemask();
  // All lanes take part in some group, whatever the groups.
  int sum = __reduce_add_sync(mask, 1);
  if (lane == __ffs((int)mask) - 1) atomicAdd(out, sum);
}

MISUSE(activemask_kept, 64, 32, 2048);
