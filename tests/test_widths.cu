/* test_widths.cu - literal widths 1..32, 33, 64, 100 and 256; run-time widths the same.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two kernels for each literal width; cases alike run through the kernels whose width is an
 * argument. Built twice, WIDTHS_HIGH 0 and 1, to keep the compile short.
 */
#include "check.cuh"

#ifndef WIDTHS_HIGH
#define WIDTHS_HIGH 0
#endif

#if WIDTHS_HIGH
#define WIDTHS(X) \
  X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(64) X(100) X(256)
#else
#define WIDTHS(X)                                                                               \
  X(1)                                                                                          \
  X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) \
      X(19) X(20)
#endif

/* Auto holds the atomic, the transposed and the tree path; one more by turns keeps the compile
   short, and every path at every literal width goes through the assembler in stack.sh. */
#define BY_TURNS(n) (2 + (n) % 4)
#define CALL CHECK_CALL_WARP(arc_add_)
#define LITERAL(n)                                                                     \
  CHECK_ONE_KERNEL(auto_##n, ARC_PATH_AUTO, n, n, CHECK_ROWS, CALL)                    \
  CHECK_ONE_KERNEL(other_##n, BY_TURNS(n), n, n, CHECK_ROWS, CALL)                     \
  static void auto_##n##_launch(const struct check_plan *plan, int grid, int block) {  \
    CHECK_LAUNCH(auto_##n);                                                            \
  }                                                                                    \
  static void other_##n##_launch(const struct check_plan *plan, int grid, int block) { \
    CHECK_LAUNCH(other_##n);                                                           \
  }
WIDTHS(LITERAL)

CHECK_KERNEL(any, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, CALL)

static void run_width(int width, int path, check_launch launch) {
  struct check_random random;
  if (!check_begin("literal and run-time widths", &random)) return;
  struct check_case c;
  check_case_init(&c, random, width, 6, 64, 2);
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  check_layout_rows(&c, 40, width + check_below(&c.random, 4), check_below(&c.random, 4));
  for (int u = 0; u < c.plan.updates; ++u)
    for (int w = 0; w < c.warps; ++w) {
      const int count = u ? check_below(&c.random, 33) : 32;
      c.active[u * c.warps + w] = check_mask(check_below(&c.random, SHAPE_COUNT), count, &c.random);
      check_fill_rows(&c, u, w, w % 2 ? 0 : check_below(&c.random, CHECK_GROUPINGS));
    }
  check_run(&c, launch);
  check_case_free(&c);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
#define RUN(n)                                                           \
  for (int i = 0; i < 4; ++i) {                                          \
    run_width(n, ARC_PATH_AUTO, i % 2 ? any_launch : auto_##n##_launch); \
    run_width(n, BY_TURNS(n), i % 2 ? any_launch : other_##n##_launch);  \
  }
  WIDTHS(RUN)
  return check_finish();
}
