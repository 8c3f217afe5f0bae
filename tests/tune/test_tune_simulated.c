/* test_tune_simulated.c - what the tuner chooses, and what that costs, on simulated kernels.
   SPDX-License-Identifier: Apache-2.0

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
  double noise, outliers, drift;
  double wander;                 /* of the drift, a random walk */
  double slow, slow_share, stay; /* slow: what the second mode takes more, as a share */
  double done_us;                /* when the device will have run all launches */
  int is_slow, period;           /* period: the second mode comes in turn, not at random */
  unsigned long long random;
  long launch;
} machine;

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
  m->wander += 0.05 * m->drift * normal(m) - 0.005 * m->wander;
  time *= 1.0 + m->drift * sin(6.283185307179586 * (double)m->launch / 1500.0) + m->wander;
  if (uniform(m) < m->outliers) time *= between(m, 1.5, 5.0);
  if (m->period > 0)
    m->is_slow = m->launch % m->period == 0;
  else if (m->slow > 0.0 && uniform(m) >= m->stay)
    m->is_slow = uniform(m) < m->slow_share;
  return m->is_slow ? time * (1.0 + m->slow) : time;
}

static void machine_init(machine *m, unsigned long long seed) {
  memset(m, 0, sizeof *m);
  m->random = seed * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)uniform(m);
}

/* ---- families ------------------------------------------------------------------------------- */

/* The policy that stands for the choice as compiled costs what threshold 8 does. */
static void as_compiled(machine *m, int path) {
  m->cost_us[path][ARC_THRESHOLD_AUTO] = m->cost_us[path][8];
}

/* share[g]: how many updates come in groups of g lanes; plain: of a lane; reduced: of a group. The
   kernel itself is 1. */
static void by_groups(machine *m, int path, const double *share, double plain, double reduced,
                      double step) {
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double cost = 1.0;
    for (int g = 1; g <= 32; ++g)
      cost += share[g] * (g >= threshold ? reduced + step * g : plain * g);
    m->cost_us[path][threshold] = 100.0 * cost;
  }
  as_compiled(m, path);
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
  double share[33] = {0};
  share[1] = 0.985;
  share[2] = 0.015;
  double plain = between(m, 0.5, 1.0);
  by_groups(m, ARC_PATH_AUTO, share, plain, plain + between(m, 0.1, 2.0), 0.0);
}

static void flat(machine *m) {
  for (int threshold = 0; threshold <= ARC_THRESHOLD_AUTO; ++threshold)
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
  as_compiled(m, ARC_PATH_AUTO);
}

/* Plateaus of equal cost, a few percent apart. */
static void ties(machine *m) {
  double cost = 100.0;
  int left = 0, falling = 1, turn = pick(m, 4, 20);
  for (int threshold = 0; threshold <= 33; ++threshold, --left) {
    if (threshold >= turn) falling = 0;
    if (left <= 0) {
      left = pick(m, 3, 9);
      cost *= 1.0 + (falling ? -1.0 : 1.0) * between(m, 0.0, 0.06);
    }
    m->cost_us[ARC_PATH_AUTO][threshold] = cost;
  }
  as_compiled(m, ARC_PATH_AUTO);
}

/* All groups have the same size: flat, then a jump to plain atomics. */
static void cliff(machine *m) {
  double share[33] = {0}, reduced = between(m, 0.1, 0.5);
  int size = pick(m, 8, 32);
  share[size] = 1.0;
  double jump = between(m, 2.0, 12.0); /* of the whole kernel */
  by_groups(m, ARC_PATH_AUTO, share, (jump * (1.0 + reduced) - 1.0) / size, reduced, 0.0);
}

/* Four paths over one distribution of groups. */
static void several_paths(machine *m) {
  double share[33] = {0}, full = between(m, 0.2, 0.6);
  for (int g = 1; g <= 31; ++g) share[g] = (1.0 - full) / 31.0;
  share[32] = full;
  double plain = between(m, 0.02, 0.06);
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
  as_compiled(m, ARC_PATH_AUTO);
}

/* For times that come late or never: 15 % to gain, at a threshold well below or above the start. */
static void valley(machine *m) {
  double best = uniform(m) < 0.5 ? between(m, 0.0, 2.0) : between(m, 14.0, 30.0);
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double x = (threshold - best) / (8.0 - best);
    m->cost_us[ARC_PATH_AUTO][threshold] = 85.0 + 15.0 * fmin(x * x, 4.0);
  }
  as_compiled(m, ARC_PATH_AUTO);
}

typedef struct family {
  const char *name;
  void (*draw)(machine *m);
  int several;
} family;

static const family families[] = {{"tile renderer", tile_renderer, 0},
                                  {"keyed", keyed, 0},
                                  {"no locality", no_locality, 0},
                                  {"flat", flat, 0},
                                  {"two minima", two_minima, 0},
                                  {"ties", ties, 0},
                                  {"cliff", cliff, 0},
                                  {"several paths", several_paths, 1},
                                  {"nothing to gain", nothing_to_gain, 0},
                                  {"valley", valley, 0}};
enum { FAMILIES = 8 }; /* the last two are for a test each */

static arc_tune_config config_of(const family *f, unsigned seed) {
  static const int paths[] = {ARC_PATH_AUTO, ARC_PATH_BUTTERFLY, ARC_PATH_TREE,
                              ARC_PATH_SERIALIZED};
  arc_tune_config config = arc_tune_config_default();
  config.threshold[config.thresholds++] = ARC_THRESHOLD_NEVER;
  config.seed = seed;
  if (!f->several) return config;
  config.paths = 5;
  for (int i = 1; i < 5; ++i) {
    config.path[i].path = paths[i - 1];
    config.path[i].uses_threshold = 1;
  }
  return config;
}

/* The time of the best of all policies of the list. */
static double oracle_us(const machine *m, const arc_tune_config *config) {
  double best = 1e300;
  for (int i = 0; i < config->paths; ++i) {
    const double *cost = m->cost_us[config->path[i].path];
    int uses = config->path[i].uses_threshold;
    for (int j = 0; j < (uses ? config->thresholds : 1); ++j)
      best = fmin(best, cost[uses ? config->threshold[j] : ARC_THRESHOLD_AUTO]);
  }
  return best;
}

/* ---- the tuner on it ------------------------------------------------------------------------- */

enum { SEEDS = 100, INTERVAL = 2000 };

static arc_tune tune;

/* The machine of a seed; its tuner is `tune`. */
static machine begin(const family *f, unsigned seed, double noise) {
  machine m;
  machine_init(&m, seed + 1000ull * (unsigned)(f - families));
  f->draw(&m);
  m.noise = noise;
  m.outliers = 0.02;
  m.drift = 0.05;
  arc_tune_config config = config_of(f, seed);
  arc_tune_init(&tune, &config);
  return m;
}

static arc_tune_policy launch(machine *m) {
  arc_tune_policy policy = arc_tune_next(&tune);
  m->launch += 1;
  if (policy.ticket != 0) arc_tune_report(&tune, policy.ticket, measured_us(m, policy));
  return policy;
}

/* One interval; returns the time lost by the first tuning, in launches of the best. */
static double run_interval(machine *m, double best_us) {
  double lost = 0.0;
  for (int i = 0; i < INTERVAL; ++i) {
    int is_first = i >= tune.config.warmup && tune.result.tunings == 0;
    arc_tune_policy policy = launch(m);
    if (is_first) lost += true_us(m, policy) / best_us - 1.0;
  }
  return lost;
}

static double regret(const machine *m, double best_us) {
  return true_us(m, tune.result.choice) / best_us - 1.0;
}

static int descending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Means over the runs of all families, and over the worst 1 % of them. */
static void test_regret_and_cost(double noise, double most, double most_of_worst,
                                 double most_cost) {
  static double regrets[FAMILIES * SEEDS];
  const int runs = FAMILIES * SEEDS;
  double sum = 0.0, worst = 0.0, cost = 0.0, launches = 0.0;
  for (int i = 0; i < runs; ++i) {
    const family *f = &families[i / SEEDS];
    unsigned seed = 1u + (unsigned)(i % SEEDS);
    machine m = begin(f, seed, noise);
    double best_us = oracle_us(&m, &tune.config);
    cost += run_interval(&m, best_us) / (double)INTERVAL;
    launches += tune.result.launches;
    sum += regrets[i] = regret(&m, best_us);
    CHECK(tune.result.tunings == 1 && check_is_legal(&tune.config, tune.result.choice),
          "%s, seed %u: %d tunings, choice %d:%d", f->name, seed, tune.result.tunings,
          tune.result.choice.path, tune.result.choice.threshold);
    if (regrets[i] > most_of_worst)
      printf("%3.0f %%  %s, seed %u: regret %.1f %%\n", 100.0 * noise, f->name, seed,
             100.0 * regrets[i]);
  }
  qsort(regrets, (size_t)runs, sizeof *regrets, descending);
  for (int i = 0; i < runs / 100; ++i) worst += regrets[i] / (runs / 100);
  printf("%3.0f %%  regret %.3f %%, of the worst 1 %% %.2f %%; cost %.2f %%; %.0f launches\n",
         100.0 * noise, 100.0 * sum / runs, 100.0 * worst, 100.0 * cost / runs, launches / runs);
  CHECK(sum / runs <= most, "the mean regret is %.3f %%", 100.0 * sum / runs);
  CHECK(worst <= most_of_worst, "the regret of the worst 1 %% is %.2f %%", 100.0 * worst);
  CHECK(cost / runs <= most_cost, "the mean cost is %.2f %%", 100.0 * cost / runs);
  CHECK(launches / runs <= 970.0, "on average a tuning takes %.0f launches", launches / runs);
}

/* With nothing to gain, 20 tunings in a row change the policy once at most. */
static void test_flat(double noise) {
  int all = 0;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(&families[3], seed, noise);
    int changes = 0;
    for (int i = 0; i < 20; ++i) {
      arc_tune_policy before = tune.result.choice;
      run_interval(&m, 100.0);
      changes += !check_is_same(before, tune.result.choice);
    }
    CHECK(changes <= 1, "flat, noise %g, seed %u: %d changes", noise, seed, changes);
    all += changes;
  }
  printf("%3.0f %%  flat: %d changes in %d tunings\n", 100.0 * noise, all, 20 * SEEDS);
}

/* Times with two modes, which come at random, last for 10 or 33 launches, or come in turn; and
   nothing to gain. */
static void test_two_modes(void) {
  static const double stays[] = {0.0, 0.9, 0.97, 0.0, 0.0}, slows[] = {0.1, 0.3, 0.6};
  static const int periods[] = {0, 0, 0, 2, 8};
  for (int i = 0; i < 15; ++i) {
    int bad = 0;
    for (unsigned seed = 1; seed <= SEEDS; ++seed) {
      machine m = begin(&families[FAMILIES], seed, 0.01);
      m.slow_share = between(&m, 0.2, 0.8);
      m.slow = slows[i % 3];
      m.stay = stays[i / 3];
      m.period = periods[i / 3];
      run_interval(&m, 100.0);
      bad += regret(&m, 100.0) > 0.01;
    }
    printf("a mode slower by %.0f %%, staying %.2f, period %d: %d of %d are worse than the start\n",
           100.0 * slows[i % 3], stays[i / 3], periods[i / 3], bad, SEEDS);
    CHECK(100 * bad <= SEEDS, "two modes: %d of %d choices are bad", bad, SEEDS);
  }
}

enum { LOST = -1, NO_TIME = -2, MOST_LATE = 50 }; /* NO_TIME: reported as such, at once */

/* How many launches later a time comes. */
typedef int delay(machine *m, arc_tune_policy policy);

static int lose_every_third(machine *m, arc_tune_policy policy) {
  (void)m;
  return policy.ticket % 3 == 0 ? LOST : 0;
}

static int lose_at_random(machine *m, arc_tune_policy policy) {
  (void)policy;
  return pick(m, 0, 2) == 0 ? LOST : 0;
}

static int come_late(machine *m, arc_tune_policy policy) {
  (void)m, (void)policy;
  return MOST_LATE;
}

static int come_late_at_random(machine *m, arc_tune_policy policy) {
  (void)policy;
  return pick(m, 0, MOST_LATE);
}

static int come_late_or_never(machine *m, arc_tune_policy policy) {
  return policy.ticket % 3 == 0 ? LOST : pick(m, 0, MOST_LATE);
}

static int come_late_or_fail(machine *m, arc_tune_policy policy) {
  (void)m;
  return policy.ticket % 3 == 0 ? NO_TIME : MOST_LATE;
}

/* The program launches every 120 us and does not wait; the device runs one launch at a time. */
static int come_in_order(machine *m, arc_tune_policy policy) {
  double now_us = 120.0 * (double)m->launch;
  m->done_us = fmax(m->done_us, now_us) + true_us(m, policy);
  return (int)((m->done_us - now_us) / 120.0);
}

/* One interval; returns how many launches were of plain atomics. */
static int run_delayed(machine *m, delay *delay_of) {
  static unsigned tickets[INTERVAL];
  static double times_us[INTERVAL];
  static int due[INTERVAL];
  int atomics = 0;
  for (int i = 0; i < INTERVAL; ++i, m->launch += 1) {
    arc_tune_policy policy = arc_tune_next(&tune);
    atomics += policy.path == ARC_PATH_ATOMIC;
    tickets[i] = policy.ticket;
    times_us[i] = measured_us(m, policy);
    int late = delay_of(m, policy);
    due[i] = i + late;
    if (late == NO_TIME) arc_tune_report(&tune, policy.ticket, 0.0);
    for (int j = i < MOST_LATE ? 0 : i - MOST_LATE; j <= i; ++j)
      if (due[j] == i) arc_tune_report(&tune, tickets[j], times_us[j]);
  }
  return atomics;
}

/* Of 100 runs 95 come within 3 % of the best, though times are lost or up to 50 launches late. */
static void test_late_and_lost(double noise) {
  static const struct {
    const char *name;
    delay *delay_of;
  } cases[] = {{"every third is lost", lose_every_third},
               {"one in three is lost", lose_at_random},
               {"50 late", come_late},
               {"0 to 50 late", come_late_at_random},
               {"0 to 50 late, every third is lost", come_late_or_never},
               {"50 late, every third is none", come_late_or_fail}};
  for (int i = 0; i < 6; ++i) {
    int good = 0;
    for (unsigned seed = 1; seed <= SEEDS; ++seed) {
      machine m = begin(&families[FAMILIES + 1], seed, noise);
      run_delayed(&m, cases[i].delay_of);
      double lost = regret(&m, oracle_us(&m, &tune.config));
      good += lost <= 0.03;
      if (lost > 0.03)
        printf("%3.0f %%  %s, seed %u: regret %.1f %%\n", 100.0 * noise, cases[i].name, seed,
               100.0 * lost);
    }
    printf("%3.0f %%  %s: %d of %d are within 3 %%\n", 100.0 * noise, cases[i].name, good, SEEDS);
    CHECK(100 * good >= 95 * SEEDS, "%s, noise %g: %d of %d are within 3 %%", cases[i].name, noise,
          good, SEEDS);
  }
}

/* Plain atomics take 40 launches' time, and no other time comes meanwhile: they are launched once. */
static void test_waits_for_slow_ones(void) {
  int all = 0;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    machine m = begin(&families[3], seed, 0.05);
    arc_tune_config config = arc_tune_config_default();
    config.path[config.paths++].path = ARC_PATH_ATOMIC;
    config.seed = seed;
    arc_tune_init(&tune, &config);
    m.cost_us[ARC_PATH_ATOMIC][ARC_THRESHOLD_AUTO] = 4000.0;
    int atomics = run_delayed(&m, come_in_order);
    CHECK(atomics <= 1, "slow ones, seed %u: plain atomics were launched %d times", seed, atomics);
    all += atomics;
  }
  CHECK(all > 0, "slow ones were never launched");
}

/* Launches of one interval that are more than 10 times slower than the best. */
static int run_ruin(const double *share, unsigned seed) {
  machine m = begin(&families[3], seed, 0.05);
  int ruinous = 0;
  by_groups(&m, ARC_PATH_AUTO, share, 30.0, 33.0, 0.0);
  for (int i = 0; i <= ARC_THRESHOLD_AUTO; ++i)
    m.cost_us[ARC_PATH_ATOMIC][i] = m.cost_us[ARC_PATH_AUTO][ARC_THRESHOLD_NEVER];
  arc_tune_config config = arc_tune_config_default();
  config.path[config.paths++].path = ARC_PATH_ATOMIC;
  config.seed = seed;
  arc_tune_init(&tune, &config);
  for (int i = 0; i < INTERVAL; ++i)
    ruinous += true_us(&m, launch(&m)) > 10.0 * oracle_us(&m, &config);
  return ruinous;
}

/* Plain atomics where half of the groups are full, though any threshold up to 32 is harmless, are
   launched once. Where thresholds already show that plain atomics do not pay, never. */
static void test_ruin(void) {
  double hidden[33] = {0}, shown[33] = {0};
  int all = 0;
  hidden[1] = hidden[32] = shown[9] = shown[32] = 0.5;
  for (unsigned seed = 1; seed <= SEEDS; ++seed) {
    int ruinous = run_ruin(hidden, seed), avoidable = run_ruin(shown, seed);
    CHECK(ruinous <= 1 && avoidable == 0, "seed %u: %d, %d ruinous", seed, ruinous, avoidable);
    all += ruinous;
  }
  CHECK(all > 0, "plain atomics were never launched");
}

int main(void) {
  test_regret_and_cost(0.01, 0.001, 0.05, 0.003);
  test_regret_and_cost(0.05, 0.0025, 0.08, 0.005);
  test_regret_and_cost(0.15, 0.008, 0.15, 0.010);
  test_flat(0.01);
  test_flat(0.05);
  test_flat(0.15);
  test_two_modes();
  test_late_and_lost(0.01);
  test_late_and_lost(0.05);
  test_waits_for_slow_ones();
  test_ruin();
  return check_finish("test_tune_simulated");
}
