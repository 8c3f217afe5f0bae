/* test_table.cu - rows that a warp keeps in shared memory, from registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows in memory by the same tables, of every type: test_index_add.cu. */
#define ARC_TABLES 1
#include "check.cuh"

#include "arc/table.cuh"

enum { MOST_ROWS = 40, MOST_WIDTH = 70, BLOCK = 96 };

#define TABLE_KERNEL(name, width_, TARGET)                                                    \
  static __global__ void name(struct check_plan plan) {                                       \
    __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, MOST_ROWS, MOST_WIDTH, BLOCK)];   \
    const int width = (width_);                                                               \
    float values[MOST_WIDTH];                                                                 \
    const arc_target_f32 target = (TARGET);                                                   \
    arc_table_f32 table = arc_table_begin_f32(target, shared, plan.threshold);                \
    for (int update = 0; update < plan.updates; ++update) {                                   \
      check_load(&plan, update, width, values);                                               \
      const int key = plan.keys[check_call_index(&plan, update)];                             \
      arc_table_add_f32(&table, key, values, check_active(&plan, update));                    \
      check_unmodified(&plan, update, width, values);                                         \
      if (update == plan.path) arc_table_end_f32(&table); /* and on: it is as it has begun */ \
    }                                                                                         \
    arc_table_end_f32(&table);                                                                \
  }                                                                                           \
  CHECK_LAUNCHER(name, name)
TABLE_KERNEL(any_width, plan.width, CHECK_DYNAMIC)
TABLE_KERNEL(width_1, 1, CHECK_ROWS)
TABLE_KERNEL(width_2, 2, CHECK_ROWS)
TABLE_KERNEL(width_3, 3, CHECK_ROWS)
TABLE_KERNEL(width_4, 4, CHECK_ROWS)
TABLE_KERNEL(width_9, 9, CHECK_ROWS)
TABLE_KERNEL(width_33, 33, CHECK_ROWS)

static void run(const char *name, check_launch launch, int width, int keys) {
  struct check_case c;
  if (!check_open(&c, name, width, 2, BLOCK, 9)) return;
  c.plan.path = check_below(&c.random, 20);                 /* the update behind which it ends */
  c.plan.threshold = 1 + check_below(&c.random, MOST_ROWS); /* the table's rows */
  c.exact = check_below(&c.random, 4) != 0;
  const int pad = check_below(&c.random, 4);
  check_layout_rows(&c, keys, (width + 3) / 4 * 4 + pad, check_below(&c.random, 4));
  check_fill(&c, -1, 0);
  check_run(&c, launch);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  static const int keys[] = {1, 2, 7, 40, 300};
  for (int round = 0; round < 12; ++round)
    for (int i = 0; i < 5; ++i) {
      run("any width", any_width_launch, 1 + (round * 5 + i) * 11 % MOST_WIDTH, keys[i]);
      run("width 1", width_1_launch, 1, keys[i]);
      run("width 2", width_2_launch, 2, keys[i]);
      run("width 3", width_3_launch, 3, keys[i]);
      run("width 4", width_4_launch, 4, keys[i]);
      run("width 9", width_9_launch, 9, keys[i]);
      run("width 33", width_33_launch, 33, keys[i]);
    }
  return check_finish();
}
