/* test_divergent.cu - arc_add_divergent_f32: whoever gets there calls, in divergent code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * test_property.cu has it where all lanes of a subset call at one place.
 */
#include "check.cuh"

/* The same call, compiled once for a kernel that makes it in many places. */
template <int path>
static __device__ __attribute__((noinline)) void call_divergent(struct check_plan plan, int update,
                                                                const float *values) {
  const int width = plan.width;
  const arc_target_f32 target = CHECK_DYNAMIC;
  CHECK_CALL(CHECK_DIVERGENT);
}

#define CALL_SHARED                           \
  call_divergent<path>(plan, update, values); \
  (void)target

/* Three levels of branches, by lane; every active lane calls in exactly one place. */
CHECK_KERNEL(nested, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, {
  if (check_active(&plan, update)) {
    if (check_calling(&plan, update) >> check_lane() & 1) {
      if (check_lane() % 3 == 0) {
        CALL_SHARED;
      } else if (plan.keys[check_call_index(&plan, update)] & 1) {
        CALL_SHARED;
      }
      if (check_lane() % 3 != 0 && !(plan.keys[check_call_index(&plan, update)] & 1)) {
        CALL_SHARED;
      }
    } else {
      CALL_SHARED;
    }
  }
})

/* Lanes leave the loop after different numbers of rounds, some by returning. */
CHECK_KERNEL(loops, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, {
  if (!check_active(&plan, update)) {
    if (check_lane() & 1) return;
    break;
  }
  CALL_SHARED;
})

/* A loop within the loop, with a trip count of the lane's own; calls from all rounds may meet. */
CHECK_KERNEL(rounds, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, {
  const int stop = update + 1 + check_lane() % 3;
  for (; update < stop && update < plan.updates; ++update) {
    check_load(&plan, update, width, values);
    if (check_active(&plan, update)) {
      CALL_SHARED;
    }
    check_unmodified(&plan, update, width, values);
  }
  update -= 1;
})

/* Each branch takes the mask of its own lanes. */
static __device__ void add_here(arc_target_f32 target, int key, const float *values, bool odd) {
  if (odd) {
    const unsigned here = arc_lanes_here();
    arc_add_masked_f32(target, key, values, true, here);
  } else {
    const unsigned here = arc_lanes_here();
    arc_add_masked_f32(target, key, values, true, here);
  }
}

CHECK_SHORT_KERNEL(masks, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, {
  if (check_active(&plan, update))
    add_here(target, plan.keys[check_call_index(&plan, update)], values,
             check_calling(&plan, update) >> check_lane() & 1);
})

static void run_form(const char *name, check_launch launch, int path, int width, int count,
                     bool shrinking) {
  struct check_case c;
  if (!check_open(&c, name, width, 2, count % 2 ? 32 * SHAPE_COUNT : 150, 4)) return;
  c.plan.path = path;
  c.plan.threshold = check_below(&c.random, 35);
  c.exact = check_below(&c.random, 4) != 0;
  check_layout_rows(&c, 60, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill(&c, count, 0);
  check_fill_branches(&c, shrinking);
  check_run(&c, launch);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
    for (int count = 0; count <= 32; ++count) {
      const int width = 1 + (count * 11 + path * 5) % 33;
      run_form("nested branches", nested_launch, path, width, count, false);
      run_form("lanes leaving a loop", loops_launch, path, width, count, true);
      run_form("loops of their own", rounds_launch, path, width, count, false);
      if (path == ARC_PATH_AUTO) run_form("masks", masks_launch, path, width, count, false);
    }
  return check_finish();
}
