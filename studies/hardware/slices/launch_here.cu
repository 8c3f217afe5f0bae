/* launch_here.cu - kernels of slices.h on the CPU warp, or a GPU of one's own.
   SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../../common/device.h"
#include "kernels.cuh"

#define SLICE_ENTRY(path, name) {#name "_" #path, name##_##path},
#define SLICE_ENTRIES(name, ...) SLICE_PATHS(SLICE_ENTRY, name)
static const struct {
  const char *name;
  void (*kernel)(struct slice);
} slices[] = {SLICES(SLICE_ENTRIES)};

void slice_launch(const char *kernel, int blocks, struct slice s) {
  for (const auto &k : slices)
    if (strcmp(k.name, kernel) == 0) SIMT_LAUNCH(k.kernel, blocks, SLICE_THREADS, 0, 0, s);
  device_check(cudaDeviceSynchronize(), kernel);
}
