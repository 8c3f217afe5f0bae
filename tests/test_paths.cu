/* test_paths.cu - every path from every entry point; the short names are bound to ARC_PATH.
 * SPDX-License-Identifier: Apache-2.0
 *
 * That an option leads to its own path is seen from the CPU warp's counters: what each path costs is
 * part of its contract, and the papers' paths must cost what they cost in the papers.
 */
#include "check_pointers.cuh"

#define NAMES(name, ...)                            \
  CHECK_KERNEL(name, 9, 9, CHECK_ROWS, __VA_ARGS__) \
  CHECK_SHORT_KERNEL(name##_short, 9, 9, CHECK_ROWS, __VA_ARGS__)
NAMES(keyed, CHECK_CALL(CHECK_KEYED))
NAMES(uniform, CHECK_CALL(CHECK_UNIFORM))
NAMES(masked, CHECK_CALL(CHECK_MASKED))
NAMES(divergent, CHECK_CALL(CHECK_DIVERGENT))
NAMES(pointers, CHECK_CALL_POINTERS(CHECK_POINTERS, check_call_of))

/* The threshold of most calls: that of the macro. */
CHECK_SHORT_KERNEL(standard, 9, 9, CHECK_ROWS,
                   arc_add_f32(target, plan.keys[check_call_index(&plan, update)], values,
                               check_active(&plan, update)))

/* By arc's own threshold, where one key and more is promised; inactive lanes then hold zeros. */
static __device__ void add_promised(arc_target_f32 target, int key, const float *values,
                                    bool active, int promises) {
  float held[9];
  for (int i = 0; i < 9; ++i) held[i] = active ? values[i] : 0.0f;
  arc_options o = arc_options_default();
  o.path = ARC_PATH_AUTO;
  o.threshold = ARC_THRESHOLD_AUTO;
  o.promises |= ARC_PROMISE_ONE_KEY | promises;
  if (__any_sync(ARC_LANES_ALL, active)) arc_add_with_f32(target, key, held, active, o);
}
#define PROMISED(promises)                                                 \
  add_promised(target, plan.keys[check_call_index(&plan, update)], values, \
               check_active(&plan, update), promises)
CHECK_SHORT_KERNEL(one_key, 9, 9, CHECK_ROWS, PROMISED(0))
CHECK_SHORT_KERNEL(zeros, 9, 9, CHECK_ROWS, PROMISED(ARC_PROMISE_INACTIVE_IS_ZERO))
CHECK_SHORT_KERNEL(renderer, 9, 9, CHECK_ROWS, PROMISED(ARC_PROMISE_RENDERER))
CHECK_SHORT_KERNEL(aligned, 9, 9, CHECK_ROWS,
                   PROMISED(ARC_PROMISE_RENDERER | ARC_PROMISE_ALIGNED_16))

enum { KEYED, UNIFORM, MASKED, DIVERGENT, POINTERS, ENTRIES };
enum { ONE_KEY = ENTRIES, ZEROS, RENDERER, ALIGNED, ALL_ENTRIES };

static const check_launch launches[] = {keyed_launch, uniform_launch, masked_launch,
                                        divergent_launch, pointers_launch};
static const check_launch short_launches[] = {
    keyed_short_launch,     uniform_short_launch,  masked_short_launch,
    divergent_short_launch, pointers_short_launch, one_key_launch,
    zeros_launch,           renderer_launch,       aligned_launch};

/* Stands for a path: the short name, at the plan's threshold and at that of the macros. */
enum { SHORT = 0, STANDARD = -1 };

struct costs {
  unsigned long long shuffles, votes, matches, floats, requests;
};

static int stride = 12; /* of rows: of whole 16 bytes */

/* One warp, `groups` keys, `count` lanes active; the threshold is what a group just reaches. */
static struct costs run_warp(int entry, int path, int groups, int pattern, int count,
                             unsigned long long stream) {
  struct check_random random = {stream};
  struct check_case c;
  struct costs costs = {0, 0, 0, 0, 0};
  check_case_init(&c, random, 9, 1, 32, 1);
  c.uniform = entry == UNIFORM || entry >= ONE_KEY;
  c.plan.path = path;
  c.plan.threshold = count / groups;
  check_layout_rows(&c, 32, stride, 0);
  c.active[0] = check_mask(SHAPE_PREFIX, count, &c.random);
  check_rows(&c, 0, 0, pattern, groups, 0);
#if SIMT_ON_CPU
  simt_seed(stream);
  simt_counters_reset();
#endif
  check_run_form(&c,
                 path == STANDARD ? standard_launch
                 : path == SHORT  ? short_launches[entry]
                                  : launches[entry],
                 entry == POINTERS);
#if SIMT_ON_CPU
  const struct simt_counters n = simt_counters_read();
  costs.shuffles = n.shuffles;
  costs.votes = n.votes;
  costs.matches = n.matches;
  costs.floats = n.lane_adds;
  costs.requests = n.reductions;
#endif
  return costs;
}

static int most_groups(int entry) { return entry == UNIFORM || entry >= ONE_KEY ? 1 : 32; }

static void every_name(int entry, int path) {
  for (int groups = 1; groups <= most_groups(entry); groups *= 2)
    for (int count = 0; count <= 32; count += 8) {
      struct check_random random;
      if (check_begin("every name", &random))
        run_warp(entry, path, groups, count % 16 ? KEYS_INTERLEAVED : KEYS_CONTIGUOUS, count,
                 random.state);
    }
}

/* The short name costs exactly what the name of ARC_PATH costs. */
static void short_name(int entry) {
  for (int groups = 1; groups <= most_groups(entry); groups *= 2) {
    struct check_random random;
    if (!check_begin("the short name", &random)) continue;
    const struct costs a = run_warp(entry, SHORT, groups, KEYS_CONTIGUOUS, 32, random.state);
    const struct costs b = run_warp(entry, ARC_PATH, groups, KEYS_CONTIGUOUS, 32, random.state);
    CHECK(memcmp(&a, &b, sizeof a) == 0, "entry %d: the short name is not bound to ARC_PATH %d",
          entry, ARC_PATH);
  }
}

#if SIMT_ON_CPU
static void cost_of(int entry, int path, int groups, int pattern, int count, long long shuffles,
                    long long floats) {
  struct check_random random;
  if (!check_begin("the cost of a path", &random)) return;
  const struct costs c = run_warp(entry, path, groups, pattern, count, random.state);
  CHECK((long long)c.shuffles == shuffles, "entry %d path %d, %d keys: %llu shuffles, must be %lld",
        entry, path, groups, c.shuffles, shuffles);
  CHECK((long long)c.floats == floats, "entry %d path %d, %d keys: %llu floats, must be %lld",
        entry, path, groups, c.floats, floats);
}

static void cost(int entry, int path, int groups, int count, long long shuffles, long long floats) {
  cost_of(entry, path, groups, KEYS_CONTIGUOUS, count, shuffles, floats);
}

static void cost_apart(int path, int groups, long long shuffles, long long floats) {
  cost_of(KEYED, path, groups, KEYS_INTERLEAVED, 32, shuffles, floats);
}

static void costs(void) {
  cost(UNIFORM, ARC_PATH_ATOMIC, 1, 32, 0, 9 * 32);
  cost(UNIFORM, ARC_PATH_SERIALIZED, 1, 32, 9 * 31, 9); /* SW-S: the leader reads 31 lanes */
  cost(UNIFORM, ARC_PATH_BUTTERFLY, 1, 32, 5 * 9, 9);   /* SW-B: five shuffles per value */
  cost(UNIFORM, ARC_PATH_TRANSPOSED, 1, 32, 12, 9);
  cost(UNIFORM, ARC_PATH_TREE, 1, 32, 5 * 9, 9); /* five rounds */
  cost(KEYED, ARC_PATH_ATOMIC, 4, 32, 0, 9 * 32);
  cost(KEYED, ARC_PATH_SERIALIZED, 4, 32, 9 * 7, 4 * 9); /* groups of 8, all at once */
  cost(KEYED, ARC_PATH_BUTTERFLY, 4, 32, 0, 9 * 32);     /* several keys: plain atomics */
  cost(KEYED, ARC_PATH_TREE, 4, 32, 3 * 9, 4 * 9);
  cost_apart(ARC_PATH_TREE, 4, 3 * 10, 4 * 9); /* a round: the values and the next lane */
  cost(KEYED, ARC_PATH_TREE, 32, 32, 0, 32 * 9);
  cost(MASKED, ARC_PATH_TREE, 1, 32, 5 * 9, 9);
  cost(KEYED, ARC_PATH_AUTO, 1, 32, 12, 9);
  cost(KEYED, ARC_PATH_AUTO, 2, 32, 9 + 11 + 1, 2 * 9); /* a trade, 16 lanes each, the two keys */
  cost_apart(ARC_PATH_AUTO, 2, 9 + 11 + 1, 2 * 9);
  cost(KEYED, ARC_PATH_AUTO, 4, 32, 3 * 9, 4 * 9);
  cost_apart(ARC_PATH_AUTO, 4, 3 * 10, 4 * 9);
  cost(KEYED, STANDARD, 16, 16, 9, 8 * 9); /* eight pairs: one round serves all */
}

/* From how many lanes on keys are looked at, where a row takes so many requests. */
static void decision(int row_stride, int requests) {
  const int few = ARC_MIN_LANES_TO_MATCH(12, SIMT_ARCH >= 900 ? requests : 9);
  stride = row_stride;
  cost(KEYED, STANDARD, 1, few - 1, 0, (few - 1) * 9); /* too few to look at their keys */
  cost(KEYED, STANDARD, 1, few, 12 + 1, 9);            /* and the key for all lanes */
}

/* From how many lanes on a warp of one key is reduced: whatever else is promised, but that a
   renderer's call reduces a lane alone, too, if no other count is too few. */
static void decision_of_one_key(int row_stride, int requests) {
  const int few = ARC_MIN_LANES_TO_REDUCE(9, SIMT_ARCH >= 900 ? requests : 9);
  stride = row_stride;
  for (int entry = ONE_KEY; entry < (row_stride % 4 ? ALIGNED : ALL_ENTRIES); ++entry) {
    const bool all = entry >= RENDERER && few == 2;
    cost(entry, SHORT, 1, few - 1, all ? 12 : 0, all ? 9 : (few - 1) * 9);
    cost(entry, SHORT, 1, few, 12, 9);
  }
}

static __global__ void add_doubles(double *row, int count) {
  const double values[4] = {1, 2, 3, 4};
  arc_add_uniform_f64(arc_target_f64_rows(row, 4, 4), 0, values, (int)threadIdx.x < count);
}

/* A value of 64 bits counts as two, and takes one request: what is reduced takes two shuffles. Of
   two blocks the second one waits for more lanes. */
static void decision_of_doubles(void) {
  const int few = ARC_MIN_LANES_TO_REDUCE(2 * 4, 4), later = few + 2 * (few - 1) / 3;
  CHECK(few > ARC_MIN_LANES_TO_REDUCE(4, 4), "four doubles have the threshold of four floats");
  CHECK(later > few, "all blocks have one threshold, %d", few);
  for (int count = few - 1; count <= later; ++count) {
    struct check_random random;
    double row[4] = {0, 0, 0, 0};
    const int reduced = (count >= few) + (count >= later);
    if (!check_begin("the cost of doubles", &random)) continue;
    simt_counters_reset();
    SIMT_LAUNCH(add_doubles, dim3(2), dim3(32), 0, 0, row, count);
    const struct simt_counters n = simt_counters_read();
    CHECK(n.shuffles == 12ull * (unsigned)reduced, "%d lanes of doubles: %llu shuffles", count,
          (unsigned long long)n.shuffles);
    CHECK(row[0] == 2 * count && row[3] == 8.0 * count, "%d lanes of doubles: %g, %g", count,
          row[0], row[3]);
  }
}
#endif

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int entry = 0; entry < ENTRIES; ++entry) {
    for (int path = SHORT; path <= ARC_PATH_AUTO; ++path) every_name(entry, path);
    /* who meets whom in divergent code is up to the scheduler */
    if (entry != DIVERGENT) short_name(entry);
  }
  for (int entry = ONE_KEY; entry < ALL_ENTRIES; ++entry) every_name(entry, SHORT);
  every_name(KEYED, STANDARD);
#if SIMT_ON_CPU && SIMT_ARCH >= 700
  costs();
  decision(12, 3); /* of 16, 16 and 4 bytes */
  decision(10, 5); /* of 8 bytes and one of 4 */
  decision(9, 9);
  decision_of_one_key(12, 3);
  decision_of_one_key(10, 5);
  decision_of_one_key(9, 9);
  decision_of_doubles();
#endif
  return check_finish();
}
