/* test_tune_simulated.c - what the tuner chooses, and what that costs, on simulated kernels; and any
   order of calls. SPDX-License-Identifier: Apache-2.0

   For each family of cost curves and each noise, 100 seeds draw a curve, noise, outliers (2 %, 1.5
   to 5 times slower) and drift (5 % up and down, and a random walk), and the tuner runs for one
   interval. Regret is by how much its choice is slower than the best policy of the whole list; cost
   the time lost while tuning, as a share of 2000 launches of the best. The families imitate what
   was measured on real kernels: cost rises or falls with the threshold as the groups below it go to
   plain atomics. */
#include <math.h>

#include "tune_check.h"

/* ---- a machine holds the true time of every policy and makes noisy ones of it --------------- */

typedef struct machine {
  double cost_us[ARC_PATH_AUTO + 1][ARC_THRESHOLD_AUTO + 1]; /* the truth */
  double noise, wander;          /* wander: of the drift, a random walk */
  double slow, slow_share, stay; /* slow: what the second mode takes more, as a share */
  double done_us;                /* when the device will have run all launches */
  int is_slow, period;           /* period: the second mode comes in turn, not at random */
  unsigned long long random;
  long launch;
} machine;

/* splitmix64 */
static double uniform(machine *m) {
  unsigned long long z = m->random += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}
static double between(machine *m, double low, double high) {
  return low + (high - low) * uniform(m);
}
static int pick(machine *m, int low, int high) {
  return low + (int)(uniform(m) * (high - low + 1));
}
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
  if (m->period > 0)
    m->is_slow = m->launch % m->period == 0;
  else if (m->slow > 0.0 && uniform(m) >= m->stay)
    m->is_slow = uniform(m) < m->slow_share;
  return m->is_slow ? time * (1.0 + m->slow) : time;
}

/* ---- families of cost curves; the kernel without adding takes 100 us ------------------------- */

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

/* A third to two thirds of the groups are full, a part is small, the rest anything between. */
static void tile_renderer(machine *m) {
  double share[33] = {0}, full = between(m, 0.0, 0.65), small = between(m, 0.05, 0.3);
  for (int g = 1; g <= 31; ++g) share[g] = (1.0 - full - small) / 31.0;
  for (int g = 1; g <= 4; ++g) share[g] += small / 4.0;
  share[32] = full;
  double reduced = between(m, 0.1, 0.8), crossover = between(m, 4.0, 16.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}

/* Many small groups, sizes falling geometrically. */
static void keyed(machine *m) {
  double share[33] = {0}, keep = between(m, 0.5, 0.9), sum = 0.0;
  for (int g = 1; g <= 32; ++g) sum += share[g] = pow(keep, g);
  for (int g = 1; g <= 32; ++g) share[g] *= between(m, 0.7, 1.3) / sum;
  double reduced = between(m, 0.3, 1.5), crossover = between(m, 2.0, 8.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}

/* Groups of one lane: reducing them is a waste of a tenth to twice the kernel. */
static void no_locality(machine *m) {
  double share[33] = {0.0, 0.985, 0.015}, plain = between(m, 0.5, 1.0);
  by_groups(m, ARC_PATH_AUTO, share, plain, plain + between(m, 0.1, 2.0), 0.0);
}

static void flat(machine *m) {
  for (int threshold = 0; threshold <= 33; ++threshold)
    m->cost_us[ARC_PATH_AUTO][threshold] = 100.0;
}

/* Two valleys with a hill of some percent between them; either may be the deeper one. */
static void two_minima(machine *m) {
  double a = between(m, 2.0, 8.0), b = between(m, 18.0, 26.0);
  double deep = between(m, 0.02, 0.06), other = deep * between(m, 0.2, 0.8), hill = 0.05;
  int first = uniform(m) < 0.5;
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double x = (threshold - a) / 5.0, y = (threshold - b) / 5.0;
    m->cost_us[ARC_PATH_AUTO][threshold] =
        100.0 * (1.0 + hill - (hill + (first ? deep : other)) * exp(-0.5 * x * x) -
                 (hill + (first ? other : deep)) * exp(-0.5 * y * y));
  }
}

/* Plateaus of equal cost, a few percent apart. */
static void ties(machine *m) {
  double cost = 100.0;
  int left = 0, turn = pick(m, 4, 20);
  for (int threshold = 0; threshold <= 33; ++threshold, --left) {
    if (left <= 0) {
      left = pick(m, 3, 9);
      cost *= 1.0 + (threshold < turn ? -1.0 : 1.0) * between(m, 0.0, 0.06);
    }
    m->cost_us[ARC_PATH_AUTO][threshold] = cost;
  }
}

/* All groups have the same size: flat, then a jump to plain atomics, of 2 to 12 kernels. */
static void cliff(machine *m) {
  double share[33] = {0}, reduced = between(m, 0.1, 0.5);
  int size = pick(m, 8, 32);
  share[size] = 1.0;
  double jump = between(m, 2.0, 12.0);
  by_groups(m, ARC_PATH_AUTO, share, (jump * (1.0 + reduced) - 1.0) / size, reduced, 0.0);
}

/* Four paths over one distribution of groups. */
static void several_paths(machine *m) {
  double share[33], full = between(m, 0.2, 0.6), plain = between(m, 0.02, 0.06);
  for (int g = 1; g <= 32; ++g) share[g] = g == 32 ? full : (1.0 - full) / 31.0;
  by_groups(m, ARC_PATH_AUTO, share, plain, between(m, 0.2, 0.4), 0.0);
  by_groups(m, ARC_PATH_BUTTERFLY, share, plain, between(m, 0.3, 1.0), 0.0);
  by_groups(m, ARC_PATH_TREE, share, plain, between(m, 0.2, 0.6), 0.0);
  by_groups(m, ARC_PATH_SERIALIZED, share, plain, 0.1, 0.6 * plain);
}

/* For times with two modes: the start is best, all else slower by some percent. */
static void nothing_to_gain(machine *m) {
  double steep = between(m, 0.02, 0.06);
  for (int threshold = 0; threshold <= 33; ++threshold)
    m->cost_us[ARC_PATH_AUTO][threshold] =
        100.0 + 100.0 * steep * (threshold > 8 ? (threshold - 8) / 12.0 : (8 - threshold) / 8.0);
}

/* For times that come late or never: 15 % to gain, at a threshold well below or above the start. */
static void valley(machine *m) {
  double best = uniform(m) < 0.5 ? between(m, 0.0, 2.0) : between(m, 14.0, 30.0);
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double x = (threshold - best) / (8.0 - best);
    m->cost_us[ARC_PATH_AUTO][threshold] = 85.0 + 15.0 * fmin(x * x, 4.0);
  }
}

static void (*const families[])(machine *m) = {tile_renderer,   keyed, no_locality, flat,
                                               two_minima,      ties,  cliff,       several_paths,
                                               nothing_to_gain, valley};
enum { FLAT = 3, SEVERAL_PATHS = 7, NOTHING_TO_GAIN, VALLEY, FAMILIES = 8 };
enum { SEEDS = 100, INTERVAL = 2000 };

/* ---- the tuner on it ------------------------------------------------------------------------- */

static arc_tune tune;

/* The machine of a seed; its tuner is `tune`. with_atomics: plain ones are listed, too. */
static machine begin(int family, unsigned seed, double noise, int with_atomics) {
  static const int paths[] = {ARC_PATH_BUTTERFLY, ARC_PATH_TREE, ARC_PATH_SERIALIZED};
  machine m;
  memset(&m, 0, sizeof m);
  m.random = (seed + 1000u * (unsigned)family) * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)uniform(&m); /* seeds are near each other */
  families[family](&m);
  for (int path = 0; path <= ARC_PATH_AUTO; ++path) /* as compiled: what 8 costs */
    m.cost_us[path][ARC_THRESHOLD_AUTO] = m.cost_us[path][8];
  m.noise = noise;
  arc_tune_config config = arc_tune_config_default();
  if (!with_atomics) config.threshold[config.thresholds++] = ARC_THRESHOLD_NEVER;
  if (with_atomics) config.path[config.paths++].path = ARC_PATH_ATOMIC;
  for (int i = 0; family == SEVERAL_PATHS && i < 3; ++i) {
    config.path[config.paths].path = paths[i];
    config.path[config.paths++].uses_threshold = 1;
  }
  config.seed = seed;
  arc_tune_init(&tune, &config);
  return m;
}

/* The time of the best of all policies of the list. */
static double best_us(const machine *m) {
  double best = 1e300;
  for (int i = 0; i < tune.candidates; ++i) best = fmin(best, true_us(m, tune.candidate[i].policy));
  return best;
}

static double regret(const machine *m) { return true_us(m, tune.result.choice) / best_us(m) - 1.0; }

/* One interval; returns the time lost by the first tuning, in launches of the best. */
static double run_interval(machine *m) {
  double lost = 0.0, best = best_us(m);
  for (int i = 0; i < INTERVAL; ++i) {
    int is_first = i >= tune.config.warmup && tune.result.tunings == 0;
    arc_tune_policy policy = arc_tune_next(&tune);
    m->launch += 1;
    if (policy.ticket != 0) arc_tune_report(&tune, policy.ticket, measured_us(m, policy));
    if (is_first) lost += true_us(m, policy) / best - 1.0;
  }
  return lost;
}

/* What arc_tune.h says, within a tenth: means over the runs of all families. No run is far off. */
static void test_regret_and_cost(double noise, double regret_share, double cost_share,
                                 double launch_count, double most) {
  const int runs = FAMILIES * SEEDS;
  double sum = 0.0, worst = 0.0, cost = 0.0, launches = 0.0;
  for (int i = 0; i < runs; ++i) {
    machine m = begin(i / SEEDS, 1u + (unsigned)(i % SEEDS), noise, 0);
    cost += run_interval(&m) / (double)INTERVAL / runs;
    launches += (double)tune.result.launches / runs;
    sum += regret(&m) / runs;
    worst = fmax(worst, regret(&m));
    CHECK(tune.result.tunings == 1 && check_is_legal(&tune, tune.result.choice),
          "family %d, seed %d: %d tunings, choice %d:%d", i / SEEDS, 1 + i % SEEDS,
          tune.result.tunings, tune.result.choice.path, tune.result.choice.threshold);
  }
  printf("%3.0f %%  regret %.3f %%, at worst %.1f %%; cost %.2f %%; %.0f launches\n", 100.0 * noise,
         100.0 * sum, 100.0 * worst, 100.0 * cost, launches);
  CHECK(sum <= 1.1 * regret_share && worst <= most, "the regret is %.3f %%, at worst %.1f %%",
        100.0 * sum, 100.0 * worst);
  CHECK(cost <= 1.1 * cost_share, "the mean cost is %.2f %%", 100.0 * cost);
  CHECK(launches <= 1.1 * launch_count, "a tuning takes %.0f launches", launches);
}

/* As measured on an H100: the best lies between two coarse steps, both clearly slower than the start,
   and what else is tried takes most of the budget. */
static void test_steep(void) {
  int good = 0;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(FLAT, seed, 0.01, 1);
    arc_tune_config config = tune.config;
    config.path[config.paths].path = ARC_PATH_TREE;
    config.path[config.paths++].uses_threshold = 1;
    arc_tune_init(&tune, &config);
    for (int threshold = 0; threshold <= 33; ++threshold) {
      const int above = threshold - 5;
      m.cost_us[ARC_PATH_TREE][threshold] = 97.0 + (above > 0 ? 12.0 * above : -4.0 * above);
      m.cost_us[ARC_PATH_AUTO][threshold] = m.cost_us[ARC_PATH_TREE][threshold] + 8.0;
    }
    m.cost_us[ARC_PATH_AUTO][ARC_THRESHOLD_AUTO] = 100.0;
    m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_AUTO] = 5000.0;
    run_interval(&m);
    good += regret(&m) < 0.02;
  }
  CHECK(good >= 90, "steep sides: %d of 100", good);
}

/* With nothing to gain, 20 tunings in a row change the policy once at most. */
static void test_flat(double noise) {
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(FLAT, seed, noise, 0);
    int changes = 0;
    for (int i = 0; i < 20; ++i) {
      arc_tune_policy before = tune.result.choice;
      run_interval(&m);
      changes += !check_is_same(before, tune.result.choice);
    }
    CHECK(changes <= 1, "flat, noise %g, seed %u: %d changes", noise, seed, changes);
  }
}

/* ---- times with two modes, late and lost ones ------------------------------------------------ */

enum { LOST = -1, NO_TIME = -2, MOST_LATE = 50 }; /* NO_TIME: reported as such, at once */

/* The second mode comes at random and stays, or in turn. What becomes of every third time, or of one
   in three at random; how many launches later the others come, exactly or at most. In order: the
   program launches every 120 us and does not wait; the device runs one launch at a time. */
typedef struct trouble {
  double stay;
  int period, every_third, one_in_three, late, at_most, in_order;
} trouble;
static const trouble modes[] = {{0}, {.stay = 0.9}, {.stay = 0.97}, {.period = 2}, {.period = 8}};
static const trouble delays[] = {{.every_third = LOST},
                                 {.one_in_three = LOST},
                                 {.late = MOST_LATE},
                                 {.at_most = MOST_LATE},
                                 {.at_most = MOST_LATE, .every_third = LOST},
                                 {.late = MOST_LATE, .every_third = NO_TIME}},
                     in_order = {.in_order = 1};

static int delay_of(machine *m, const trouble *d, arc_tune_policy policy) {
  double now_us = 120.0 * (double)m->launch;
  m->done_us = fmax(m->done_us, now_us) + true_us(m, policy);
  if (d->in_order) return (int)((m->done_us - now_us) / 120.0);
  if (d->every_third && policy.ticket % 3 == 0) return d->every_third;
  if (d->one_in_three && pick(m, 0, 2) == 0) return d->one_in_three;
  return d->at_most ? pick(m, 0, d->at_most) : d->late;
}

/* One interval; returns how many launches took longer than so much. */
static int run_troubled(machine *m, const trouble *d, double us) {
  static unsigned tickets[INTERVAL];
  static double times_us[INTERVAL];
  static int due[INTERVAL];
  int slow = 0;
  for (int i = 0; i < INTERVAL; ++i, m->launch += 1) {
    arc_tune_policy policy = arc_tune_next(&tune);
    slow += true_us(m, policy) > us;
    tickets[i] = policy.ticket;
    times_us[i] = measured_us(m, policy);
    int late = delay_of(m, d, policy);
    due[i] = i + late;
    if (late == NO_TIME) arc_tune_report(&tune, policy.ticket, 0.0);
    for (int j = i < MOST_LATE ? 0 : i - MOST_LATE; j <= i; ++j)
      if (due[j] == i) arc_tune_report(&tune, tickets[j], times_us[j]);
  }
  return slow;
}

/* Of 100 runs so many come so near the best. */
static void test_troubled(int family, const trouble *d, double noise, double slow, double most,
                          int least) {
  int good = 0;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(family, seed, noise, 0);
    m.slow_share = between(&m, 0.2, 0.8);
    m.slow = slow;
    m.stay = d->stay;
    m.period = d->period;
    run_troubled(&m, d, 1e9);
    good += regret(&m) <= most;
  }
  CHECK(good >= least,
        "noise %g, slow %g, stay %g, period %d, third %d, %d, late %d, %d: %d of 100", noise, slow,
        d->stay, d->period, d->every_third, d->one_in_three, d->late, d->at_most, good);
}

/* Launches of one interval that are more than 10 times slower than the best. Groups as shared, or,
   with null, flat where plain atomics take 40 launches' time and no other time comes meanwhile. */
static int run_ruin(const double *share, unsigned seed) {
  machine m = begin(FLAT, seed, 0.05, 1);
  if (share != NULL) by_groups(&m, ARC_PATH_AUTO, share, 30.0, 33.0, 0.0);
  m.cost_us[ARC_PATH_AUTO][ARC_THRESHOLD_AUTO] = m.cost_us[ARC_PATH_AUTO][8];
  m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_AUTO] =
      share != NULL ? m.cost_us[ARC_PATH_AUTO][ARC_THRESHOLD_NEVER] : 4000.0;
  return run_troubled(&m, share != NULL ? modes : &in_order, 10.0 * best_us(&m));
}

/* Plain atomics where half of the groups are full, though any threshold up to 32 is harmless, are
   launched once. Where thresholds already show that plain atomics do not pay, never. */
static void test_ruin(void) {
  double hidden[33] = {0}, shown[33] = {0};
  int ruins[3] = {0};
  hidden[1] = hidden[32] = shown[9] = shown[32] = 0.5;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    int now[] = {run_ruin(hidden, seed), run_ruin(NULL, seed), run_ruin(shown, seed)};
    CHECK(now[0] <= 1 && now[1] <= 1 && now[2] == 0, "seed %u: %d, %d, %d ruinous", seed, now[0],
          now[1], now[2]);
    for (int i = 0; i < 3; ++i) ruins[i] += now[i];
  }
  CHECK(ruins[0] > 0 && ruins[1] > 0, "plain atomics were never launched");
}

/* ---- any order of calls ---------------------------------------------------------------------- */

static int below(machine *m, int bound) { return pick(m, 0, bound - 1); }

static double draw_time(machine *m) {
  static const double odd[] = {NAN,   INFINITY, -INFINITY, -5.0, 0.0,  1e-300,
                               1e300, 0.001,    1e12,      2e-3, 1e11, 1.0};
  return below(m, 3) ? 100.0 + below(m, 100) : odd[below(m, 12)];
}

/* Legal or not. */
static void init_any(machine *m) {
  arc_tune_config c = arc_tune_config_default();
  c.paths = 1 + below(m, ARC_TUNE_MAX_PATHS);
  for (int i = 0; i < c.paths; ++i) {
    c.path[i].path = 1 + below(m, 12);
    c.path[i].uses_threshold = below(m, 3);
  }
  c.thresholds = below(m, ARC_TUNE_MAX_THRESHOLDS);
  const arc_tune_path *start = &c.path[below(m, c.paths)];
  c.start_path = start->path;
  if (start->uses_threshold && c.thresholds > 0)
    c.start_threshold = c.threshold[below(m, c.thresholds)];
  c.interval = below(m, 3) * below(m, 3000);
  c.warmup = below(m, 20);
  c.launch_limit = 1 + below(m, 2500);
  c.budget = 0.0001 + 0.01 * below(m, 100);
  if (below(m, 8) == 0) ((int *)&c.paths)[below(m, 40)] = below(m, 2) ? below(m, 40) - 3 : 1 << 20;
  arc_tune_init(&tune, &c);
}

static unsigned next(void) {
  arc_tune_policy policy = arc_tune_next(&tune);
  CHECK(check_is_legal(&tune, policy), "%d:%d is not in the list", policy.path, policy.threshold);
  CHECK(check_is_legal(&tune, tune.result.choice), "the choice is not in the list");
  return policy.ticket;
}

/* Good, late, repeated, forged and missing tickets, and times that are no times; afterwards a tuning
   with plain times still ends. ARC_SANITIZE=address,undefined sees reads out of bounds. */
static void test_any_calls(unsigned long long seed) {
  machine m = {.random = seed};
  unsigned tickets[64] = {0}, latest = 0;
  init_any(&m);
  for (int calls = 200 + below(&m, 3000); calls > 0; --calls) {
    int what = below(&m, 1000), some = below(&m, 64);
    if (what < 500) tickets[some] = latest = next();
    if (what >= 500 && what < 800) arc_tune_report(&tune, tickets[some], draw_time(&m));
    if (what >= 800 && what < 900) arc_tune_report(&tune, latest, draw_time(&m));
    if (what >= 900 && what < 990) arc_tune_report(&tune, latest ^ 1u << some % 32, 100.0);
    for (int i = what >= 990 && what < 997 ? 400 : 0; i > 0; --i) /* so that a tuning gets far */
      arc_tune_report(&tune, next(), below(&m, 20) ? 100.0 + below(&m, 16) : 0.0);
    if (what == 997) arc_tune_init(&tune, &tune.config);
    if (what > 997) init_any(&m);
  }
  for (int i = 0, ended = tune.result.tunings; tune.result.tunings == ended && tune.rest >= 0;) {
    arc_tune_report(&tune, next(), 100.0);
    if (++i > 10000) return;
    CHECK(i <= 1.0 + tune.config.interval + tune.config.launch_limit + tune.config.warmup,
          "it does not end");
  }
}

int main(void) {
  test_regret_and_cost(0.01, 0.0005, 0.0023, 471.0, 0.05);
  test_regret_and_cost(0.05, 0.0017, 0.0040, 849.0, 0.10);
  test_regret_and_cost(0.15, 0.0062, 0.0074, 955.0, 0.20);
  test_steep();
  test_flat(0.01);
  test_flat(0.05);
  test_flat(0.15);
  for (int i = 0; i < 5; ++i)
    for (int slower = 1; slower <= 6; slower += i == 0 ? 1 : 2)
      test_troubled(NOTHING_TO_GAIN, &modes[i], 0.01, 0.1 * slower, 0.01, 99);
  for (int i = 0; i < 6; ++i)
    for (double noise = 0.01; noise < 0.06; noise += 0.04)
      test_troubled(VALLEY, &delays[i], noise, 0.0, 0.03, 95);
  test_ruin();
  for (unsigned long long seed = 0; seed < 1000; ++seed) test_any_calls(seed);
  return test_end("test_tune_simulated");
}
