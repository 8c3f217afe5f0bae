/* kernels.cu - the kernels that most tests share: every form of call on every path, at widths known
   at run time only. Rows and dynamic targets are two ways to walk such a width: where this file has
   one, the test of the form has the other.
   SPDX-License-Identifier: Apache-2.0

   CHECK_PART: 1 to 4, the part of them that a file compiled beside the others has; default: all. */
#include "check_pointers.cuh"

#define PIECES arc_target_f32_pieces(plan.pieces, plan.piece_count)
#define KERNELS(name, target, ...)                                               \
  CHECK_KERNEL(name, CHECK_MAX_WIDTH, plan.width, target, __VA_ARGS__)           \
  void check_launch_##name(const struct check_plan *plan, int grid, int block) { \
    name##_launch(plan, grid, block);                                            \
  }
#define FORM(name, form, target) KERNELS(name, target, CHECK_CALL_NULL(form))
#define FORM_OF_POINTERS(name, form) \
  KERNELS(name, CHECK_ROWS, CHECK_CALL_POINTERS(form, check_null_call))

#if !defined CHECK_PART || CHECK_PART == 1
FORM(keyed, CHECK_KEYED, CHECK_DYNAMIC)
FORM(uniform, CHECK_UNIFORM, CHECK_ROWS)
FORM(divergent, CHECK_DIVERGENT, CHECK_ROWS)
#endif
#if !defined CHECK_PART || CHECK_PART == 2
FORM(masked, CHECK_MASKED, CHECK_ROWS)
FORM_OF_POINTERS(pointers, CHECK_POINTERS)
#endif
#if !defined CHECK_PART || CHECK_PART == 3
FORM(pieces, CHECK_PIECES, PIECES)
#endif
#if !defined CHECK_PART || CHECK_PART == 4
FORM_OF_POINTERS(pointers_masked, CHECK_POINTERS_MASKED)
FORM_OF_POINTERS(pointers_divergent, CHECK_POINTERS_DIVERGENT)
#endif
