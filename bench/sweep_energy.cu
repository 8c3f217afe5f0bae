/* sweep_energy.cu - the energy counter of the GPU, through NVML where it is installed.
   SPDX-License-Identifier: Apache-2.0

   The library is opened by name at run time: nothing links against it and no header of it is
   needed. */
#include "simt/simt.cuh"

#include <stdlib.h>

#include "sweep.h"

#if SIMT_ON_CPU

struct sweep_energy *sweep_energy_open(FILE *err) {
  (void)err;
  return NULL;
}
double sweep_energy_read(const struct sweep_energy *e) {
  (void)e;
  return -1.0;
}
void sweep_energy_close(struct sweep_energy *e) { (void)e; }

#else

#include <dlfcn.h>

typedef int (*nvml_init)(void);
typedef int (*nvml_handle)(const char *bus_id, void **device);
typedef int (*nvml_energy)(void *device, unsigned long long *millijoules);

struct sweep_energy {
  void *library, *device;
  nvml_energy energy;
};

static int open_library(struct sweep_energy *e, FILE *err) {
  char bus_id[32] = "";
  int device = 0;
  unsigned long long millijoules;
  e->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!e->library) {
    fprintf(err, "arc_sweep: --energy: libnvidia-ml.so.1 cannot be opened: %s\n", dlerror());
    return 1;
  }
  nvml_init init = (nvml_init)dlsym(e->library, "nvmlInit_v2");
  nvml_handle handle = (nvml_handle)dlsym(e->library, "nvmlDeviceGetHandleByPciBusId_v2");
  e->energy = (nvml_energy)dlsym(e->library, "nvmlDeviceGetTotalEnergyConsumption");
  cudaGetDevice(&device);
  cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device);
  if (init && handle && e->energy && init() == 0 && handle(bus_id, &e->device) == 0 &&
      e->energy(e->device, &millijoules) == 0)
    return 0;
  fprintf(err, "arc_sweep: --energy: NVML has no energy counter for this GPU\n");
  return 1;
}

struct sweep_energy *sweep_energy_open(FILE *err) {
  struct sweep_energy *e = (struct sweep_energy *)calloc(1, sizeof *e);
  if (!e || !open_library(e, err)) return e;
  sweep_energy_close(e);
  return NULL;
}

double sweep_energy_read(const struct sweep_energy *e) {
  unsigned long long millijoules;
  return e->energy(e->device, &millijoules) == 0 ? (double)millijoules : -1.0;
}

void sweep_energy_close(struct sweep_energy *e) {
  if (!e) return;
  if (e->library) dlclose(e->library);
  free(e);
}

#endif
