/* test_two_units_other.cu - the second translation unit of test_two_units.
 * SPDX-License-Identifier: Apache-2.0
 */
#define ARC_MAX_PIECES 8
#include "arc_policy.cuh"
#include "simt/simt.cuh"

#include "arc.cuh"

#include "test_two_units.cuh"

/* The same name as in the other unit, another body. */
static __global__ void add(float *sums) {
  const float values[2] = {2.0f, 2.0f};
  arc_add_uniform_f32(arc_target_f32_rows(sums, 2, 2), 0, values, true);
}

bool other_unit(float *sums) {
  SIMT_LAUNCH(add, dim3(1), dim3(32), 0, 0, sums);
  return types_are_their_own();
}
