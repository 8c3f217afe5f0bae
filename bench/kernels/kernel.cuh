/* kernel.cuh - what the files of kernels/ define their kernels and tables with.
   SPDX-License-Identifier: Apache-2.0

   A kernel is the generator of draw.cuh around one statement that adds. The statement sees `a` (the
   arguments), `lane`, `width`, `target`, `one_key` (what a kernel with one key per block promises,
   else 0), `d` (key and active) and `values`. SWEEP_PATH makes of it the kernels of all widths, for
   one key per block and for keys that every lane draws; SWEEP_TABLE makes a table of them. A file
   whose type is not f32 says so by SWEEP_NAME, SWEEP_S, SWEEP_T and SWEEP_ROWS; see typed.cuh. */
#pragma once

#include "simt/simt.cuh"

#include "arc.cuh"

#include "cell.h"
#include "draw.cuh"
#include "kernels.h"

/* The widths that have kernels: a literal in each. A few paths have a wide one besides, as where a
   renderer carries 64 channels. */
// clang-format off
#define SWEEP_WIDTHS(X, ...) \
  X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(6, __VA_ARGS__) \
  X(8, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(12, __VA_ARGS__) X(14, __VA_ARGS__) \
  X(16, __VA_ARGS__) X(20, __VA_ARGS__) X(32, __VA_ARGS__)
/* Of types other than f32. */
#define SWEEP_FEW_WIDTHS(X, ...) \
  X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(9, __VA_ARGS__) \
  X(16, __VA_ARGS__)
/* Of arc's further forms. */
#define SWEEP_FORM_WIDTHS(X, ...) \
  X(1, __VA_ARGS__) X(3, __VA_ARGS__) X(9, __VA_ARGS__) X(16, __VA_ARGS__) X(32, __VA_ARGS__)
// clang-format on
#define SWEEP_WIDTHS_AND_WIDE(X, ...) SWEEP_WIDTHS(X, __VA_ARGS__) X(70, __VA_ARGS__)

#if SIMT_ON_CPU
#define SWEEP_LOOP
/* So that the counters never take two updates of a warp for one instruction. */
#define SWEEP_NEXT_UPDATE() __syncwarp(0xffffffffu)
#else
#define SWEEP_LOOP _Pragma("unroll 1")
#define SWEEP_NEXT_UPDATE() ((void)0)
#endif

/* The type of a file: its name in cell.h, the suffix and type of its values, and its rows. */
#ifndef SWEEP_NAME
#define SWEEP_NAME f32
#define SWEEP_S f32
#define SWEEP_T float
#endif
#ifndef SWEEP_ROWS
#define SWEEP_ROWS(width) arc_target_f32_rows(a.rows, a.stride, width)
#endif
#define SWEEP_SPELL(a, b) a##b
#define SWEEP_JOIN(a, b) SWEEP_SPELL(a, b)
#define SWEEP_TYPE SWEEP_JOIN(SWEEP_TYPE_, SWEEP_NAME)
#define SWEEP_TARGET SWEEP_JOIN(arc_target_, SWEEP_S)

/* What kernels do before and after their loop, their width, and a lane's values; a file may define
   them anew. */
#define SWEEP_WIDTH(W) W
#define SWEEP_VALUES(W) \
  SWEEP_T values[W];    \
  sweep_values(values, W, sweep_x(values, d, &lane), lane.setup.never)
#define SWEEP_BEFORE(W) ((void)0)
#define SWEEP_AFTER() ((void)0)

#define SWEEP_KERNEL(kind, W, name, ...)                                                \
  static __global__ void __launch_bounds__(256)                                         \
      sweep_##kind##_##name##_##W(const struct sweep_args a) {                          \
    struct sweep_lane lane = sweep_lane_begin(&a, blockIdx.x, threadIdx.x, blockDim.x); \
    const int width = SWEEP_WIDTH(W), one_key = SWEEP_ONE_KEY_##kind;                   \
    SWEEP_TARGET target = SWEEP_ROWS(W);                                                \
    (void)width, (void)one_key, (void)target;                                           \
    SWEEP_BEFORE(W);                                                                    \
    SWEEP_LOOP                                                                          \
    for (int u = 0; u < a.updates; ++u) {                                               \
      struct sweep_update d = sweep_draw_##kind(&a, &lane);                             \
      SWEEP_VALUES(W);                                                                  \
      SWEEP_GARBAGE_##kind;                                                             \
      __VA_ARGS__;                                                                      \
      SWEEP_NEXT_UPDATE();                                                              \
    }                                                                                   \
    SWEEP_AFTER();                                                                      \
  }
/* In the keyed kernel an inactive lane's key is garbage too. */
#define SWEEP_GARBAGE_uniform ((void)0)
#define SWEEP_GARBAGE_keyed d.key = d.active ? d.key : simt_poison_key()
#define SWEEP_ONE_KEY_uniform ARC_PROMISE_ONE_KEY
#define SWEEP_ONE_KEY_keyed 0

/* The kernels and their list, name_kernels, of a statement for both kinds of keys; or of one that
   is for one key per block only. */
#define SWEEP_LIST(name, ...) static const struct sweep_kernels name##_kernels[] = {__VA_ARGS__};
#define SWEEP_BOTH(W, name, ...)              \
  SWEEP_KERNEL(uniform, W, name, __VA_ARGS__) \
  SWEEP_KERNEL(keyed, W, name, __VA_ARGS__)
#define SWEEP_BOTH_ENTRY(W, name) {W, sweep_uniform_##name##_##W, sweep_keyed_##name##_##W},
#define SWEEP_PATH(widths, name, ...) \
  widths(SWEEP_BOTH, name, __VA_ARGS__) SWEEP_LIST(name, widths(SWEEP_BOTH_ENTRY, name))
#define SWEEP_UNIFORM(W, name, ...) SWEEP_KERNEL(uniform, W, name, __VA_ARGS__)
#define SWEEP_UNIFORM_ENTRY(W, name) {W, sweep_uniform_##name##_##W, nullptr},
#define SWEEP_UNIFORM_PATH(widths, name, ...) \
  widths(SWEEP_UNIFORM, name, __VA_ARGS__) SWEEP_LIST(name, widths(SWEEP_UNIFORM_ENTRY, name))

/* Statements: without arc, by add(rows, stride, width, key, values, active); */
#define SWEEP_BY_HAND(add) add(a.rows, a.stride, width, d.key, values, d.active)
/* by one for one key per block, and another one; */
#define SWEEP_BY_HANDS(add_uniform, add_keyed) \
  if (one_key)                                 \
    SWEEP_BY_HAND(add_uniform);                \
  else                                         \
    SWEEP_BY_HAND(add_keyed)
/* none: the surrounding kernel alone; plain atomics in an order that rotates from lane to lane; */
#define SWEEP_NONE sweep_add_none(lane.setup.never, d.key)
#define SWEEP_ROTATING sweep_add_rotating(a.rows, a.stride, width, d.key, d.x, d.active)
#define SWEEP_ROTATING_WIDTHS(X, ...) X(3, __VA_ARGS__) X(12, __VA_ARGS__)
/* arc's call; */
SWEEP_FN void sweep_arc_add(SWEEP_TARGET target, int key, const SWEEP_T *values, bool active,
                            int path, int promises, int threshold) {
  arc_options o = arc_options_default();
  o.path = path;
  o.promises |= promises;
  o.threshold = threshold;
  o.exact = SWEEP_TYPE == SWEEP_TYPE_exact;
  SWEEP_JOIN(arc_add_with_, SWEEP_S)(target, key, values, active, o);
}
#define SWEEP_ARC(path, promises, threshold) \
  sweep_arc_add(target, d.key, values, d.active, path, promises, threshold)
/* and auto with what a renderer promises: the kernel has voted, and only calls where some lane is
   active. For one key per block, which all its lanes hold. */
#define SWEEP_ALL_PROMISED (ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER)
#define SWEEP_ARC_PROMISED(promises, threshold) \
  if (__any_sync(0xffffffffu, d.active)) SWEEP_ARC(ARC_PATH_AUTO, promises, threshold)

#define SWEEP_TABLE_OF(name, path, form, zeros, threshold)    \
  {                                                           \
    path, form, SWEEP_TYPE, zeros, threshold, name##_kernels, \
        (int)(sizeof name##_kernels / sizeof *name##_kernels) \
  }
#define SWEEP_TABLE(name, path, zeros, threshold) \
  SWEEP_TABLE_OF(name, path, SWEEP_FORM_LITERAL, zeros, threshold)
#define SWEEP_ROTATING_TABLE(name, path, zeros, threshold) \
  SWEEP_TABLE_OF(name, path, SWEEP_FORM_ROTATING, zeros, threshold)
/* Of a path that needs no promise, or takes its threshold from the arguments. */
#define SWEEP_ANY_TABLE(name, path) SWEEP_TABLE(name, path, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD)
#define SWEEP_FAMILY(name, ...)                                           \
  static const struct sweep_kernel_table name##_tables[] = {__VA_ARGS__}; \
  extern const struct sweep_kernel_family sweep_family_##name = {         \
      name##_tables, (int)(sizeof name##_tables / sizeof *name##_tables)};
