/* test_moved.cu - the names by path of version 0.1 add what they added, by the path they name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are deprecated: the test `moved_names_warn` compiles this file and reads the warnings.
 */
#include "check.cuh"

#define PATHS(X, kind)                     \
  X(kind, atomic, ARC_PATH_ATOMIC)         \
  X(kind, serialized, ARC_PATH_SERIALIZED) \
  X(kind, butterfly, ARC_PATH_BUTTERFLY)   \
  X(kind, transposed, ARC_PATH_TRANSPOSED) \
  X(kind, tree, ARC_PATH_TREE)             \
  X(kind, auto, ARC_PATH_AUTO)
#define KERNEL(kind, path, number)                                                     \
  CHECK_SHORT_KERNEL(kind##_##path, 9, 9, CHECK_ROWS,                                  \
                     const struct check_call c = check_call_of(&plan, update, values); \
                     (void)target; kind##_CALL(kind##_##path##_f32))

#define arc_add_CALL(add) add(target, c.key, values, c.active, c.threshold)
#define arc_add_uniform_CALL(add) arc_add_CALL(add)
#define arc_add_masked_CALL(add) add(target, c.key, values, c.active, c.mask, c.threshold)
#define arc_add_divergent_CALL(add) \
  if (c.active) add(target, c.key, values, c.threshold)
#define arc_add_pointers_CALL(add) add(c.pointers, c.width, c.key, values, c.active, c.threshold)

PATHS(KERNEL, arc_add)
PATHS(KERNEL, arc_add_uniform)
PATHS(KERNEL, arc_add_masked)
PATHS(KERNEL, arc_add_divergent)
PATHS(KERNEL, arc_add_pointers)

static unsigned long long shuffles_of(check_launch launch, int form, int path,
                                      struct check_random random) {
  struct check_case c;
  simt_seed(random.state);
  check_case_init(&c, random, 9, 33, 32 * SHAPE_COUNT, 1);
  c.plan.path = path;
  c.plan.threshold = 2;
  check_layout_rows(&c, 40, 12, 0);
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w) check_fill_rows(&c, 0, w, 0);
  simt_counters_reset();
  check_run_form(&c, launch, form == CHECK_POINTERS);
  check_case_free(&c);
  return simt_counters_read().shuffles;
}

static void run_name(const char *name, int form, int path, check_launch launch) {
  struct check_random random;
  if (!check_begin(name, &random)) return;
  const unsigned long long moved = shuffles_of(launch, form, path, random);
  const unsigned long long must = shuffles_of(check_launches[form], form, path, random);
  CHECK(moved == must, "%llu shuffles, those of path %d are %llu", moved, path, must);
}

#define arc_add_FORM CHECK_KEYED
#define arc_add_uniform_FORM CHECK_UNIFORM
#define arc_add_masked_FORM CHECK_MASKED
#define arc_add_divergent_FORM CHECK_DIVERGENT
#define arc_add_pointers_FORM CHECK_POINTERS
#define RUN(kind, path, number) \
  run_name(#kind "_" #path "_f32", kind##_FORM, number, kind##_##path##_launch);

int main(int argc, char **argv) {
  check_main(argc, argv);
  PATHS(RUN, arc_add)
  PATHS(RUN, arc_add_uniform)
  PATHS(RUN, arc_add_masked)
  PATHS(RUN, arc_add_divergent)
  PATHS(RUN, arc_add_pointers)
  return check_finish();
}
