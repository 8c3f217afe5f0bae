/* bench/common: tests that need a device, or the CPU warp.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TEST_DEVICE_H
#define ARC_TEST_DEVICE_H

#include "simt/simt.cuh"

#include "device_count.h"
#include "test_check.h"

#define CHECK_CUDA(call)                                                                  \
  do {                                                                                    \
    const cudaError_t status_ = (call);                                                   \
    CHECK(status_ == cudaSuccess, "%s: %s", #call, cudaGetErrorString(status_));          \
  } while (0)

/* Where there is none, says that the test of this name is skipped. */
static inline bool test_has_device(const char *name) {
  if (device_count() > 0) return true;
  printf("%s: skipped, no CUDA device\n", name);
  return false;
}

#endif
