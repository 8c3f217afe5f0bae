/* bench/common: calls of CUDA that must not fail, and times.
   SPDX-License-Identifier: Apache-2.0

   A CUDA call that fails ends the program with one line: this is an example, not a library. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "simt/simt.cuh"

static inline void device_check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

/* Milliseconds that the device takes for what `launch` begins in the stream. */
template <typename launch_type>
static inline float device_time(launch_type launch, cudaStream_t stream = 0) {
  cudaEvent_t start, stop;
  float ms = 0.0f;
  device_check(cudaEventCreate(&start), "an event");
  device_check(cudaEventCreate(&stop), "an event");
  device_check(cudaEventRecord(start, stream), "an event");
  launch();
  device_check(cudaEventRecord(stop, stream), "an event");
  device_check(cudaEventSynchronize(stop), "what is timed");
  device_check(cudaEventElapsedTime(&ms, start, stop), "a time");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return ms;
}
