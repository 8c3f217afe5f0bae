/* arc_auto.cu - arc decides: by its default, a literal, as users call it; or with a threshold known
   at run time. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_ARC_PATH(SWEEP_WIDTHS_AND_WIDE, auto_default, ARC_PATH_AUTO, 0, ARC_BALANCE_THRESHOLD)
SWEEP_UNIFORM_PATH(SWEEP_ARC_UNIFORM, auto_zeros, ARC_PATH_AUTO, ARC_PROMISE_INACTIVE_IS_ZERO,
                   ARC_BALANCE_THRESHOLD)
SWEEP_ARC_PATH(SWEEP_WIDTHS, auto_any, ARC_PATH_AUTO, 0, a.threshold)

/* Every promise: the kernel has voted, and only calls where some lane is active. For one key a
   block, which all its lanes hold. */
#define ALL_PROMISED                                                                   \
  (ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO | ARC_PROMISE_INACTIVE_HAS_KEY | \
   ARC_PROMISE_WARP_IS_ACTIVE)
#define PROMISED_KERNEL(W, name, threshold)                          \
  SWEEP_KERNEL(uniform, W, name,                                     \
               if (__any_sync(0xffffffffu, d.active)) sweep_arc_add( \
                   target, d.key, values, d.active, ARC_PATH_AUTO, ALL_PROMISED, threshold))
SWEEP_UNIFORM_PATH(PROMISED_KERNEL, auto_promised, ARC_BALANCE_THRESHOLD)
SWEEP_UNIFORM_PATH(PROMISED_KERNEL, auto_promised_any, a.threshold)

SWEEP_FAMILY(
    auto, SWEEP_TABLE(auto_default, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_TABLE(auto_zeros, SWEEP_PATH_AUTO, SWEEP_ZEROS_PROMISED, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_TABLE(auto_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD),
    SWEEP_TABLE(auto_promised, SWEEP_PATH_AUTO, SWEEP_ZEROS_ALL_PROMISED, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_TABLE(auto_promised_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_ALL_PROMISED, SWEEP_ANY_THRESHOLD))
