/* arc_tune.h - picks path and balancing threshold of a kernel while the program runs.
   SPDX-License-Identifier: Apache-2.0

     static arc_tune tune;
     static arc_tune_cuda timer;
     arc_tune_config config = arc_tune_config_default();
     arc_tune_init(&tune, &config);
     arc_tune_cuda_open(&timer, &tune);
     for (...) {
       arc_tune_policy p = arc_tune_cuda_begin(&timer, stream);
       ... launch on that stream, with p.path and p.threshold ...
       arc_tune_cuda_end(&timer, stream, p);
     }

   CUDA events measure the times, and nothing waits for them. Without CUDA, or if you measure times
   yourself, call p = arc_tune_next(&tune) before a launch and arc_tune_report(&tune, p.ticket,
   microseconds) any time later, in any order, or never. tune.result has choice and gain. To keep a
   choice, store its two ints and start from them.

   Every policy gives the same sums up to rounding, so nothing is replayed: candidates take turns in
   real iterations. If sums in a fixed target must be the same bits in every run, tune only with
   options.exact or ARC_EXACT 1, which gives the same bits under every policy. Otherwise another
   path or threshold rounds differently, and the tuner's choice depends on times.

   Every `interval` launches (2000, the papers' figure) a tuning begins:
     baseline  8 launches of the policy in use, the incumbent.
     race      Candidates take turns in shuffled rounds. They join outward from the incumbent's
               threshold in coarse steps; a direction ends at the first that is clearly slower.
               Then the thresholds next to the fastest join. The median of a round cancels drift,
               an outlier counts little, and candidates slower beyond the noise are dropped.
     final     The fastest against the incumbent, on new times: the times that selected it are
               biased low. It replaces the incumbent only for a gain beyond the noise.
   A tuning ends when it is decided, or has cost `budget` (1 % of an interval), or after
   `launch_limit` launches; between tunings nothing is timed. On simulated kernels with 1 % of noise
   a tuning takes 471 launches and costs 0.23 % of an interval, and the choice is 0.05 % slower than
   the best, on average; with 5 %: 849, 0.40 % and 0.17 %; with 15 %: 955, 0.74 % and 0.62 %.

   C99, C++ or CUDA host code; no libm, no allocation, no globals; all functions static. Use one
   arc_tune a kernel, one thread at a time; any order of calls is safe. Set policy macros before
   this file. Search for >>api, >>state, >>times, >>race, >>rounds, >>loop, >>cuda. */
#ifndef ARC_TUNE_H
#define ARC_TUNE_H

#include <string.h>

#include "arc_policy.cuh"

/* ---- >>api ---------------------------------------------------------------------------------- */

#define ARC_TUNE__FN static inline
#define ARC_TUNE_MAX_PATHS 8
#define ARC_TUNE_MAX_THRESHOLDS 34
#define ARC_TUNE__SLOTS 64 /* launches of a round, at most */

enum { ARC_TUNE_OK = 0, ARC_TUNE_ERROR_CONFIG = 1, ARC_TUNE_ERROR_REPORT, ARC_TUNE_ERROR_CUDA };

/* path: compiled by you; a number above ARC_PATH_AUTO is a kernel of yours that differs in
   something else (pixels a lane, registers). uses_threshold 0: the kernel ignores the threshold or
   leaves it to arc; its policy has ARC_THRESHOLD_AUTO. */
typedef struct arc_tune_path {
  int path, uses_threshold;
} arc_tune_path;

typedef struct arc_tune_config {
  arc_tune_path path[ARC_TUNE_MAX_PATHS];
  int paths;
  int threshold[ARC_TUNE_MAX_THRESHOLDS]; /* 0..33, ascending */
  int thresholds;
  int start_path, start_threshold; /* the policy before the first tuning: one of the list */
  int interval;                    /* launches between beginnings of tunings; 0: tune once */
  int warmup;                      /* launches before the first tuning */
  int launch_limit;                /* of one tuning, from 1 on */
  double budget;                   /* of one tuning, as a share of an interval: 0 < budget <= 1 */
  unsigned seed;                   /* of the order of turns: same seed and times, same choice */
} arc_tune_config;

/* ARC_PATH_AUTO as compiled (the start) and with thresholds 0..32; interval 2000, warmup 8,
   launch_limit 1900, budget 0.01, seed 1. Threshold 33 adds full groups by plain atomics too, which
   may be a hundred times slower: list it only if it may pay. */
ARC_TUNE__FN arc_tune_config arc_tune_config_default(void);

typedef struct arc_tune_policy {
  int path, threshold; /* what to launch */
  unsigned ticket;     /* for its report; 0: no time is wanted */
} arc_tune_policy;

typedef struct arc_tune_result {
  arc_tune_policy choice;   /* in use; before the first tuning the start policy */
  arc_tune_policy replaced; /* what it replaced in the last tuning, or itself */
  double gain;              /* share of that one's time it saves, by the final; or 0 */
  double cost;              /* of the last tuning: launches' worth of time lost */
  int launches, tunings;    /* launches timed in it; tunings ended so far */
} arc_tune_result;

/* Fill with zeros before the first arc_tune_init. You may read its field `result`. */
typedef struct arc_tune arc_tune;

/* Restarts with a copy of config; earlier tickets are void. ARC_TUNE_ERROR_CONFIG: a field is not
   as its comment says; every policy is then ARC_PATH_AUTO with ARC_THRESHOLD_AUTO, untimed. */
ARC_TUNE__FN int arc_tune_init(arc_tune *t, const arc_tune_config *config);

/* The policy of the launch that follows; once a launch. Host cost: nanoseconds between tunings,
   below a microsecond during one. */
ARC_TUNE__FN arc_tune_policy arc_tune_next(arc_tune *t);

/* ARC_TUNE_ERROR_REPORT: either the ticket is not awaited (any more), and nothing happens; or the
   time is not within 0.001 .. 1e12, and the launch counts as not timed. */
ARC_TUNE__FN int arc_tune_report(arc_tune *t, unsigned ticket, double time_us);

/* CUDA events around the launches of one tuner: for nvcc, or if ARC_TUNE_CUDA is defined and
   cuda_runtime_api.h can be found. Nothing here waits for the device. */
#if defined(__CUDACC__) || defined(ARC_TUNE_CUDA)
#include <cuda_runtime_api.h>

typedef struct arc_tune_cuda {
  arc_tune *tune;
  cudaEvent_t event[2 * ARC_TUNE__SLOTS]; /* start and stop of each */
  unsigned ended[ARC_TUNE__SLOTS];        /* ticket of which both are recorded */
} arc_tune_cuda;

/* Creates the events on the current device; the launches must be on it too. ARC_TUNE_ERROR_CUDA:
   nothing is left behind. */
ARC_TUNE__FN int arc_tune_cuda_open(arc_tune_cuda *timer, arc_tune *t);
ARC_TUNE__FN void arc_tune_cuda_close(arc_tune_cuda *timer);

/* Call around the launch, on its stream; pairs on several streams may interleave. While the stream
   is captured into a graph, the tuning pauses and the policy is result.choice. Host cost: between
   tunings that of arc_tune_next, no CUDA call; during one some microseconds. */
ARC_TUNE__FN arc_tune_policy arc_tune_cuda_begin(arc_tune_cuda *timer, cudaStream_t stream);
ARC_TUNE__FN void arc_tune_cuda_end(arc_tune_cuda *timer, cudaStream_t stream, arc_tune_policy p);
#endif

/* ---- >>state -------------------------------------------------------------------------------- */

enum {
  ARC_TUNE__COARSE_ROUNDS = 10, /* after the last candidate has joined */
  ARC_TUNE__FINE_ROUNDS = 60,
  ARC_TUNE__ROUND = 8,     /* launches */
  ARC_TUNE__PATIENCE = 256 /* launches a round waits for its first time, or a candidate's */
};
enum { ARC_TUNE__IDLE = 0, ARC_TUNE__COARSE_RACE, ARC_TUNE__FINE_RACE, ARC_TUNE__FINAL };
enum { ARC_TUNE__UNTRIED = 0, ARC_TUNE__RACING, ARC_TUNE__DROPPED };

typedef struct arc_tune__candidate {
  arc_tune_policy policy;
  int state;
  int times;    /* that ratio is the mean of */
  double ratio; /* time over that of the incumbent in the baseline; 0: unknown */
} arc_tune__candidate;

struct arc_tune {
  int rest; /* launches until the next tuning; -1: there is none */
  arc_tune_result result;
  arc_tune_config config;
  arc_tune__candidate candidate[ARC_TUNE_MAX_PATHS * ARC_TUNE_MAX_THRESHOLDS];
  int first[ARC_TUNE_MAX_PATHS + 1]; /* candidate of each path, by ascending threshold */
  int candidates, incumbent, leader;
  int phase, launches, timed;
  int rounds;                /* of the race, since a candidate joined */
  int step;                  /* from one coarse candidate to the next */
  double level_us;           /* time of a candidate of ratio 1 as of now; 0: no baseline yet */
  double noise;              /* standard deviation of a launch, as a share */
  double spent;              /* launches' worth of time lost to slower candidates */
  int slot[ARC_TUNE__SLOTS]; /* a round: the candidates that are launched, in turn */
  double time_us[ARC_TUNE__SLOTS]; /* 0: not timed; -1: awaited */
  int slots, issued, reported;
  int waited, patience; /* launches since the last slot, and how many there may be */
  unsigned first_ticket, random;
};

/* ---- >>times -------------------------------------------------------------------------------- */

ARC_TUNE__FN double arc_tune__clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

/* By Newton's method from a power of two, for values of 1 and more. */
ARC_TUNE__FN double arc_tune__sqrt(double square) {
  double root = 1.0;
  while (root * root < square) root *= 2.0;
  for (int i = 0; i < 4; ++i) root = 0.5 * (root + square / root);
  return root;
}

ARC_TUNE__FN double arc_tune__sort_to_median(double *values, int count) {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && values[j] < values[j - 1]; --j) {
      double held = values[j];
      values[j] = values[j - 1];
      values[j - 1] = held;
    }
  return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* A time over the ratio of its candidate estimates the level. Drift moves all times of a round
   alike, so the median takes it out. The upper quartile of the squared deviations, 1.6 times the
   variance of normal times, includes a second mode but no outliers. Limits keep a burst of outliers
   from passing for drift or noise. */
ARC_TUNE__FN void arc_tune__update_level(arc_tune *t) {
  double levels_us[ARC_TUNE__SLOTS], reach = 4.0 * t->noise * t->level_us;
  int count = 0;
  for (int i = 0; i < t->issued; ++i) {
    double ratio = t->candidate[t->slot[i]].ratio;
    if (t->time_us[i] > 0.0 && ratio > 0.0) levels_us[count++] = t->time_us[i] / ratio;
  }
  if (count < 3) return;
  double level_us = arc_tune__sort_to_median(levels_us, count), square = t->noise * t->noise;
  if (reach > 0.0) level_us = arc_tune__clamp(level_us, t->level_us - reach, t->level_us + reach);
  for (int i = 0; i < count; ++i) {
    double deviation = levels_us[i] / level_us - 1.0;
    levels_us[i] = deviation * deviation;
  }
  arc_tune__sort_to_median(levels_us, count);
  double latest =
      arc_tune__clamp(levels_us[3 * count / 4] / 1.6, 4e-6, reach > 0.0 ? 9.0 * square : 1.0);
  t->noise = 1e-3 * arc_tune__sqrt(1e6 * (square + (latest - square) * count / (t->timed + count)));
  t->level_us = level_us;
}

/* A running mean which an outlier moves little. Outliers are slow: if the first time was one, the
   second replaces it. */
ARC_TUNE__FN void arc_tune__add_time(const arc_tune *t, arc_tune__candidate *c, double ratio) {
  double reach = 3.0 * t->noise * c->ratio;
  if (c->ratio == 0.0 || (c->times == 1 && ratio < c->ratio - reach)) {
    c->ratio = ratio;
    c->times = 1;
  } else {
    c->times += 1;
    c->ratio += arc_tune__clamp(ratio - c->ratio, -reach, reach) / c->times;
  }
}

/* By how much a is slower than b, as a share. */
ARC_TUNE__FN double arc_tune__gap(const arc_tune *t, int a, int b) {
  return t->candidate[a].ratio > 0.0 ? t->candidate[a].ratio / t->candidate[b].ratio - 1.0 : 1e9;
}

/* The standard error of a ratio, as a share, and what one outlier can do to it. */
ARC_TUNE__FN double arc_tune__error(const arc_tune *t, int i) {
  int times = t->candidate[i].times;
  return times > 0 ? t->noise * (1.0 / arc_tune__sqrt(times) + 1.0 / times) : 1e9;
}

/* A gain below this counts as none: measuring it takes more launches than it saves. */
ARC_TUNE__FN double arc_tune__margin(const arc_tune *t) { return 0.002 + 0.2 * t->noise; }

/* Upper bound of a ratio. The lowest bound leads, so that a few fast times alone do not. */
ARC_TUNE__FN double arc_tune__bound(const arc_tune *t, int i) {
  double ratio = t->candidate[i].ratio;
  return ratio > 0.0 ? ratio * (1.0 + 2.0 * arc_tune__error(t, i)) : 1e9;
}

ARC_TUNE__FN void arc_tune__take_round(arc_tune *t) {
  arc_tune__update_level(t);
  for (int i = 0; i < t->issued && t->level_us > 0.0; ++i) {
    arc_tune__candidate *c = &t->candidate[t->slot[i]];
    if (t->time_us[i] <= 0.0) continue;
    arc_tune__add_time(t, c, t->time_us[i] / t->level_us);
    t->spent += arc_tune__clamp(c->ratio / arc_tune__bound(t, t->leader) - 1.0, 0.0, 1e9);
    t->timed += 1;
  }
}

/* The share used of budget or launches, whichever is more. Tuning once has the budget of 2000. */
ARC_TUNE__FN double arc_tune__used(const arc_tune *t) {
  double budget = t->config.budget * (t->config.interval > 0 ? t->config.interval : 2000);
  double spent = t->spent / budget, launches = (double)t->launches / t->config.launch_limit;
  return spent > launches ? spent : launches;
}

/* ---- >>race --------------------------------------------------------------------------------- */

ARC_TUNE__FN void arc_tune__join(arc_tune *t, int i) {
  if (t->candidate[i].state != ARC_TUNE__UNTRIED) return;
  t->candidate[i].state = ARC_TUNE__RACING;
  t->rounds = 0;
}

/* Follows the steps from a path's entry to the last candidate tried. The next one joins unless that
   one is clearly slower than the leader; while time falls, unless it takes twice as long.
   Returns 1 if the last step is good and there is no next one. */
ARC_TUNE__FN int arc_tune__probe_outward(arc_tune *t, int entry, int step, int low, int high) {
  int i = entry, before = entry, next = entry + step;
  for (; next >= low && next <= high; before = i, i = next, next += step)
    if (t->candidate[next].state == ARC_TUNE__UNTRIED) break;
  double most = arc_tune__gap(t, i, before) > 0.0 ? 0.25 + 2.0 * t->noise : 1.0;
  int goes_on = arc_tune__gap(t, i, t->leader) < most, at_end = next < low || next > high;
  if (goes_on && !at_end) arc_tune__join(t, next);
  return goes_on && at_end;
}

/* A path is entered at the incumbent's threshold; 8 stands for the one arc chooses. Plain atomics
   may be a hundred times slower: they join only if another path is good up to its highest step. */
ARC_TUNE__FN void arc_tune__probe_paths(arc_tune *t) {
  int start = t->candidate[t->incumbent].policy.threshold, atomic = -1;
  int with_thresholds = 0, good_to_the_end = 0;
  if (start == ARC_THRESHOLD_AUTO) start = 8;
  for (int p = 0; p < t->config.paths; ++p) {
    int low = t->first[p], high = t->first[p + 1] - 1, entry = low;
    while (entry < high && t->candidate[entry].policy.threshold < start) entry += 1;
    with_thresholds |= high > low;
    if (t->config.path[p].path == ARC_PATH_ATOMIC) {
      atomic = low;
    } else if (t->candidate[entry].state == ARC_TUNE__UNTRIED) {
      arc_tune__join(t, entry);
    } else if (high > low) {
      arc_tune__probe_outward(t, entry, -t->step, low, high);
      good_to_the_end |= arc_tune__probe_outward(t, entry, t->step, low, high);
    }
  }
  if (atomic >= 0 && (good_to_the_end || !with_thresholds)) arc_tune__join(t, atomic);
}

/* The neighbours of a path's fastest join if it is near enough to the leader that a valley between
   two steps may be faster, but not where time doubles. */
ARC_TUNE__FN void arc_tune__refine(arc_tune *t) {
  const arc_tune__candidate *c = t->candidate;
  t->phase = ARC_TUNE__FINE_RACE;
  for (int p = 0; p < t->config.paths; ++p) {
    int low = t->first[p], high = t->first[p + 1] - 1, pivot = low;
    for (int i = low; i <= high; ++i)
      if (arc_tune__bound(t, i) < arc_tune__bound(t, pivot)) pivot = i;
    int below = pivot - t->step < low ? low : pivot - t->step;
    int above = pivot + t->step > high ? high : pivot + t->step;
    for (int i = below; i <= above && arc_tune__gap(t, pivot, t->leader) < 0.25; ++i)
      if (c[i < pivot ? below : above].ratio < 2.0 * c[pivot].ratio) arc_tune__join(t, i);
  }
}

/* Drops what cannot be faster than the leader by more than the margin. A single time may be an
   outlier, but not one six times as long. Returns how many are left. */
ARC_TUNE__FN int arc_tune__drop_losers(arc_tune *t) {
  int racers = 0;
  for (int i = 0; i < t->candidates; ++i)
    if (t->candidate[i].state == ARC_TUNE__RACING && t->candidate[i].times > 1 &&
        arc_tune__bound(t, i) < arc_tune__bound(t, t->leader))
      t->leader = i;
  for (int i = 0; i < t->candidates; ++i) {
    arc_tune__candidate *c = &t->candidate[i];
    double gap = arc_tune__gap(t, i, t->leader);
    double error = arc_tune__error(t, i) + arc_tune__error(t, t->leader);
    int loses = gap > 5.0 || (c->times > 1 && gap + arc_tune__margin(t) > 1.5 * error);
    if (c->times > 0 && i != t->leader && loses) c->state = ARC_TUNE__DROPPED;
    racers += c->state == ARC_TUNE__RACING;
  }
  return racers;
}

/* The next tuning is at least a quarter of an interval away. */
ARC_TUNE__FN void arc_tune__finish(arc_tune *t, int choice) {
  int interval = t->config.interval, rest = interval - t->launches, least = interval / 4 + 1;
  double gain = 1.0 - t->candidate[choice].ratio / t->candidate[t->incumbent].ratio;
  arc_tune_result result = {t->candidate[choice].policy, t->result.choice, gain, t->spent, t->timed,
                            t->result.tunings + 1};
  t->result = result;
  t->rest = interval == 0 ? -1 : rest > least ? rest : least;
  t->incumbent = choice;
  t->phase = ARC_TUNE__IDLE;
}

/* The last quarter of budget and launches is for the final. */
ARC_TUNE__FN void arc_tune__after_race_round(arc_tune *t) {
  int may_go_on = arc_tune__used(t) < 0.75, racers = arc_tune__drop_losers(t);
  int is_coarse = t->phase == ARC_TUNE__COARSE_RACE, may_grow = may_go_on && is_coarse;
  int most = is_coarse ? ARC_TUNE__COARSE_ROUNDS : ARC_TUNE__FINE_ROUNDS;
  t->rounds += 1;
  if (may_grow) arc_tune__probe_paths(t);
  if (may_go_on && racers > 1 && t->rounds < most) return;
  if (may_grow && t->rounds > 0) arc_tune__refine(t);
  if (t->rounds == 0) return;
  t->phase = ARC_TUNE__FINAL;
  for (int i = 0; i < t->candidates; ++i) t->candidate[i].state = ARC_TUNE__DROPPED;
  t->candidate[t->leader].state = t->candidate[t->incumbent].state = ARC_TUNE__RACING;
  t->candidate[t->leader].times = t->candidate[t->incumbent].times = 0;
  if (t->leader == t->incumbent) arc_tune__finish(t, t->incumbent);
}

/* Three errors, since the test is repeated after every round. */
ARC_TUNE__FN void arc_tune__after_final_round(arc_tune *t) {
  double gain = arc_tune__gap(t, t->incumbent, t->leader);
  double error = arc_tune__error(t, t->incumbent) + arc_tune__error(t, t->leader);
  if (gain > 3.0 * error)
    arc_tune__finish(t, t->leader);
  else if (gain + 1.5 * error < arc_tune__margin(t))
    arc_tune__finish(t, t->incumbent);
}

/* ---- >>rounds ------------------------------------------------------------------------------- */

/* Launches of a candidate, at random places of the round. */
ARC_TUNE__FN void arc_tune__put(arc_tune *t, int candidate, int turns) {
  for (; turns > 0 && t->slots < ARC_TUNE__SLOTS; --turns) {
    t->random = t->random * 1664525u + 1013904223u;
    int place = (int)((t->random >> 8) % (unsigned)(t->slots + 1));
    t->slot[t->slots++] = t->slot[place];
    t->slot[place] = candidate;
  }
}

/* About 8 launches of candidates whose ratio is known, one of each new one, and of what looked slow
   the first time: that takes most of the budget. After a round that waited, up to 24: the longer a
   round, the smaller the share of its wait. */
ARC_TUNE__FN void arc_tune__plan_round(arc_tune *t) {
  const arc_tune__candidate *c = t->candidate;
  int known = 0, length = ARC_TUNE__ROUND + t->waited;
  if (length > 3 * ARC_TUNE__ROUND) length = 3 * ARC_TUNE__ROUND;
  t->first_ticket += (unsigned)t->slots;
  t->slots = t->issued = t->reported = t->waited = 0;
  t->patience = ARC_TUNE__PATIENCE;
  for (int i = 0; i < t->candidates; ++i)
    known += c[i].state == ARC_TUNE__RACING && c[i].ratio > 0.0;
  for (int i = 0; i < t->candidates; ++i) {
    int looks_slow = c[i].times < 2 && arc_tune__gap(t, i, t->leader) > 0.3;
    if (c[i].state == ARC_TUNE__RACING)
      arc_tune__put(t, i, !looks_slow && known < length ? length / known : 1);
  }
}

/* All times of the round are in, or taken for lost. */
ARC_TUNE__FN void arc_tune__end_round(arc_tune *t) {
  arc_tune__take_round(t);
  if (t->phase == ARC_TUNE__FINAL)
    arc_tune__after_final_round(t);
  else if (t->level_us > 0.0)
    arc_tune__after_race_round(t);
  if (t->phase != ARC_TUNE__IDLE && arc_tune__used(t) >= 1.0) arc_tune__finish(t, t->incumbent);
  if (t->phase != ARC_TUNE__IDLE) arc_tune__plan_round(t);
}

ARC_TUNE__FN void arc_tune__begin(arc_tune *t) {
  for (int i = 0; i < t->candidates; ++i) {
    t->candidate[i].state = i == t->incumbent ? ARC_TUNE__RACING : ARC_TUNE__UNTRIED;
    t->candidate[i].ratio = i == t->incumbent ? 1.0 : 0.0;
    t->candidate[i].times = 0;
  }
  t->leader = t->incumbent;
  t->phase = ARC_TUNE__COARSE_RACE;
  t->launches = t->timed = t->rounds = t->waited = 0;
  t->level_us = t->noise = t->spent = 0.0;
  arc_tune__plan_round(t);
}

/* ---- >>loop --------------------------------------------------------------------------------- */

ARC_TUNE__FN arc_tune_config arc_tune_config_default(void) {
  arc_tune_config config;
  memset(&config, 0, sizeof config);
  config.path[0].path = config.path[1].path = config.start_path = ARC_PATH_AUTO;
  config.path[1].uses_threshold = 1;
  config.paths = 2;
  config.thresholds = ARC_THRESHOLD_NEVER;
  for (int i = 0; i < config.thresholds; ++i) config.threshold[i] = i;
  config.start_threshold = ARC_THRESHOLD_AUTO;
  config.interval = 2000;
  config.warmup = 8;
  config.launch_limit = 1900;
  config.budget = 0.01;
  config.seed = 1;
  return config;
}

ARC_TUNE__FN int arc_tune__is_legal(const arc_tune_config *c) {
  int legal = c->paths >= 1 && c->paths <= ARC_TUNE_MAX_PATHS && c->thresholds >= 0 &&
              c->thresholds <= ARC_TUNE_MAX_THRESHOLDS && c->interval >= 0 && c->warmup >= 0 &&
              c->launch_limit >= 1 && c->budget > 0.0 && c->budget <= 1.0;
  for (int p = 0; legal && p < c->paths; ++p)
    legal = c->path[p].path >= ARC_PATH_ATOMIC && (c->thresholds > 0 || !c->path[p].uses_threshold);
  for (int i = 0; legal && i < c->thresholds; ++i)
    legal = c->threshold[i] > (i > 0 ? c->threshold[i - 1] : -1) &&
            c->threshold[i] <= ARC_THRESHOLD_NEVER;
  return legal;
}

ARC_TUNE__FN void arc_tune__add_candidates(arc_tune *t, int path) {
  const arc_tune_config *c = &t->config;
  int uses = c->path[path].uses_threshold;
  for (int i = 0; i < (uses ? c->thresholds : 1); ++i) {
    arc_tune_policy policy = {c->path[path].path, uses ? c->threshold[i] : ARC_THRESHOLD_AUTO, 0};
    if (policy.path == c->start_path && policy.threshold == c->start_threshold)
      t->incumbent = t->candidates;
    t->candidate[t->candidates++].policy = policy;
  }
  t->first[path + 1] = t->candidates;
}

ARC_TUNE__FN int arc_tune_init(arc_tune *t, const arc_tune_config *config) {
  arc_tune_policy start = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  arc_tune_config copy = *config; /* which may lie in *t */
  unsigned first_ticket = t->first_ticket + ARC_TUNE__SLOTS;
  int paths = arc_tune__is_legal(config) ? config->paths : 0;
  memset(t, 0, sizeof *t);
  t->config = copy;
  t->first_ticket = first_ticket;
  t->random = copy.seed * 2654435769u;
  t->step = 1 + copy.thresholds / (copy.paths > 3 ? 6 : 12);
  t->incumbent = -1;
  for (int p = 0; p < paths; ++p) arc_tune__add_candidates(t, p);
  if (t->incumbent < 0) t->candidates = 0;
  if (t->incumbent >= 0) start = t->candidate[t->incumbent].policy;
  t->result.choice = t->result.replaced = start;
  t->rest = t->candidates > 0 ? copy.warmup : -1;
  return t->candidates > 0 ? ARC_TUNE_OK : ARC_TUNE_ERROR_CONFIG;
}

/* Missing times count as lost after 8 launches without a time. But a new candidate may take as long
   as 100 others: its time is lost only if a later launch is timed. */
ARC_TUNE__FN int arc_tune__is_over(const arc_tune *t) {
  int patience = t->patience;
  for (int i = t->issued; i-- > 0 && t->time_us[i] < 0.0;)
    if (t->candidate[t->slot[i]].ratio == 0.0) patience = ARC_TUNE__PATIENCE;
  return t->waited > patience || t->launches >= t->config.launch_limit;
}

/* While a round waits for its times, the leader is launched, untimed. */
ARC_TUNE__FN arc_tune_policy arc_tune__next_of_round(arc_tune *t) {
  arc_tune_policy policy = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  if (t->candidates == 0) return policy;
  if (t->phase == ARC_TUNE__IDLE) arc_tune__begin(t);
  t->waited += t->issued == t->slots;
  if (arc_tune__is_over(t)) arc_tune__end_round(t);
  if (t->phase == ARC_TUNE__IDLE) return t->result.choice;
  t->launches += 1;
  if (t->issued == t->slots) return t->candidate[t->leader].policy;
  policy = t->candidate[t->slot[t->issued]].policy;
  policy.ticket = t->first_ticket + (unsigned)t->issued;
  t->time_us[t->issued++] = -1.0;
  return policy;
}

ARC_TUNE__FN arc_tune_policy arc_tune_next(arc_tune *t) {
  if (t->rest == 0) return arc_tune__next_of_round(t);
  if (t->rest > 0) t->rest -= 1;
  return t->result.choice;
}

ARC_TUNE__FN int arc_tune_report(arc_tune *t, unsigned ticket, double time_us) {
  unsigned i = ticket - t->first_ticket;
  int is_time = time_us >= 0.001 && time_us <= 1e12; /* a NaN is none */
  if (t->phase == ARC_TUNE__IDLE || i >= (unsigned)t->issued || t->time_us[i] >= 0.0)
    return ARC_TUNE_ERROR_REPORT;
  t->time_us[i] = is_time ? time_us : 0.0;
  if (is_time) t->patience = t->waited + ARC_TUNE__ROUND;
  if (++t->reported == t->slots) arc_tune__end_round(t);
  return is_time ? ARC_TUNE_OK : ARC_TUNE_ERROR_REPORT;
}

/* ---- >>cuda --------------------------------------------------------------------------------- */

#if defined(__CUDACC__) || defined(ARC_TUNE_CUDA)
/* Clears the error of the tuner's own call: there was none before it. */
ARC_TUNE__FN int arc_tune__cuda_ok(cudaError_t error) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess;
}

ARC_TUNE__FN int arc_tune_cuda_open(arc_tune_cuda *timer, arc_tune *t) {
  int good = 1;
  memset(timer, 0, sizeof *timer);
  timer->tune = t;
  for (int i = 0; good && i < 2 * ARC_TUNE__SLOTS; ++i)
    good = arc_tune__cuda_ok(cudaEventCreate(&timer->event[i]));
  if (!good) arc_tune_cuda_close(timer);
  return good ? ARC_TUNE_OK : ARC_TUNE_ERROR_CUDA;
}

ARC_TUNE__FN void arc_tune_cuda_close(arc_tune_cuda *timer) {
  for (int i = 0; i < 2 * ARC_TUNE__SLOTS; ++i)
    if (timer->event[i] != NULL) (void)cudaEventDestroy(timer->event[i]);
  memset(timer, 0, sizeof *timer);
}

/* Not while the stream is captured, or its state is unknown because another stream is; nor after an
   error of the program, which the tuner's calls would hide. */
ARC_TUNE__FN int arc_tune__may_record(cudaStream_t stream) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaPeekAtLastError() == cudaSuccess &&
         arc_tune__cuda_ok(cudaStreamIsCapturing(stream, &status)) &&
         status == cudaStreamCaptureStatusNone;
}

ARC_TUNE__FN void arc_tune__poll(arc_tune_cuda *timer) {
  arc_tune *t = timer->tune;
  for (int k = 0; k < t->issued; ++k) {
    unsigned i = (t->first_ticket + (unsigned)k) % ARC_TUNE__SLOTS;
    float ms = 0.0f;
    if (timer->ended[i] != t->first_ticket + (unsigned)k || t->time_us[k] >= 0.0) continue;
    cudaError_t status = cudaEventQuery(timer->event[2 * i + 1]);
    if (status == cudaSuccess)
      status = cudaEventElapsedTime(&ms, timer->event[2 * i], timer->event[2 * i + 1]);
    if (arc_tune__cuda_ok(status)) arc_tune_report(t, timer->ended[i], 1000.0 * ms);
  }
}

/* The capture mode is relaxed so that a query does not end the capture of another stream. */
ARC_TUNE__FN arc_tune_policy arc_tune_cuda_begin(arc_tune_cuda *timer, cudaStream_t stream) {
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  arc_tune *t = timer->tune;
  if (t->rest != 0) return arc_tune_next(t);
  if (!arc_tune__may_record(stream)) return t->result.choice;
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  arc_tune__poll(timer);
  arc_tune_policy p = arc_tune_next(t);
  unsigned i = p.ticket % ARC_TUNE__SLOTS;
  if (p.ticket != 0 && !arc_tune__cuda_ok(cudaEventRecord(timer->event[2 * i], stream)))
    arc_tune_report(t, p.ticket, 0.0);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  return p;
}

ARC_TUNE__FN void arc_tune_cuda_end(arc_tune_cuda *timer, cudaStream_t stream, arc_tune_policy p) {
  unsigned i = p.ticket % ARC_TUNE__SLOTS, slot = p.ticket - timer->tune->first_ticket;
  if (slot >= (unsigned)timer->tune->issued || timer->ended[i] == p.ticket) return;
  if (arc_tune__may_record(stream) &&
      arc_tune__cuda_ok(cudaEventRecord(timer->event[2 * i + 1], stream)))
    timer->ended[i] = p.ticket;
  else
    arc_tune_report(timer->tune, p.ticket, 0.0);
}
#endif

#endif /* ARC_TUNE_H */
