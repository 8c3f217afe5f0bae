/* What a result was measured on, in lines that begin with `prefix`.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_DEVICE_DESCRIBE_H
#define ARC_BENCH_DEVICE_DESCRIBE_H

#include <stdio.h>

#include "simt/simt.cuh"

#include "arc_policy.cuh"

/* measured_mhz: of the multiprocessors, under load; 0: not measured. */
static inline void device_describe(FILE *out, const char *prefix, double measured_mhz) {
#if SIMT_ON_CPU
  (void)measured_mhz;
  fprintf(out,
          "%sdevice: CPU warp (simt); clocks are a *model* of an H200, times the emulation's\n",
          prefix);
  fprintf(out, "%scompiler: host %s\n", prefix, __VERSION__);
#else
  struct cudaDeviceProp p;
  int device = 0, clock_khz = 0, memory_khz = 0, driver = 0, runtime = 0;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&p, device);
  cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  fprintf(out, "%sdevice: %s, sm_%d%d, %d multiprocessors, L2 %.0f MiB\n", prefix, p.name, p.major,
          p.minor, p.multiProcessorCount, p.l2CacheSize / 1048576.0);
  fprintf(out, "%sclocks: up to %.0f MHz, ", prefix, clock_khz / 1000.0);
  if (measured_mhz > 0.0) fprintf(out, "%.0f MHz measured at the start, ", measured_mhz);
  fprintf(out, "memory %.0f MHz\n", memory_khz / 1000.0);
  fprintf(out, "%scuda: driver %d.%d, runtime %d.%d\n", prefix, driver / 1000, driver % 1000 / 10,
          runtime / 1000, runtime % 1000 / 10);
  fprintf(out, "%scompiler: nvcc %d.%d.%d, host %s\n", prefix, __CUDACC_VER_MAJOR__,
          __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, __VERSION__);
#endif
  fprintf(out, "%spolicy: %s\n", prefix, ARC_POLICY_STRING);
}

#endif
