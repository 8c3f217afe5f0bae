/* arc_promises.cu - auto, told less than that there is one key per warp, and more.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

// clang-format off
#define WIDTHS(X, ...) \
  X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(8, __VA_ARGS__) \
  X(9, __VA_ARGS__) X(16, __VA_ARGS__) X(32, __VA_ARGS__)
// clang-format on
#define ALIGNED_PROMISED (SWEEP_ALL_PROMISED | ARC_PROMISE_ALIGNED_16)

SWEEP_UNIFORM_PATH(WIDTHS, auto_no_key, SWEEP_ARC(ARC_PATH_AUTO, 0, ARC_BALANCE_THRESHOLD))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, auto_all,
                   SWEEP_ARC_PROMISED(SWEEP_ALL_PROMISED, ARC_BALANCE_THRESHOLD))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, auto_all_any, SWEEP_ARC_PROMISED(SWEEP_ALL_PROMISED, a.threshold))
SWEEP_UNIFORM_PATH(WIDTHS, auto_aligned,
                   SWEEP_ARC_PROMISED(ALIGNED_PROMISED, ARC_BALANCE_THRESHOLD))
SWEEP_UNIFORM_PATH(WIDTHS, auto_aligned_any, SWEEP_ARC_PROMISED(ALIGNED_PROMISED, a.threshold))

#define TABLE(name, zeros, threshold) SWEEP_TABLE(name, SWEEP_PATH_AUTO, zeros, threshold)
SWEEP_FAMILY(promises, TABLE(auto_no_key, SWEEP_ZEROS_NO_KEY_PROMISED, SWEEP_THRESHOLD_DEFAULT),
             TABLE(auto_all, SWEEP_ZEROS_ALL_PROMISED, SWEEP_THRESHOLD_DEFAULT),
             TABLE(auto_all_any, SWEEP_ZEROS_ALL_PROMISED, SWEEP_ANY_THRESHOLD),
             TABLE(auto_aligned, SWEEP_ZEROS_ALIGNED_PROMISED, SWEEP_THRESHOLD_DEFAULT),
             TABLE(auto_aligned_any, SWEEP_ZEROS_ALIGNED_PROMISED, SWEEP_ANY_THRESHOLD))
