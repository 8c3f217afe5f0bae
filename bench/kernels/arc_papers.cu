/* arc_papers.cu - arc's atomic path and the papers' two, SW-S and SW-B.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

SWEEP_PATH(SWEEP_WIDTHS, atomic, SWEEP_ARC(ARC_PATH_ATOMIC, one_key, a.threshold))
SWEEP_PATH(SWEEP_WIDTHS, serialized, SWEEP_ARC(ARC_PATH_SERIALIZED, one_key, a.threshold))
SWEEP_PATH(SWEEP_WIDTHS, butterfly_always, SWEEP_ARC(ARC_PATH_BUTTERFLY, one_key, 0))
SWEEP_UNIFORM_PATH(SWEEP_WIDTHS, butterfly_zeros,
                   SWEEP_ARC(ARC_PATH_BUTTERFLY, one_key | ARC_PROMISE_INACTIVE_IS_ZERO, 0))
SWEEP_PATH(SWEEP_WIDTHS, butterfly, SWEEP_ARC(ARC_PATH_BUTTERFLY, one_key, a.threshold))

/* Atomic and serialized never add what an inactive lane holds: the promise is not for them. */
SWEEP_FAMILY(papers, SWEEP_ANY_TABLE(atomic, SWEEP_PATH_ATOMIC),
             SWEEP_ANY_TABLE(serialized, SWEEP_PATH_SERIALIZED),
             SWEEP_TABLE(butterfly_always, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_NONE, 0),
             SWEEP_TABLE(butterfly_zeros, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_PROMISED, 0),
             SWEEP_TABLE(butterfly, SWEEP_PATH_BUTTERFLY, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD))
