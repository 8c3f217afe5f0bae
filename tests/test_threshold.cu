/* test_threshold.cu - the balancing threshold: a group is reduced in registers if and only if it
 * has at least that many lanes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sums must be right at every threshold 0..33 and ARC_THRESHOLD_AUTO. What was reduced can be
 * seen from the CPU warp's counters: a reduced group adds `width` floats to memory, another one
 * `width` floats for each of its lanes.
 */
#include "check.cuh"

#include <map>

enum { KEYED = CHECK_KEYED, UNIFORM = CHECK_UNIFORM, MASKED = CHECK_MASKED, ENTRIES };

#if SIMT_ON_CPU

/* Floats that reach memory, by the definition of the threshold. The papers' butterfly reduces one key
   of a whole warp or nothing. */
static unsigned long long floats_added(const struct check_case *c) {
  unsigned long long floats = 0;
  for (int u = 0; u < c->plan.updates; ++u)
    for (int w = 0; w < c->warps; ++w) {
      std::map<int, int> lanes_of_row;
      for (int t = 32 * w; t < 32 * w + 32; ++t)
        if (check_is_active(c, u, t)) lanes_of_row[c->rows[(size_t)u * c->threads + t]] += 1;
      const bool one_key = lanes_of_row.size() == 1 && c->alive[w] == ARC_LANES_ALL;
      const bool reduces =
          c->plan.path == ARC_PATH_BUTTERFLY ? one_key : c->plan.path != ARC_PATH_ATOMIC;
      for (const auto &row : lanes_of_row) {
        const bool one_sum = reduces && row.second >= c->plan.threshold;
        floats += (unsigned long long)(c->plan.width * (one_sum ? 1 : row.second));
      }
    }
  return floats;
}

#endif

static void run_threshold(int entry, int path, int threshold) {
  struct check_case c;
  const int width = 1 + (threshold + 3 * path) % 11;
  if (!check_open(&c, "threshold", width, 33, 32 * SHAPE_COUNT - (entry == MASKED ? 7 : 0), 1))
    return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  check_layout_rows(&c, 70, width + check_below(&c.random, 4), check_below(&c.random, 4));
  check_fill_shapes(&c);
  for (int w = 0; w < c.warps; ++w) {
    const int first = check_below(&c.random, c.key_count);
    if (entry == UNIFORM || w % 3 == 0)
      check_rows(&c, 0, w, KEYS_CONTIGUOUS, 1, first);
    else
      check_rows(&c, 0, w, w % KEYS_PATTERN_COUNT, 1 + check_below(&c.random, 5), first);
  }
#if SIMT_ON_CPU
  simt_counters_reset();
#endif
  check_run(&c, check_launches[entry]);
#if SIMT_ON_CPU
  const unsigned long long floats = simt_counters_read().lane_adds, must = floats_added(&c);
  if (threshold <= ARC_THRESHOLD_NEVER)
    CHECK(floats == must, "entry %d path %d threshold %d: %llu floats added, must be %llu", entry,
          path, threshold, floats, must);
  else
    CHECK(floats <= floats_added(&c), "more floats added than without any reduction");
#endif
}

/* One lane adds as many floats either way; but the transposed and the butterfly reduction shuffle
   in any group that has the threshold, and the plain path never does. */
static void one_warp(int path, int count, int threshold) {
  struct check_case c;
  if (!check_open(&c, "one warp", 4, 1, 32, 1)) return;
  c.plan.path = path;
  c.plan.threshold = threshold;
  check_layout_rows(&c, 1, 4, 0);
  c.active[0] = check_any_mask(count, &c.random);
#if SIMT_ON_CPU
  simt_counters_reset();
#endif
  check_run(&c, check_launch_uniform);
#if SIMT_ON_CPU
  const int reduces = count >= threshold, shuffled = simt_counters_read().shuffles != 0;
  CHECK(shuffled == reduces, "path %d, %d lanes, threshold %d: reduced in registers: %d", path,
        count, threshold, shuffled);
#endif
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
    for (int threshold = 0; threshold <= ARC_THRESHOLD_AUTO; ++threshold)
      run_threshold((path + threshold) % ENTRIES, path, threshold);
  for (int count = 1; count <= 32; ++count)
    for (int threshold = 0; threshold <= ARC_THRESHOLD_NEVER; ++threshold) {
      one_warp(ARC_PATH_TRANSPOSED, count, threshold);
      one_warp(ARC_PATH_BUTTERFLY, count, threshold);
      one_warp(ARC_PATH_AUTO, count, threshold);
    }
  return check_finish();
}
