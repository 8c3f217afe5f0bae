/* energy.h - the energy counter of the GPU, through NVML where it is installed, and what a launch
   takes by it. SPDX-License-Identifier: Apache-2.0

   The library is opened by name at run time: nothing links against it and no header of it is
   needed. */
#pragma once

#include "simt/simt.cuh"

#include <math.h>
#include <stdio.h>

#include "device.h"
#include "../../bench/common/program_run.h"

typedef int (*nvml_energy)(void *device, unsigned long long *millijoules);

typedef struct energy_counter {
  void *library, *device;
  nvml_energy energy; /* null: there is no counter, */
  char why[256];      /* for this reason */
} energy_counter;

/* Millijoules since the driver was loaded; negative without a counter. */
static inline double energy_read(const energy_counter *e) {
  unsigned long long millijoules;
  bool read = e->energy != nullptr && e->energy(e->device, &millijoules) == 0;
  return read ? (double)millijoules : -1.0;
}

#if SIMT_ON_CPU

static inline energy_counter energy_open(void) {
  return {nullptr, nullptr, nullptr, "the CPU warp has no energy counter"};
}
static inline void energy_close(energy_counter *) {}

#else

#include <dlfcn.h>

typedef int (*nvml_init)(void);
typedef int (*nvml_handle)(const char *bus_id, void **device);

static inline void energy_close(energy_counter *e) {
  if (e->library != nullptr) dlclose(e->library);
  e->library = nullptr;
  e->energy = nullptr;
}

static inline energy_counter energy_open(void) {
  energy_counter e = {dlopen("libnvidia-ml.so.1", RTLD_NOW), nullptr, nullptr, ""};
  char bus_id[32] = "";
  int device = 0;
  if (e.library == nullptr) {
    snprintf(e.why, sizeof e.why, "libnvidia-ml.so.1 cannot be opened: %s", dlerror());
    return e;
  }
  nvml_init init = (nvml_init)dlsym(e.library, "nvmlInit_v2");
  nvml_handle handle = (nvml_handle)dlsym(e.library, "nvmlDeviceGetHandleByPciBusId_v2");
  e.energy = (nvml_energy)dlsym(e.library, "nvmlDeviceGetTotalEnergyConsumption");
  bool ready = init != nullptr && handle != nullptr && cudaGetDevice(&device) == cudaSuccess &&
               cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) == cudaSuccess && init() == 0 &&
               handle(bus_id, &e.device) == 0;
  if (ready && energy_read(&e) >= 0.0) return e;
  snprintf(e.why, sizeof e.why, "NVML has no energy counter for this GPU");
  energy_close(&e);
  return e;
}

#endif

/* Millijoules of one launch, back to back with others, from one tick of the counter to the first
   that is `least` seconds later: it ticks every 20 to 100 ms. `launch` is called `together` times
   between two looks. Not-a-number where there is no counter, it does not tick in two seconds, or
   an interrupt comes. */
template <typename launch_type>
static inline double energy_of_launch(const energy_counter *e, double least, int together,
                                      launch_type launch) {
  double first = energy_read(e), before = -1.0, begin = seconds_now(), start = begin;
  int launches = 0;
  while (first >= 0.0 && seconds_now() - begin < 2.0 && !interrupts) {
    for (int i = 0; i < together; ++i) launch();
    device_check(cudaDeviceSynchronize(), "measuring energy");
    launches += together;
    const double now = energy_read(e);
    if (before >= 0.0 && now > before && seconds_now() - start >= least)
      return (now - before) / launches;
    if (before < 0.0 && now > first) before = now, start = seconds_now(), launches = 0;
  }
  return NAN;
}
