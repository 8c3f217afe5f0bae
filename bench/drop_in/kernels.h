/* bench/drop_in: kernels that do little else than atomicAdd, built once for each variant.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum { DROP_IN_ROWS = 1 << 18, DROP_IN_PADDING = 128, DROP_IN_N = 1 << 22 };
enum { DROP_IN_BYTES = (DROP_IN_ROWS + DROP_IN_PADDING) * 16 };

/* Adds DROP_IN_N values by their keys. What `out` points to is float, unsigned, double, or a
   vector of floats. */
typedef void (*drop_in_kernel)(void *out, const int *keys, const float *values);
struct drop_in_launch {
  const char *name;
  int blocks;
  drop_in_kernel kernel;
};
/* A variant's kernels, in one order; `forget` clears what it has learnt. */
struct drop_in_variant {
  const char *name;
  const drop_in_launch *launches;
  void (*forget)(void);
};
enum { DROP_IN_KERNELS = 8, DROP_IN_THREADS = 256 };
