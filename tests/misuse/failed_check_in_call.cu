// A library's check fails: the report names the call, too.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __device__ __forceinline__ void add_width(int *out, int width SIMT_CALLER) {
  SIMT_CALLED;
  if (width < 0) SIMT_CHECK_FAILED("the width must not be negative");
  atomicAdd(out, width);
}

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;
  add_width(out, lane == 21 ? -1 : 1);
}

static __global__ void twin(int *out) {
  add_width(out, 1);
}

MISUSE(failed_check_in_call, 1, 32, 32);
