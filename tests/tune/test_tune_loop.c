/* test_tune_loop.c - >>api, >>times and >>loop of arc_tune.h on exact times: configuration, next,
   report, result.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tune_check.h"

static arc_tune fresh(arc_tune_config config) {
  static arc_tune zeros;
  arc_tune t = zeros;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "a legal configuration is refused");
  return t;
}

/* ---- what is chosen -------------------------------------------------------------------------- */

/* own: a kernel of the caller's, known by its number. */
enum { OWN = ARC_PATH_AUTO + 2 };
enum { TWELVE, FALLS_TO_0, OWN_IS_BEST, ATOMICS };

static double time_us(int kernel, arc_tune_policy p) {
  int threshold = p.threshold == ARC_THRESHOLD_AUTO ? 8 : p.threshold;
  if (kernel == FALLS_TO_0) return 100.0 + 3.0 * threshold;
  if (kernel == OWN_IS_BEST) return (p.path == OWN ? 50.0 : 100.0) + 2.0 * abs(threshold - 20);
  if (kernel == ATOMICS) return p.path == ARC_PATH_ATOMIC ? 80.0 : 100.0;
  return 100.0 + 2.0 * abs(threshold - 12);
}

/* Launches until one more tuning has ended, or 5000. */
static int finish_tuning(arc_tune *t, int kernel) {
  int launches = 0, tunings = t->result.tunings;
  for (; launches < 5000 && t->result.tunings == tunings; ++launches) {
    arc_tune_policy policy = arc_tune_next(t);
    arc_tune_report(t, policy.ticket, time_us(kernel, policy));
  }
  return launches;
}

static void expect_choice(const arc_tune *t, int path, int threshold, const char *what) {
  CHECK(t->result.choice.path == path && t->result.choice.threshold == threshold,
        "%s: the choice is %d:%d, not %d:%d", what, t->result.choice.path,
        t->result.choice.threshold, path, threshold);
}

/* Beside auto as compiled and with thresholds there is another path; plain atomics are beside the
   former alone. */
static void test_other_path(int kernel, int other_path, int path, int threshold) {
  arc_tune_config c = arc_tune_config_default();
  const arc_tune_path other = {other_path, kernel != ATOMICS};
  if (kernel != ATOMICS) ++c.paths;
  c.path[c.paths - 1] = other;
  c.budget = 1.0;
  arc_tune t = fresh(c);
  finish_tuning(&t, kernel);
  expect_choice(&t, path, threshold, "with another path");
}

/* Between tunings the choice runs; in the middle of a second one the result is that of the first. */
static void test_result(void) {
  arc_tune t = fresh(arc_tune_config_default());
  const arc_tune_result *r = &t.result;
  int launches = finish_tuning(&t, TWELVE), rest = 0;
  expect_choice(&t, ARC_PATH_AUTO, 12, "one tuning");
  CHECK(r->replaced.threshold == ARC_THRESHOLD_AUTO, "replaced %d", r->replaced.threshold);
  CHECK(r->gain > 0.07 && r->gain < 0.08, "the gain is 8 of 108, not %g", r->gain);
  CHECK(r->cost > 0.5 && r->cost < 20.0, "it cost %g launches", r->cost);
  CHECK(r->launches == launches - 8 && launches < 600, "%d of %d were timed", r->launches,
        launches);
  const arc_tune_result first = *r;
  for (arc_tune_policy p = arc_tune_next(&t); p.ticket == 0 && rest < 5000; p = arc_tune_next(&t)) {
    CHECK(check_is_same(p, r->choice), "between tunings %d:%d runs", p.path, p.threshold);
    rest += 1;
  }
  CHECK(launches + rest == 2008, "the next tuning comes after %d launches", launches + rest);
  for (int timed = 0; timed < 60; ++timed) {
    arc_tune_policy p = arc_tune_next(&t);
    arc_tune_report(&t, p.ticket, time_us(FALLS_TO_0, p));
    CHECK(memcmp(r, &first, sizeof first) == 0, "the result has changed");
  }
  finish_tuning(&t, FALLS_TO_0);
  expect_choice(&t, ARC_PATH_AUTO, 0, "the workload has changed");
  CHECK(r->replaced.threshold == 12 && r->tunings == 2, "the result has not changed");
}

/* From 9 on a cliff, down to 0 a slope: the first step up is launched once and nothing next to it;
   the first step down, at 5, is too slow to go on. A launch whose time is lost is launched again. */
static void test_stops_early(int lost) {
  int launched[ARC_THRESHOLD_AUTO + 1] = {0};
  arc_tune t = fresh(arc_tune_config_default());
  for (int i = 0; i < 5000 && t.result.tunings == 0; ++i) {
    arc_tune_policy p = arc_tune_next(&t);
    int at = p.threshold, distance = at == ARC_THRESHOLD_AUTO ? 0 : abs(at - 8);
    double time_us = at >= 9 && at <= 33 ? 800.0 : 100.0 + 10.0 * distance;
    launched[at] += 1;
    arc_tune_report(&t, p.ticket, at == 11 && launched[11] <= lost ? 0.0 : time_us);
  }
  for (int i = 0; i < ARC_THRESHOLD_NEVER; ++i)
    CHECK(i == 11            ? launched[i] == 1 + lost
          : i >= 5 && i <= 8 ? launched[i] > 0
                             : launched[i] == 0,
          "threshold %d: %d launches, %d of 11 lost", i, launched[i], lost);
}

static void test_limits(void) {
  arc_tune_config c = arc_tune_config_default();
  int launches = 0;
  c.launch_limit = 9;
  arc_tune t = fresh(c);
  CHECK(finish_tuning(&t, TWELVE) <= 9 + c.launch_limit, "the limit of launches was not kept");
  c = arc_tune_config_default();
  c.interval = 100; /* shorter than a tuning */
  c.budget = 1.0;
  t = fresh(c);
  finish_tuning(&t, TWELVE);
  while (arc_tune_next(&t).ticket == 0 && launches < 1000) launches += 1;
  CHECK(launches == 26, "the next tuning comes after %d launches", launches);
  c.interval = 0;
  c.budget = 1e-6;
  t = fresh(c);
  CHECK(finish_tuning(&t, TWELVE) < 60, "a budget of nothing was not kept");
  for (int i = 0; i < 10000; ++i) CHECK(arc_tune_next(&t).ticket == 0, "interval 0 tunes once");
}

/* ---- >>api and >>times ----------------------------------------------------------------------- */

static void expect_untuned(arc_tune *t, const char *what) {
  for (unsigned i = 0; i < 20; ++i) {
    arc_tune_policy p = arc_tune_next(t);
    CHECK(p.path == ARC_PATH_AUTO && p.threshold == ARC_THRESHOLD_AUTO && p.ticket == 0,
          "%s: %d:%d, ticket %u", what, p.path, p.threshold, p.ticket);
    CHECK(arc_tune_report(t, i, 1.0) == ARC_TUNE_ERROR_REPORT, "%s: a report", what);
  }
}

#define EXPECT_REFUSED(field, value)                                          \
  do {                                                                        \
    arc_tune_config c = arc_tune_config_default();                            \
    arc_tune t = fresh(c);                                                    \
    c.field = value;                                                          \
    CHECK(arc_tune_init(&t, &c) == ARC_TUNE_ERROR_CONFIG, #field " " #value); \
    expect_untuned(&t, #field " " #value);                                    \
  } while (0)

static void test_configurations(void) {
  arc_tune_config c = arc_tune_config_default();
  arc_tune t = fresh(c);
  CHECK(c.paths == 2 && !c.path[0].uses_threshold && c.path[1].uses_threshold &&
            c.thresholds == 33 && c.threshold[0] == 0 && c.threshold[32] == 32,
        "the list must be auto as compiled and with 0..32");
  CHECK(c.interval == 2000 && c.warmup == 8 && c.launch_limit == 1900 && c.budget == 0.01,
        "the figures must be those of the header");
  expect_choice(&t, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, "before the first tuning");
  EXPECT_REFUSED(paths, 0);
  EXPECT_REFUSED(paths, ARC_TUNE_MAX_PATHS + 1);
  EXPECT_REFUSED(path[1].path, 0);
  EXPECT_REFUSED(thresholds, 0);
  EXPECT_REFUSED(thresholds, -1);
  EXPECT_REFUSED(thresholds, ARC_TUNE_MAX_THRESHOLDS + 1);
  EXPECT_REFUSED(threshold[0], -1);
  EXPECT_REFUSED(threshold[3], 4); /* twice */
  EXPECT_REFUSED(threshold[32], ARC_THRESHOLD_AUTO);
  EXPECT_REFUSED(start_path, ARC_PATH_TREE);
  EXPECT_REFUSED(start_threshold, 33);
  EXPECT_REFUSED(interval, -1);
  EXPECT_REFUSED(warmup, -1);
  EXPECT_REFUSED(launch_limit, 0);
  EXPECT_REFUSED(budget, 0.0);
  EXPECT_REFUSED(budget, 1.5);
  EXPECT_REFUSED(budget, NAN);
  c.paths = 1;
  c.thresholds = 0;
  t = fresh(c); /* one path, without a threshold */
}

/* And after a second init, from the tuner's own config, earlier tickets are void. */
static void test_reports(void) {
  static const double no_times[] = {-1.0, 0.0, 1e-4, 2e12, INFINITY, NAN};
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 0;
  arc_tune t = fresh(config);
  arc_tune_policy p = arc_tune_next(&t);
  CHECK(p.ticket != 0, "without warmup the first launch is timed");
  for (int i = 0; i < 6; ++i, p = arc_tune_next(&t))
    CHECK(arc_tune_report(&t, p.ticket, no_times[i]) == ARC_TUNE_ERROR_REPORT, "%g", no_times[i]);
  CHECK(arc_tune_report(&t, p.ticket, 10.0) == ARC_TUNE_OK, "a good time");
  CHECK(arc_tune_report(&t, p.ticket, 1.0) == ARC_TUNE_ERROR_REPORT, "a second report");
  CHECK(arc_tune_report(&t, p.ticket + 1, 1.0) == ARC_TUNE_ERROR_REPORT, "a ticket not issued yet");
  CHECK(arc_tune_report(&t, 0, 1.0) == ARC_TUNE_ERROR_REPORT, "ticket 0");
  unsigned first = arc_tune_next(&t).ticket;
  CHECK(arc_tune_init(&t, &t.config) == ARC_TUNE_OK, "init from its own config");
  CHECK(memcmp(&t.config, &config, sizeof config) == 0, "init wiped its own config");
  for (int i = 0; i < 8; ++i) arc_tune_next(&t);
  CHECK(arc_tune_report(&t, first, 5.0) == ARC_TUNE_ERROR_REPORT, "ticket of before the init");
}

int main(void) {
  arc_tune zeros;
  memset(&zeros, 0, sizeof zeros);
  expect_untuned(&zeros, "before the first init");
  test_other_path(TWELVE, ARC_PATH_BUTTERFLY, ARC_PATH_AUTO, 12); /* as fast: no gain */
  test_other_path(OWN_IS_BEST, OWN, OWN, 20);
  test_other_path(ATOMICS, ARC_PATH_ATOMIC, ARC_PATH_ATOMIC, ARC_THRESHOLD_AUTO);
  test_result();
  test_stops_early(0);
  test_stops_early(1);
  test_limits();
  test_configurations();
  test_reports();
  return test_end("test_tune_loop");
}
