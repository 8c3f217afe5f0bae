/* arc_transposed.cu - the transposed reduction. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_ARC_PATH(SWEEP_WIDTHS, transposed_always, ARC_PATH_TRANSPOSED, 0, 0)
SWEEP_UNIFORM_PATH(SWEEP_ARC_UNIFORM, transposed_zeros, ARC_PATH_TRANSPOSED,
                   ARC_PROMISE_INACTIVE_IS_ZERO, 0)
SWEEP_ARC_PATH(SWEEP_WIDTHS, transposed, ARC_PATH_TRANSPOSED, 0, a.threshold)

SWEEP_FAMILY(transposed, SWEEP_TABLE(transposed_always, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(transposed_zeros, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_PROMISED, 0),
             SWEEP_TABLE(transposed, SWEEP_PATH_TRANSPOSED, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
