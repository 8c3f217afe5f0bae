/* arc study groups: every adder finds the sums, to the bit; keys have the distributions that
   their names say.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "groups.h"

#include "../../bench/common/test_check.h"
#include "../../bench/common/test_device.h"

enum { ROWS = 1501 }; /* the last warp is not full */

static grouping begin(int what, int by, int rows, int keys, int columns, bool few_bits = false) {
  grouping g = {};
  g.what = what, g.by = by, g.rows = rows, g.keys = keys, g.columns = columns;
  g.table_rows = 5;
  g.few_bits = few_bits;
  g.seed = 3 + (unsigned long long)columns;
  grouping_draw(&g);
  return g;
}

/* And one that is off by its last bit is found. */
static void check_adders(int what, int by, int keys, int columns, bool few_bits = false) {
  grouping g = begin(what, by, ROWS, keys, columns, few_bits);
  const group_oracle oracle = grouping_oracle(&g);
  error_line error;
  for (int adder = 0; adder < ADDERS; ++adder) {
    if (!grouping_offers(&g, adder)) continue;
    grouping_add(&g, adder);
    CHECK(grouping_check(&g, adder, &oracle, &error), "what %d, by %d, %d columns, adder %d: %s",
          what, by, columns, adder, error.text);
  }
  const int last_bit = few_bits ? 12 : what == WHAT_WIDE ? 4 : 8;
  grouping_add(&g, ADD_ARC);
  for (int sign = -1; sign <= 1; sign += 2) {
    group_oracle other = oracle;
    other.sums.back() += sign * (what >= WHAT_WEIGHTS ? 1ll << g.scale_log2 >> last_bit : 1);
    CHECK(!grouping_check(&g, ADD_ARC, &other, &error), "what %d: a wrong sum is taken", what);
  }
  grouping_end(&g);
}

/* Wide rows of any values hold the same bytes in all runs. */
static void check_repeats(void) {
  grouping g = begin(WHAT_WIDE, BY_HALF, 20000, 10, 3);
  std::vector<char> first, sums(g.sums.bytes);
  for (unsigned run = 0; run < 10; ++run) {
#if SIMT_ON_CPU
    simt_seed(run);
#endif
    grouping_add(&g, ADD_ARC);
    device_to_host(sums.data(), g.sums.data, sums.size(), "sums");
    if (run == 0) first = sums;
    CHECK(sums == first, "run %u has other bytes", run);
  }
  grouping_end(&g);
}

static std::vector<int> sorted_counts(int by, int rows, int keys) {
  grouping g = begin(WHAT_COUNTS, by, rows, keys, 1);
  std::vector<int> counts = grouping_oracle(&g).rows;
  std::sort(counts.begin(), counts.end(), [](int a, int b) { return a > b; });
  grouping_end(&g);
  return counts;
}

/* Within five standard deviations of what a share of the rows says. */
static void check_share(const char *what, int count, int rows, double share) {
  const double wanted = rows * share, deviation = sqrt(rows * share * (1.0 - share));
  CHECK(fabs(count - wanted) <= 5.0 * deviation, "%s: %d rows, not %.1f", what, count, wanted);
}

static void check_zipf(int by, double exponent) {
  const int rows = 20000, keys = 1000;
  const std::vector<int> counts = sorted_counts(by, rows, keys);
  double sum = 0.0;
  for (int rank = 1; rank <= keys; ++rank) sum += pow(rank, -exponent);
  for (int rank = 1; rank <= 8; ++rank)
    check_share("zipf", counts[(size_t)rank - 1], rows, pow(rank, -exponent) / sum);
}

static void check_keys(void) {
  const int rows = 20000, keys = 10;
  check_zipf(BY_ZIPF_105, 1.05);
  check_zipf(BY_ZIPF_12, 1.2);
  check_share("half", sorted_counts(BY_HALF, rows, keys)[0], rows, 0.55);
  for (int count : sorted_counts(BY_UNIFORM, rows, keys)) check_share("uniform", count, rows, 0.1);
  grouping g = begin(WHAT_SUMS, BY_SORTED, rows, keys, 1);
  const std::vector<int> key = device_read<int>(g.key.data, (size_t)rows);
  CHECK(std::is_sorted(key.begin(), key.end()), "keys are not sorted");
  CHECK(key.front() == 0 && key.back() == keys - 1, "keys from %d to %d", key.front(), key.back());
  grouping_end(&g);
}

/* "Up to" holds for all numbers of keys below, too. */
static void check_sweep(const double (&speeds)[5], int three, int faster, int no_more) {
  sweep_limits l = {0, 0, 0};
  for (int i = 0; i < 5 && !l.no_more; ++i) sweep_note(&l, 1000 << i, speeds[i]);
  CHECK(l.three == three && l.faster == faster && l.no_more == no_more,
        "%d, %d, %d, not %d, %d, %d", l.three, l.faster, l.no_more, three, faster, no_more);
}

int main(void) {
  check_sweep({5, 3, 2, 1.1, 1}, 2000, 8000, 16000);
  check_sweep({2.5, 5, 5, 5, 5}, 0, 16000, 0);
  check_sweep({5, 2, 5, 0.9, 5}, 1000, 4000, 8000);
  check_sweep({0.8, 5, 5, 5, 5}, 0, 0, 1000);
  if (!test_has_device("test_groups")) return TEST_SKIPPED;
  for (int columns = 1; columns <= MOST_COLUMNS; ++columns)
    for (int what : {WHAT_SUMS, WHAT_WIDE})
      check_adders(what, columns % KEYS_BY, columns % 2 ? 40 : 3, columns);
  for (int by = 0; by < KEYS_BY; ++by) {
    check_adders(WHAT_SUMS, by, 100, 3);
    check_adders(WHAT_COUNTS, by, 100, 1);
    check_adders(WHAT_WEIGHTS, by, 100, 1);
    check_adders(WHAT_WEIGHTS, by, 100, 1, true);
    check_adders(WHAT_WIDE, by, 100, 3, true);
  }
  check_repeats();
  check_keys();
  return test_end("test_groups");
}
