/* test_add.cu - arc_add_f32: the whole warp calls, the keys may differ.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every count and shape of active lanes x every grouping of keys x every path, at a run-time width;
 * test_widths.cu has the literal ones.
 */
#include "check.cuh"

/* One launch: every count and shape of active lanes, `updates` groupings from `grouping` on. */
static void run_shapes(int width, int path, int threshold, int updates, int grouping) {
  struct check_case c;
  if (!check_open(&c, "add", width, 33, 32 * SHAPE_COUNT, updates)) return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  c.exact = check_below(&c.random, 4) != 0;
  check_layout_rows(&c, 1100, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill_shapes(&c);
  for (int u = 0; u < updates; ++u)
    for (int w = 0; w < c.warps; ++w) check_fill_rows(&c, u, w, grouping + u);
  check_run(&c, check_launch_keyed);
}

/* All groupings at the widths of gradient kernels. */
static void groupings(void) {
  const int widths[] = {1, 3, 9};
  for (int i = 0; i < 3; ++i)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      run_shapes(widths[i], path, path % 2 ? 1 + i : ARC_BALANCE_THRESHOLD, CHECK_GROUPINGS, 0);
}

/* Every width on every path, with one grouping each, by turns. */
static void widths(void) {
  int turn = 0;
  for (int width = 1; width <= 35; width += CHECK_WIDTH_STEP) {
    const int n = width <= 33 ? width : width == 34 ? 64 : 100;
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path, ++turn)
      run_shapes(n, path, turn % 5 ? turn % 7 : ARC_THRESHOLD_AUTO, 1, turn);
  }
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  groupings();
  widths();
  return check_finish();
}
