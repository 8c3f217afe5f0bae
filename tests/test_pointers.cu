/* test_pointers.cu - arc_add_pointers_f32: the papers' form, an array of pointers per lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parameters of a key lie anywhere; inactive lanes hold wild pointers.
 */
#include "check.cuh"

#define CALL_POINTERS                                                                    \
  do {                                                                                   \
    float *pointers[CHECK_MAX_WIDTH];                                                    \
    float *const *from = plan.pointers + check_call(&plan, update) * width;              \
    for (int k = 0; k < width; ++k) pointers[k] = from[k];                               \
    CHECK_BY_PATH(arc_add_pointers_,                                          \
                  (pointers, width, CHECK_KEY, values, CHECK_ACTIVE, plan.threshold));   \
    for (int k = 0; k < width; ++k)                                                      \
      if (pointers[k] != from[k]) atomicAdd(plan.modified, 1);                           \
    (void)target;                                                                        \
  } while (0)

CHECK_KERNEL(add, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, CALL_POINTERS)

static void run_shapes(int width, int path, int threshold, int grouping)
{
  struct check_random random;
  if (!check_begin("pointers", &random)) return;
  struct check_case c;
  check_case_init(&c, random, width, 33, 32 * SHAPE_COUNT, 1);
  c.plan.path = path;
  c.plan.threshold = threshold;
  if (grouping % 3) check_layout_scattered(&c, 64);
  else check_layout_rows(&c, 64, (width + 3) / 4 * 4, 0);
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w) check_fill_rows(&c, 0, w, grouping);
  check_run_form(&c, add_launch, 1);
  check_case_free(&c);
}

int main(int argc, char **argv)
{
  check_main(argc, argv);
  int turn = 0;
  for (int width = 1; width <= 34; ++width) {
    const int n = width <= 33 ? width : 100;
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path, ++turn)
      run_shapes(n, path, turn % 35, turn);
  }
  return check_finish();
}
