/* arc_papers.cu - arc's atomic path and the papers' two, SW-S and SW-B.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_ARC_PATH(SWEEP_WIDTHS, atomic, ARC_PATH_ATOMIC, 0, a.threshold)
SWEEP_ARC_PATH(SWEEP_WIDTHS, serialized, ARC_PATH_SERIALIZED, 0, a.threshold)
SWEEP_ARC_PATH(SWEEP_WIDTHS, butterfly_always, ARC_PATH_BUTTERFLY, 0, 0)
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, SWEEP_ARC_UNIFORM, butterfly_zeros, ARC_PATH_BUTTERFLY,
                   ARC_PROMISE_INACTIVE_IS_ZERO, 0)
SWEEP_ARC_PATH(SWEEP_WIDTHS, butterfly, ARC_PATH_BUTTERFLY, 0, a.threshold)

/* Atomic and serialized never add what an inactive lane holds: the promise is not for them. */
SWEEP_FAMILY(papers, SWEEP_TABLE(atomic, SWEEP_PATH_ATOMIC, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(serialized, SWEEP_PATH_SERIALIZED, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(butterfly_always, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(butterfly_zeros, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_PROMISED, 0),
             SWEEP_TABLE(butterfly, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
