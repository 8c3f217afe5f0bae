/* launch_here.cu - kernels of cells.h and slices.h on the CPU warp, or a GPU of one's own.
   SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../../../bench/common/device.h"
#include "kernels.cuh"
#include "slice_kernels.cuh"

#define ENTRY(name, W) \
  {"one_" #name "_" #W, one_##name##_##W}, {"keyed_" #name "_" #W, keyed_##name##_##W},
static const struct {
  const char *name;
  void (*kernel)(float *, struct cell);
} kernels[] = {CELL_PATHS(ENTRY, 1) CELL_PATHS(ENTRY, 4) CELL_PATHS(ENTRY, 9)
                   CELL_PATHS(ENTRY, 16)};

#define SLICE_ENTRY(path, name) {#name "_" #path, name##_##path},
#define SLICE_ENTRIES(name, ...) SLICE_PATHS(SLICE_ENTRY, name)
static const struct {
  const char *name;
  void (*kernel)(struct slice);
} slices[] = {SLICES(SLICE_ENTRIES)};

void cell_launch(const char *kernel, int blocks, float *rows, struct cell c) {
  for (const auto &k : kernels)
    if (strcmp(k.name, kernel) == 0) SIMT_LAUNCH(k.kernel, blocks, CELL_THREADS, 0, 0, rows, c);
  device_check(cudaDeviceSynchronize(), kernel);
}

void slice_launch(const char *kernel, int blocks, struct slice s) {
  for (const auto &k : slices)
    if (strcmp(k.name, kernel) == 0) SIMT_LAUNCH(k.kernel, blocks, SLICE_THREADS, 0, 0, s);
  device_check(cudaDeviceSynchronize(), kernel);
}
