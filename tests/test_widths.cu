/* test_widths.cu - literal widths; widths known at run time, which may be walked in chunks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CPU warp runs every literal width 1..128, a GPU a sample: machine_code.py compiles all.
 * Each has one kernel of keyed calls on the path auto, and one of uniform calls on another path by
 * turns. Cases alike run through the kernels whose width is an argument.
 */
#include "check.cuh"

#if SIMT_ON_CPU
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define WIDTHS(X)                                                                                \
  X(1)                                                                                           \
  X(2)                                                                                           \
  X(3)                                                                                           \
  X(4)                                                                                           \
  X(5)                                                                                           \
  X(6) X(7) X(8) X(9) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7)      \
      TEN(X, 8) TEN(X, 9) TEN(X, 10) TEN(X, 11) X(120) X(121) X(122) X(123) X(124) X(125) X(126) \
          X(127) X(128) X(256)
#else
#define WIDTHS(X) \
  X(1) X(2) X(3) X(4) X(5) X(7) X(8) X(9) X(12) X(16) X(17) X(31) X(32) X(33) X(70) X(128)
#endif

#define BY_TURNS(n) (ARC_PATH_ATOMIC + (n) % 6)
#define LITERAL(n)                                                                        \
  CHECK_ONE_KERNEL(keyed_##n, ARC_PATH_AUTO, n, n, CHECK_ROWS, CHECK_CALL(CHECK_KEYED))   \
  CHECK_ONE_KERNEL(uniform_##n, BY_TURNS(n), n, n, CHECK_ROWS, CHECK_CALL(CHECK_UNIFORM)) \
  static void keyed_##n##_launch(const struct check_plan *plan, int grid, int block) {    \
    CHECK_LAUNCH(keyed_##n);                                                              \
  }                                                                                       \
  static void uniform_##n##_launch(const struct check_plan *plan, int grid, int block) {  \
    CHECK_LAUNCH(uniform_##n);                                                            \
  }
WIDTHS(LITERAL)

/* Known at run time only: in chunks, and as check_launch_uniform has it, not. */
enum { MOST_DYNAMIC = 40 };
CHECK_KERNEL(dynamic_uniform, MOST_DYNAMIC, plan.width, CHECK_DYNAMIC, CHECK_CALL(CHECK_UNIFORM))
CHECK_KERNEL(dynamic_divergent, MOST_DYNAMIC, plan.width, CHECK_DYNAMIC,
             CHECK_CALL(CHECK_DIVERGENT))

static void run_width(int width, int path, int one_key, check_launch launch) {
  struct check_random random;
  if (!check_begin("literal and run-time widths", &random)) return;
  struct check_case c;
  check_case_init(&c, random, width, 6, 64, 2);
  c.uniform = one_key;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 40, width + check_below(&c.random, 4), check_below(&c.random, 4));
  for (int u = 0; u < c.plan.updates; ++u)
    for (int w = 0; w < c.warps; ++w) {
      const int count = u ? check_below(&c.random, 33) : 32;
      c.active[u * c.warps + w] = check_mask(check_below(&c.random, SHAPE_COUNT), count, &c.random);
      check_fill_rows(&c, u, w, one_key || w % 2 ? 0 : check_below(&c.random, CHECK_GROUPINGS));
    }
  check_run(&c, launch);
  check_case_free(&c);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
#define RUN(n)                                          \
  for (int i = 0; i < 2; ++i) {                         \
    run_width(n, ARC_PATH_AUTO, 0, keyed_##n##_launch); \
    run_width(n, BY_TURNS(n), 1, uniform_##n##_launch); \
    run_width(n, ARC_PATH_AUTO, 0, check_launch_keyed); \
    run_width(n, BY_TURNS(n), 1, check_launch_uniform); \
  }
  WIDTHS(RUN)
  for (int width = 1; width <= MOST_DYNAMIC; ++width)
    for (int i = 0; i < 6; ++i) {
      run_width(width, ARC_PATH_ATOMIC + i, 0, check_launch_keyed);
      run_width(width, ARC_PATH_ATOMIC + i, 1, dynamic_uniform_launch);
      run_width(width, ARC_PATH_ATOMIC + i, 0, dynamic_divergent_launch);
    }
  return check_finish();
}
