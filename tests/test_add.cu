/* test_add.cu - arc_add_f32, arc_add_uniform_f32 and the papers' form, an array of pointers a lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every count and shape of active lanes x every path x every grouping of keys, width and threshold
 * by turns, at a run-time width; test_widths.cu has the literal ones. Pointers of a key lead
 * anywhere, and are made in whole warps, in partial ones with a mask, and in divergent code.
 */
#include "check.cuh"

/* One launch: every count and shape of active lanes, `updates` groupings from `grouping` on. */
static void run_shapes(int form, int width, int path, int threshold, int updates, int grouping) {
  static const char *const names[CHECK_FORMS] = {
      "keyed", "uniform", "", "", "", "pointers", "masked pointers", "divergent pointers"};
  struct check_case c;
  const bool partial = form > CHECK_POINTERS;
  if (!check_open(&c, names[form], width, 33, 32 * SHAPE_COUNT - (partial ? 13 : 0), updates))
    return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  c.exact = check_below(&c.random, 4) != 0;
  if (form >= CHECK_POINTERS && grouping % 3)
    check_layout_scattered(&c, 64);
  else
    check_layout_rows(&c, form == CHECK_KEYED ? 1100 : 64, width + check_below(&c.random, 4),
                      check_below(&c.random, 4));
  check_fill_shapes(&c);
  for (int w = 0; partial && w < c.warps; ++w)
    if (check_below(&c.random, 2)) {
      c.alive[w] &= check_bits(&c.random);
      c.calling[w] = check_bits(&c.random);
    }
  for (int u = 0; u < updates; ++u)
    for (int w = 0; w < c.warps; ++w)
      check_fill_rows(&c, u, w, form == CHECK_UNIFORM ? 0 : grouping + u);
  check_run_form(&c, check_launches[form], form >= CHECK_POINTERS);
}

/* All groupings at the widths of gradient kernels. */
static void groupings(void) {
  const int widths[] = {1, 3, 9};
  for (int i = 0; i < 3; ++i)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      run_shapes(CHECK_KEYED, widths[i], path, path % 2 ? 1 + i : ARC_BALANCE_THRESHOLD,
                 CHECK_GROUPINGS, 0);
}

/* Every width on every path. */
static void widths(void) {
  int turn = 0;
  for (int width = 1; width <= 35; width += CHECK_WIDTH_STEP) {
    const int n = width <= 33 ? width : width == 34 ? 64 : 100;
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path, ++turn) {
      run_shapes(CHECK_KEYED, n, path, turn % 5 ? turn % 7 : ARC_THRESHOLD_AUTO, 1, turn);
      run_shapes(CHECK_UNIFORM, n, path, turn % 35, 2, 0);
      run_shapes(CHECK_POINTERS, n, path, turn % 35, 1, turn);
      run_shapes(CHECK_POINTERS_MASKED + turn % 2, n, path, turn % 35, 1, turn / 2);
    }
  }
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  groupings();
  widths();
  return check_finish();
}
