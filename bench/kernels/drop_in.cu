/* drop_in.cu - what nvcc -include arc/drop_in.cuh makes of plain atomics: their source behind it.
   Each call decides: what the flag has learnt would depend on the cells before.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_DROP_IN ARC_DROP_IN_SUMS
#include "kernel.cuh"

#include "arc/drop_in.cuh"

#include "by_hand.cuh"

#define DROP_IN_WIDTHS(X, ...) SWEEP_FEW_WIDTHS(X, __VA_ARGS__) X(12, __VA_ARGS__)
SWEEP_PATH(DROP_IN_WIDTHS, drop_in, SWEEP_BY_HAND(sweep_add_plain))
SWEEP_PATH(SWEEP_ROTATING_WIDTHS, rotating, SWEEP_ROTATING)

SWEEP_FAMILY(drop_in, SWEEP_ANY_TABLE(drop_in, SWEEP_PATH_DROP_IN),
             SWEEP_ROTATING_TABLE(rotating, SWEEP_PATH_DROP_IN, SWEEP_ANY_ZEROS,
                                  SWEEP_ANY_THRESHOLD))
