/* test_forms.cu - sums in two steps, hot rows, and adding as one instruction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where what is done with a sum is not linear, it matters which sums a warp makes: those of each
 * group of at least `threshold` lanes and of each lane of the others.
 */
#include "check.cuh"

#include "arc/papers.cuh"

/* ---- sums: added as they are; by the header, or by the key and parameter they name ------------- */

#define BEGIN_SUM                                                   \
  const struct check_call c = check_call_of(&plan, update, values); \
  arc_options o = arc_options_default();                            \
  o.threshold = c.threshold;                                        \
  if (plan.path) o.promises |= ARC_PROMISE_ONE_KEY;                 \
  arc_sum_f32 sum = arc_sum_begin_with_f32(target, c.key, c.values, c.active, o)
#define ADD_SUMS \
  BEGIN_SUM;     \
  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum)
#define ADD_SUMS_BY_HAND         \
  BEGIN_SUM;                     \
  while (arc_sum_next_f32(&sum)) \
    if (sum.owned)               \
  atomicAdd(&plan.pieces[0].base[sum.key * plan.pieces[0].stride + sum.parameter], sum.value)
CHECK_SHORT_KERNEL(sums, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, ADD_SUMS)
CHECK_SHORT_KERNEL(sums_1, 1, 1, CHECK_ROWS, ADD_SUMS_BY_HAND)
CHECK_SHORT_KERNEL(sums_9, 9, 9, CHECK_ROWS, ADD_SUMS)
CHECK_SHORT_KERNEL(sums_40, 40, 40, CHECK_ROWS, ADD_SUMS_BY_HAND)
/* One group and chunk a call: no loop. */
CHECK_SHORT_KERNEL(sums_alone, 32, 32, CHECK_ROWS, {
  BEGIN_SUM;
  if (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
})

/* ---- sums: clamped, counted, dropped ----------------------------------------------------------- */

enum { SUM_WIDTH = 5, SUM_ROWS = 12, SUM_STRIDE = 6, LIMIT = 900, DROPPED = 2 };

struct sum_plan {
  int threshold;
  unsigned active;
  int *counts;
  float *rows;
  const int *keys;
  const float *values;
};

static __global__ void clamp(struct sum_plan plan) {
  const arc_target_f32 target = arc_target_f32_rows(plan.rows, SUM_STRIDE, SUM_WIDTH);
  const int lane = check_lane();
  float values[SUM_WIDTH];
  for (int k = 0; k < SUM_WIDTH; ++k) values[k] = plan.values[lane * SUM_WIDTH + k];
  arc_options options = arc_options_default();
  options.threshold = plan.threshold;
  arc_sum_f32 sum = arc_sum_begin_with_f32(target, plan.keys[lane], values,
                                           (plan.active >> lane & 1u) != 0u, options);
  while (arc_sum_next_f32(&sum)) {
    if (sum.owned) atomicAdd(&plan.counts[sum.key * SUM_STRIDE + sum.parameter], 1);
    sum.value = fminf(sum.value, (float)LIMIT);
    if (sum.parameter == DROPPED) sum.owned = false;
    arc_sum_add_f32(&sum);
  }
}

static void clamped(int count) {
  struct check_random random;
  if (!check_begin("sums that are clamped, counted and dropped", &random)) return;
  enum { CELLS = SUM_ROWS * SUM_STRIDE };
  int keys[32], counts[CELLS] = {0}, lanes[SUM_ROWS] = {0};
  float values[32 * SUM_WIDTH];
  double must[CELLS] = {0}, group[CELLS] = {0};
  struct sum_plan plan = {check_below(&random, 34), 0u, NULL, NULL, NULL, NULL};
  const int groups = 1 + check_below(&random, SUM_ROWS);
  plan.active = check_any_mask(count, &random);
  for (int lane = 0; lane < 32; ++lane) {
    const int active = plan.active >> lane & 1;
    keys[lane] = active ? check_below(&random, groups) : simt_poison_key();
    if (active) lanes[keys[lane]] += 1;
    for (int k = 0; k < SUM_WIDTH; ++k)
      values[lane * SUM_WIDTH + k] =
          active ? check_value(&random, 1, 1 << 13) : check_garbage_value(check_bits(&random));
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int k = 0; k < SUM_WIDTH && (plan.active >> lane & 1); ++k) {
      const int cell = keys[lane] * SUM_STRIDE + k;
      const double value = values[lane * SUM_WIDTH + k];
      if (lanes[keys[lane]] >= plan.threshold) {
        group[cell] += value;
        counts[cell] = 1;
      } else {
        counts[cell] += 1;
        if (k != DROPPED) must[cell] += fmin(value, LIMIT);
      }
    }
  for (int cell = 0; cell < CELLS; ++cell)
    if (lanes[cell / SUM_STRIDE] >= plan.threshold && cell % SUM_STRIDE != DROPPED)
      must[cell] += fmin(group[cell], LIMIT);
  const test_memory<int> device_keys(keys), device_counts(CELLS);
  const test_memory<float> device_values(values), device_rows(CELLS);
  plan.keys = device_keys.at;
  plan.values = device_values.at;
  plan.counts = device_counts.at;
  plan.rows = device_rows.at;
  SIMT_LAUNCH(clamp, dim3(1), dim3(32), 0, 0, plan);
  const std::vector<float> got = device_rows.read();
  const std::vector<int> got_counts = device_counts.read();
  for (int i = 0; i < CELLS; ++i) {
    CHECK(got[i] == must[i], "threshold %d: cell %d is %g, must be %g", plan.threshold, i, got[i],
          must[i]);
    CHECK(got_counts[i] == counts[i], "threshold %d: cell %d had %d sums, must have %d",
          plan.threshold, i, got_counts[i], counts[i]);
  }
  check.compared += 2 * CELLS;
}

/* ---- hot rows ---------------------------------------------------------------------------------- */

enum { FIRST_HOT = 3, HOT_ROWS = 5, HOT_WIDTH = 20, HOT_BLOCK = 150 };

/* All lanes, or whichever get there: from a loop, in two branches, some gone by returning. */
#define HOT_KERNEL(name, ALL, ...)                                                          \
  static __global__ void name(struct check_plan plan) {                                     \
    __shared__ float                                                                        \
        sums[ARC_HOT_BYTES(sizeof(float), HOT_ROWS, HOT_WIDTH, HOT_BLOCK) / sizeof(float)]; \
    const int width = plan.width;                                                           \
    float values[HOT_WIDTH];                                                                \
    const arc_target_f32 target = CHECK_DYNAMIC;                                            \
    const arc_hot_f32 hot = arc_hot_begin_f32(target, sums, FIRST_HOT, HOT_ROWS);           \
    arc_options o = arc_options_default();                                                  \
    o.threshold = plan.threshold;                                                           \
    o.promises = CHECK_PROMISES;                                                            \
    (void)o;                                                                                \
    if (!(ALL) && !check_alive(&plan)) return;                                              \
    for (int update = 0; update < plan.updates; ++update) {                                 \
      check_load(&plan, update, width, values);                                             \
      const int key = plan.keys[check_call_index(&plan, update)];                           \
      const bool active = check_active(&plan, update);                                      \
      __VA_ARGS__;                                                                          \
      check_unmodified(&plan, update, width, values);                                       \
    }                                                                                       \
    if (ALL)                                                                                \
      arc_hot_end_f32(&hot);                                                                \
    else                                                                                    \
      arc_hot_end_warp_f32(&hot);                                                           \
  }                                                                                         \
  CHECK_LAUNCHER(name, name)

HOT_KERNEL(hot_keyed, true, {
  if (plan.threshold == ARC_BALANCE_THRESHOLD)
    arc_hot_add_f32(&hot, key, values, active);
  else
    arc_hot_add_with_f32(&hot, key, values, active, o);
})
HOT_KERNEL(hot_uniform, true, {
  o.promises |= ARC_PROMISE_ONE_KEY;
  arc_hot_add_with_f32(&hot, key, values, active, o);
})
HOT_KERNEL(hot_masked, false, {
  o.lane_mask = plan.alive[check_warp(&plan)];
  arc_hot_add_with_f32(&hot, key, values, active, o);
})
HOT_KERNEL(hot_here, false, {
  o.lane_mask = ARC_LANES_HERE;
  if (!active) {
    if (check_lane() & 1) break;
    continue;
  }
  if (check_calling(&plan, update) >> check_lane() & 1)
    arc_hot_add_with_f32(&hot, key, values, true, o);
  else
    arc_hot_add_with_f32(&hot, key, values, true, o);
})

/* ---- one instruction --------------------------------------------------------------------------- */

CHECK_SHORT_KERNEL(atomred, CHECK_MAX_WIDTH, plan.width, CHECK_ROWS, {
  (void)target;
  float *row = plan.pieces[0].base +
               (long long)plan.keys[check_call_index(&plan, update)] * plan.pieces[0].stride;
  if (check_active(&plan, update))
    for (int k = 0; k < width; ++k) arc_atomred_f32(row + k, values[k]);
})

/* ---- cases ------------------------------------------------------------------------------------- */

enum { WHOLE = 1, ONE_KEY = 2, SHRINKING = 4 };

static void run_form(const char *name, check_launch launch, int block, int width, int count,
                     int kind) {
  struct check_case c;
  if (!check_open(&c, name, width, 2, block, 3)) return;
  c.plan.path = (kind & ONE_KEY) != 0; /* these kernels have no path: one key is promised */
  c.plan.threshold = launch == sums_alone_launch ? 0 : check_below(&c.random, 35);
  c.exact = check_below(&c.random, 4) != 0;
  c.uniform = (kind & ONE_KEY) != 0;
  check_layout_rows(&c, 11, width + check_below(&c.random, 4), check_below(&c.random, 4));
  for (unsigned &alive : c.alive)
    if (!(kind & WHOLE)) alive &= check_bits(&c.random) | 1u;
  check_fill(&c, count, kind & ONE_KEY);
  check_fill_branches(&c, kind & SHRINKING);
  check_run(&c, launch);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  const int counts = check.cases > 0 ? (int)check.cases : 33;
  for (int i = 1; i <= counts; ++i) {
    const int count = 33 * i / counts - 1;
    const int width = 1 + count * 11 % HOT_WIDTH;
    for (int kind = WHOLE; kind <= (WHOLE | ONE_KEY); kind += ONE_KEY) {
      run_form("sums, any width", sums_launch, 64, 1 + count * 11 % 70, count, kind);
      run_form("sums of 1", sums_1_launch, 64, 1, count, kind);
      run_form("sums of 9", sums_9_launch, 64, 9, count, kind);
      run_form("sums of 40", sums_40_launch, 64, 40, count, kind);
    }
    run_form("sums without a loop", sums_alone_launch, 64, 32, count, WHOLE | ONE_KEY);
    for (int k = 0; k < 6; ++k) clamped(count);
    run_form("hot rows, keys differ", hot_keyed_launch, 96, width, count, WHOLE);
    run_form("hot rows, one key", hot_uniform_launch, 128, width, count, WHOLE | ONE_KEY);
    run_form("hot rows, partial warps", hot_masked_launch, HOT_BLOCK, width, count, 0);
    run_form("hot rows, lanes here", hot_here_launch, HOT_BLOCK, width, count, SHRINKING);
    run_form("atomred", atomred_launch, HOT_BLOCK, width, count, 0);
  }
  return check_finish();
}
