// failed_check.cu -- a check of the library does not hold.
// SPDX-License-Identifier: Apache-2.0
#include "misuse.cuh"

static __global__ void misuse(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 21) SIMT_CHECK_FAILED("the width must not be negative");
  atomicAdd(out, 1);
}

static __global__ void twin(int *out) {
  int lane = (int)threadIdx.x % 32;

  if (lane == 32) SIMT_CHECK_FAILED("the width must not be negative");
  atomicAdd(out, 1);
}

MISUSE(failed_check, 1, 32, 32);
