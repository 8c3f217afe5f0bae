/* arc examples: what their programs do alike: interrupts, the clock, medians, the device.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_PROGRAM_RUN_H
#define EXAMPLES_PROGRAM_RUN_H

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "simt/simt.cuh"

#include "output_file.h"

static volatile sig_atomic_t interrupted = 0;

static inline void on_interrupt(int signal_number) {
  interrupted = 1;
  signal(signal_number, SIG_DFL); /* a second Ctrl-C ends the program at once */
}

static inline void catch_interrupts(void) {
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Sorts the values. */
static inline float median(float *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return 0.5f * (values[(count - 1) / 2] + values[count / 2]);
}

static inline bool has_device(const char *program, error_line *error) {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return true;
  return error_set(error,
                   "no CUDA device: %s; the program built for the CPU warp, %s_simt, needs none",
                   status == cudaSuccess ? "none found" : cudaGetErrorString(status), program);
}

/* What runs, and with which policy; prints nothing if the device cannot be asked. */
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
