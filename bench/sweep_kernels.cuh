/* sweep_kernels.cuh - the measured kernels of one path: every width, with one key and with many.
   SPDX-License-Identifier: Apache-2.0

   A file in kernels/ defines, then includes this one:
     SWEEP_NAME              suffix of the kernels and of their table
     SWEEP_ADD_UNIFORM(W)    the statement that adds in the kernel with one key per block
     SWEEP_ADD_KEYED(W)      the same where lanes draw their own keys
   A statement sees `a` (the arguments), `target`, `d` (key and active) and `values` (W floats).
   Where a path needs what this build lacks, the file defines SWEEP_MISSING instead of the
   statements: words that go on after "unavailable: ". */
#ifndef ARC_BENCH_SWEEP_KERNELS_CUH
#define ARC_BENCH_SWEEP_KERNELS_CUH

#include "simt/simt.cuh"

#include "arc.cuh"

#include "sweep.h"
#include "sweep_draw.cuh"
#include "sweep_kernel_table.h"

#if SIMT_ON_CPU
#define SWEEP_LOOP
/* So that the counters never take two updates of a warp for one instruction. */
#define SWEEP_NEXT_UPDATE() __syncwarp(0xffffffffu)
#else
#define SWEEP_LOOP _Pragma("unroll 1")
#define SWEEP_NEXT_UPDATE() ((void)0)
#endif

#ifndef SWEEP_MIN_BLOCKS
#define SWEEP_MIN_BLOCKS 1 /* blocks of 256 threads a multiprocessor must hold at least */
#endif

#define SWEEP_JOIN(a, b) SWEEP_JOIN_SPELT(a, b)
#define SWEEP_JOIN_SPELT(a, b) a##b
#define SWEEP_KERNEL_NAME(kind, W) SWEEP_JOIN(SWEEP_JOIN(sweep_##kind##_, SWEEP_NAME), _##W)

#ifdef SWEEP_MISSING

extern const struct sweep_kernels SWEEP_JOIN(sweep_kernels_, SWEEP_NAME)[SWEEP_WIDTH_COUNT] = {};
extern const char *const SWEEP_JOIN(sweep_missing_, SWEEP_NAME) = SWEEP_MISSING;

#else

#define SWEEP_KERNEL(kind, W, ADD)                                                           \
  static __global__ void __launch_bounds__(256, SWEEP_MIN_BLOCKS)                            \
      SWEEP_KERNEL_NAME(kind, W)(const struct sweep_args a) {                                \
    struct sweep_lane lane = sweep_lane_begin(&a, blockIdx.x, threadIdx.x, blockDim.x);      \
    arc_target_f32 target = arc_target_f32_rows(a.rows, a.stride, W);                        \
    (void)target;                                                                            \
    SWEEP_LOOP                                                                               \
    for (int u = 0; u < a.updates; ++u) {                                                    \
      struct sweep_update d = sweep_draw_##kind(&a, &lane);                                  \
      float values[W];                                                                       \
      sweep_values(values, W, d.active ? d.x : lane.setup.inactive_value, lane.setup.never); \
      ADD(W);                                                                                \
      SWEEP_NEXT_UPDATE();                                                                   \
    }                                                                                        \
  }

/* In the keyed kernel an inactive lane's key is garbage too. */
#define SWEEP_ADD_KEYED_GARBAGE(W)                \
  do {                                            \
    d.key = d.active ? d.key : simt_poison_key(); \
    SWEEP_ADD_KEYED(W);                           \
  } while (0)

#define SWEEP_KERNELS(W)                      \
  SWEEP_KERNEL(uniform, W, SWEEP_ADD_UNIFORM) \
  SWEEP_KERNEL(keyed, W, SWEEP_ADD_KEYED_GARBAGE)
SWEEP_WIDTHS(SWEEP_KERNELS)

#define SWEEP_ENTRY(W) {W, SWEEP_KERNEL_NAME(uniform, W), SWEEP_KERNEL_NAME(keyed, W)},
extern const struct sweep_kernels SWEEP_JOIN(sweep_kernels_, SWEEP_NAME)[SWEEP_WIDTH_COUNT] = {
    SWEEP_WIDTHS(SWEEP_ENTRY)};
extern const char *const SWEEP_JOIN(sweep_missing_, SWEEP_NAME) = NULL;

#endif

#endif
