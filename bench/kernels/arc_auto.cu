/* arc_auto.cu - arc decides: by its default, a literal, as users call it; or with a threshold known
   at run time. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_PATH(SWEEP_WIDTHS_AND_WIDE, auto_default,
           SWEEP_ARC(ARC_PATH_AUTO, one_key, ARC_BALANCE_THRESHOLD))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, auto_zeros,
                   SWEEP_ARC(ARC_PATH_AUTO, one_key | ARC_PROMISE_INACTIVE_IS_ZERO,
                             ARC_BALANCE_THRESHOLD))
SWEEP_PATH(SWEEP_WIDTHS, auto_any, SWEEP_ARC(ARC_PATH_AUTO, one_key, a.threshold))

SWEEP_FAMILY(
    auto, SWEEP_TABLE(auto_default, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_ROTATING_TABLE(auto_default, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_TABLE(auto_zeros, SWEEP_PATH_AUTO, SWEEP_ZEROS_PROMISED, SWEEP_THRESHOLD_DEFAULT),
    SWEEP_TABLE(auto_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
