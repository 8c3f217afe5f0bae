/* test_empty_cost.cu - what a call may cost: an empty warp one vote, a full one S(n) shuffles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Read from the counters of the CPU warp, where alone it is built.
 */
#include "check.cuh"

/* Everything counted in one warp with the first `count` lanes active; keys: one, or as many as lanes. */
static struct simt_counters count_warp(int form, int path, int width, int count, int threshold,
                                       struct check_random random, int keys = 1) {
  struct check_case c;
  check_case_init(&c, random, width, 1, 32, 1);
  c.plan.path = path;
  c.plan.threshold = threshold;
  check_layout_rows(&c, keys, (width + 3) / 4 * 4, 0);
  c.active[0] = check_mask(SHAPE_PREFIX, count, &c.random);
  check_rows(&c, 0, 0, KEYS_INTERLEAVED, keys, 0);
  simt_counters_reset();
  check_run_form(&c, check_launches[form], form >= CHECK_POINTERS);
  return simt_counters_read();
}

static void empty_warp(int form, int path, int width, int threshold) {
  struct check_random random;
  if (!check_begin("an empty warp", &random)) return;
  const struct simt_counters n = count_warp(form, path, width, 0, threshold, random);
  CHECK(n.votes <= 1 && n.shuffles + n.matches + n.warp_syncs + n.redux + n.block_barriers == 0,
        "form %d path %d: %llu votes, %llu shuffles, %llu matches, %llu syncs", form, path, n.votes,
        n.shuffles, n.matches, n.warp_syncs);
  CHECK(n.reductions + n.lane_adds == 0, "form %d path %d: %llu reductions", form, path,
        n.reductions);
}

/* Halves, rounded up, five times: what the transposed reduction must not exceed. */
static int transposed_shuffles(int width) {
  int shuffles = 0;
  for (int live = width, step = 0; step < 5; ++step) {
    shuffles += (live + 1) / 2;
    live = (live + 1) / 2;
  }
  return shuffles;
}

static void full_warp(int width) {
  struct check_random random;
  if (!check_begin("a full warp", &random)) return;
  struct simt_counters n = count_warp(CHECK_UNIFORM, ARC_PATH_TRANSPOSED, width, 32, 1, random);
  CHECK(n.shuffles == (unsigned long long)transposed_shuffles(width),
        "transposed width %d: %llu shuffles, must be %d", width, n.shuffles,
        transposed_shuffles(width));
  CHECK(n.reductions == 1 && n.lane_adds == (unsigned long long)width,
        "transposed width %d: %llu requests of %llu floats, must be one", width, n.reductions,
        n.lane_adds);
  CHECK(n.votes <= 2 && n.matches == 0, "transposed width %d: %llu votes, %llu matches", width,
        n.votes, n.matches);
  n = count_warp(CHECK_UNIFORM, ARC_PATH_AUTO, width, 32, ARC_THRESHOLD_AUTO, random);
  CHECK(n.shuffles == (unsigned long long)transposed_shuffles(width),
        "auto width %d: %llu shuffles, must be %d", width, n.shuffles, transposed_shuffles(width));
  n = count_warp(CHECK_UNIFORM, ARC_PATH_BUTTERFLY, width, 32, 1, random);
  CHECK(n.shuffles == 5ull * width, "butterfly width %d: %llu shuffles", width, n.shuffles);
}

/* No locality: auto asks who is there, a few instructions at any width, and then adds plainly. */
static void no_locality(int form, int width) {
  struct check_random random;
  if (!check_begin("no locality", &random)) return;
  const struct simt_counters n =
      count_warp(form, ARC_PATH_AUTO, width, 32, ARC_BALANCE_THRESHOLD, random, 32);
  CHECK(n.shuffles <= 2 && n.votes <= 6 && n.matches <= 1 && n.lane_adds == 32ull * width,
        "form %d width %d: %llu shuffles, %llu votes, %llu matches, %llu floats", form, width,
        n.shuffles, n.votes, n.matches, n.lane_adds);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int form = 0; form < CHECK_FORMS; ++form)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      for (int threshold = 0; threshold <= ARC_THRESHOLD_AUTO; threshold += 17)
        empty_warp(form, path, 1 + (path * 7 + threshold) % 40, threshold);
  for (int width = 1; width <= 32; ++width) full_warp(width);
  if (SIMT_ARCH >= 700)
    for (int width = 1; width <= 32; ++width) {
      no_locality(CHECK_KEYED, width);
      no_locality(CHECK_PIECES, width);
    }
  return check_finish();
}
