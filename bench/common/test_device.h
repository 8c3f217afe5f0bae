/* bench/common: tests that need a device, or the CPU warp.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TEST_DEVICE_H
#define ARC_TEST_DEVICE_H

#include "simt/simt.cuh"

#include "test_check.h"

/* Where there is none, says that the test of this name is skipped. */
static inline bool test_has_device(const char *name) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return true;
  printf("%s: skipped, no CUDA device\n", name);
  return false;
}

#endif
