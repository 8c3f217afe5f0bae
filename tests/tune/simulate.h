/* simulate.h - kernels that exist only as cost curves, for the tests of the tuner.
   SPDX-License-Identifier: Apache-2.0

   A machine holds the true time of every policy and makes noisy ones of it: multiplicative noise,
   outliers, slow drift. The families imitate what was measured on real kernels: cost rises or falls
   with the threshold as the groups below it go to plain atomics. */
#ifndef ARC_TESTS_SIMULATE_H
#define ARC_TESTS_SIMULATE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arc_tune.h"

typedef struct machine {
  double cost_us[ARC_PATH_AUTO + 1][ARC_THRESHOLD_AUTO + 1]; /* the truth */
  double noise, outliers, drift;
  double wander; /* of the drift, a random walk */
  unsigned long long random;
  long launch;
} machine;

static inline double uniform(machine *m) {
  unsigned long long z = m->random += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double between(machine *m, double low, double high) {
  return low + (high - low) * uniform(m);
}

static inline int pick(machine *m, int low, int high) {
  return low + (int)(uniform(m) * (high - low + 1));
}

static inline double normal(machine *m) {
  return sqrt(-2.0 * log(uniform(m))) * cos(6.283185307179586 * uniform(m));
}

static inline double true_us(const machine *m, arc_tune_policy p) {
  return m->cost_us[p.path][p.threshold];
}

/* What a clock would read for one launch. */
static inline double measured_us(machine *m, arc_tune_policy p) {
  double time = true_us(m, p) * exp(m->noise * normal(m));
  m->launch += 1;
  m->wander += 0.05 * m->drift * normal(m) - 0.005 * m->wander;
  time *= 1.0 + m->drift * sin(6.283185307179586 * (double)m->launch / 1500.0) + m->wander;
  if (uniform(m) < m->outliers) time *= between(m, 1.5, 5.0);
  return time;
}

static inline void machine_init(machine *m, unsigned long long seed) {
  memset(m, 0, sizeof *m);
  m->random = seed * 0x2545f4914f6cdd1dull + 99;
  for (int i = 0; i < 4; ++i) (void)uniform(m);
}

/* ---- families ------------------------------------------------------------------------------- */

/* The policy that stands for the choice as compiled costs what threshold 8 does. */
static inline void as_compiled(machine *m, int path) {
  m->cost_us[path][ARC_THRESHOLD_AUTO] = m->cost_us[path][8];
}

/* share[g]: how many updates come in groups of g lanes; plain: of a lane; reduced: of a group. The
   kernel itself is 1. */
static inline void by_groups(machine *m, int path, const double *share, double plain,
                             double reduced, double step) {
  for (int threshold = 0; threshold <= 33; ++threshold) {
    double cost = 1.0;
    for (int g = 1; g <= 32; ++g)
      cost += share[g] * (g >= threshold ? reduced + step * g : plain * g);
    m->cost_us[path][threshold] = 100.0 * cost;
  }
  as_compiled(m, path);
}

/* A third to two thirds of the groups are full, a part is small, the rest anything between. */
static inline void tile_renderer(machine *m) {
  double share[33] = {0}, full = between(m, 0.0, 0.65), small = between(m, 0.05, 0.3);
  for (int g = 1; g <= 31; ++g) share[g] = (1.0 - full - small) / 31.0;
  for (int g = 1; g <= 4; ++g) share[g] += small / 4.0;
  share[32] = full;
  double reduced = between(m, 0.1, 0.8), crossover = between(m, 4.0, 16.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}

/* Many small groups, sizes falling geometrically. */
static inline void keyed(machine *m) {
  double share[33] = {0}, keep = between(m, 0.5, 0.9), sum = 0.0;
  for (int g = 1; g <= 32; ++g) sum += share[g] = pow(keep, g);
  for (int g = 1; g <= 32; ++g) share[g] *= between(m, 0.7, 1.3) / sum;
  double reduced = between(m, 0.3, 1.5), crossover = between(m, 2.0, 8.0);
  by_groups(m, ARC_PATH_AUTO, share, reduced / crossover, reduced, 0.0);
}

/* Groups of one lane: reducing them is a waste of a tenth to twice the kernel. */
static inline void no_locality(machine *m) {
  double share[33] = {0};
  share[1] = 0.985;
  share[2] = 0.015;
  double plain = between(m, 0.5, 1.0);
  by_groups(m, ARC_PATH_AUTO, share, plain, plain + between(m, 0.1, 2.0), 0.0);
}

static inline void flat(machine *m) {
  for (int threshold = 0; threshold <= ARC_THRESHOLD_AUTO; ++threshold)
    m->cost_us[ARC_PATH_AUTO][threshold] = 100.0;
}

/* Two valleys with a hill of some percent between them; either may be the deeper one. */
static inline void two_minima(machine *m) {
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
static inline void ties(machine *m) {
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
static inline void cliff(machine *m) {
  double share[33] = {0}, reduced = between(m, 0.1, 0.5);
  int size = pick(m, 8, 32);
  share[size] = 1.0;
  double jump = between(m, 2.0, 12.0); /* of the whole kernel */
  by_groups(m, ARC_PATH_AUTO, share, (jump * (1.0 + reduced) - 1.0) / size, reduced, 0.0);
}

/* Four paths over one distribution of groups. */
static inline void several_paths(machine *m) {
  double share[33] = {0}, full = between(m, 0.2, 0.6);
  for (int g = 1; g <= 31; ++g) share[g] = (1.0 - full) / 31.0;
  share[32] = full;
  double plain = between(m, 0.02, 0.06);
  by_groups(m, ARC_PATH_AUTO, share, plain, between(m, 0.2, 0.4), 0.0);
  by_groups(m, ARC_PATH_BUTTERFLY, share, plain, between(m, 0.3, 1.0), 0.0);
  by_groups(m, ARC_PATH_TREE, share, plain, between(m, 0.2, 0.6), 0.0);
  by_groups(m, ARC_PATH_SERIALIZED, share, plain, 0.1, 0.6 * plain);
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
                                  {"several paths", several_paths, 1}};
enum { FAMILIES = sizeof families / sizeof *families };

static inline arc_tune_config config_of(const family *f, unsigned seed) {
  static const int paths[] = {ARC_PATH_AUTO, ARC_PATH_BUTTERFLY, ARC_PATH_TREE,
                              ARC_PATH_SERIALIZED};
  arc_tune_config config = arc_tune_config_default();
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
static inline double oracle_us(const machine *m, const arc_tune_config *config) {
  double best = 1e300;
  for (int i = 0; i < config->paths; ++i) {
    const double *cost = m->cost_us[config->path[i].path];
    int uses = config->path[i].uses_threshold;
    for (int j = 0; j < (uses ? config->thresholds : 1); ++j)
      best = fmin(best, cost[uses ? config->threshold[j] : ARC_THRESHOLD_AUTO]);
  }
  return best;
}

#endif
