/* test_two_units.cu - arc.cuh included twice, and in units of one program with other macros.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../bench/common/test_device.h"
#include "../bench/common/test_memory.h"

#include "arc.cuh"
#include "arc.cuh"
#include "arc_policy.cuh"

#include "test_two_units.cuh"

bool other_unit(float *sums); /* test_two_units_other.cu */
bool checked_unit(void);      /* test_two_units_checked.cu */

static __global__ void add(float *sums) {
  float values[9];
  for (int i = 0; i < 9; ++i) values[i] = (float)(1 + i % 2);
  arc_add_f32(arc_target_f32_rows(sums, 9, 9), 0, values, true);
}

int main(void) {
  if (!test_has_device("test_two_units")) return TEST_SKIPPED;
  const test_memory<float> sums(9);
  SIMT_LAUNCH(add, dim3(1), dim3(32), 0, 0, sums.at);
  const bool types = other_unit(sums.at) && checked_unit() && types_are_their_own();
  const std::vector<float> got = sums.read();
  printf("%g %g %g, must be 96 128 32\n", got[0], got[1], got[8]);
  printf("the types of each unit are %s\n", types ? "its own" : "ANOTHER ONE'S");
  return types && got[0] == 96.0f && got[1] == 128.0f && got[8] == 32.0f ? 0 : 1;
}
