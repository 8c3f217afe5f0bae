/* kernels.cu - the kernels that most tests share: every form of call on every path, at widths known
   at run time only.
   SPDX-License-Identifier: Apache-2.0 */
#include "check.cuh"

#define PIECES arc_target_f32_pieces(plan.pieces, plan.piece_count)
#define FORM(name, form, target)                                                 \
  CHECK_KERNEL(name, CHECK_MAX_WIDTH, plan.width, target, CHECK_CALL(form))      \
  void check_launch_##name(const struct check_plan *plan, int grid, int block) { \
    name##_launch(plan, grid, block);                                            \
  }

FORM(keyed, CHECK_KEYED, CHECK_DYNAMIC)
FORM(uniform, CHECK_UNIFORM, CHECK_ROWS)
FORM(masked, CHECK_MASKED, CHECK_DYNAMIC)
FORM(divergent, CHECK_DIVERGENT, CHECK_ROWS)
FORM(pieces, CHECK_PIECES, PIECES)
FORM(pointers, CHECK_POINTERS, CHECK_ROWS)
FORM(pointers_masked, CHECK_POINTERS_MASKED, CHECK_ROWS)
FORM(pointers_divergent, CHECK_POINTERS_DIVERGENT, CHECK_ROWS)
