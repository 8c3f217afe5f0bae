/* arc_auto.cu - arc decides: by its default, a literal, as users call it; or with a threshold known
   at run time. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_ARC_PATH(SWEEP_WIDTHS_AND_WIDE, auto_default, ARC_PATH_AUTO, 0, ARC_BALANCE_THRESHOLD)
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, SWEEP_ARC_UNIFORM, auto_zeros, ARC_PATH_AUTO,
                   ARC_PROMISE_INACTIVE_IS_ZERO, ARC_BALANCE_THRESHOLD)
SWEEP_ARC_PATH(SWEEP_WIDTHS, auto_any, ARC_PATH_AUTO, 0, a.threshold)

SWEEP_FAMILY(auto,
             SWEEP_TABLE(auto_default, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_THRESHOLD_DEFAULT),
             SWEEP_TABLE(auto_zeros, SWEEP_PATH_AUTO, SWEEP_ZEROS_PROMISED,
                         SWEEP_THRESHOLD_DEFAULT),
             SWEEP_TABLE(auto_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
