/* by_hand.cu - the surrounding kernel alone, scalar and vector atomics, and a path that is wrong.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

SWEEP_NONE_PATH(SWEEP_WIDTHS_AND_WIDE)
SWEEP_HAND_PATH(SWEEP_WIDTHS_AND_WIDE, plain, sweep_add_plain, sweep_add_plain)
SWEEP_HAND_PATH(SWEEP_WIDTHS, vector, sweep_add_vector, sweep_add_vector)
SWEEP_HAND_PATH(SWEEP_WIDTHS, broken, sweep_add_broken, sweep_add_broken)
SWEEP_ROTATING_PATH

SWEEP_FAMILY(by_hand, SWEEP_TABLE(none, SWEEP_PATH_NONE, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(plain, SWEEP_PATH_PLAIN, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(vector, SWEEP_PATH_VECTOR, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(broken, SWEEP_PATH_BROKEN, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_ROTATING_TABLE(none, SWEEP_PATH_NONE, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_ROTATING_TABLE(rotating, SWEEP_PATH_PLAIN, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD))
