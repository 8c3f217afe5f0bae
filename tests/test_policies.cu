/* test_policies.cu - a small covering run, built once for every policy that changes code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ARC_PATH, the promises (CHECK_INACTIVE_ZERO: inactive lanes then hold zeros, and so on),
 * ARC_VECTOR_ATOMICS 0, ARC_SCOPE_SYSTEM, ARC_CHECK 2, and on the CPU warp SIMT_ARCH 800, 700 and
 * 600.
 */
#include "check_pointers.cuh"

#define ANY_WIDTH(name, form, target) \
  CHECK_SHORT_KERNEL(name, CHECK_MAX_WIDTH, plan.width, target, CHECK_CALL_NULL(form))
#define LITERAL_9(name, add)                                                         \
  CHECK_SHORT_KERNEL(name, 9, 9, CHECK_ROWS,                                         \
                     add(target, plan.keys[check_call_index(&plan, update)], values, \
                         check_active(&plan, update)))

ANY_WIDTH(keyed, CHECK_KEYED, CHECK_ROWS)
ANY_WIDTH(uniform, CHECK_UNIFORM, CHECK_ROWS)
ANY_WIDTH(masked, CHECK_MASKED, CHECK_DYNAMIC)
ANY_WIDTH(divergent, CHECK_DIVERGENT, CHECK_DYNAMIC)
CHECK_SHORT_KERNEL(pointers, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS,
                   CHECK_CALL_POINTERS(CHECK_POINTERS, check_null_call))
LITERAL_9(keyed_9, arc_add_f32)
LITERAL_9(uniform_9, arc_add_uniform_f32)

/* A row in two arrays, literally. */
static __device__ __forceinline__ arc_target_f32 two_arrays(const struct check_plan *plan) {
  const arc_piece_f32 pieces[2] = {{plan->pieces[0].base, plan->pieces[0].stride, 4},
                                   {plan->pieces[1].base, plan->pieces[1].stride, 7}};
  return arc_target_f32_pieces(pieces, 2);
}

CHECK_SHORT_KERNEL(pieces, 11, 11, two_arrays(&plan), CHECK_CALL(CHECK_KEYED))

enum { KEYED, KEYED_9, UNIFORM, UNIFORM_9, MASKED, DIVERGENT, POINTERS, PIECES, ENTRIES };

static const check_launch launches[] = {keyed_launch,     keyed_9_launch, uniform_launch,
                                        uniform_9_launch, masked_launch,  divergent_launch,
                                        pointers_launch,  pieces_launch};

/* The papers' paths add value by value. */
enum {
  HAS_VECTORS =
      ARC_VECTOR_ATOMICS && ARC_PATH != ARC_PATH_SERIALIZED && ARC_PATH != ARC_PATH_BUTTERFLY
};

static void run_entry(int entry, int width) {
  struct check_case c;
  const int partial = entry == MASKED || entry == DIVERGENT;
  if (!check_open(&c, ARC_POLICY_STRING, width, 33, 32 * SHAPE_COUNT - (partial ? 11 : 0), 1))
    return;
  c.plan.threshold = check_below(&c.random, 3) ? check_below(&c.random, 35) : ARC_BALANCE_THRESHOLD;
  c.exact = check_below(&c.random, 4) != 0;
  c.uniform = entry == UNIFORM || entry == UNIFORM_9;
  if (entry == PIECES) {
    const int widths[] = {4, 7};
    check_layout_these_pieces(&c, 70, 2, widths);
  } else if (CHECK_ALIGNED)
    check_layout_rows(&c, 70, (width + 3) / 4 * 4, 0);
  else
    check_layout_rows(&c, 70, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w)
    check_fill_rows(&c, 0, w, c.uniform ? 0 : w / 2 % CHECK_GROUPINGS);
  check_run_form(&c, launches[entry], entry == POINTERS);
#if SIMT_ON_CPU
  if (!HAS_VECTORS || SIMT_ARCH < 900)
    CHECK(simt_counters_read().vector_reductions == 0, "vector reductions, though there are none");
#endif
}

#if SIMT_ON_CPU
/* Where no instruction sums integers, other ones do. */
static __global__ void ones(int *sum) {
  const int one = 1;
  arc_options o = arc_options_default();
  o.path = ARC_PATH_TREE, o.threshold = 0;
  arc_add_with_i32(arc_target_i32_rows(sum, 1, 1), 0, &one, true, o);
}
static void defaults(void) {
  struct check_random r;
  if (!check_begin("defaults", &r)) return;
  const test_memory<int> sum(1);
  SIMT_LAUNCH(ones, dim3(1), dim3(32), 0, 0, sum.at);
  CHECK(sum.read()[0] == 32, "32 ones are %d", sum.read()[0]);
  CHECK(arc_options_default().threshold == ARC_BALANCE_THRESHOLD, "the threshold is another one");
}
#endif

int main(int argc, char **argv) {
  check_main(argc, argv);
  printf("%s\n", ARC_POLICY_STRING);
#if SIMT_ON_CPU
  defaults();
#endif
  const int widths[] = {1, 2, 4, 8, 9, 11, 16, 27, 32, 37};
  for (int entry = 0; entry < ENTRIES - CHECK_ALIGNED; ++entry) /* pieces are not aligned */
    for (int i = check.cases > 0 ? 10 - (int)check.cases : 0; i < 10; ++i)
      run_entry(entry, entry == PIECES                          ? 11
                       : entry == KEYED_9 || entry == UNIFORM_9 ? 9
                                                                : widths[i]);
#if SIMT_ON_CPU
  if (HAS_VECTORS && SIMT_ARCH >= 900 && check.only < 0)
    CHECK(simt_counters_read().vector_reductions > 0, "no vector reduction in the whole run");
#endif
  return check_finish();
}
