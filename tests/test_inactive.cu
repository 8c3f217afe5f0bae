/* test_inactive.cu - nothing is read from an inactive lane, through no pointer of its.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inactive lanes pass null as their values and as their pointers: the CPU warp reports a read
 * through them, a GPU ends the launch. With CHECK_INACTIVE_ZERO they must be readable, and this
 * test has nothing to say.
 */
#include "check.cuh"

/* The call of check_call_of, but for null pointers in inactive lanes. */
static __device__ __forceinline__ struct check_call null_call(const struct check_plan *plan,
                                                              int update, const float *values) {
  struct check_call c = check_call_of(plan, update, values);
  c.values = c.active ? values : NULL;
  c.pointers = c.active ? c.pointers : NULL;
  return c;
}

#define CALL(form) check_add(form, path, target, null_call(&plan, update, values))

CHECK_KERNEL(keyed, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, CALL(CHECK_KEYED))
CHECK_KERNEL(uniform, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, CALL(CHECK_UNIFORM))
CHECK_KERNEL(masked, CHECK_MAX_WIDTH, plan.width, CHECK_DYNAMIC, CALL(CHECK_MASKED))
CHECK_KERNEL(pointers, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, CALL(CHECK_POINTERS))

enum { KEYED, UNIFORM, MASKED, POINTERS, ENTRIES };

static const check_launch launches[] = {keyed_launch, uniform_launch, masked_launch,
                                        pointers_launch};

static void run_entry(int entry, int path, int width) {
  struct check_case c;
  if (!check_open(&c, "inactive lanes", width, 33, 32 * SHAPE_COUNT - (entry == MASKED ? 5 : 0), 1))
    return;
  c.uniform = entry == UNIFORM;
  c.plan.path = path;
  c.plan.threshold = path % 2 ? 2 : ARC_THRESHOLD_AUTO;
  check_layout_rows(&c, 40, width, 0);
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w)
    check_fill_rows(&c, 0, w, entry == UNIFORM ? 0 : w % CHECK_GROUPINGS);
  check_run_form(&c, launches[entry], entry == POINTERS);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  if (CHECK_INACTIVE_ZERO) {
    printf("skipped: CHECK_INACTIVE_ZERO promises readable values\n");
    return CHECK_SKIPPED;
  }
  for (int entry = 0; entry < ENTRIES; ++entry)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path) {
      run_entry(entry, path, 9);
      run_entry(entry, path, 35);
    }
  return check_finish();
}
