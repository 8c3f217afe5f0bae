/* bench/common: what runs, on what, with which policy. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

#include "simt/simt.cuh"

#include "arc_policy.cuh"

#include "device.h"

#ifndef ARC_HEADERS_HASH /* of arc.cuh and its files, given by the build: CMakeLists.txt */
#define ARC_HEADERS_HASH "not known"
#endif

/* Each line begins with its word in one of these forms. */
#define DEVICE_IN_FILE "# %s: "
#define DEVICE_ON_SCREEN "%-10s "

/* measured_mhz: of the multiprocessors, under load; 0: not measured. */
static inline void device_describe(FILE *out, const char *form, double measured_mhz) {
  const auto line = [&](const char *word) { return fprintf(out, form, word), out; };
#if SIMT_ON_CPU
  (void)measured_mhz;
  fprintf(line("device"),
          "CPU warp (simt); clocks are a *model* of an H200, times the emulation's\n");
  fprintf(line("compiler"), "host %s\n", __VERSION__);
#else
  struct cudaDeviceProp p;
  int device = 0, clock_khz = 0, memory_khz = 0, driver = 0, runtime = 0;
  cudaGetDevice(&device);
  device_check(cudaGetDeviceProperties(&p, device), "reading the device's properties");
  cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  fprintf(line("device"), "%s, sm_%d%d, %d multiprocessors, L2 %.0f MiB\n", p.name, p.major,
          p.minor, p.multiProcessorCount, p.l2CacheSize / 1048576.0);
  fprintf(line("clocks"), "up to %.0f MHz, ", clock_khz / 1000.0);
  if (measured_mhz > 0.0) fprintf(out, "%.0f MHz measured at the start, ", measured_mhz);
  fprintf(out, "memory %.0f MHz\n", memory_khz / 1000.0);
  fprintf(line("cuda"), "driver %d.%d, runtime %d.%d\n", driver / 1000, driver % 1000 / 10,
          runtime / 1000, runtime % 1000 / 10);
  fprintf(line("compiler"), "nvcc %d.%d.%d, host %s\n", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
          __CUDACC_VER_BUILD__, __VERSION__);
#endif
  fprintf(line("policy"), "%s\n", ARC_POLICY_STRING);
  fprintf(line("headers"), "%s\n", ARC_HEADERS_HASH);
}
