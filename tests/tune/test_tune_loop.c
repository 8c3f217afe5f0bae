/* test_tune_loop.c - arc_tune.h on exact times: configuration, next, report, result.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tune_check.h"

/* own: a kernel of the caller's, known by its number. */
enum { OWN = ARC_PATH_AUTO + 2 };
enum { TWELVE, FALLS_TO_0, CLIFF, OWN_IS_BEST, LATE_OWN };

static double time_us(int kernel, arc_tune_policy p) {
  int at = p.threshold == ARC_THRESHOLD_AUTO ? 8 : p.threshold;
  if (kernel == FALLS_TO_0) return 100.0 + 3.0 * at;
  if (kernel == LATE_OWN && p.path == OWN + 1 && p.threshold != ARC_THRESHOLD_AUTO) return 40.0;
  if (kernel >= OWN_IS_BEST)
    return p.path == OWN ? 50.0 + abs(at - 20) : 100.0 + 30.0 * abs(at - 8);
  if (kernel == CLIFF) return at > 8 ? 800.0 : 100.0 + 20.0 * (8 - at);
  return 100.0 + 2.0 * abs(at - 12);
}

static arc_tune fresh(arc_tune_config config) {
  static arc_tune zeros;
  arc_tune t = zeros;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "a legal configuration is refused");
  return t;
}

/* Launches until one more tuning has ended, or 5000; launched counts them by threshold. */
static int finish_tuning(arc_tune *t, int kernel, int *launched) {
  int launches = 0, tunings = t->result.tunings;
  for (; launches < 5000 && t->result.tunings == tunings; ++launches) {
    arc_tune_policy p = arc_tune_next(t);
    if (launched != NULL) launched[p.threshold] += 1;
    arc_tune_report(t, p.ticket, time_us(kernel, p));
  }
  return launches;
}

static void expect_choice(const arc_tune *t, int path, int threshold) {
  const arc_tune_policy p = t->result.choice;
  CHECK(p.path == path && p.threshold == threshold, "%d:%d is chosen, not %d:%d", p.path,
        p.threshold, path, threshold);
}

/* Beside auto as compiled and with thresholds there is a path with thresholds low..high. */
static void test_other_path(int kernel, int low, int high, int path, int threshold) {
  arc_tune_config c = arc_tune_config_default();
  arc_tune_add(&c, OWN, low, high);
  if (low > 8) arc_tune_add(&c, OWN + 1, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  if (low > 8) arc_tune_add(&c, OWN + 1, high + 1, high + 1);
  c.budget = 1.0;
  arc_tune t = fresh(c);
  finish_tuning(&t, kernel, NULL);
  expect_choice(&t, path, threshold);
}

/* Between tunings the choice runs; in the middle of a second one the result is that of the first. */
static void test_result(void) {
  arc_tune t = fresh(arc_tune_config_default());
  int launches = finish_tuning(&t, TWELVE, NULL), rest = 0, launched[ARC_THRESHOLD_AUTO + 1] = {0};
  expect_choice(&t, ARC_PATH_AUTO, 12);
  CHECK(t.result.gain > 0.07 && t.result.gain < 0.08, "the gain is 8 of 108, not %g",
        t.result.gain);
  CHECK(t.result.cost > 0.5 && t.result.cost <= 20.0, "it cost %g launches", t.result.cost);
  CHECK(t.result.launches == launches - 8 && launches < 700, "%d of %d", t.result.launches,
        launches);
  arc_tune_policy p = arc_tune_next(&t);
  for (; p.ticket == 0 && rest < 5000; p = arc_tune_next(&t), ++rest)
    CHECK(check_is_same(p, t.result.choice), "between tunings %d:%d runs", p.path, p.threshold);
  CHECK(rest == 2000, "the next tuning comes after %d launches", rest);
  for (int i = 0; i < 60; ++i, p = arc_tune_next(&t)) arc_tune_report(&t, p.ticket, 100.0);
  CHECK(t.result.tunings == 1 && t.result.launches == launches - 8, "the result has changed");
  finish_tuning(&t, FALLS_TO_0, NULL);
  expect_choice(&t, ARC_PATH_AUTO, 0);
  t = fresh(arc_tune_config_default()); /* steps up a cliff are launched once */
  finish_tuning(&t, CLIFF, launched);
  for (int i = 9; i < 33; ++i)
    CHECK(launched[i] <= (i == 9 || i == 12), "threshold %d: %d launches", i, launched[i]);
  arc_tune_config c = arc_tune_config_default();
  c.interval = 0, c.budget = 1e-4;
  t = fresh(c);
  CHECK(finish_tuning(&t, TWELVE, NULL) < 60, "a budget of nothing was not kept");
  for (int i = 0; i < 10000; ++i) CHECK(arc_tune_next(&t).ticket == 0, "interval 0 tunes once");
}

static void expect_untuned(arc_tune *t, const char *what) {
  for (unsigned i = 0; i < 20; ++i) {
    arc_tune_policy p = arc_tune_next(t);
    CHECK(p.path == ARC_PATH_AUTO && p.threshold == ARC_THRESHOLD_AUTO && p.ticket == 0, "%s",
          what);
    CHECK(arc_tune_report(t, i, 1.0) == ARC_TUNE_ERROR_REPORT, "%s: a report", what);
  }
}

#define EXPECT_REFUSED(change)                                            \
  do {                                                                    \
    arc_tune_config c = arc_tune_config_default();                        \
    arc_tune t = fresh(c);                                                \
    change;                                                               \
    CHECK(arc_tune_init(&t, &c) == ARC_TUNE_ERROR_CONFIG, "%s", #change); \
    expect_untuned(&t, #change);                                          \
  } while (0)

static void test_configurations(void) {
  arc_tune_config c = arc_tune_config_default();
  CHECK(c.policies == 34 && c.policy[1].threshold == 0 && c.policy[33].threshold == 32, "the list");
  EXPECT_REFUSED(c.policies = 0);
  EXPECT_REFUSED(c.policies = -1);
  EXPECT_REFUSED(for (int i = 0; i < 9; ++i) arc_tune_add(&c, 1 + i, 0, 32));
  EXPECT_REFUSED(c.policy[1].path = 0);
  EXPECT_REFUSED(c.policy[1].threshold = -1);
  EXPECT_REFUSED(c.policy[1].threshold = ARC_THRESHOLD_AUTO + 1);
  EXPECT_REFUSED(c.start.path = ARC_PATH_TREE);
  EXPECT_REFUSED(c.start.threshold = 33);
  EXPECT_REFUSED(c.interval = -1);
  EXPECT_REFUSED(c.warmup = -1);
  EXPECT_REFUSED(c.budget = 0.0);
  EXPECT_REFUSED(c.budget = 1.5);
  EXPECT_REFUSED(c.budget = NAN);
}

/* And after a second init, from the tuner's own config, earlier tickets are void. */
static void test_reports(void) {
  static const double no_times[] = {-1.0, 0.0, 1e-4, 2e12, INFINITY, NAN};
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 0;
  arc_tune t = fresh(config);
  arc_tune_policy p = arc_tune_next(&t);
  for (int i = 0; i < 6; ++i, p = arc_tune_next(&t))
    CHECK(arc_tune_report(&t, p.ticket, no_times[i]) == ARC_TUNE_ERROR_REPORT, "%g", no_times[i]);
  CHECK(arc_tune_report(&t, p.ticket, 10.0) == ARC_TUNE_OK, "a good time");
  CHECK(arc_tune_report(&t, p.ticket, 1.0) == ARC_TUNE_ERROR_REPORT, "a second report");
  CHECK(arc_tune_report(&t, p.ticket + 1, 1.0) == ARC_TUNE_ERROR_REPORT, "a ticket not issued yet");
  CHECK(arc_tune_report(&t, 0, 1.0) == ARC_TUNE_ERROR_REPORT, "ticket 0");
  unsigned first = arc_tune_next(&t).ticket;
  for (int i = 0; i < ARC_TUNE__SLOTS; ++i) arc_tune_next(&t);
  CHECK(arc_tune_report(&t, first, 5.0) == ARC_TUNE_ERROR_REPORT, "a ticket of long ago");
  first = arc_tune_next(&t).ticket;
  CHECK(arc_tune_init(&t, &t.config) == ARC_TUNE_OK, "init from its own config");
  t.config.seed += 1;
  arc_tune other = fresh(t.config);
  CHECK(other.random != t.random, "seeds draw alike");
  for (int i = 0; i < 8; ++i) arc_tune_next(&t);
  CHECK(arc_tune_report(&t, first, 5.0) == ARC_TUNE_ERROR_REPORT, "ticket of before the init");
}

int main(void) {
  arc_tune zeros;
  memset(&zeros, 0, sizeof zeros);
  expect_untuned(&zeros, "before the first init");
  test_other_path(TWELVE, 0, 33, ARC_PATH_AUTO, 12); /* as fast: no gain */
  test_other_path(OWN_IS_BEST, 0, 33, OWN, 20);
  test_other_path(OWN_IS_BEST, 16, 24, OWN, 20); /* entered at the nearest threshold */
  test_other_path(LATE_OWN, 16, 24, OWN + 1, 25);
  test_other_path(FALLS_TO_0, 0, 3, ARC_PATH_AUTO, 0);
  test_result();
  test_configurations();
  test_reports();
  return test_end("test_tune_loop");
}
