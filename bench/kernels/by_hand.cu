/* by_hand.cu - the surrounding kernel alone, scalar and vector atomics, and a path that is wrong.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

SWEEP_PATH(SWEEP_WIDTHS_AND_WIDE, none, SWEEP_NONE)
SWEEP_PATH(SWEEP_WIDTHS_AND_WIDE, plain, SWEEP_BY_HAND(sweep_add_plain))
SWEEP_PATH(SWEEP_WIDTHS, vector, SWEEP_BY_HAND(sweep_add_vector))
SWEEP_PATH(SWEEP_WIDTHS, broken, SWEEP_BY_HAND(sweep_add_broken))
SWEEP_PATH(SWEEP_ROTATING_WIDTHS, rotating, SWEEP_ROTATING)

SWEEP_FAMILY(by_hand, SWEEP_ANY_TABLE(none, SWEEP_PATH_NONE),
             SWEEP_ANY_TABLE(plain, SWEEP_PATH_PLAIN), SWEEP_ANY_TABLE(vector, SWEEP_PATH_VECTOR),
             SWEEP_ANY_TABLE(broken, SWEEP_PATH_BROKEN),
             SWEEP_ROTATING_TABLE(none, SWEEP_PATH_NONE, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD),
             SWEEP_ROTATING_TABLE(rotating, SWEEP_PATH_PLAIN, SWEEP_ANY_ZEROS, SWEEP_ANY_THRESHOLD))
