/* arc examples: interrupts, the clock, medians, the device.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PROGRAM_RUN_H
#define EXAMPLES_PROGRAM_RUN_H

#include <signal.h>
#include <stdio.h>

#include "simt/simt.cuh"

#include "output_file.h"

/* Set by Ctrl-C or `kill`, once caught: the program ends the current step and writes its results.
   */
extern volatile sig_atomic_t interrupted;
void catch_interrupts(void);

double seconds_now(void);

/* Sorts the values. */
float median(float *values, int count);

static inline bool has_device(const char *program, error_line *error) {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return true;
  return error_set(error,
                   "no CUDA device: %s; the program built for the CPU warp, %s_simt, needs none",
                   status == cudaSuccess ? "none found" : cudaGetErrorString(status), program);
}

/* What runs, and with which policy; prints nothing if the device's properties cannot be read. */
static inline cudaError_t print_device(const char *policy) {
#if SIMT_ON_CPU
  printf("device     CPU warp; times are the host's for the emulation, not a GPU's\n");
#else
  cudaDeviceProp device;
  cudaError_t status = cudaGetDeviceProperties(&device, 0);
  if (status != cudaSuccess) return status;
  printf("device     %s\n", device.name);
#endif
  printf("arc        %s\n", policy);
  return cudaSuccess;
}

#endif
