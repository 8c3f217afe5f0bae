/* test_two_units_checked.cu - a third unit, of other macros. SPDX-License-Identifier: Apache-2.0 */
#define ARC_CHECK 2
#include "simt/simt.cuh"

#include "arc.cuh"

#include "test_two_units.cuh"

bool checked_unit(void) { return types_are_their_own(); }
