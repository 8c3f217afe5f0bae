/* test_tune.c - arc_tune.h without CUDA: what it chooses on simulated kernels, and what that costs;
   and any order of calls. No libm, so that all machines see the same figures.
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "../../bench/common/test_check.h"

#include "arc_tune.h"

enum { OWN = ARC_PATH_AUTO + 1, PATHS, SEEDS = 30, LATEST = 64, LAUNCHES = 5000 };
enum { TILE, KEYED, CLIFF, FLAT, SEVERAL_PATHS, FAMILIES }; /* of simulated kernels */
enum { AT_ONCE, IN_ORDER, LATE, LOST }; /* times come; IN_ORDER: a launch is begun every 120 us */

typedef struct machine {
  double true_us[PATHS][ARC_THRESHOLD_AUTO + 1];
  double noise, ramp, wander; /* wander: drift, a random walk; ramp: share that 600 launches add */
  unsigned long long random;
  int launch;
} machine;

/* From a call of run; loss: launches of the best that could have run in the time lost. */
typedef struct outcome {
  int rest, timed, ruinous; /* launches before the tuning, in it, and of over 7 times the best */
  double loss;
} outcome;

static arc_tune tune;

static double between(machine *m, double a, double b) {
  return a + (b - a) * test_random(&m->random);
}
static int pick(machine *m, int a, int b) { return a + (int)between(m, 0, b - a + 1); }
static double normal(machine *m) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += between(m, 0, 1);
  return sum;
}
static int is_same(arc_tune_policy a, arc_tune_policy b) {
  return a.path == b.path && a.threshold == b.threshold;
}

static double true_us(const machine *m, arc_tune_policy p) {
  return m->true_us[p.path][p.threshold];
}
static double best_us(const machine *m) {
  double us = 1e300;
  for (int i = 0; i < tune.config.policies; ++i)
    if (true_us(m, tune.config.policy[i]) < us) us = true_us(m, tune.config.policy[i]);
  return us;
}

/* With noise, what a clock would read: with drift and outliers. */
static double measured_us(machine *m, arc_tune_policy p) {
  const double us = true_us(m, p), drift = 0.1 * fabs(m->launch % 1500 / 750.0 - 1.0) - 0.05;
  if (m->noise == 0.0) return us;
  m->wander += 0.0025 * normal(m) - 0.005 * m->wander;
  return us * (1.0 + m->noise * normal(m)) * (1.0 + drift + m->wander) *
         (1.0 + m->ramp * (m->launch < 600 ? m->launch / 600.0 : 1.0)) *
         (pick(m, 0, 49) == 0 ? between(m, 1.5, 5.0) : 1.0);
}

/* Threshold t reduces groups of t lanes and more: that pays from `pays` lanes on. Groups of a tile
   are small or full, keyed ones small, those at a cliff of one size. As compiled: threshold 8. */
static void draw_path(machine *m, int path, int family, double pays) {
  const double reduced = between(m, 0.1, 0.8), full = between(m, 0.0, 0.65);
  const double keep = between(m, 0.5, 0.9), jump = between(m, 1.0, 14.0);
  const int size = pick(m, 8, 32);
  double us = 100.0 * (1.0 + reduced), left = 1.0 - keep;
  for (int g = 0; g <= 33; ++g) {
    double share = g == 0 ? 0.0 : (1.0 - full) * (g < 5 ? 6.0 : 1.0) / 52.0 + full * (g == 32);
    if (family == KEYED && g > 0) share = left, left *= keep;
    if (family == CLIFF || family == FLAT) share = family == CLIFF && g == size;
    m->true_us[path][g] = us;
    us += 100.0 * share * (family == CLIFF ? jump : reduced * (g / pays - 1.0));
  }
  m->true_us[path][ARC_THRESHOLD_AUTO] = m->true_us[path][8];
}

static machine draw(int family, unsigned seed, double noise) {
  machine m;
  memset(&m, 0, sizeof m);
  m.noise = noise;
  m.random = (seed + 1000u * (unsigned)family) * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)pick(&m, 0, 1); /* seeds are near each other */
  for (int path = 0; path < PATHS; ++path)
    draw_path(&m, path, family, noise > 0.0 ? between(&m, 3.0, 16.0) : between(&m, 0.5, 36.0));
  return m;
}

static void begin(const arc_tune_config *c) {
  memset(&tune, 0xa5, sizeof tune); /* it may hold anything */
  CHECK(arc_tune_init(&tune, c) == ARC_TUNE_OK, "a legal configuration is refused");
}

/* Launches until one more tuning has ended, or LAUNCHES. */
static outcome run(machine *m, int times) {
  static unsigned ticket[LAUNCHES];
  static double time_us[LAUNCHES];
  static int due[LAUNCHES];
  const int tunings = tune.result.tunings;
  const double best = best_us(m);
  double ahead_us = 0.0; /* work that the device has not done */
  outcome o = {0, 0, 0, 0.0};
  for (int i = 0; i < LAUNCHES && tune.result.tunings == tunings; ++i, ++m->launch) {
    const arc_tune_policy p = arc_tune_next(&tune);
    const double us = true_us(m, p);
    ticket[i] = p.ticket;
    if (p.ticket == 0) CHECK(is_same(p, tune.result.choice), "%d:%d", p.path, p.threshold);
    if (p.ticket == 0 && tune.result.tunings == tunings) o.rest += 1;
    if (p.ticket == 0) continue;
    o.ruinous += us > 7.0 * best;
    o.loss += us / best - 1.0;
    ahead_us = (ahead_us > 120.0 ? ahead_us - 120.0 : 0.0) + us;
    time_us[i] = measured_us(m, p);
    due[i] = i + (times == IN_ORDER ? (int)(ahead_us / 120) : times == LATE ? LATEST : 0);
    if (times == LOST) due[i] = pick(m, 0, 2) ? i + pick(m, 0, LATEST) : -1;
    for (int j = i < LATEST ? 0 : i - LATEST; j <= i; ++j)
      if (ticket[j] != 0 && due[j] == i)
        o.timed += arc_tune_report(&tune, ticket[j], time_us[j]) == ARC_TUNE_OK;
  }
  CHECK(tune.result.tunings == tunings + 1 && tune.result.launches == o.timed,
        "%d tunings, %d of %d", tune.result.tunings, tune.result.launches, o.timed);
  return o;
}

/* Without noise it finds the best, by twice other times, also of a path that only has thresholds far
   from those of others; result says what that gained and cost. */
static void test_exact(unsigned seed) {
  machine m = draw((int)(seed % FAMILIES), seed, 0.0);
  arc_tune_config c = arc_tune_config_default();
  const int low = pick(&m, 0, 32), own = seed % FAMILIES == CLIFF ? 0 : pick(&m, 0, 3);
  if (own == 3) arc_tune_add(&c, OWN, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  if (own > 0) arc_tune_add(&c, OWN, low, pick(&m, low, low < 28 ? low + 4 : 32));
  if (own == 2) arc_tune_add(&c, OWN, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  c.policy[c.policies] = c.policy[c.policies - 1];    /* none of the list */
  for (int t = 0; own > 0 && seed % 2 && t < 33; ++t) /* the own one is reached from 8 alone */
    m.true_us[ARC_PATH_AUTO][t] = 300.0 + 30.0 * abs(t - 8);
  if (own > 0 && seed % 2) m.true_us[ARC_PATH_AUTO][ARC_THRESHOLD_AUTO] = 300.0;
  if (seed % FAMILIES != CLIFF && seed % 2 == 0) c.start = c.policy[pick(&m, 0, c.policies - 1)];
  c.budget = 1.0, c.warmup = pick(&m, 0, 9), c.interval = (int)seed % 4 * 300;
  begin(&c);
  CHECK(tune.budget == (c.interval ? c.interval : 2000), "the budget is %g", tune.budget);
  for (int k = 0; k < (c.interval ? 2 : 1); ++k) {
    const arc_tune_policy before = tune.result.choice;
    const outcome o = run(&m, AT_ONCE);
    const double us = true_us(&m, tune.result.choice), gain = 1.0 - us / true_us(&m, before);
    CHECK(us <= 1.005 * best_us(&m), "seed %u: %g us, not %g", seed, us, best_us(&m));
    CHECK(o.rest == (k ? c.interval : c.warmup), "it rests %d launches", o.rest);
    CHECK(fabs(tune.result.gain - gain) < 0.002, "seed %u: the gain is %g, not %g", seed, gain,
          tune.result.gain);
    const double loss = tune.result.cost - 0.01 * o.timed; /* but for those below the noise */
    CHECK(loss > -1e-9 && loss < o.loss + 1e-9, "seed %u: %g lost, not %g", seed, loss, o.loss);
    m = draw(KEYED, seed + 500, 0.0);
  }
  for (int i = 0; c.interval == 0 && i < 5000; ++i)
    CHECK(arc_tune_next(&tune).ticket == 0, "interval 0 tunes once");
}

/* Means of all families and seeds, as docs/how.md has them. The same seed and times have the
   same result. With nothing to gain the policy hardly ever changes. */
static void test_means(int times, double ramp, double noise, double launches, double lost,
                       double regret) {
  const double wanted[3] = {launches, lost, regret}, runs = FAMILIES * SEEDS;
  double sum[3] = {0.0, 0.0, 0.0};
  int changes = 0;
  for (unsigned i = 0; i < FAMILIES * SEEDS; ++i) {
    const int family = (int)(i % FAMILIES);
    machine m = draw(family, i / FAMILIES, noise);
    arc_tune_config c = arc_tune_config_default();
    m.ramp = ramp, c.seed += i / FAMILIES;
    arc_tune_add(&c, ARC_PATH_AUTO, 33, 33);
    if (family == SEVERAL_PATHS) arc_tune_add(&c, OWN, 0, 33);
    begin(&c);
    const outcome o = run(&m, times);
    sum[0] += o.timed / runs;
    sum[1] += 100.0 * o.loss / c.interval / runs;
    sum[2] += 100.0 * (true_us(&m, tune.result.choice) / best_us(&m) - 1.0) / runs;
    changes += family == FLAT && !is_same(tune.result.choice, c.start);
    CHECK(tune.result.cost <= 3.0 * tune.budget, "it spent %g", tune.result.cost);
  }
  printf("noise %g, ramp %g, %d: %.1f launches, %.4f %% lost, regret %.4f %%\n", noise, ramp, times,
         sum[0], sum[1], sum[2]);
  CHECK(changes <= 1, "%d changes where all take as long", changes);
  for (int k = 0; k < 3; ++k)
    CHECK(fabs(sum[k] / wanted[k] - 1.0) <= 0.005, "%g, not %g", sum[k], wanted[k]);
}

/* What takes seven times as long is launched once, also while no other time comes: up the cliff one
   threshold a step; plain atomics, 33, only where a threshold of 29 or more does well; of another
   path, 10 as the nearest to 8 and 12 as the same, not 11. */
static void test_ruin(int top, int fastest, double step_up, int times, int launches) {
  machine m = draw(FLAT, 1, 0.0);
  arc_tune_config c = arc_tune_config_default();
  for (int t = 0; t <= ARC_THRESHOLD_AUTO; ++t) {
    const int up = (t == ARC_THRESHOLD_AUTO ? 8 : t) - fastest;
    m.true_us[ARC_PATH_AUTO][t] = 20.0 + (up > 0 ? step_up * up : -up);
    m.true_us[ARC_PATH_ATOMIC][t] = m.true_us[OWN][t] = 4000.0;
  }
  c.policies = 0, c.budget = 1.0;
  arc_tune_add(&c, OWN, 10, 12);
  arc_tune_add(&c, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  arc_tune_add(&c, ARC_PATH_AUTO, 0, top);
  arc_tune_add(&c, ARC_PATH_ATOMIC, ARC_THRESHOLD_NEVER, ARC_THRESHOLD_NEVER);
  begin(&c);
  const outcome o = run(&m, times);
  CHECK(o.ruinous == launches, "up to %d, best %d: %d ruinous", top, fastest, o.ruinous);
}

/* ---- any order of calls, against a model ----------------------------------------------------- */

static int is_legal;                              /* the configuration */
static unsigned latest, awaited[ARC_TUNE__SLOTS]; /* tickets: issued, and of times to come */

static void next(void) {
  const arc_tune_policy untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  const int tunings = tune.result.tunings;
  const arc_tune_policy p = arc_tune_next(&tune);
  int found = !is_legal && is_same(p, untuned) && p.ticket == 0, racing = 0;
  for (int i = 0; is_legal && i < tune.config.policies; ++i) {
    found |= is_same(p, tune.config.policy[i]);
    racing += tune.candidate[i].state == ARC_TUNE__RACES;
  }
  CHECK(tune.step != ARC_TUNE__FINAL || racing <= 2, "%d are in the final", racing);
  if (tune.result.tunings != tunings) memset(awaited, 0, sizeof awaited);
  CHECK(found, "%d:%d of no list", p.path, p.threshold);
  CHECK(tune.result.gain >= 0.0 && tune.result.gain < 1.0, "the gain is %g", tune.result.gain);
  CHECK(p.ticket == 0 || p.ticket == latest + 1, "ticket %u after %u", p.ticket, latest);
  if (p.ticket != 0) awaited[p.ticket % ARC_TUNE__SLOTS] = latest = p.ticket;
}

static void report(unsigned ticket, double us) {
  const int tunings = tune.result.tunings, timed = tune.timed;
  unsigned *it = &awaited[ticket % ARC_TUNE__SLOTS];
  const int good = ticket != 0 && *it == ticket && us >= 0.001 && us <= 1e12;
  CHECK(arc_tune_report(&tune, ticket, us) == (good ? ARC_TUNE_OK : ARC_TUNE_ERROR_REPORT) &&
            tune.timed == timed + good,
        "ticket %u of %u, %g us", ticket, latest, us);
  if (*it == ticket) *it = 0;
  if (tune.result.tunings != tunings) memset(awaited, 0, sizeof awaited);
}

/* Often anew, also from a configuration with one field as no comment allows it: earlier tickets are
   void. */
static void begin_any(machine *m, int restarts) {
  static const double budgets[] = {NAN, -1.0, 0.0, 1.0001, 1e-9, 1.0, 0.001, 0.01, 0.02};
  const int what = pick(m, 0, 49), most = ARC_TUNE_MAX_POLICIES + (what == 2);
  const int policies = what < 16 ? most : pick(m, 1, 60), some = pick(m, 0, policies - 1);
  arc_tune_config c = arc_tune_config_default();
  c.start = c.policy[0], c.policies = 1;
  while (c.policies < policies) arc_tune_add(&c, pick(m, 1, 12), pick(m, 0, 20), pick(m, 15, 34));
  c.policies = what < 2 ? -what : policies;
  if (what == 3) c.policy[some].path = 0;
  if (what == 4) c.policy[some].threshold = -1;
  if (what == 5) c.policy[some].threshold = ARC_THRESHOLD_AUTO + 1;
  if (what == 6) c.start.path = 13;
  if (what == 7) c.start.threshold = -1;
  c.interval = what == 8 ? -1 : pick(m, 0, 2) * pick(m, 0, 3000);
  c.warmup = what == 9 ? -1 : pick(m, 0, 20);
  c.budget = budgets[what >= 10 && what < 14 ? what - 10 : pick(m, 4, 8)];
  is_legal = what >= 14;
  if (!restarts) latest = 0, memset(&tune, pick(m, 0, 255), sizeof tune); /* it may hold anything */
  tune.config = c; /* the argument may lie in the tuner */
  const int error = (restarts ? arc_tune_restart : arc_tune_init)(&tune, &tune.config);
  CHECK(error == (is_legal ? ARC_TUNE_OK : ARC_TUNE_ERROR_CONFIG), "case %d: %d", what, error);
  memset(awaited, 0, sizeof awaited);
}

/* Good, late, repeated, forged and missing tickets, and times that are no times; afterwards a tuning
   with plain times still ends. ARC_SANITIZE=address,undefined sees reads out of bounds. */
static void test_any_calls(unsigned seed) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, -5.0, 0.0, 9e-4, 0.001, 1e12, 2e12};
  machine m = draw(FLAT, seed, 0.0);
  begin_any(&m, 0);
  for (int calls = pick(&m, 200, 3000); calls > 0; --calls) {
    const int what = pick(&m, 0, 999), age = pick(&m, 0, 3) * pick(&m, 0, 99);
    const double us = pick(&m, 0, 2) ? between(&m, 100.0, 200.0) : odd[pick(&m, 0, 8)];
    if (what < 500) next();
    if (what >= 500 && what < 800) report(latest - (unsigned)age % 260, us);
    if (what >= 800 && what < 960) report(latest, us);
    if (what >= 960 && what < 990) report(latest ^ 1u << age % 32, us);
    for (int i = what >= 990 && what < 997 ? 400 : 0; i > 0; --i) /* so that a tuning gets far */
      next(), report(latest, pick(&m, 0, 19) ? between(&m, 100.0, 116.0) : 0.0);
    if (what >= 997) begin_any(&m, what == 997);
  }
  const int ended = tune.result.tunings;
  int left = tune.rest + 10 + (int)(is_legal ? 100.0 * tune.budget : 0.0);
  while (tune.rest >= 0 && tune.result.tunings == ended && left-- > 0)
    next(), report(latest, 100.0);
  CHECK(left >= 0, "seed %u: it does not end", seed);
}

int main(void) {
  next(); /* zeros are a tuner without policies */
  for (unsigned seed = 0; seed < 300; ++seed) test_exact(seed);
  for (int times = AT_ONCE; times <= IN_ORDER; ++times) {
    test_ruin(28, 28, 3.0, times, 2);
    test_ruin(29, 29, 3.0, times, 3);
    test_ruin(32, 32, 3.0, times, 3);
    test_ruin(32, 20, 3.0, times, 2);
    test_ruin(32, 8, 140.0, times, 3);
  }
  for (unsigned seed = 0; seed < 300; ++seed) test_any_calls(seed);
  test_means(AT_ONCE, 0.0, 0.05, 813.14, 0.4548, 0.1751);
#ifndef __SANITIZE_ADDRESS__ /* what takes long makes the calls that the rest makes */
  test_means(AT_ONCE, 0.0, 0.01, 699.89, 0.2920, 0.0634);
  test_means(AT_ONCE, 0.0, 0.15, 823.45, 0.6696, 0.3798);
  test_means(LATE, -0.3, 0.05, 1275.18, 0.6805, 0.2200);
  test_means(LOST, 0.3, 0.05, 759.73, 0.6755, 0.2117);
#endif
  return test_end("test_tune");
}
