// named_lane_at_barrier.cu -- a named lane waits at __syncthreads() instead.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane < 20) atomicAdd(out, __shfl_sync(FULL, lane, 3));
  __syncthreads();
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  int v = __shfl_sync(FULL, lane, 3);
  if (lane < 20) atomicAdd(out, v);
  __syncthreads();
}

MISUSE(named_lane_at_barrier, 1, 64, 120);
