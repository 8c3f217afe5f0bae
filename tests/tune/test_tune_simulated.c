/* test_tune_simulated.c - what the tuner chooses, and what that costs, on simulated kernels; and any
   order of calls. SPDX-License-Identifier: Apache-2.0

   Seeds draw a curve of each family, noise, outliers (2 %, 1.5 to 5 times slower) and drift (5 % up
   and down, and a random walk), and the tuner runs for one interval. Regret is by how much its choice
   is slower than the best of the list; cost what the tuning lost in launches of the best, loss in
   launches of the policy in use, as shares of an interval. */
#include <math.h>

#include "tune_check.h"

typedef struct machine {
  double cost_us[ARC_PATH_AUTO + 1][ARC_THRESHOLD_AUTO + 1]; /* the truth */
  double noise, wander, ramp; /* wander: of the drift, a random walk; ramp: share of 600 launches */
  unsigned long long random;
  long launch;
} machine;

static double uniform(machine *m) { return test_random(&m->random); }
static double between(machine *m, double a, double b) { return a + (b - a) * uniform(m); }
static int pick(machine *m, int a, int b) { return a + (int)(uniform(m) * (b - a + 1)); }
static double normal(machine *m) {
  return sqrt(-2.0 * log(uniform(m))) * cos(6.283185307179586 * uniform(m));
}
static double true_us(const machine *m, arc_tune_policy p) {
  return m->cost_us[p.path][p.threshold];
}

/* What a clock would read for one launch. */
static double measured_us(machine *m, arc_tune_policy p) {
  double time = true_us(m, p) * exp(m->noise * normal(m));
  m->wander += 0.0025 * normal(m) - 0.005 * m->wander;
  time *= 1.0 + 0.05 * sin(6.283185307179586 * (double)m->launch / 1500.0) + m->wander;
  if (uniform(m) < 0.02) time *= between(m, 1.5, 5.0);
  return time * (1.0 + m->ramp * fmin(1.0, (double)m->launch / 600.0));
}

/* ---- families of cost curves */

/* share[g]: how many updates come in groups of g lanes; plain: of a lane; reduced: of a group,
   and step of each of its lanes. */
static void by_groups(machine *m, int path, const double *share, double plain, double reduced,
                      double step) {
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double cost = 1.0;
    for (int g = 1; g <= 32; ++g)
      cost += share[g] * (g >= threshold ? reduced + step * g : plain * g);
    m->cost_us[path][threshold] = 100.0 * cost;
  }
}

static void tile_renderer(machine *m) { /* many full groups, some small, the rest in between */
  double share[33] = {0}, full = between(m, 0.0, 0.65), small = between(m, 0.05, 0.3);
  for (int g = 1; g <= 31; ++g) share[g] = (1.0 - full - small) / 31.0 + (g < 5 ? small / 4.0 : 0);
  share[32] = full;
  double reduced = between(m, 0.1, 0.8), crossover = between(m, 4.0, 16.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}
static void keyed(machine *m) { /* many small groups, sizes falling geometrically */
  double share[33] = {0}, keep = between(m, 0.5, 0.9), sum = 0.0;
  for (int g = 1; g <= 32; ++g) sum += share[g] = pow(keep, g);
  for (int g = 1; g <= 32; ++g) share[g] *= between(m, 0.7, 1.3) / sum;
  double reduced = between(m, 0.3, 1.5), crossover = between(m, 2.0, 8.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}
static void flat(machine *m) {
  for (int i = 0; i <= 33; ++i) m->cost_us[ARC_PATH_AUTO][i] = 100.0;
}
static void cliff(machine *m) { /* all groups have one size: flat, then a jump by 2 to 12 kernels */
  double share[33] = {0}, reduced = between(m, 0.1, 0.5);
  int size = pick(m, 8, 32);
  share[size] = 1.0;
  double jump = between(m, 2.0, 12.0);
  by_groups(m, ARC_PATH_AUTO, share, (jump * (1.0 + reduced) - 1.0) / size, reduced, 0.0);
}
static void several_paths(machine *m) { /* four over one distribution of groups */
  double share[33], full = between(m, 0.2, 0.6), plain = between(m, 0.02, 0.06);
  for (int g = 1; g <= 32; ++g) share[g] = g == 32 ? full : (1.0 - full) / 31.0;
  by_groups(m, ARC_PATH_AUTO, share, plain, between(m, 0.2, 0.4), 0.0);
  by_groups(m, ARC_PATH_BUTTERFLY, share, plain, between(m, 0.3, 1.0), 0.0);
  by_groups(m, ARC_PATH_TREE, share, plain, between(m, 0.2, 0.6), 0.0);
  by_groups(m, ARC_PATH_SERIALIZED, share, plain, 0.1, 0.6 * plain);
}
static void (*const families[])(machine *m) = {tile_renderer, keyed, flat, cliff, several_paths};
enum { TILE, FLAT = 2, SEVERAL_PATHS = 4, FAMILIES, SEEDS = 100, INTERVAL = 2000 };

/* ---- the tuner on it ------------------------------------------------------------------------- */

static arc_tune tune;

/* The machine of a seed; its tuner is `tune`. Plain atomics are a path beside, or threshold 33. */
static machine begin(int family, unsigned seed, double noise, double atomic_us) {
  machine m = {.noise = noise};
  m.random = (seed + 1000u * (unsigned)family) * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)uniform(&m); /* seeds are near each other */
  families[family](&m);
  for (int path = 0; path <= ARC_PATH_AUTO; ++path) /* as compiled: what 8 costs */
    m.cost_us[path][ARC_THRESHOLD_AUTO] = m.cost_us[path][8];
  m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_NEVER] = atomic_us;
  arc_tune_config config = arc_tune_config_default();
  arc_tune_add(&config, atomic_us > 0.0 ? ARC_PATH_ATOMIC : ARC_PATH_AUTO, 33, 33);
  for (int path = 2; family == SEVERAL_PATHS && path <= ARC_PATH_TREE; ++path)
    if (path != ARC_PATH_TRANSPOSED) arc_tune_add(&config, path, 0, 33);
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

/* What becomes of times: a third are lost; the others come so many launches late, exactly or at
   most. In order: launches begin 120 us apart, and the device runs one at a time. */
typedef struct delays {
  int lost_third, late, at_most, in_order;
} delays;
static const delays none, troubles[] = {{1, 0, 0, 0}, {0, 64, 0, 0}, {0, 0, 64, 0}, {1, 0, 64, 0}};

/* Of an interval: losses as above, of the first tuning; launches of more than ten times the best. */
typedef struct sums {
  double cost, loss;
  int ruinous;
} sums;

static sums run_interval(machine *m, const delays *d) {
  static unsigned ticket[INTERVAL];
  static double time_us[INTERVAL];
  static int due[INTERVAL];
  sums its = {0.0, 0.0, 0};
  const double best = best_us(m), used = true_us(m, tune.result.choice);
  double ahead_us = 0.0; /* of work that the device has not done */
  for (int i = 0; i < INTERVAL; ++i, m->launch += 1) {
    int is_first = i >= tune.config.warmup && tune.result.tunings == 0;
    arc_tune_policy p = arc_tune_next(&tune);
    const double us = true_us(m, p);
    ahead_us = fmax(ahead_us - 120.0, 0.0) + us;
    ticket[i] = p.ticket;
    time_us[i] = measured_us(m, p);
    due[i] = i + (d->at_most    ? pick(m, 0, d->at_most)
                  : d->in_order ? (int)(ahead_us / 120)
                                : d->late);
    if (d->lost_third && pick(m, 0, 2) == 0) due[i] = -1;
    for (int j = i < 64 ? 0 : i - 64; j <= i; ++j)
      if (due[j] == i && ticket[j] != 0) arc_tune_report(&tune, ticket[j], time_us[j]);
    its.ruinous += us > 10.0 * best;
    its.cost += is_first ? (us / best - 1.0) / INTERVAL : 0.0;
    its.loss += is_first ? (us / used - 1.0) / INTERVAL : 0.0;
  }
  return its;
}

/* What arc_tune.h says, within a tenth: means of all families; no family loses more than 1 %. */
static void test_plain(double noise, double regret_share, double cost_share, double launch_count) {
  double sum = 0.0, cost = 0.0, launches = 0.0, worst = 0.0;
  for (int family = 0; family < FAMILIES; ++family) {
    double loss = 0.0;
    for (unsigned seed = 1; seed <= SEEDS; ++seed) {
      machine m = begin(family, seed, noise, 0.0);
      sums its = run_interval(&m, &none);
      loss += its.loss / SEEDS;
      cost += its.cost / SEEDS / FAMILIES;
      launches += (double)tune.result.launches / SEEDS / FAMILIES;
      sum += regret(&m) / SEEDS / FAMILIES;
      CHECK(tune.result.cost <= 3.0 * tune.budget, "it spent %g", tune.result.cost);
    }
    worst = fmax(worst, loss);
  }
  printf("%3.0f %%: regret %.3f %%, cost %.2f %%, at most %.2f %% lost, %.0f launches\n",
         100.0 * noise, 100.0 * sum, 100.0 * cost, 100.0 * worst, launches);
  CHECK(sum <= 1.1 * regret_share && cost <= 1.1 * cost_share && worst <= 0.01 &&
            launches <= 1.1 * launch_count,
        "worse than arc_tune.h says");
}

/* Clocks that change by 30 % in the tuning, and late, lost, irregular times cost at most so much. */
static void test_troubled(const delays *d, double ramp, double noise, double share) {
  double sum = 0.0;
  for (unsigned i = 0; i < FAMILIES * SEEDS; ++i) {
    machine m = begin((int)(i % FAMILIES), 1u + i, noise, 0.0);
    m.ramp = ramp;
    run_interval(&m, d);
    sum += regret(&m) / FAMILIES / SEEDS;
  }
  printf("lost %d, late %d, %d, ramp %4.1f, noise %g: regret %.2f %%\n", d->lost_third, d->late,
         d->at_most, ramp, noise, 100.0 * sum);
  CHECK(sum <= share, "the regret is %.2f %%", 100.0 * sum);
}

/* With nothing to gain the policy hardly ever changes; and same seed and times, same choice. */
static void test_flat(double noise, int most) {
  int changes = 0, tunings = 0;
  for (unsigned seed = 1; tunings < 2000; ++seed, tunings += tune.result.tunings) {
    machine m = begin(FLAT, seed, noise, 0.0);
    for (int i = 0; i < 20; ++i) {
      arc_tune_policy before = tune.result.choice;
      run_interval(&m, &none);
      changes += !check_is_same(before, tune.result.choice);
    }
  }
  CHECK(changes <= most, "flat, noise %g: %d changes", noise, changes);
  arc_tune held = tune;
  for (int i = 0; i < 2; held = i++ == 0 ? tune : held) {
    machine m = begin(TILE, 7, noise, 0.0);
    run_interval(&m, &none);
  }
  CHECK(memcmp(&held.result, &tune.result, sizeof tune.result) == 0, "same seed, another choice");
}

/* Plain atomics, forty times as long as all else, are launched once where thresholds up to 32 do
   well, also while no other time comes; never where thresholds already show that they do not pay. */
static void test_ruin(void) {
  const delays in_order = {0, 0, 0, 1};
  double share[33] = {0};
  int ruins = 0;
  share[9] = share[32] = 0.5;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(FLAT, seed, 0.05, 4000.0);
    int hidden = run_interval(&m, seed % 2 ? &in_order : &none).ruinous;
    m = begin(FLAT, seed, 0.05, 4000.0);
    by_groups(&m, ARC_PATH_AUTO, share, 30.0, 33.0, 0.0);
    m.cost_us[ARC_PATH_AUTO][ARC_THRESHOLD_AUTO] = m.cost_us[ARC_PATH_AUTO][8];
    m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_NEVER] = 1e6;
    int shown = run_interval(&m, &none).ruinous;
    CHECK(hidden <= 1 && shown == 0, "seed %u: %d, %d ruinous", seed, hidden, shown);
    ruins += hidden;
  }
  CHECK(ruins > SEEDS / 2, "plain atomics were launched %d times", ruins);
}

/* ---- any order of calls ---------------------------------------------------------------------- */

static double draw_time(machine *m) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, -5.0, 0.0, 1e300, 0.001, 1e12};
  return pick(m, 0, 2) ? between(m, 100.0, 200.0) : odd[pick(m, 0, 7)];
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
  arc_tune_policy p = arc_tune_next(&tune);
  CHECK(check_is_legal(&tune, p) && check_is_legal(&tune, tune.result.choice), "of no list");
  return p.ticket;
}

/* Two tuners begin alike, whatever they held. Tickets from before a restart are void. */
static void test_begins(void) {
  arc_tune_config config = arc_tune_config_default();
  config.warmup = 0;
  static arc_tune zeros;
  memset(&tune, 0xa5, sizeof tune);
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init of bytes 0xa5");
  CHECK(arc_tune_init(&zeros, &config) == ARC_TUNE_OK, "init of zeros");
  CHECK(tune.ticket == zeros.ticket && tune.newest == zeros.newest, "it read what it fills");
  const unsigned before = next();
  CHECK(before != 0 && arc_tune_restart(&tune, &config) == ARC_TUNE_OK, "ticket %u", before);
  CHECK(next() != before && arc_tune_report(&tune, before, 1.0) == ARC_TUNE_ERROR_REPORT,
        "ticket %u is from before the restart", before);
}

/* Good, late, repeated, forged and missing tickets, and times that are no times; afterwards a tuning
   with plain times still ends. ARC_SANITIZE=address,undefined sees reads out of bounds. */
static void test_any_calls(unsigned long long seed) {
  machine m = {.random = seed};
  unsigned tickets[64] = {0}, latest = 0;
  init_any(&m);
  for (int calls = pick(&m, 200, 3000); calls > 0; --calls) {
    int what = pick(&m, 0, 999), some = pick(&m, 0, 63);
    if (what < 500) tickets[some] = latest = next();
    if (what >= 500 && what < 800) arc_tune_report(&tune, tickets[some], draw_time(&m));
    if (what >= 800 && what < 900) arc_tune_report(&tune, latest, draw_time(&m));
    if (what >= 900 && what < 990) arc_tune_report(&tune, latest ^ 1u << some % 32, 100.0);
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

static void test_means(void) {
  test_plain(0.01, 0.0007, 0.0033, 502.0);
  test_plain(0.15, 0.0050, 0.0070, 678.0);
  for (int i = 0; i < 8; ++i) test_troubled(&troubles[i / 2], 0.0, i % 2 ? 0.05 : 0.01, 0.0035);
  for (int i = -1; i < 2; i += 2) test_troubled(&none, 0.3 * i, 0.05, 0.003);
  for (int i = 0; i < 3; ++i) test_flat(i == 0 ? 0.01 : 0.05 * (2 * i - 1), 4);
  test_ruin();
}

#ifdef __SANITIZE_ADDRESS__ /* what takes long makes the calls that the rest makes */
enum { IS_LONG = 0 };
#else
enum { IS_LONG = 1 };
#endif

int main(void) {
  test_plain(0.05, 0.0022, 0.0047, 697.0);
  if (IS_LONG) test_means();
  test_begins();
  for (unsigned long long seed = 0; seed < 1000; ++seed) test_any_calls(seed);
  return test_end("test_tune_simulated");
}
