/* test_tune.c - arc_tune.h without CUDA: on exact times configuration, next, report, result; on
   simulated kernels what it chooses, and what that costs; and any order of calls.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "../../bench/common/test_check.h"

#include "arc_tune.h"

static int is_same(arc_tune_policy a, arc_tune_policy b) {
  return a.path == b.path && a.threshold == b.threshold;
}

/* ---- exact times ----------------------------------------------------------------------------- */

/* own: a kernel of the caller's, known by its number. */
enum { OWN = ARC_PATH_AUTO + 2 };
enum { TWELVE, FALLS_TO_0, RISES_TO_33, STEPS, OWN_IS_BEST, LATE_OWN, OWN_COMPILED };

static double time_us(int kernel, arc_tune_policy p) {
  int at = p.threshold == ARC_THRESHOLD_AUTO ? 8 : p.threshold;
  if (kernel == FALLS_TO_0) return 100.0 + 3.0 * at;
  if (kernel == RISES_TO_33) return 200.0 - 3.0 * at;
  if (kernel == LATE_OWN && p.path == OWN + 1 && p.threshold != ARC_THRESHOLD_AUTO) return 40.0;
  if (kernel == OWN_COMPILED && p.path == OWN + 1 && p.threshold == ARC_THRESHOLD_AUTO) return 40.0;
  if (kernel >= OWN_IS_BEST)
    return p.path == OWN ? 50.0 + abs(at - 20) : 100.0 + 30.0 * abs(at - 8);
  if (kernel == STEPS) return at > 8 ? 800.0 : 100.0 + 20.0 * (8 - at);
  return 100.0 + 2.0 * abs(at - 12);
}

static arc_tune fresh(arc_tune_config config) {
  arc_tune t;
  memset(&t, 0xa5, sizeof t); /* it may hold anything */
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

static void expect_choice(arc_tune_policy p, int path, int threshold) {
  CHECK(p.path == path && p.threshold == threshold, "%d:%d is chosen, not %d:%d", p.path,
        p.threshold, path, threshold);
}

/* Beside auto as compiled and with thresholds there is a path with thresholds low..high. */
static void test_other_path(int kernel, int low, int high, int path, int threshold) {
  arc_tune_config c = arc_tune_config_default();
  arc_tune_add(&c, OWN, low, high);
  if (low > 8) arc_tune_add(&c, OWN + 1, high + 1, high + 1);
  if (low > 8) arc_tune_add(&c, OWN + 1, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  c.budget = 1.0;
  arc_tune t = fresh(c);
  finish_tuning(&t, kernel, NULL);
  expect_choice(t.result.choice, path, threshold);
}

/* 33 beside thresholds up to `top`, the highest of which is the fastest. */
static void test_plain_atomics(int top, int joins) {
  arc_tune_config c = arc_tune_config_default();
  int launched[ARC_THRESHOLD_AUTO + 1] = {0};
  c.policies = 2 + top, c.budget = 1.0;
  arc_tune_add(&c, ARC_PATH_ATOMIC, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_NEVER);
  arc_tune t = fresh(c);
  finish_tuning(&t, RISES_TO_33, launched);
  CHECK((launched[ARC_THRESHOLD_NEVER] > 0) == joins, "%d launches of 33 beside %d",
        launched[ARC_THRESHOLD_NEVER], top);
}

/* Between tunings the choice runs; in the middle of a second one the result is that of the first. */
static void test_result(void) {
  arc_tune t = fresh(arc_tune_config_default());
  int launches = finish_tuning(&t, TWELVE, NULL), rest = 0, launched[ARC_THRESHOLD_AUTO + 1] = {0};
  expect_choice(t.result.choice, ARC_PATH_AUTO, 12);
  CHECK(fabs(t.result.gain - 8.0 / 108.0) < 0.001, "the gain is 8 of 108, not %g", t.result.gain);
  CHECK(t.result.cost > 0.5 && t.result.cost <= 20.0, "it cost %g launches", t.result.cost);
  CHECK(t.result.launches == launches - 8 && launches < 700, "%d of %d", t.result.launches,
        launches);
  arc_tune_policy p = arc_tune_next(&t);
  for (; p.ticket == 0 && rest < 5000; p = arc_tune_next(&t), ++rest)
    CHECK(is_same(p, t.result.choice), "between tunings %d:%d runs", p.path, p.threshold);
  CHECK(rest == 2000, "the next tuning comes after %d launches", rest);
  for (int i = 0; i < 60; ++i, p = arc_tune_next(&t)) arc_tune_report(&t, p.ticket, 100.0);
  CHECK(t.result.tunings == 1 && t.result.launches == launches - 8, "the result has changed");
  finish_tuning(&t, FALLS_TO_0, NULL);
  expect_choice(t.result.choice, ARC_PATH_AUTO, 0);
  t = fresh(arc_tune_config_default()); /* steps up a cliff are launched once */
  finish_tuning(&t, STEPS, launched);
  for (int i = 9; i < 33; ++i)
    CHECK(launched[i] <= (i == 9 || i == 12), "threshold %d: %d launches", i, launched[i]);
  arc_tune_config c = arc_tune_config_default();
  c.start = c.policy[13]; /* the fastest */
  t = fresh(c);
  finish_tuning(&t, TWELVE, NULL);
  CHECK(t.result.tunings == 1 && t.result.gain == 0.0, "over itself it gains %g", t.result.gain);
  c.interval = 0, c.budget = 1e-4;
  t = fresh(c);
  CHECK(finish_tuning(&t, TWELVE, NULL) < 60, "a budget of nothing was not kept");
  for (int i = 0; i < 10000; ++i) CHECK(arc_tune_next(&t).ticket == 0, "interval 0 tunes once");
}

static void expect_untuned(arc_tune *t, int what) {
  for (unsigned i = 0; i < 20; ++i) {
    const arc_tune_policy p = arc_tune_next(t);
    expect_choice(p, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO);
    CHECK(p.ticket == 0 && arc_tune_report(t, i, 1.0) == ARC_TUNE_ERROR_REPORT, "case %d", what);
  }
}

/* One field as no comment allows it, then the last value that it does. */
static void test_configurations(void) {
  arc_tune_config c = arc_tune_config_default();
  CHECK(c.policies == 34 && c.policy[0].threshold == ARC_THRESHOLD_AUTO &&
            c.policy[1].threshold == 0 && c.policy[33].threshold == 32 && c.start.threshold == 34 &&
            c.interval == 2000 && c.warmup == 8 && c.budget == 0.01 && c.seed == 1,
        "the defaults");
  for (int what = 0; what < 2 * 13; ++what) {
    const int bad = what % 2 == 0, k = what / 2;
    arc_tune t = fresh(c = arc_tune_config_default());
    while (k == 0 && c.policies < ARC_TUNE_MAX_POLICIES + bad) arc_tune_add(&c, 9, 0, 0);
    if (k == 1) c.policies = bad ? 0 : 1;
    if (k == 2) c.policies = bad ? -1 : 33;
    if (k == 3) c.policy[1].path = bad ? 0 : 1;
    if (k == 4) c.policy[1].threshold = bad ? -1 : 0;
    if (k == 5) c.policy[1].threshold = ARC_THRESHOLD_AUTO + bad;
    if (k == 6) c.start.path = bad ? ARC_PATH_TREE : ARC_PATH_AUTO;
    if (k == 7) c.start.threshold = bad ? 33 : 32;
    if (k == 8) c.interval = bad ? -1 : 0;
    if (k == 9) c.warmup = bad ? -1 : 0;
    if (k == 10) c.budget = bad ? 0.0 : 1e-9;
    if (k == 11) c.budget = bad ? 1.0001 : 1.0;
    if (k == 12) c.budget = bad ? NAN : 0.5;
    CHECK(arc_tune_init(&t, &c) == (bad ? ARC_TUNE_ERROR_CONFIG : ARC_TUNE_OK), "case %d", what);
    if (bad) expect_untuned(&t, what);
    CHECK(bad || is_same(arc_tune_next(&t), c.start), "case %d does not begin as asked", what);
  }
}

/* And after a second init, from the tuner's own config, and a restart earlier tickets are void. */
static void test_reports(void) {
  static const double no_times[] = {-1.0, 0.0, 9e-4, 2e12, INFINITY, NAN};
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 0;
  arc_tune t = fresh(config);
  arc_tune_policy p = arc_tune_next(&t);
  CHECK(p.ticket == 1 && t.newest == 0, "ticket %u", p.ticket);
  for (int i = 0; i < 6; ++i, p = arc_tune_next(&t))
    CHECK(arc_tune_report(&t, p.ticket, no_times[i]) == ARC_TUNE_ERROR_REPORT && t.timed == 0,
          "%g is a time", no_times[i]);
  CHECK(arc_tune_report(&t, p.ticket, 0.001) == ARC_TUNE_OK, "a good time");
  CHECK(arc_tune_report(&t, p.ticket, 1.0) == ARC_TUNE_ERROR_REPORT, "a second report");
  CHECK(arc_tune_report(&t, p.ticket + 1, 1.0) == ARC_TUNE_ERROR_REPORT, "a ticket not issued yet");
  CHECK(arc_tune_report(&t, 0, 1.0) == ARC_TUNE_ERROR_REPORT, "ticket 0");
  CHECK(arc_tune_report(&t, arc_tune_next(&t).ticket, 1e12) == ARC_TUNE_OK, "the longest time");
  for (unsigned late = ARC_TUNE__SLOTS - 1; late <= ARC_TUNE__SLOTS; ++late) {
    const unsigned first = arc_tune_next(&t).ticket;
    for (unsigned i = 0; i < late; ++i) arc_tune_next(&t);
    CHECK(arc_tune_report(&t, first, 5.0) ==
              (late < ARC_TUNE__SLOTS ? ARC_TUNE_OK : ARC_TUNE_ERROR_REPORT),
          "a ticket, %u launches later", late);
  }
  for (int again = 0; again < 2; ++again) {
    const unsigned before = arc_tune_next(&t).ticket;
    CHECK((again ? arc_tune_restart : arc_tune_init)(&t, &t.config) == ARC_TUNE_OK,
          "its own config");
    CHECK(again ? arc_tune_next(&t).ticket == before + 1 && t.newest == before : t.ticket == 0,
          "tickets go on after %u at %u", before, t.ticket);
    for (int i = 0; i < 8; ++i) arc_tune_next(&t);
    CHECK(arc_tune_report(&t, before, 5.0) == ARC_TUNE_ERROR_REPORT, "it is void");
  }
  config.seed = 2;
  CHECK(fresh(config).random != fresh(t.config).random, "seeds draw alike");
  config.interval = 0; /* has the budget of 2000 launches */
  CHECK(fresh(config).budget == 20.0 && t.budget == 20.0, "the budget is %g", t.budget);
  config.interval = 500;
  t = fresh(config);
  for (int i = 0; i < 5; ++i) arc_tune_report(&t, arc_tune_next(&t).ticket, i < 4 ? 100.0 : 1.0);
  CHECK(t.candidate[0].ratio > 0.9, "a short time moves the mean to %g", t.candidate[0].ratio);
  CHECK(t.budget == 5.0, "the budget of 500 launches is %g", t.budget);
}

/* ---- simulated kernels -----------------------------------------------------------------------

   Seeds draw a curve of each family, noise, outliers (2 %, 1.5 to 5 times slower) and drift (5 % up
   and down, and a random walk), and the tuner runs for one interval. Regret is by how much its choice
   is slower than the best of the list; loss what the tuning lost in launches of the best, as a share
   of an interval. */

enum { TILE, KEYED, CLIFF, FLAT, SEVERAL_PATHS, FAMILIES };
enum { SEEDS = 30, INTERVAL = 2000, LATEST = 64 };

typedef struct machine {
  double cost_us[ARC_PATH_AUTO + 1][ARC_THRESHOLD_AUTO + 1]; /* the truth */
  double noise, wander, ramp; /* wander: of the drift, a random walk; ramp: share of 600 launches */
  unsigned long long random;
  int launch;
} machine;

/* What becomes of times: a third are lost; the others come so many launches late, exactly or at
   most. In order: launches begin 120 us apart, and the device runs one at a time. */
typedef struct delays {
  int lost_third, late, at_most, in_order;
} delays;
static const delays none = {0, 0, 0, 0}, in_order = {0, 0, 0, 1},
                    troubles[] = {{0, LATEST, 0, 0}, {1, 0, LATEST, 0}};

static arc_tune tune;

static double between(machine *m, double a, double b) {
  return a + (b - a) * test_random(&m->random);
}
static int pick(machine *m, int a, int b) { return a + (int)between(m, 0, b - a + 1); }
static double normal(machine *m) {
  return sqrt(-2.0 * log(between(m, 0, 1))) * cos(6.283185307179586 * between(m, 0, 1));
}
static double true_us(const machine *m, arc_tune_policy p) {
  return m->cost_us[p.path][p.threshold];
}

/* What a clock would read for one launch. */
static double measured_us(machine *m, arc_tune_policy p) {
  double time = true_us(m, p) * exp(m->noise * normal(m));
  m->wander += 0.0025 * normal(m) - 0.005 * m->wander;
  time *= 1.0 + 0.05 * sin(6.283185307179586 * m->launch / 1500.0) + m->wander;
  if (between(m, 0, 1) < 0.02) time *= between(m, 1.5, 5.0);
  return time * (1.0 + m->ramp * fmin(1.0, m->launch / 600.0));
}

/* share[g]: how many updates come in groups of g lanes; plain: of a lane; reduced: of a group,
   and step of each of its lanes. As compiled: what 8 costs. */
static void by_groups(machine *m, int path, const double *share, double plain, double reduced,
                      double step) {
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double cost = 1.0;
    for (int g = 1; g <= 32; ++g)
      cost += share[g] * (g >= threshold ? reduced + step * g : plain * g);
    m->cost_us[path][threshold] = 100.0 * cost;
  }
  m->cost_us[path][ARC_THRESHOLD_AUTO] = m->cost_us[path][8];
}

static void draw_curves(machine *m, int family) {
  double share[33] = {0}, sum = 0.0, reduced = between(m, 0.1, 0.8);
  double plain = reduced / between(m, 3.0, 16.0), full = between(m, 0.0, 0.65);
  double keep = between(m, 0.5, 0.9);
  for (int g = 1; g <= 32; ++g) /* of keyed: many small groups, sizes falling geometrically */
    sum += share[g] = family == KEYED ? pow(keep, g) * between(m, 0.7, 1.3) : 1.0 + 5.0 * (g < 5);
  for (int g = 1; g <= 32; ++g) share[g] *= (family == KEYED ? 1.0 : 1.0 - full) / sum;
  if (family != KEYED) share[32] += full;
  if (family == CLIFF) { /* all groups have one size: flat, then a jump by 2 to 12 kernels */
    const int size = pick(m, 8, 32);
    memset(share, 0, sizeof share);
    share[size] = 1.0;
    plain = (between(m, 2.0, 12.0) * (1.0 + reduced) - 1.0) / size;
  }
  if (family == FLAT) plain = reduced = 0.0;
  by_groups(m, ARC_PATH_AUTO, share, plain, reduced, 0.0);
  by_groups(m, ARC_PATH_BUTTERFLY, share, plain, between(m, 0.3, 1.0), 0.0);
  by_groups(m, ARC_PATH_SERIALIZED, share, plain, 0.1, 0.6 * plain);
}

/* The machine of a seed; its tuner is `tune`. Plain atomics are a path beside, or threshold 33. */
static machine begin(int family, unsigned seed, double noise, double atomic_us) {
  machine m;
  memset(&m, 0, sizeof m);
  m.noise = noise;
  m.random = (seed + 1000u * (unsigned)family) * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)pick(&m, 0, 1); /* seeds are near each other */
  draw_curves(&m, family);
  m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_NEVER] = atomic_us;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_add(&config, atomic_us > 0.0 ? ARC_PATH_ATOMIC : ARC_PATH_AUTO, 33, 33);
  for (int path = 0; family == SEVERAL_PATHS && path < 2; ++path)
    arc_tune_add(&config, path ? ARC_PATH_SERIALIZED : ARC_PATH_BUTTERFLY, 0, 33);
  config.seed = seed;
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init");
  return m;
}
static double best_us(const machine *m) {
  double us = 1e300;
  for (int i = 0; i < tune.config.policies; ++i) us = fmin(us, true_us(m, tune.config.policy[i]));
  return us;
}
static double regret(const machine *m) { return true_us(m, tune.result.choice) / best_us(m) - 1.0; }

/* Of the tuning in an interval: its loss, and launches of more than ten times the best. */
static double run_interval(machine *m, const delays *d, int *ruinous) {
  static unsigned ticket[INTERVAL];
  static double time_us[INTERVAL];
  static int due[INTERVAL];
  const double best = best_us(m);
  double ahead_us = 0.0, loss = 0.0; /* ahead: work that the device has not done */
  for (int i = 0; i < INTERVAL; ++i, ++m->launch) {
    const arc_tune_policy p = arc_tune_next(&tune);
    const double us = true_us(m, p);
    *ruinous += us > 10.0 * best;
    ahead_us = fmax(ahead_us - 120.0, 0.0) + us;
    ticket[i] = p.ticket;
    if (p.ticket == 0) continue;
    loss += (us / best - 1.0) / INTERVAL;
    time_us[i] = measured_us(m, p);
    due[i] = i + (d->at_most    ? pick(m, 0, d->at_most)
                  : d->in_order ? (int)(ahead_us / 120)
                                : d->late);
    if (d->lost_third && pick(m, 0, 2) == 0) due[i] = -1;
    for (int j = i < LATEST ? 0 : i - LATEST; j <= i; ++j)
      if (due[j] == i && ticket[j] != 0) arc_tune_report(&tune, ticket[j], time_us[j]);
  }
  return loss;
}

/* Means of all families and seeds, in percent, within so much of what is expected: arc_tune.h has
   those without trouble. With nothing to gain the policy hardly ever changes; the same seed and
   times have the same result. */
static void test_means(const delays *d, double ramp, double noise, double within, double regrets,
                       double losses, double launches) {
  double sum[3] = {0.0, 0.0, 0.0};
  const double wanted[3] = {regrets, losses, launches}, of = FAMILIES * SEEDS;
  int ruinous = 0, changes = 0;
  arc_tune first;
  for (unsigned i = 0; i <= FAMILIES * SEEDS; ++i) {
    const int family = (int)(i % FAMILIES); /* once more the first */
    machine m = begin(family, 1u + i % (FAMILIES * SEEDS) / FAMILIES, noise, 0.0);
    m.ramp = ramp;
    const double loss = run_interval(&m, d, &ruinous);
    if (i == 0) first = tune;
    if (i == FAMILIES * SEEDS) {
      CHECK(memcmp(&first.result, &tune.result, sizeof tune.result) == 0, "another result");
      break;
    }
    changes += family == FLAT && !is_same(tune.result.choice, tune.config.start);
    sum[1] += 100.0 * loss / of;
    sum[0] += 100.0 * regret(&m) / of;
    sum[2] += tune.result.launches / of;
    CHECK(tune.result.cost <= 3.0 * tune.budget, "it spent %g", tune.result.cost);
  }
  printf("noise %g, ramp %g, late %d: regret %.3f %%, %.3f %% lost, %.0f launches\n", noise, ramp,
         d->late + d->at_most, sum[0], sum[1], sum[2]);
  CHECK(changes <= 1, "%d changes where all take as long", changes);
  for (int k = 0; k < 3; ++k)
    CHECK(fabs(sum[k] / wanted[k] - 1.0) <= within, "%g, not %g", sum[k], wanted[k]);
}

/* Plain atomics, forty times as long as all else, are launched once where thresholds up to 32 do
   well, also while no other time comes; never where thresholds already show that they do not pay. */
static void test_ruin(void) {
  double share[33] = {0};
  int ruins = 0;
  share[9] = share[32] = 0.5;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    int hidden = 0, shown = 0;
    machine m = begin(FLAT, seed, 0.05, 4000.0);
    run_interval(&m, seed % 2 ? &in_order : &none, &hidden);
    m = begin(FLAT, seed, 0.05, 1e6);
    by_groups(&m, ARC_PATH_AUTO, share, 30.0, 33.0, 0.0);
    run_interval(&m, &none, &shown);
    CHECK(hidden <= 1 && shown == 0, "seed %u: %d, %d ruinous", seed, hidden, shown);
    ruins += hidden;
  }
  CHECK(ruins > SEEDS / 2, "plain atomics were launched %d times", ruins);
}

/* Legal or not. */
static void init_any(machine *m) {
  arc_tune_config c = arc_tune_config_default();
  c.policies = pick(m, 0, 3) ? 0 : 34;
  for (int i = pick(m, 1, 8); i > 0; --i)
    arc_tune_add(&c, pick(m, 1, 12), pick(m, 0, 20), pick(m, 15, 40 - 6 * (i % 2)));
  c.start = c.policy[pick(m, 0, 40)];
  c.interval = pick(m, 0, 2) * pick(m, 0, 3000);
  c.warmup = pick(m, 0, 20);
  c.budget = between(m, 0.0001, 0.02);
  if (pick(m, 0, 7) == 0) c.policies = pick(m, -3, 400);
  memset(&tune, pick(m, 0, 255), sizeof tune); /* it may hold anything */
  arc_tune_init(&tune, &c);
}

static unsigned next(void) {
  const arc_tune_policy p = arc_tune_next(&tune), untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  int found = tune.rest < 0 && tune.result.tunings == 0 && is_same(p, untuned);
  for (int i = 0; i < tune.config.policies && i < ARC_TUNE_MAX_POLICIES; ++i)
    found |= is_same(p, tune.config.policy[i]);
  CHECK(found, "%d:%d of no list", p.path, p.threshold);
  return p.ticket;
}

/* Good, late, repeated, forged and missing tickets, and times that are no times; afterwards a tuning
   with plain times still ends. ARC_SANITIZE=address,undefined sees reads out of bounds. */
static void test_any_calls(unsigned long long seed) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, -5.0, 0.0, 1e300, 0.001, 1e12};
  machine m;
  memset(&m, 0, sizeof m);
  m.random = seed;
  unsigned tickets[64] = {0}, latest = 0;
  init_any(&m);
  for (int calls = pick(&m, 200, 3000); calls > 0; --calls) {
    int what = pick(&m, 0, 999), some = pick(&m, 0, 63);
    double time_us = pick(&m, 0, 2) ? between(&m, 100.0, 200.0) : odd[pick(&m, 0, 7)];
    if (what < 500) tickets[some] = latest = next();
    if (what >= 500 && what < 990)
      arc_tune_report(&tune,
                      what < 800   ? tickets[some]
                      : what < 900 ? latest
                                   : latest ^ 1u << some % 32,
                      time_us);
    for (int i = what >= 990 && what < 997 ? 400 : 0; i > 0; --i) /* so that a tuning gets far */
      arc_tune_report(&tune, next(), pick(&m, 0, 19) ? between(&m, 100.0, 116.0) : 0.0);
    if (what == 997) arc_tune_restart(&tune, &tune.config);
    if (what > 997) init_any(&m);
  }
  int ended = tune.result.tunings, left = tune.rest + 10 + (int)(100.0 * tune.budget);
  for (; tune.rest >= 0 && tune.result.tunings == ended && left >= 0; --left)
    arc_tune_report(&tune, next(), 100.0);
  CHECK(left >= 0, "seed %llu: it does not end", seed);
}

int main(void) {
  arc_tune zeros;
  memset(&zeros, 0, sizeof zeros);
  expect_untuned(&zeros, -1);
  test_other_path(TWELVE, 0, 33, ARC_PATH_AUTO, 12); /* as fast: no gain */
  test_other_path(OWN_IS_BEST, 0, 33, OWN, 20);
  test_other_path(OWN_IS_BEST, 16, 24, OWN, 20); /* entered at the nearest threshold */
  test_other_path(LATE_OWN, 16, 24, OWN + 1, 25);
  test_other_path(OWN_COMPILED, 16, 24, OWN + 1, ARC_THRESHOLD_AUTO);
  test_other_path(OWN_IS_BEST, 0, 3, OWN, 3);
  test_other_path(FALLS_TO_0, 0, 3, ARC_PATH_AUTO, 0);
  test_plain_atomics(28, 0);
  test_plain_atomics(29, 1);
  test_result();
  test_configurations();
  test_reports();
  test_ruin();
  test_means(&none, 0.0, 0.05, 0.03, 0.163, 0.422, 742);
#ifdef __SANITIZE_ADDRESS__ /* what takes long makes the calls that the rest makes */
  (void)troubles;
#else
  test_means(&none, 0.0, 0.01, 0.03, 0.066, 0.315, 572);
  test_means(&none, 0.0, 0.15, 0.03, 0.514, 0.608, 710);
  test_means(&troubles[0], -0.3, 0.05, 0.03, 0.339, 0.550, 1185);
  test_means(&troubles[1], 0.3, 0.05, 0.03, 0.249, 0.605, 685);
#endif
  for (unsigned long long seed = 0; seed < 300; ++seed) test_any_calls(seed);
  return test_end("test_tune");
}
