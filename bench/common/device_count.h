/* device_count.h - how many GPUs there are, for tests, which skip without one.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_DEVICE_COUNT_H
#define ARC_DEVICE_COUNT_H

#include <stdio.h>
#include <stdlib.h>

/* A driver that fails ends the program: a skip would hide it. */
static inline int device_count(void) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
#if !SIMT_ON_CPU
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) return 0;
#endif
  if (error == cudaSuccess) return devices;
  fprintf(stderr, "cudaGetDeviceCount: %s\n", cudaGetErrorString(error));
  exit(1);
}

#endif
