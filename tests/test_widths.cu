/* test_widths.cu - literal widths; widths known at run time, which may be walked in chunks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CPU warp runs literal widths of odd and even halves and about the ends of chunks, a GPU fewer;
 * machine_code.py compiles all.
 * Each has one kernel of keyed calls on the path auto, and one of uniform calls on another path by
 * turns. Cases alike run through the kernels whose width is an argument.
 */
#include "check.cuh"

#define WIDTHS_OF_BOTH(X) \
  X(1) X(2) X(3) X(4) X(5) X(7) X(8) X(9) X(12) X(16) X(17) X(31) X(32) X(33) X(70) X(128)
#if SIMT_ON_CPU
#define WIDTHS(X)                                                                                 \
  WIDTHS_OF_BOTH(X)                                                                               \
  X(6) X(10) X(11) X(13) X(19) X(21) X(22) X(27) X(30) X(36) X(48) X(64) X(65) X(97) X(256)
#else
#define WIDTHS(X) WIDTHS_OF_BOTH(X)
#endif

#define BY_TURNS(n) (ARC_PATH_ATOMIC + (n) % 6)
#define LITERAL(n)                                                                        \
  CHECK_ONE_KERNEL(keyed_##n, ARC_PATH_AUTO, n, n, CHECK_ROWS, CHECK_CALL(CHECK_KEYED))   \
  CHECK_ONE_KERNEL(uniform_##n, BY_TURNS(n), n, n, CHECK_ROWS, CHECK_CALL(CHECK_UNIFORM)) \
  CHECK_LAUNCHER(keyed_##n, keyed_##n)                                                    \
  CHECK_LAUNCHER(uniform_##n, uniform_##n)
WIDTHS(LITERAL)

/* Known at run time only: in chunks, and as check_launch_uniform has it, not. */
enum { MOST_DYNAMIC = 40 };
CHECK_KERNEL(dynamic_uniform, MOST_DYNAMIC, plan.width, CHECK_DYNAMIC, CHECK_CALL(CHECK_UNIFORM))
CHECK_KERNEL(dynamic_divergent, MOST_DYNAMIC, plan.width, CHECK_DYNAMIC,
             CHECK_CALL(CHECK_DIVERGENT))

static void run_width(int width, int path, int one_key, check_launch launch) {
  struct check_case c;
  if (!check_open(&c, "literal and run-time widths", width, 6, 64, 2)) return;
  c.uniform = one_key;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 40, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill(&c, -1, one_key);
  check_run(&c, launch);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
#define RUN(n)                                          \
  for (int i = 0; i < ((n) < 40 ? 2 : 1); ++i) {        \
    run_width(n, ARC_PATH_AUTO, 0, keyed_##n##_launch); \
    run_width(n, BY_TURNS(n), 1, uniform_##n##_launch); \
    run_width(n, ARC_PATH_AUTO, 0, check_launch_keyed); \
    run_width(n, BY_TURNS(n), 1, check_launch_uniform); \
  }
  WIDTHS(RUN)
  for (int width = 1; width <= MOST_DYNAMIC; ++width)
    for (int i = 0; i < 3; ++i) {
      const int path = ARC_PATH_ATOMIC + (width + 2 * i) % 6;
      run_width(width, path, 0, check_launch_keyed);
      run_width(width, path, 1, dynamic_uniform_launch);
      run_width(width, path, 0, dynamic_divergent_launch);
    }
  return check_finish();
}
