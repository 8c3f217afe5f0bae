/* test_masked.cu - arc_add_masked_f32: partial warps, exited lanes, both sides of a branch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The calling lanes are named by an explicit mask. Lanes outside it do not exist (blocks of 1..31,
 * 33, 48 threads), have returned, or make a call of their own with the complementary mask.
 */
#include "check.cuh"

/* The lanes of plan.calling make one call, all others alive another. */
#define CALL_BRANCHES                                     \
  do {                                                    \
    if (check_calling(&plan, update) >> check_lane() & 1) \
      CHECK_CALL_NULL(CHECK_MASKED);                      \
    else                                                  \
      CHECK_CALL_NULL(CHECK_MASKED);                      \
  } while (0)

CHECK_KERNEL(branches, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, CALL_BRANCHES)

static bool open_case(struct check_case *c, const char *section, int width, int path, int grid,
                      int block, int updates) {
  if (!check_open(c, section, width, grid, block, updates)) return false;
  c->plan.path = path;
  c->plan.threshold = check_below(&c->random, 35);
  check_layout_rows(c, 50, width + check_below(&c->random, 4), check_below(&c->random, 4));
  return true;
}

/* Blocks that are no multiple of 32. */
static void partial_warps(int block) {
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) {
    struct check_case c;
    if (!open_case(&c, "partial warps", 1 + (block * 7 + path) % 33, path, 3, block, 4)) continue;
    check_fill(&c, path % 2 ? 32 : -1, 0);
    check_run(&c, check_launch_masked);
  }
}

/* Any subset of the warp has returned, lane 0 and the whole warp included. */
static void exited_lanes(int count) {
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) {
    struct check_case c;
    if (!open_case(&c, "exited lanes", 1 + (count * 5 + path) % 32, path, 2, 32 * SHAPE_COUNT, 2))
      continue;
    for (int w = 0; w < c.warps; ++w) c.alive[w] = check_mask(w % SHAPE_COUNT, count, &c.random);
    check_fill(&c, path % 2 ? 32 : -1, 0);
    check_run(&c, check_launch_masked);
  }
}

static void both_sides(int count) {
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) {
    struct check_case c;
    if (!open_case(&c, "both sides of a branch", 1 + (count * 3 + path) % 32, path, 2,
                   path % 2 ? 96 : 80, 3))
      continue;
    for (int u = 0; u < c.plan.updates; ++u)
      for (int w = 0; w < c.warps; ++w)
        c.calling[u * c.warps + w] = check_any_mask(count, &c.random);
    check_fill(&c, path % 3 ? -1 : 32, 0);
    check_run(&c, branches_launch);
  }
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int block = 1; block <= 33; ++block)
    if (block != 32) partial_warps(block);
  partial_warps(48);
  partial_warps(127);
  for (int count = 0; count <= 32; ++count) exited_lanes(count);
  for (int count = 0; count <= 32; ++count) both_sides(count);
  return check_finish();
}
