/* test_uniform.cu - arc_add_uniform_f32: the whole warp calls, all its lanes hold one key.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every count and shape of active lanes x every width and path x every threshold by turns; inactive
 * lanes hold the key too, as the promise demands, and poison for values.
 */
#include "check.cuh"

static void run_shapes(int width, int path, int threshold) {
  struct check_case c;
  if (!check_open(&c, "uniform", width, 33, 32 * SHAPE_COUNT, 2)) return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  c.exact = check_below(&c.random, 4) != 0;
  check_layout_rows(&c, 40, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill_shapes(&c);
  for (int u = 0; u < 2; ++u)
    for (int w = 0; w < c.warps; ++w)
      check_rows(&c, u, w, KEYS_CONTIGUOUS, 1, check_below(&c.random, c.key_count));
  check_run(&c, check_launch_uniform);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  int turn = 0;
  for (int width = 1; width <= 35; width += CHECK_WIDTH_STEP) {
    const int n = width <= 33 ? width : width == 34 ? 64 : 100;
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path, ++turn)
      run_shapes(n, path, turn % 35);
  }
  return check_finish();
}
