/* test_moved.cu - the names by path of version 0.1 add what they added, by the path they name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are deprecated: the test `moved_names_warn` compiles this file and reads the warnings.
 */
#include "check.cuh"

#define NAMES(X, form, prefix)                                                                    \
  X(form, prefix##_atomic, ARC_PATH_ATOMIC)                                                       \
  X(form, prefix##_serialized, ARC_PATH_SERIALIZED)                                               \
      X(form, prefix##_butterfly, ARC_PATH_BUTTERFLY)                                             \
          X(form, prefix##_transposed, ARC_PATH_TRANSPOSED) X(form, prefix##_tree, ARC_PATH_TREE) \
              X(form, prefix##_auto, ARC_PATH_AUTO)
#define KERNEL(form, name, path)                                                             \
  CHECK_SHORT_KERNEL(moved##name, 9, 9, CHECK_ROWS,                                          \
                     arc_add##name##_f32(target, plan.keys[check_call_index(&plan, update)], \
                                         values, check_active(&plan, update), plan.threshold))

NAMES(KERNEL, CHECK_KEYED, )
NAMES(KERNEL, CHECK_UNIFORM, _uniform)

static unsigned long long shuffles_of(check_launch launch, int path, struct check_random random) {
  struct check_case c;
  check_case_init(&c, random, 9, 33, 32 * SHAPE_COUNT, 1);
  c.plan.path = path;
  c.plan.threshold = 2;
  check_layout_rows(&c, 40, 12, 0);
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w) check_fill_rows(&c, 0, w, 0);
  simt_counters_reset();
  check_run(&c, launch);
  check_case_free(&c);
  return simt_counters_read().shuffles;
}

static void run_name(const char *name, int form, int path, check_launch launch) {
  struct check_random random;
  if (!check_begin(name, &random)) return;
  const unsigned long long moved = shuffles_of(launch, path, random);
  const unsigned long long must = shuffles_of(check_launches[form], path, random);
  CHECK(moved == must, "%llu shuffles, those of path %d are %llu", moved, path, must);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
#define RUN(form, name, path) run_name("arc_add" #name "_f32", form, path, moved##name##_launch);
  NAMES(RUN, CHECK_KEYED, )
  NAMES(RUN, CHECK_UNIFORM, _uniform)
  return check_finish();
}
