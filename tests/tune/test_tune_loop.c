/* test_tune_loop.c - >>api, >>times and >>loop of arc_tune.h: configuration, next, report, result,
   and what they cost the host.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <time.h>

#include "tune_check.h"

static double twelve_is_best(arc_tune_policy policy) {
  return 100.0 + 2.0 * abs((policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold) - 12);
}

static arc_tune fresh(arc_tune_config config) {
  static arc_tune zeros;
  arc_tune t = zeros;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "a legal configuration is refused");
  return t;
}

static void test_median_and_root(void) {
  double odd[] = {3.0, 1.0, 2.0, -1.0}, even[] = {4.0, 3.0, 1.0, 2.0, -1.0}, two[] = {2.0, 1.0};
  CHECK(arc_tune__sort_to_median(odd, 3) == 2.0 && odd[0] == 1.0 && odd[3] == -1.0, "of three");
  CHECK(arc_tune__sort_to_median(even, 4) == 2.5 && even[3] == 4.0 && even[4] == -1.0, "of four");
  CHECK(arc_tune__sort_to_median(two, 2) == 1.5 && two[0] == 1.0, "of two");
  for (double root = 0.75; root < 1e6; root *= 1.37)
    CHECK(fabs(arc_tune__sqrt(root * root) / root - 1.0) < 1e-6, "the root of %g", root * root);
}

static void expect_choice(const arc_tune *t, int path, int threshold, const char *what) {
  CHECK(t->result.choice.path == path && t->result.choice.threshold == threshold,
        "%s: the choice is %d:%d, not %d:%d", what, t->result.choice.path,
        t->result.choice.threshold, path, threshold);
}

static void test_defaults(void) {
  arc_tune_config c = arc_tune_config_default();
  arc_tune t = fresh(c);
  CHECK(c.paths == 2 && !c.path[0].uses_threshold && c.path[1].uses_threshold &&
            c.thresholds == 33 && c.threshold[0] == 0 && c.threshold[32] == 32,
        "the list must be auto as compiled and with 0..32");
  CHECK(c.interval == 2000 && c.warmup == 8 && c.launch_limit == 1900 && c.budget == 0.01,
        "the figures must be those of the header");
  expect_choice(&t, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, "before the first tuning");
}

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

static void test_illegal_configurations(void) {
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
}

static void test_result(void) {
  arc_tune t = fresh(arc_tune_config_default());
  const arc_tune_result *r = &t.result;
  int launches = check_tune(&t, twelve_is_best), rest = 0;
  expect_choice(&t, ARC_PATH_AUTO, 12, "12 is best");
  CHECK(r->replaced.threshold == ARC_THRESHOLD_AUTO, "replaced threshold %d",
        r->replaced.threshold);
  CHECK(r->gain > 0.07 && r->gain < 0.08, "the gain is 8 of 108, not %g", r->gain);
  CHECK(r->cost > 0.5 && r->cost < 20.0, "it cost %g launches", r->cost);
  CHECK(r->launches == launches - 8 && launches < 600, "%d of %d launches were timed", r->launches,
        launches);
  for (arc_tune_policy p = arc_tune_next(&t); p.ticket == 0 && rest < 5000; p = arc_tune_next(&t)) {
    CHECK(check_is_same(p, r->choice), "between tunings %d:%d runs", p.path, p.threshold);
    rest += 1;
  }
  CHECK(launches + rest == 2008, "the next tuning comes after %d launches", launches + rest);
}

static double falls_to_33(arc_tune_policy policy) { return 200.0 - 3.0 * policy.threshold; }
static double falls_to_0(arc_tune_policy policy) { return 100.0 + 3.0 * policy.threshold; }

/* In the middle of a second tuning the result is that of the first one. */
static void test_second_tuning(void) {
  arc_tune t = fresh(arc_tune_config_default());
  check_tune(&t, twelve_is_best);
  arc_tune_result first = t.result;
  for (int i = 0, timed = 0; timed < 60; ++i) {
    arc_tune_policy p = arc_tune_next(&t);
    timed += p.ticket != 0;
    arc_tune_report(&t, p.ticket, falls_to_0(p));
    CHECK(i < 3000 && memcmp(&t.result, &first, sizeof first) == 0, "the result has changed");
  }
  check_tune(&t, falls_to_0);
  expect_choice(&t, ARC_PATH_AUTO, 0, "the workload has changed");
  CHECK(t.result.replaced.threshold == 12 && t.result.tunings == 2, "the result has not changed");
}

/* The start may be any policy of the list, the best at either end; a few thresholds are enough. */
static void test_reaches_the_ends(void) {
  arc_tune_config config = arc_tune_config_default();
  config.thresholds = 5; /* all below the 8 that stands for arc's own */
  arc_tune t = fresh(config);
  check_tune(&t, falls_to_0);
  expect_choice(&t, ARC_PATH_AUTO, 0, "thresholds 0..4");
  config.path[0] = config.path[1];
  config.paths = 1;
  config.budget = 1.0;
  for (int stride = 1; stride <= 3; stride += 2) {
    config.thresholds = 0;
    for (int i = 0; i <= ARC_THRESHOLD_NEVER; i += stride)
      config.threshold[config.thresholds++] = i;
    for (config.start_threshold = 0; config.start_threshold <= 33; config.start_threshold += 3) {
      arc_tune up = fresh(config), down = fresh(config);
      for (int tuning = 0; tuning < 2; ++tuning) check_tune(&up, falls_to_33);
      for (int tuning = 0; tuning < 2; ++tuning) check_tune(&down, falls_to_0);
      expect_choice(&up, ARC_PATH_AUTO, 33, "time falls up to 33");
      expect_choice(&down, ARC_PATH_AUTO, 0, "time falls down to 0");
    }
  }
}

/* The trees' best lies between two coarse thresholds, both worse than the policy in use, as for
   narrow rows on an H200. */
static double valley_of_the_tree(arc_tune_policy policy) {
  if (policy.path == ARC_PATH_TREE) return 94.0 + 4.0 * abs(policy.threshold - 12);
  return policy.threshold == ARC_THRESHOLD_AUTO ? 100.0 : 104.0;
}

/* Their time falls all the way from twice that of the policy in use. */
static double slope_of_the_tree(arc_tune_policy policy) {
  return policy.path == ARC_PATH_TREE ? 230.0 - 4.5 * policy.threshold : 100.0;
}

/* A kernel of the caller's own, known by its number. */
static double own_kernel_is_best(arc_tune_policy policy) {
  return (policy.path == ARC_PATH_AUTO + 2 ? 50.0 : 100.0) + 2.0 * abs(policy.threshold - 20);
}

static double atomics_are_best(arc_tune_policy policy) {
  return policy.path == ARC_PATH_ATOMIC ? 80.0 : 100.0;
}

static void test_other_paths(void) {
  static const int paths[] = {ARC_PATH_TREE, ARC_PATH_BUTTERFLY, ARC_PATH_AUTO + 1,
                              ARC_PATH_AUTO + 2};
  arc_tune_config config = arc_tune_config_default();
  for (int i = 0; i < 4; ++i) {
    config.path[2 + i].path = paths[i];
    config.path[2 + i].uses_threshold = 1;
  }
  config.paths = 6;
  arc_tune t = fresh(config);
  check_tune(&t, own_kernel_is_best);
  expect_choice(&t, ARC_PATH_AUTO + 2, 20, "an own kernel is best");
  t = fresh(config);
  check_tune(&t, valley_of_the_tree);
  expect_choice(&t, ARC_PATH_TREE, 12, "a valley of another path");
  t = fresh(config);
  check_tune(&t, slope_of_the_tree);
  expect_choice(&t, ARC_PATH_TREE, 32, "a slope of another path");
  config.path[0].path = ARC_PATH_ATOMIC;
  config.path[1].uses_threshold = 0;
  config.paths = 2; /* both without thresholds */
  t = fresh(config);
  check_tune(&t, atomics_are_best);
  expect_choice(&t, ARC_PATH_ATOMIC, ARC_THRESHOLD_AUTO, "plain atomics are best");
}

/* From 9 on a cliff, down to 0 a slope: the first step up is launched once and nothing next to it;
   the first step down, at 5, is too slow to go on. A launch whose time is lost is launched again. */
static int launched[ARC_THRESHOLD_AUTO + 1];

static double cliff_and_slope(arc_tune_policy policy) {
  int distance = policy.threshold == ARC_THRESHOLD_AUTO ? 0 : abs(policy.threshold - 8);
  launched[policy.threshold] += 1;
  return policy.threshold >= 9 && policy.threshold <= 33 ? 800.0 : 100.0 + 10.0 * distance;
}

static void test_stops_early(int lost) {
  arc_tune t = fresh(arc_tune_config_default());
  memset(launched, 0, sizeof launched);
  for (int i = 0; i < 5000 && t.result.tunings == 0; ++i) {
    arc_tune_policy p = arc_tune_next(&t);
    double time_us = cliff_and_slope(p);
    arc_tune_report(&t, p.ticket, p.threshold == 11 && launched[11] <= lost ? 0.0 : time_us);
  }
  for (int i = 0; i < ARC_THRESHOLD_NEVER; ++i)
    CHECK(i == 11            ? launched[i] == 1 + lost
          : i >= 5 && i <= 8 ? launched[i] > 0
                             : launched[i] == 0,
          "threshold %d: %d launches, %d of 11 lost", i, launched[i], lost);
}

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
}

/* Times come `lag` launches later, newest first; of every 7 launches `lost` have none, which every
   other time is reported. Returns how often the first path of the list was launched. */
static int tune_with(arc_tune *t, int lag, int lost) {
  arc_tune_policy late[20];
  int first = 0, good = 0, tunings = t->result.tunings;
  for (int launches = 0; launches < 100000 && t->result.tunings == tunings; launches += lag) {
    for (int i = 0; i < lag; ++i) late[i] = arc_tune_next(t);
    for (int i = 0; i < lag; ++i) first += late[i].path == t->config.path[0].path;
    for (int i = lag - 1; i >= 0; --i) {
      double time_us = (launches + i) % 7 < lost ? 0.0 : twelve_is_best(late[i]);
      if (time_us > 0.0 || i % 2) good += !arc_tune_report(t, late[i].ticket, time_us);
    }
  }
  CHECK(good == t->result.launches, "%d good times, not %d", good, t->result.launches);
  return first;
}

static void test_late_and_lost_reports(void) {
  arc_tune_config config = arc_tune_config_default();
  config.path[0].path = ARC_PATH_ATOMIC;
  config.start_threshold = 10;
  arc_tune t = fresh(config);
  int atomics = tune_with(&t, 20, 0);
  expect_choice(&t, ARC_PATH_AUTO, 12, "late reports");
  CHECK(atomics < 30, "while times were awaited, the first of the list ran %d times", atomics);
  int choice = t.result.choice.threshold;
  for (int i = 0; i < 4000; ++i)
    CHECK(arc_tune_next(&t).threshold == choice, "no times come any more, but another policy");
  CHECK(t.result.tunings > 1 && t.result.launches == 0 && t.result.gain == 0.0, "tuned untimed");
  t = fresh(config);
  for (int i = 0; i < 30; ++i) arc_tune_report(&t, arc_tune_next(&t).ticket, 0.0);
  check_tune(&t, twelve_is_best);
  expect_choice(&t, ARC_PATH_AUTO, 12, "the first times are none");
  for (int lag = 1; lag <= 5; lag += 4) {
    config.launch_limit = 100000;
    t = fresh(config);
    tune_with(&t, lag, 2);
    expect_choice(&t, ARC_PATH_AUTO, 12, "lost reports");
  }
}

/* A second init, from the tuner's own config, in the first and the second tuning: earlier
   tickets are void, and nothing of the config is lost. */
static void test_second_init(void) {
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 0;
  arc_tune t = fresh(config);
  for (int tuning = 0; tuning <= 1; ++tuning) {
    unsigned tickets[40];
    for (int i = 0; i < 40; ++i) tickets[i] = arc_tune_next(&t).ticket;
    CHECK(tickets[0] != 0, "the first launch is not timed");
    CHECK(arc_tune_init(&t, &t.config) == ARC_TUNE_OK, "init from its own config");
    CHECK(memcmp(&t.config, &config, sizeof config) == 0, "init wiped its own config");
    for (int i = 0; i < 8; ++i) arc_tune_next(&t);
    for (int i = 0; i < 40; ++i)
      CHECK(arc_tune_report(&t, tickets[i], 5.0) == ARC_TUNE_ERROR_REPORT,
            "ticket %u of before the second init is accepted", tickets[i]);
    t = fresh(config);
    check_tune(&t, twelve_is_best);
    while (t.rest != 0) arc_tune_next(&t);
  }
}

/* Less than the tuner takes for a gain. */
static double eight_is_hardly_better(arc_tune_policy policy) {
  return policy.threshold == 8 ? 99.9 : policy.threshold == ARC_THRESHOLD_AUTO ? 100.0 : 110.0;
}

static void test_limits(void) {
  arc_tune_config config = arc_tune_config_default();
  config.path[config.paths++].path = ARC_PATH_ATOMIC;
  arc_tune t = fresh(config);
  int launches = check_tune(&t, eight_is_hardly_better);

  expect_choice(&t, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, "a gain of 0.1 %");
  CHECK(launches < 1000, "%d launches where there is nothing to gain", launches);
  for (config.launch_limit = 1; config.launch_limit < 400; config.launch_limit += 7) {
    t = fresh(config);
    unsigned ticket = 0;
    for (launches = 0; t.result.tunings == 0; ++launches) {
      unsigned latest = arc_tune_next(&t).ticket;
      int ended = t.result.tunings, status = arc_tune_report(&t, ticket, 1.0); /* one late */
      CHECK(!ended || status != ARC_TUNE_OK, "a ticket of the tuning that has ended is accepted");
      ticket = latest;
    }
    CHECK(launches <= 9 + config.launch_limit, "limit %d: %d", config.launch_limit, launches);
  }
  config = arc_tune_config_default();
  config.interval = 100; /* shorter than a tuning */
  config.budget = 1.0;
  t = fresh(config);
  check_tune(&t, twelve_is_best);
  for (launches = 0; arc_tune_next(&t).ticket == 0 && launches < 1000;) launches += 1;
  CHECK(launches == 26, "the next tuning comes after %d launches", launches);
  config = arc_tune_config_default();
  config.interval = 0;
  t = fresh(config);
  check_tune(&t, twelve_is_best);
  expect_choice(&t, ARC_PATH_AUTO, 12, "tuned once");
  config.budget = 1e-6;
  t = fresh(config);
  CHECK(check_tune(&t, twelve_is_best) < 60, "a budget of nothing was not kept");
  for (int i = 0; i < 10000; ++i) CHECK(arc_tune_next(&t).ticket == 0, "interval 0 tunes once");
}

/* Fails only far beyond any slow machine. */
static void measure_cost(void) {
  enum { CALLS = 3000000 };
  unsigned long long random = 1;
  long sum = 0, timed = 0;
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 1000000000;
  arc_tune t = fresh(config);
  clock_t begin = clock();
  for (int i = 0; i < CALLS; ++i) sum += arc_tune_next(&t).threshold;
  double between_ns = 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)CALLS;
  config.warmup = 0;
  for (begin = clock(); timed < CALLS / 20; timed += t.result.launches) {
    t = fresh(config);
    while (t.result.tunings == 0)
      arc_tune_report(&t, arc_tune_next(&t).ticket, 50.0 + 0.01 * check_below(&random, 1000));
  }
  double during_ns = 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)timed;
  printf("next: %.1f ns between tunings; next and report: %.0f ns during one; %u bytes\n",
         between_ns, during_ns, (unsigned)sizeof t);
  CHECK(sum == (long)CALLS * ARC_THRESHOLD_AUTO, "another policy between tunings");
  CHECK(between_ns < 1000.0 && during_ns < 10000.0, "%.0f ns, %.0f ns", between_ns, during_ns);
}

int main(void) {
  static arc_tune zeros;
  expect_untuned(&zeros, "before the first init");
  test_defaults();
  test_median_and_root();
  test_illegal_configurations();
  test_result();
  test_second_tuning();
  test_reaches_the_ends();
  test_other_paths();
  test_stops_early(0);
  test_stops_early(1);
  test_reports();
  test_late_and_lost_reports();
  test_second_init();
  test_limits();
  measure_cost();
  return check_finish("test_tune_loop");
}
