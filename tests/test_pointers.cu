/* test_pointers.cu - arc_add_pointers_f32 and its kin: the papers' form, an array of pointers a lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parameters of a key lie anywhere; inactive lanes hold wild pointers. Whole warps, partial ones
 * with a mask, and divergent code.
 */
#include "check.cuh"

static void run_shapes(int form, int width, int path, int threshold, int grouping) {
  struct check_case c;
  const int whole = form == CHECK_POINTERS;
  if (!check_open(&c, "pointers", width, 33, 32 * SHAPE_COUNT - (whole ? 0 : 13), 1)) return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  if (grouping % 3)
    check_layout_scattered(&c, 64);
  else
    check_layout_rows(&c, 64, (width + 3) / 4 * 4, 0);
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w) {
    if (!whole && check_below(&c.random, 2)) {
      c.alive[w] &= check_bits(&c.random);
      c.calling[w] = check_bits(&c.random);
    }
    check_fill_rows(&c, 0, w, grouping);
  }
  check_run_form(&c, check_launches[form], 1);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  int turn = 0;
  for (int width = 1; width <= 34; ++width) {
    const int n = width <= 33 ? width : 100;
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path, ++turn) {
      run_shapes(CHECK_POINTERS, n, path, turn % 35, turn);
      run_shapes(CHECK_POINTERS_MASKED + turn % 2, n, path, turn % 35, turn / 2);
    }
  }
  return check_finish();
}
