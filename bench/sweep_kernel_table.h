/* sweep_kernel_table.h - the kernel tables that the files of kernels/ export.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_SWEEP_KERNEL_TABLE_H
#define ARC_BENCH_SWEEP_KERNEL_TABLE_H

struct sweep_args;
typedef void (*sweep_kernel)(struct sweep_args a);

struct sweep_kernels {
  int width;
  sweep_kernel uniform, keyed;
};

#define SWEEP_ONE_EACH(W) +1
#define SWEEP_WIDTH_COUNT (0 SWEEP_WIDTHS(SWEEP_ONE_EACH))

/* Suffix _zeros: compiled with ARC_INACTIVE_IS_ZERO=1. auto_default: the literal
   ARC_BALANCE_THRESHOLD; _always: the literal 0; the other tables take the threshold from the
   arguments. The peers, atomic and serialized never add what an inactive lane holds: the promise is
   not for them. A run-time threshold for auto with the promise is left out: auto is what compiles
   longest. */
// clang-format off
#define SWEEP_TABLES(X)                                                                  \
  X(none) X(plain) X(vector) X(cg) X(cub) X(cub_batched) X(shuffle_skip) X(match_shared) \
  X(broken) X(atomic) X(serialized)                                                      \
  X(butterfly) X(butterfly_zeros) X(butterfly_always) X(butterfly_always_zeros)          \
  X(transposed) X(transposed_zeros) X(transposed_always) X(transposed_always_zeros)      \
  X(tree) X(tree_zeros) X(tree_always)                                                   \
  X(auto) X(auto_default) X(auto_default_zeros)
// clang-format on

/* Each table comes with what this build lacks for it, or null where it has kernels. */
#define SWEEP_DECLARE_TABLE(name)                                            \
  extern const struct sweep_kernels sweep_kernels_##name[SWEEP_WIDTH_COUNT]; \
  extern const char *const sweep_missing_##name;
SWEEP_TABLES(SWEEP_DECLARE_TABLE)

struct sweep_cell;
sweep_kernel sweep_kernel_of(const struct sweep_cell *c);

#endif
