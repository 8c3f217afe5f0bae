/* kernels.h - the tables of measured kernels. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cell.h"

struct sweep_args;
typedef void (*sweep_kernel)(struct sweep_args a);

/* The kernels of one path, its promises and its kind of threshold; null where there is none. */
struct sweep_kernels {
  int width; /* SWEEP_ANY_WIDTH: known at run time only */
  sweep_kernel uniform, keyed;
};
struct sweep_kernel_table {
  int path, form, type;
  int zeros;     /* or SWEEP_ANY_ZEROS: what inactive lanes hold makes no difference to the path */
  int threshold; /* a literal in the kernel, or SWEEP_ANY_THRESHOLD: taken from the arguments */
  const struct sweep_kernels *kernels;
  int count;
};
enum { SWEEP_RUN_TIME_WIDTH = 32 }; /* the largest width known at run time only */
enum { SWEEP_ANY_WIDTH = -1, SWEEP_ANY_ZEROS = -1, SWEEP_ANY_THRESHOLD = -2 };

/* One family a source file; the first table that fits a cell is taken. */
#define SWEEP_FAMILIES(X) \
  X(by_hand)              \
  X(peers)                \
  X(cg)                   \
  X(cub)                  \
  X(papers)               \
  X(reductions)           \
  X(auto) X(promises) X(forms) X(drop_in) X(planes) X(run_time) SWEEP_OTHER_TYPES(X)
#define SWEEP_OTHER_TYPES(X) X(f64) X(i64) X(f16) X(bf16) X(fixed) X(exact) X(wide)
struct sweep_kernel_family {
  const struct sweep_kernel_table *tables;
  int count;
};
#define SWEEP_DECLARE_FAMILY(name) extern const struct sweep_kernel_family sweep_family_##name;
SWEEP_FAMILIES(SWEEP_DECLARE_FAMILY)

/* What this build lacks for the peers that come with the CUDA toolkit, in words; or null. */
extern const char *const sweep_missing_cg, *const sweep_missing_cub;
const char *sweep_path_missing(int path);

/* What measures a cell. Null where there is none; then *why says so, in words. */
sweep_kernel sweep_kernel_of(const struct sweep_cell *c, const char **why);

int sweep_stride(const struct sweep_cell *c); /* of rows, in values */
int sweep_value_bytes(int type);              /* in memory */
int sweep_row_bytes(const struct sweep_cell *c);
