/* arc_tune.h - picks path and balancing threshold of a kernel while the program runs.
   SPDX-License-Identifier: Apache-2.0

       static arc_tune tune;                                   // all state is here
       arc_tune_config config = arc_tune_config_default();
       arc_tune_init(&tune, &config);
       for (...) {                                             // every iteration
         arc_tune_policy policy;
         arc_tune_next(&tune, &policy);                        // what to launch this time
         ... launch the kernel with policy.path and policy.threshold, time it ...
         arc_tune_report(&tune, microseconds);                 // any time later, or never
       }

   with the CUDA runtime, where events do the timing and nothing ever waits for them
       arc_tune_cuda timer;
       arc_tune_cuda_open(&timer, &tune);                      // once
         arc_tune_cuda_begin(&timer, stream, &policy);
         ... launch ...
         arc_tune_cuda_end(&timer, stream);
       arc_tune_cuda_close(&timer);

   Every policy gives the same sums up to rounding, so nothing is replayed: candidates take turns in
   real iterations. Every `interval` launches (2000, the papers' figure) a tuning begins:
       baseline   a few launches of the policy in use, the incumbent
       probes     single launches of other candidates, stepping outward from the incumbent over
                  coarse thresholds; a direction ends at the first clearly bad one
       heats      those not clearly bad take turns in shuffled rounds; the median of a round cancels
                  drift, outliers are left out; who cannot be faster than the leader by more than
                  the noise allows leaves; then the thresholds between the leader and its neighbours
       final      the best few and the incumbent, until the difference is settled
   The incumbent is replaced only for a gain beyond the noise. A tuning ends when it is decided,
   when it has cost `budget` (1 % of an interval), or after `launch_limit` launches. Between tunings
   arc_tune_next counts down and nothing is timed. With 1 % of noise a tuning takes some 500
   launches and costs 0.1 to 0.5 % of an interval.

   Policy macros (ARC_PATH, ...) are set before arc_tune.h is included, as before arc.cuh.

   Contract. C99, C++ or CUDA host code; standard C headers only, no libm; all functions static; no
   allocation, no globals, no file or environment access but in the functions whose names say so.
   One arc_tune a kernel; one thread at a time may use it. Any order of calls is safe, lost, late
   and repeated reports included, and always yields a policy of the configured list. Functions
   return ARC_TUNE_OK (0) or an ARC_TUNE_ERROR_...; arc_tune_error_text() says what it means. No
   error harms the tuner: the program may ignore all of them.

   Contents (search for the mark)
       >>api          configuration, the loop, results, files, environment, CUDA
       >>candidates   >>rounds   >>probes   >>heats   >>decision     the tuning
       >>loop         next, report and their like
       >>explain      >>file     >>environment    >>cuda */
#ifndef ARC_TUNE_H
#define ARC_TUNE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arc_policy.cuh"

#define ARC_TUNE__FN static inline

/* ------------------------------------------------------------------------------------------ */
/* >>api                                                                                        */

#define ARC_TUNE_MAX_PATHS 8
#define ARC_TUNE_MAX_THRESHOLDS 34

enum {
  ARC_TUNE_OK = 0,
  ARC_TUNE_ERROR_ARGUMENT = 1,
  ARC_TUNE_ERROR_CONFIG,
  ARC_TUNE_ERROR_STATE,
  ARC_TUNE_ERROR_TIME,
  ARC_TUNE_ERROR_TICKET,
  ARC_TUNE_ERROR_UNTUNED,
  ARC_TUNE_ERROR_SIZE,
  ARC_TUNE_ERROR_FILE,
  ARC_TUNE_ERROR_DAMAGED,
  ARC_TUNE_ERROR_FOREIGN,
  ARC_TUNE_ERROR_TEXT,
  ARC_TUNE_ERROR_CUDA,
  ARC_TUNE_ERRORS /* one more than the last */
};

/* A sentence without a line break, for any int. */
ARC_TUNE__FN const char *arc_tune_error_text(int error);

/* A path the caller has compiled, or a kernel of the caller's own that differs in something else
   (pixels a lane, registers): a number above ARC_PATH_AUTO, up to ARC_TUNE_MAX_PATH, printed and
   saved as path7, path8, ... uses_threshold 0: the kernel ignores the threshold or leaves it to
   arc; the policy then says ARC_THRESHOLD_AUTO. A path may stand in the list twice, with and
   without. */
#define ARC_TUNE_MAX_PATH 255
typedef struct arc_tune_path {
  int path; /* ARC_PATH_ATOMIC .. ARC_PATH_AUTO, or above */
  int uses_threshold;
} arc_tune_path;

typedef struct arc_tune_config {
  arc_tune_path path[ARC_TUNE_MAX_PATHS];
  int paths;
  int threshold[ARC_TUNE_MAX_THRESHOLDS]; /* 0..33, no value twice, any order */
  int thresholds;
  int start_path;      /* the policy in use before the first tuning: one of the list; */
  int start_threshold; /* ARC_THRESHOLD_AUTO for a path without threshold */
  int interval;        /* launches from the start of one tuning to the next; 0: tune once */
  int warmup;          /* launches before the first tuning */
  int launch_limit;    /* of one tuning */
  int patience;        /* launches after which a time that was not reported is given up */
  double budget;       /* what a tuning may cost, as a share of the time of an interval */
  unsigned seed;       /* of the order of turns: same seed and times, same choice */
} arc_tune_config;

/* ARC_PATH_AUTO as compiled (the start) and with thresholds 0..33; interval 2000, warmup 8,
   launch_limit 1900, patience 256, budget 0.01, seed 1. */
ARC_TUNE__FN arc_tune_config arc_tune_config_default(void);

/* What to launch. ticket: 0 when no time is wanted for this launch. */
typedef struct arc_tune_policy {
  int path;
  int threshold;
  unsigned ticket;
} arc_tune_policy;

typedef struct arc_tune arc_tune;

/* Starts anew with a copy of config. ARC_TUNE_ERROR_CONFIG: some field is outside of what is
   written beside it; the tuner then holds the default configuration. Cost: microseconds. */
ARC_TUNE__FN int arc_tune_init(arc_tune *t, const arc_tune_config *config);

/* The policy of the launch that follows; once a launch. Cost: nanoseconds between tunings, below a
   microsecond during one. Without an initialised tuner: ARC_PATH_AUTO and ARC_THRESHOLD_AUTO. */
ARC_TUNE__FN int arc_tune_next(arc_tune *t, arc_tune_policy *policy);

/* The time of the launch of the latest arc_tune_next; ignored where none is wanted. */
ARC_TUNE__FN int arc_tune_report(arc_tune *t, double time_us);

/* The time of the launch with this ticket: for times that come late, in any order, or not at all.
   ARC_TUNE_ERROR_TIME: not within 0.001 .. 1e12; that launch counts as not timed.
   ARC_TUNE_ERROR_TICKET: reported already, given up, or of an earlier tuning; nothing happens. */
ARC_TUNE__FN int arc_tune_report_ticket(arc_tune *t, unsigned ticket, double time_us);

/* The choice so far: the start policy until the first tuning has ended. */
ARC_TUNE__FN int arc_tune_best(const arc_tune *t, arc_tune_policy *policy);

/* 1 while a tuning is under way (times are wanted), else 0. */
ARC_TUNE__FN int arc_tune_is_tuning(const arc_tune *t);

/* Begins a tuning with the next launch: the caller knows that the workload has changed. */
ARC_TUNE__FN int arc_tune_retune(arc_tune *t);

/* Frozen (1): the choice stays, nothing is timed. Thawed (0): goes on where it stood; a tuning that
   was interrupted begins again. */
ARC_TUNE__FN int arc_tune_freeze(arc_tune *t, int frozen);

/* An account of the last tuning for people, ending in '\0'. size in bytes; 8192 is enough.
   ARC_TUNE_ERROR_SIZE: the text was cut. */
ARC_TUNE__FN int arc_tune_explain(const arc_tune *t, char *buffer, size_t size);

/* What a saved choice is good for. Strings without line breaks, up to 127 characters; the version
   of arc belongs to the key by itself. */
typedef struct arc_tune_key {
  const char *device;
  const char *driver;
  const char *kernel;
  int width;
} arc_tune_key;

/* Writes the choice to path + ".tmp" and renames it to path, so that the file is whole or old.
   ARC_TUNE_ERROR_UNTUNED: no tuning has ended yet; nothing is written. ARC_TUNE_ERROR_FILE: path is
   as it was. */
ARC_TUNE__FN int arc_tune_save(const arc_tune *t, const char *path, const arc_tune_key *key);

/* Takes over a saved choice; the next tuning is an interval away. On any error the tuner is as it
   was and simply tunes: ARC_TUNE_ERROR_FILE (none, or unreadable), _DAMAGED, _FOREIGN (another
   device, driver, kernel, width or version of arc, or a policy that is not in the list). */
ARC_TUNE__FN int arc_tune_load(arc_tune *t, const char *path, const arc_tune_key *key);

/* Reads the environment variable `name`, when the caller wants it to count. Unset or empty:
   nothing. "freeze": freezes the choice. "transposed:12", "auto", "atomic": that policy, frozen; it
   must be in the list. Anything else is ARC_TUNE_ERROR_TEXT and changes nothing. */
ARC_TUNE__FN int arc_tune_from_environment(arc_tune *t, const char *name);

/* The timer of one tuner by CUDA events: where nvcc compiles, or where ARC_TUNE_CUDA is defined and
   cuda_runtime_api.h can be found. Nothing here waits for the device. */
#if defined(__CUDACC__) || defined(ARC_TUNE_CUDA)
#include <cuda_runtime_api.h>

#define ARC_TUNE_CUDA_RING 32 /* launches under way and timed; more run untimed */

typedef struct arc_tune_cuda_slot {
  cudaEvent_t start, stop;
  cudaStream_t stream;
  unsigned ticket;
  int events; /* created */
  int state;
} arc_tune_cuda_slot;

typedef struct arc_tune_cuda {
  arc_tune *tune;
  arc_tune_cuda_slot slot[ARC_TUNE_CUDA_RING];
  int next, open, failed;
} arc_tune_cuda;

/* Creates the events on the current device; the launches must be on it too. One timer a tuner; t
   must outlive it. ARC_TUNE_ERROR_CUDA: nothing is left behind. */
ARC_TUNE__FN int arc_tune_cuda_open(arc_tune_cuda *timer, arc_tune *t);
ARC_TUNE__FN int arc_tune_cuda_close(arc_tune_cuda *timer);

/* Around the launch, on its stream; in place of arc_tune_next and arc_tune_report. Pairs of several
   streams may interleave. While the stream is captured into a graph the tuning stands still and the
   policy is the best so far. ARC_TUNE_ERROR_CUDA: that launch is not timed; the policy is legal all
   the same. Cost: between tunings that of arc_tune_next, no CUDA call; during one two event records
   and a few queries, some microseconds of the host. */
ARC_TUNE__FN int arc_tune_cuda_begin(arc_tune_cuda *timer, cudaStream_t stream,
                                     arc_tune_policy *policy);
ARC_TUNE__FN int arc_tune_cuda_end(arc_tune_cuda *timer, cudaStream_t stream);
#endif

/* ------------------------------------------------------------------------------------------ */
/* >>candidates                                                                                 */

enum {
  ARC_TUNE__MAX_CANDIDATES = ARC_TUNE_MAX_PATHS * ARC_TUNE_MAX_THRESHOLDS,
  ARC_TUNE__HEAT = 16,  /* contenders of one heat */
  ARC_TUNE__SLOTS = 24, /* launches of one round; at most 32, see the tickets */
  ARC_TUNE__ROUNDS = 4, /* in flight at once */
  ARC_TUNE__TURNS = 8,  /* launches of a heat's round, about */
  ARC_TUNE__FINALISTS = 4,
  ARC_TUNE__COARSE_ROUNDS = 12,
  ARC_TUNE__FINE_TURNS = 32, /* launches of each contender in a fine heat */
  ARC_TUNE__FINE_HEATS = 3,
  ARC_TUNE__FOREVER = -1,
  ARC_TUNE__MAGIC = 0x61726374
};

/* What a tuning is doing. */
enum {
  ARC_TUNE__IDLE = 1,
  ARC_TUNE__BASELINE,
  ARC_TUNE__COARSE_PROBES,
  ARC_TUNE__COARSE_HEAT,
  ARC_TUNE__FINE_PROBES,
  ARC_TUNE__FINE_HEAT,
  ARC_TUNE__FINAL_HEAT
};

/* What is known of a candidate. */
enum {
  ARC_TUNE__UNTRIED = 1,
  ARC_TUNE__BAD, /* clearly, after one launch or two */
  ARC_TUNE__ALIVE,
  ARC_TUNE__BEHIND, /* not among those kept after a heat */
  ARC_TUNE__WORSE,  /* beyond the noise */
  ARC_TUNE__TIED    /* not better than the leader by anything that counts */
};

/* Why a tuning ended. */
enum {
  ARC_TUNE__DECIDED = 1,
  ARC_TUNE__OUT_OF_BUDGET,
  ARC_TUNE__OUT_OF_LAUNCHES,
  ARC_TUNE__NO_TIMES
};

/* What the choice rests on. */
enum {
  ARC_TUNE__NOTHING = 1,
  ARC_TUNE__TUNED,
  ARC_TUNE__GIVEN /* by a file or the environment */
};

/* A slot of the ring of events. */
enum {
  ARC_TUNE__SLOT_FREE = 0, /* so that zeroed memory is a ring of free ones */
  ARC_TUNE__SLOT_OPEN,     /* begun */
  ARC_TUNE__SLOT_PENDING   /* ended, not collected */
};

typedef struct arc_tune__candidate {
  short entry; /* of config.path */
  short threshold;
  short verdict;
  short probes;
  short rung;          /* belongs to the coarse ladder of its path */
  int launches;        /* timed in this tuning */
  int count;           /* of sum and squares */
  int unbooked;        /* launches whose cost is not in `spent` yet */
  double ratio;        /* best knowledge: time over that of the incumbent, 1 is equal */
  double sum, squares; /* of such ratios */
} arc_tune__candidate;

/* How far the probes of one path have come; candidates by index. */
typedef struct arc_tune__climb {
  short first, count; /* the path's candidates, by ascending threshold */
  short entered;
  short up, down;
  short up_open, down_open;
} arc_tune__climb;

typedef struct arc_tune__slot {
  short candidate;
  short waiting;
  float time_us; /* 0: no time came */
} arc_tune__slot;

typedef struct arc_tune__round {
  arc_tune__slot slot[ARC_TUNE__SLOTS];
  unsigned serial; /* 0: free */
  unsigned last_launch;
  int count, issued, reported;
} arc_tune__round;

struct arc_tune {
  int rest; /* launches until the next tuning; first, since every launch reads it */
  unsigned magic;
  arc_tune_policy best;
  unsigned ticket; /* of the latest launch */
  unsigned launch;
  arc_tune_config config;

  int frozen, rest_when_thawed;
  int phase;
  int incumbent, leader; /* candidates */
  unsigned random, serial;
  unsigned began, ended; /* launches */
  int silent;            /* rounds without a single time, in a row */
  int reason, account;
  int previous;    /* the incumbent of the last tuning */
  double noise;    /* relative, of one launch */
  double level_us; /* time of the incumbent as of now */
  double spent;    /* launches' worth of time lost to worse candidates */

  arc_tune__candidate candidate[ARC_TUNE__MAX_CANDIDATES];
  int candidates;
  arc_tune__climb climb[ARC_TUNE_MAX_PATHS];
  short probe[ARC_TUNE__SLOTS];
  int probes;
  short member[ARC_TUNE__HEAT];
  int members, rounds_done, fine_heats, pivot, incumbent_beaten;
  arc_tune__round round[ARC_TUNE__ROUNDS];
};

ARC_TUNE__FN double arc_tune__median(double *values, int count) {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && values[j] < values[j - 1]; --j) {
      double held = values[j];
      values[j] = values[j - 1];
      values[j - 1] = held;
    }
  return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* Uniform in 0 .. bound - 1; xorshift. */
ARC_TUNE__FN int arc_tune__below(arc_tune *t, int bound) {
  unsigned x = t->random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  t->random = x;
  return (int)((x >> 8) % (unsigned)bound);
}

ARC_TUNE__FN int arc_tune__find(const arc_tune *t, int path, int threshold) {
  for (int i = 0; i < t->candidates; ++i)
    if (t->config.path[t->candidate[i].entry].path == path &&
        t->candidate[i].threshold == threshold)
      return i;
  return -1;
}

ARC_TUNE__FN arc_tune_policy arc_tune__policy(const arc_tune *t, int candidate) {
  arc_tune_policy policy = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  policy.path = t->config.path[t->candidate[candidate].entry].path;
  policy.threshold = t->candidate[candidate].threshold;
  return policy;
}

ARC_TUNE__FN void arc_tune__add_candidate(arc_tune *t, int entry, int threshold) {
  arc_tune__candidate *c = &t->candidate[t->candidates++];
  memset(c, 0, sizeof *c);
  c->entry = (short)entry;
  c->threshold = (short)threshold;
  c->verdict = ARC_TUNE__UNTRIED;
  c->ratio = 1.0;
}

ARC_TUNE__FN void arc_tune__list_candidates(arc_tune *t) {
  t->candidates = 0;
  for (int e = 0; e < t->config.paths; ++e) {
    t->climb[e].first = (short)t->candidates;
    if (!t->config.path[e].uses_threshold) {
      arc_tune__add_candidate(t, e, ARC_THRESHOLD_AUTO);
    } else {
      for (int threshold = 0; threshold <= ARC_THRESHOLD_NEVER; ++threshold)
        for (int i = 0; i < t->config.thresholds; ++i)
          if (t->config.threshold[i] == threshold) arc_tune__add_candidate(t, e, threshold);
    }
    t->climb[e].count = (short)(t->candidates - t->climb[e].first);
  }
}

ARC_TUNE__FN int arc_tune__nearest(const arc_tune *t, int entry, int threshold) {
  const arc_tune__climb *climb = &t->climb[entry];
  int nearest = climb->first;
  for (int i = climb->first; i < climb->first + climb->count; ++i)
    if (abs(t->candidate[i].threshold - threshold) <
        abs(t->candidate[nearest].threshold - threshold))
      nearest = i;
  return nearest;
}

/* The coarse thresholds of each path; a longer ladder for one path costs less than fine heats, a
   shorter one for several paths less than the ladder. 33 is on none: it differs from 32 in full
   groups only, which plain atomics may make a hundred times slower and hardly ever faster. It is
   tried when 32 clearly beats all below. */
ARC_TUNE__FN void arc_tune__mark_rungs(arc_tune *t) {
  static const int rungs[] = {0, 4, 8, 16, 24, 32, 12, 2, 6, 10, 20, 28};
  int count = 0, ladder = (int)(sizeof rungs / sizeof *rungs);
  for (int e = 0; e < t->config.paths; ++e) count += t->config.path[e].uses_threshold;
  if (count > 2) ladder = 6;
  for (int i = 0; i < t->candidates; ++i) t->candidate[i].rung = i == t->incumbent;
  for (int e = 0; e < t->config.paths; ++e)
    for (int i = 0; i < ladder; ++i) {
      arc_tune__candidate *c = &t->candidate[arc_tune__nearest(t, e, rungs[i])];
      if (c->threshold != ARC_THRESHOLD_NEVER) c->rung = 1;
    }
}

/* Gains below this, as a share, are none: the noise hides them from any number of launches that a
   tuning may take. */
ARC_TUNE__FN double arc_tune__margin(const arc_tune *t) {
  double margin = 0.2 * t->noise;
  return margin < 0.004 ? 0.004 : margin;
}

ARC_TUNE__FN double arc_tune__mean(const arc_tune__candidate *c) {
  return c->count > 0 ? c->sum / c->count : c->ratio;
}

/* By how much a is slower than b, as a share, and the square of the standard error of that. */
ARC_TUNE__FN double arc_tune__gap(const arc_tune *t, int a, int b) {
  return arc_tune__mean(&t->candidate[a]) / arc_tune__mean(&t->candidate[b]) - 1.0;
}

ARC_TUNE__FN double arc_tune__error2(const arc_tune *t, int a, int b) {
  return t->noise * t->noise * (1.0 / t->candidate[a].count + 1.0 / t->candidate[b].count);
}

ARC_TUNE__FN int arc_tune__exceeds(double gap, double errors, double error2) {
  return gap > 0.0 && gap * gap > errors * errors * error2;
}

/* ------------------------------------------------------------------------------------------ */
/* >>rounds                                                                                     */

ARC_TUNE__FN void arc_tune__clear_rounds(arc_tune *t) {
  for (int i = 0; i < ARC_TUNE__ROUNDS; ++i) t->round[i].serial = 0;
}

ARC_TUNE__FN void arc_tune__put(arc_tune__round *r, int candidate) {
  r->slot[r->count].candidate = (short)candidate;
  r->slot[r->count].waiting = 0;
  r->slot[r->count].time_us = 0.0f;
  r->count += 1;
}

ARC_TUNE__FN void arc_tune__shuffle(arc_tune *t, arc_tune__round *r) {
  for (int i = r->count - 1; i > 0; --i) {
    int j = arc_tune__below(t, i + 1);
    short held = r->slot[i].candidate;
    r->slot[i].candidate = r->slot[j].candidate;
    r->slot[j].candidate = held;
  }
}

ARC_TUNE__FN int arc_tune__is_member(const arc_tune *t, int candidate) {
  for (int i = 0; i < t->members; ++i)
    if (t->member[i] == candidate) return 1;
  return 0;
}

/* Probes stand between launches of the leader, which say what a launch takes just now. In the final
   the incumbent stands against all others, so it gets more turns. */
ARC_TUNE__FN void arc_tune__fill_round(arc_tune *t, arc_tune__round *r) {
  if (t->phase == ARC_TUNE__BASELINE) {
    for (int i = 0; i < ARC_TUNE__TURNS; ++i) arc_tune__put(r, t->incumbent);
  } else if (t->phase == ARC_TUNE__COARSE_PROBES || t->phase == ARC_TUNE__FINE_PROBES) {
    arc_tune__put(r, t->leader);
    for (int i = 0; i < t->probes; ++i) {
      if (i == (t->probes + 1) / 2) arc_tune__put(r, t->leader);
      arc_tune__put(r, t->probe[i]);
    }
    if (t->probes == 1) arc_tune__put(r, t->leader);
  } else {
    int turns = t->members < ARC_TUNE__TURNS ? ARC_TUNE__TURNS / t->members : 1;
    for (int i = 0; i < t->members * turns; ++i) arc_tune__put(r, t->member[i % t->members]);
    if (t->phase == ARC_TUNE__FINAL_HEAT && arc_tune__is_member(t, t->incumbent))
      for (int i = 2; i < t->members; ++i) arc_tune__put(r, t->incumbent);
    arc_tune__shuffle(t, r);
  }
}

/* Null while results must come in before it is known what to launch. */
ARC_TUNE__FN arc_tune__round *arc_tune__plan_round(arc_tune *t) {
  unsigned serial = t->serial + 1u < 1u << 27 ? t->serial + 1u : 1u;
  int in_flight = 0;
  for (int i = 0; i < ARC_TUNE__ROUNDS; ++i) in_flight += t->round[i].serial != 0;
  int heat = t->phase == ARC_TUNE__COARSE_HEAT || t->phase == ARC_TUNE__FINE_HEAT ||
             t->phase == ARC_TUNE__FINAL_HEAT;
  arc_tune__round *r = &t->round[serial % ARC_TUNE__ROUNDS];
  if (r->serial != 0 || (in_flight > 0 && !heat)) return NULL;
  memset(r, 0, sizeof *r);
  r->serial = t->serial = serial;
  arc_tune__fill_round(t, r);
  return r;
}

ARC_TUNE__FN arc_tune__round *arc_tune__open_round(arc_tune *t) {
  arc_tune__round *r = &t->round[t->serial % ARC_TUNE__ROUNDS];
  if (r->serial != 0 && r->serial == t->serial && r->issued < r->count) return r;
  return arc_tune__plan_round(t);
}

/* ------------------------------------------------------------------------------------------ */
/* >>probes                                                                                     */

ARC_TUNE__FN double arc_tune__leading_ratio(const arc_tune *t) {
  return t->candidate[t->leader].ratio;
}

/* A ratio this large after one launch is not clearly bad: it may be noise. */
ARC_TUNE__FN int arc_tune__in_zone(const arc_tune *t, double ratio) {
  return ratio <= arc_tune__leading_ratio(t) * (1.25 + 2.0 * t->noise);
}

/* Once each; -1 is nobody. Two a path at most, which a round has room for. */
ARC_TUNE__FN void arc_tune__propose(arc_tune *t, int candidate) {
  for (int i = 0; i < t->probes; ++i)
    if (t->probe[i] == candidate) return;
  if (candidate >= 0) t->probe[t->probes++] = (short)candidate;
}

ARC_TUNE__FN int arc_tune__next_rung(const arc_tune *t, int entry, int from, int step) {
  const arc_tune__climb *climb = &t->climb[entry];
  for (int i = from + step; i >= climb->first && i < climb->first + climb->count; i += step)
    if (t->candidate[i].rung) return i;
  return -1;
}

/* Plain atomics can be a hundred times slower where groups are full. They are tried last, and only
   if no other path suffered from a threshold that sends all but full groups to them. */
ARC_TUNE__FN int arc_tune__may_enter(const arc_tune *t, int entry) {
  int highest_tried = 0, thresholds = 0;
  if (t->config.path[entry].path != ARC_PATH_ATOMIC) return 1;
  for (int e = 0; e < t->config.paths; ++e) {
    const arc_tune__climb *climb = &t->climb[e];
    if (t->config.path[e].path == ARC_PATH_ATOMIC) continue;
    if (!climb->entered) return 0;
    if (!t->config.path[e].uses_threshold) continue;
    if (arc_tune__next_rung(t, e, climb->up, 1) >= 0) {
      if (climb->up_open) return 0;
    } else if (t->candidate[climb->up].verdict == ARC_TUNE__ALIVE) {
      highest_tried = 1;
    }
    thresholds = 1;
  }
  return highest_tried || !thresholds;
}

/* From the incumbent's threshold on; 8 stands for the one arc chooses. */
ARC_TUNE__FN void arc_tune__propose_steps(arc_tune *t, int entry) {
  arc_tune__climb *climb = &t->climb[entry];
  int start = t->candidate[t->incumbent].threshold;
  if (start == ARC_THRESHOLD_AUTO) start = 8;
  if (!climb->entered) {
    if (arc_tune__may_enter(t, entry)) arc_tune__propose(t, arc_tune__nearest(t, entry, start));
    return;
  }
  if (climb->up_open) arc_tune__propose(t, arc_tune__next_rung(t, entry, climb->up, 1));
  if (climb->down_open) arc_tune__propose(t, arc_tune__next_rung(t, entry, climb->down, -1));
}

/* A probed candidate has shown what it is; the directions beyond it open or close. */
ARC_TUNE__FN void arc_tune__settle(arc_tune *t, int index) {
  arc_tune__candidate *c = &t->candidate[index];
  arc_tune__climb *climb = &t->climb[c->entry];
  int alive = c->launches > 0 && arc_tune__in_zone(t, c->ratio);
  c->verdict = (short)(alive ? ARC_TUNE__ALIVE : ARC_TUNE__BAD);
  if (t->phase != ARC_TUNE__COARSE_PROBES) return;
  if (!climb->entered) {
    climb->entered = 1;
    climb->up = climb->down = (short)index;
    climb->up_open = climb->down_open =
        (short)(c->launches > 0 && c->ratio <= 2.0 * arc_tune__leading_ratio(t));
  } else if (index > climb->up) {
    climb->up_open = (short)(alive || c->ratio < 0.9 * t->candidate[climb->up].ratio);
    climb->up = (short)index;
  } else {
    climb->down_open = (short)(alive || c->ratio < 0.9 * t->candidate[climb->down].ratio);
    climb->down = (short)index;
  }
}

ARC_TUNE__FN double arc_tune__clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

/* What a launch of the incumbent takes now: of the last value and the leader's launches around the
   probes the middle one, which one outlier does not move and two move little. */
ARC_TUNE__FN void arc_tune__read_level(arc_tune *t, const arc_tune__round *r) {
  double values[ARC_TUNE__SLOTS], reach = 4.0 * t->noise;
  int count = 0;
  values[count++] = t->level_us;
  for (int i = 0; i < r->count; ++i)
    if (r->slot[i].candidate == t->leader && r->slot[i].time_us > 0.0f)
      values[count++] = r->slot[i].time_us / arc_tune__leading_ratio(t);
  t->level_us *=
      arc_tune__clamp(arc_tune__median(values, count) / t->level_us, 1.0 - reach, 1.0 + reach);
}

/* Of several launches the fastest counts, since an outlier is slow, never fast. */
ARC_TUNE__FN void arc_tune__take_probe(arc_tune *t, const arc_tune__slot *slot) {
  arc_tune__candidate *c = &t->candidate[slot->candidate];
  if (slot->candidate == t->leader) return;
  c->probes += 1;
  if (slot->time_us > 0.0f) {
    double ratio = slot->time_us / t->level_us;
    double lost = ratio / arc_tune__leading_ratio(t) - 1.0;
    if (c->launches == 0 || ratio < c->ratio) c->ratio = ratio;
    c->launches += 1;
    c->sum += ratio;
    if (lost > 0.0) t->spent += lost;
  }
}

/* So much faster than the leader that probing had better go on from there. */
ARC_TUNE__FN int arc_tune__could_lead(const arc_tune *t, double ratio) {
  double gain = 3.0 * t->noise > 0.1 ? 3.0 * t->noise : 0.1;
  return ratio < (1.0 - gain) * arc_tune__leading_ratio(t);
}

/* One launch is enough for what lies in the zone and far beyond any outlier, two for what lies
   between; three for a new leader, whose mean must then stand for it. */
ARC_TUNE__FN int arc_tune__is_settled(const arc_tune *t, const arc_tune__candidate *c) {
  if (c->launches > 0 && arc_tune__could_lead(t, c->ratio)) return c->probes >= 3;
  if (c->probes >= 2) return 1;
  return c->launches > 0 &&
         (arc_tune__in_zone(t, c->ratio) || c->ratio > 6.0 * arc_tune__leading_ratio(t));
}

ARC_TUNE__FN void arc_tune__choose_probing_leader(arc_tune *t, int candidate) {
  arc_tune__candidate *c = &t->candidate[candidate];
  if (c->launches < 3 || !arc_tune__could_lead(t, c->sum / c->launches)) return;
  c->ratio = c->sum / c->launches;
  t->leader = candidate;
}

ARC_TUNE__FN void arc_tune__take_probes(arc_tune *t, const arc_tune__round *r) {
  int left = 0;
  arc_tune__read_level(t, r);
  for (int i = 0; i < r->count; ++i) arc_tune__take_probe(t, &r->slot[i]);
  for (int i = 0; i < t->probes; ++i) {
    int index = t->probe[i];
    if (!arc_tune__is_settled(t, &t->candidate[index])) {
      t->probe[left++] = (short)index;
      continue;
    }
    arc_tune__settle(t, index);
    arc_tune__choose_probing_leader(t, index);
  }
  t->probes = left;
}

/* ------------------------------------------------------------------------------------------ */
/* >>heats                                                                                      */

/* Fastest first; of equals, the first in the list. */
ARC_TUNE__FN void arc_tune__sort_members(arc_tune *t) {
  for (int i = 1; i < t->members; ++i)
    for (int j = i; j > 0 && arc_tune__mean(&t->candidate[t->member[j]]) <
                                 arc_tune__mean(&t->candidate[t->member[j - 1]]);
         --j) {
      short held = t->member[j];
      t->member[j] = t->member[j - 1];
      t->member[j - 1] = held;
    }
}

/* Joins if there is room, or in the place of the slowest. Before sorting. */
ARC_TUNE__FN void arc_tune__join(arc_tune *t, int candidate) {
  if (arc_tune__is_member(t, candidate)) return;
  if (t->members < ARC_TUNE__HEAT) {
    t->member[t->members++] = (short)candidate;
    return;
  }
  arc_tune__sort_members(t);
  int last = t->members - 1;
  if (t->member[last] == t->incumbent) last -= 1;
  if (t->candidate[candidate].ratio < t->candidate[t->member[last]].ratio)
    t->member[last] = (short)candidate;
}

/* The finalists were chosen for their times, among them for lucky ones; so the final forgets what
   the heats have shown. */
ARC_TUNE__FN void arc_tune__begin_heat(arc_tune *t, int phase) {
  t->phase = phase;
  t->rounds_done = 0;
  arc_tune__sort_members(t);
  for (int i = 0; i < t->members; ++i) {
    arc_tune__candidate *c = &t->candidate[t->member[i]];
    c->ratio = arc_tune__mean(c);
    c->verdict = ARC_TUNE__ALIVE;
    c->unbooked = 0;
    if (c->count > 0 && phase != ARC_TUNE__FINAL_HEAT) continue;
    c->count = 0;
    c->sum = c->squares = 0.0;
  }
  t->leader = t->member[0];
  arc_tune__clear_rounds(t);
}

/* A few launches say less than what was known before. */
ARC_TUNE__FN double arc_tune__center(const arc_tune__candidate *c) {
  return c->count >= 4 ? arc_tune__mean(c) : c->ratio;
}

/* Drift moves all times of a round alike; the middle of what the candidates make of it takes it
   out. */
ARC_TUNE__FN double arc_tune__round_level(const arc_tune *t, const arc_tune__round *r) {
  double values[ARC_TUNE__SLOTS];
  int count = 0;
  for (int i = 0; i < r->count; ++i)
    if (r->slot[i].time_us > 0.0f)
      values[count++] = r->slot[i].time_us / arc_tune__center(&t->candidate[r->slot[i].candidate]);
  return count > 0 ? arc_tune__median(values, count) : 0.0;
}

/* Outliers are left out; what lies far out keeps its side and loses its weight. That has the
   resistance of a median and needs a third fewer launches. */
ARC_TUNE__FN void arc_tune__take_time(arc_tune *t, int index, double ratio) {
  arc_tune__candidate *c = &t->candidate[index];
  double center = arc_tune__center(c), spread = center * t->noise;
  double distance = ratio > center ? ratio - center : center - ratio;
  int known = c->count >= 4 || t->phase == ARC_TUNE__FINAL_HEAT;
  c->launches += 1;
  c->unbooked += 1;
  if (known && distance > 4.0 * spread) return;
  double reach = (known ? 2.5 : 4.0) * spread;
  ratio = arc_tune__clamp(ratio, center - reach, center + reach);
  c->count += 1;
  c->sum += ratio;
  c->squares += ratio * ratio;
}

/* The square root by Newton's steps from a guess: no libm. */
ARC_TUNE__FN double arc_tune__root(double square, double guess) {
  for (int i = 0; i < 8; ++i) guess = 0.5 * (guess + square / guess);
  return guess;
}

/* Pooled over the members; the value before counts as eight launches. */
ARC_TUNE__FN void arc_tune__read_noise(arc_tune *t) {
  double sum = 8.0 * t->noise * t->noise;
  int count = 8;
  for (int i = 0; i < t->members; ++i) {
    const arc_tune__candidate *c = &t->candidate[t->member[i]];
    if (c->count < 2) continue;
    double mean = arc_tune__mean(c);
    double rest = (c->squares - c->sum * mean) / (mean * mean);
    sum += rest > 0.0 ? rest : 0.0;
    count += c->count - 1;
  }
  double root = arc_tune__root(sum / count, t->noise);
  t->noise = root < 0.002 ? 0.002 : root;
}

/* What a contender's launches have cost that are not booked yet. The fastest of several equals
   looks faster than it is, so that small gaps count for nothing. */
ARC_TUNE__FN double arc_tune__cost(const arc_tune *t, int candidate) {
  const arc_tune__candidate *c = &t->candidate[candidate];
  if (c->unbooked == 0 || c->count == 0 || t->candidate[t->leader].count == 0) return 0.0;
  double gap = arc_tune__gap(t, candidate, t->leader);
  double error2 = arc_tune__error2(t, candidate, t->leader);
  if (!arc_tune__exceeds(gap, 3.0, error2)) return 0.0;
  return c->unbooked * gap * (1.0 - 9.0 * error2 / (gap * gap));
}

ARC_TUNE__FN double arc_tune__spent(const arc_tune *t) {
  double spent = t->spent;
  for (int i = 0; i < t->members; ++i) spent += arc_tune__cost(t, t->member[i]);
  return spent;
}

ARC_TUNE__FN void arc_tune__book(arc_tune *t, int candidate) {
  t->spent += arc_tune__cost(t, candidate);
  t->candidate[candidate].unbooked = 0;
}

ARC_TUNE__FN void arc_tune__drop(arc_tune *t, int candidate, int verdict) {
  int left = 0;
  for (int i = 0; i < t->members; ++i)
    if (t->member[i] != candidate) t->member[left++] = t->member[i];
  t->members = left;
  arc_tune__book(t, candidate);
  t->candidate[candidate].verdict = (short)verdict;
  t->candidate[candidate].ratio = arc_tune__mean(&t->candidate[candidate]);
}

ARC_TUNE__FN void arc_tune__find_leader(arc_tune *t) {
  t->leader = t->member[0];
  for (int i = 1; i < t->members; ++i)
    if (arc_tune__gap(t, t->member[i], t->leader) < 0.0) t->leader = t->member[i];
}

/* Whether the incumbent is slower beyond the noise than the challenger; in the final, than all
   others that are left: their mean rests on more launches and is that of no lucky one. The first
   launches may hold outliers; `errors` is large where many looks are taken. */
ARC_TUNE__FN int arc_tune__beats_incumbent(const arc_tune *t, int challenger, double errors) {
  double old = t->candidate[t->incumbent].count, fresh = t->candidate[challenger].count;
  double sum = t->candidate[challenger].sum;
  if (old < 2.0 || fresh < 2.0) return 0;
  for (int i = 0; i < t->members && t->phase == ARC_TUNE__FINAL_HEAT; ++i) {
    if (t->member[i] == t->incumbent || t->member[i] == challenger) continue;
    sum += t->candidate[t->member[i]].sum;
    fresh += t->candidate[t->member[i]].count;
  }
  double gain = arc_tune__mean(&t->candidate[t->incumbent]) * fresh / sum - 1.0;
  double outliers = 16.0 * t->noise / (old < fresh ? old : fresh);
  return gain > 0.5 * arc_tune__margin(t) &&
         arc_tune__exceeds(gain - outliers, errors,
                           t->noise * t->noise * (1.0 / old + 1.0 / fresh));
}

/* Whether a contender can leave: it cannot be faster than the leader by more than the margin. */
ARC_TUNE__FN int arc_tune__is_out(const arc_tune *t, int candidate) {
  if (t->candidate[candidate].count < 2 || t->candidate[t->leader].count < 2) return 0;
  if (candidate == t->incumbent) return arc_tune__beats_incumbent(t, t->leader, 4.3);
  double gap = arc_tune__gap(t, candidate, t->leader);
  return arc_tune__exceeds(gap + arc_tune__margin(t), 3.0,
                           arc_tune__error2(t, candidate, t->leader));
}

/* A sequential test of no gain over the incumbent against one of most of the margin. */
ARC_TUNE__FN int arc_tune__gains_nothing(const arc_tune *t, int challenger) {
  if (t->candidate[t->incumbent].count < 2 || t->candidate[challenger].count < 2) return 0;
  double margin = arc_tune__margin(t);
  double gain = arc_tune__gap(t, t->incumbent, challenger);
  return gain < 0.4 * margin - 5.0 * arc_tune__error2(t, t->incumbent, challenger) / margin;
}

ARC_TUNE__FN void arc_tune__weigh(arc_tune *t) {
  arc_tune__find_leader(t);
  for (int i = t->members - 1; i >= 0; --i) {
    int c = t->member[i];
    if (c == t->leader || !arc_tune__is_out(t, c)) continue;
    int worse =
        arc_tune__exceeds(arc_tune__gap(t, c, t->leader), 2.0, arc_tune__error2(t, c, t->leader));
    if (c == t->incumbent) t->incumbent_beaten = 1;
    arc_tune__drop(t, c, worse ? ARC_TUNE__WORSE : ARC_TUNE__TIED);
  }
  while (t->leader != t->incumbent && arc_tune__is_member(t, t->incumbent) &&
         arc_tune__gains_nothing(t, t->leader)) {
    arc_tune__drop(t, t->leader, ARC_TUNE__TIED);
    arc_tune__find_leader(t);
  }
}

ARC_TUNE__FN void arc_tune__take_heat_round(arc_tune *t, const arc_tune__round *r) {
  double level = arc_tune__round_level(t, r);
  if (level <= 0.0) return;
  t->level_us = level;
  for (int i = 0; i < r->count; ++i)
    if (r->slot[i].time_us > 0.0f && arc_tune__is_member(t, r->slot[i].candidate))
      arc_tune__take_time(t, r->slot[i].candidate, r->slot[i].time_us / level);
  arc_tune__read_noise(t);
  t->rounds_done += 1;
  arc_tune__weigh(t);
}

/* ------------------------------------------------------------------------------------------ */
/* >>decision                                                                                   */

ARC_TUNE__FN void arc_tune__begin(arc_tune *t) {
  t->incumbent = arc_tune__find(t, t->best.path, t->best.threshold);
  t->leader = t->incumbent;
  for (int i = 0; i < t->candidates; ++i) {
    arc_tune__candidate *c = &t->candidate[i];
    c->verdict = ARC_TUNE__UNTRIED;
    c->probes = 0;
    c->launches = c->count = c->unbooked = 0;
    c->ratio = 1.0;
    c->sum = c->squares = 0.0;
  }
  arc_tune__mark_rungs(t);
  for (int e = 0; e < t->config.paths; ++e) {
    arc_tune__climb *climb = &t->climb[e];
    climb->entered = (short)(e == t->candidate[t->incumbent].entry);
    climb->up = climb->down = (short)t->incumbent;
    climb->up_open = climb->down_open = 1;
  }
  t->candidate[t->incumbent].verdict = ARC_TUNE__ALIVE;
  t->phase = ARC_TUNE__BASELINE;
  t->began = t->launch;
  t->spent = 0.0;
  t->probes = t->members = t->silent = t->fine_heats = t->incumbent_beaten = 0;
  t->pivot = -1;
  arc_tune__clear_rounds(t);
}

/* At least a quarter of the interval, even if the tuning took all of it. */
ARC_TUNE__FN void arc_tune__rest_until_next(arc_tune *t) {
  unsigned taken = t->launch - t->began, interval = (unsigned)t->config.interval;
  unsigned least = interval / 4 + 1;
  t->rest = ARC_TUNE__FOREVER;
  if (interval > 0) t->rest = (int)(interval > taken + least ? interval - taken : least);
}

ARC_TUNE__FN int arc_tune__choice(const arc_tune *t, int reason) {
  if (reason == ARC_TUNE__NO_TIMES || t->leader == t->incumbent) return t->incumbent;
  if (t->incumbent_beaten || arc_tune__beats_incumbent(t, t->leader, 2.6)) return t->leader;
  return t->incumbent;
}

ARC_TUNE__FN void arc_tune__finish(arc_tune *t, int reason) {
  t->spent = arc_tune__spent(t);
  for (int i = 0; i < t->members; ++i)
    t->candidate[t->member[i]].ratio = arc_tune__mean(&t->candidate[t->member[i]]);
  t->leader = arc_tune__choice(t, reason);
  t->previous = t->incumbent;
  t->best = arc_tune__policy(t, t->leader);
  t->reason = reason;
  t->ended = t->launch;
  if (reason != ARC_TUNE__NO_TIMES) t->account = ARC_TUNE__TUNED;
  t->phase = ARC_TUNE__IDLE;
  t->members = 0;
  arc_tune__clear_rounds(t);
  arc_tune__rest_until_next(t);
}

/* The nearest candidate of the path in this direction that has been tried, or -1. */
ARC_TUNE__FN int arc_tune__next_tried(const arc_tune *t, int from, int step) {
  const arc_tune__climb *climb = &t->climb[t->candidate[from].entry];
  for (int i = from + step; i >= climb->first && i < climb->first + climb->count; i += step)
    if (t->candidate[i].verdict != ARC_TUNE__UNTRIED) return i;
  return -1;
}

/* Whether the cost still falls at `last`, coming from `before`. */
ARC_TUNE__FN int arc_tune__falls(const arc_tune *t, int before, int last) {
  const arc_tune__candidate *b = &t->candidate[before], *l = &t->candidate[last];
  double error2 = t->noise * t->noise * (1.0 / (b->launches + 1) + 1.0 / (l->launches + 1));
  return arc_tune__exceeds(arc_tune__mean(b) / arc_tune__mean(l) - 1.0, 3.0, error2);
}

/* The threshold halfway to the next tried one; beyond the last one tried, one step, and only
   downhill. Into a cliff none: what could be won there is less than what it takes. */
ARC_TUNE__FN void arc_tune__propose_finer(arc_tune *t, int pivot, int step) {
  const arc_tune__climb *climb = &t->climb[t->candidate[pivot].entry];
  int ahead = arc_tune__next_tried(t, pivot, step), next = pivot + step;
  int behind = arc_tune__next_tried(t, pivot, -step);
  if (next < climb->first || next >= climb->first + climb->count || next == ahead) return;
  if (ahead < 0) {
    if (behind >= 0 && arc_tune__falls(t, behind, pivot)) arc_tune__propose(t, next);
  } else if (t->candidate[ahead].ratio < 2.0 * arc_tune__mean(&t->candidate[pivot])) {
    arc_tune__propose(t, (pivot + ahead) / 2);
  }
}

ARC_TUNE__FN void arc_tune__propose_around(arc_tune *t, int pivot) {
  if (pivot < 0) return;
  arc_tune__propose_finer(t, pivot, -1);
  arc_tune__propose_finer(t, pivot, 1);
}

ARC_TUNE__FN int arc_tune__fastest_with_threshold(const arc_tune *t) {
  for (int i = 0; i < t->members; ++i)
    if (t->candidate[t->member[i]].threshold != ARC_THRESHOLD_AUTO) return t->member[i];
  return -1;
}

/* The fastest of a path's thresholds so far, if a valley next to it may hold something faster than
   the leader; or -1. Valleys that matter there are deep; noise hides all others. */
ARC_TUNE__FN int arc_tune__valley(const arc_tune *t, int entry) {
  const arc_tune__climb *climb = &t->climb[entry];
  double most = (1.25 - 3.0 * t->noise) * arc_tune__leading_ratio(t);
  int fastest = -1;
  if (!t->config.path[entry].uses_threshold) return -1;
  for (int i = climb->first; i < climb->first + climb->count; ++i)
    if (t->candidate[i].launches > 0 && t->candidate[i].ratio < most &&
        (fastest < 0 || t->candidate[i].ratio < t->candidate[fastest].ratio))
      fastest = i;
  return fastest;
}

ARC_TUNE__FN void arc_tune__cut(arc_tune *t, int keep) {
  for (int i = 0; i < t->members; ++i) {
    arc_tune__candidate *c = &t->candidate[t->member[i]];
    arc_tune__book(t, t->member[i]);
    c->ratio = arc_tune__mean(c);
    if (i >= keep) c->verdict = ARC_TUNE__BEHIND;
  }
  if (t->members > keep) t->members = keep;
  for (int i = 0; i < t->candidates; ++i) /* those the heat had no room for */
    if (t->candidate[i].verdict == ARC_TUNE__ALIVE && t->candidate[i].count == 0)
      t->candidate[i].verdict = ARC_TUNE__BEHIND;
  t->leader = t->member[0];
}

ARC_TUNE__FN void arc_tune__begin_final(arc_tune *t) {
  arc_tune__sort_members(t);
  arc_tune__cut(t, ARC_TUNE__FINALISTS - 1);
  if (!t->incumbent_beaten) arc_tune__join(t, t->incumbent);
  arc_tune__begin_heat(t, ARC_TUNE__FINAL_HEAT);
  if (t->members == 1) arc_tune__finish(t, ARC_TUNE__DECIDED);
}

/* Finer thresholds, at first of every path, then around the fastest; or the final when there are
   none to try. */
ARC_TUNE__FN void arc_tune__refine(arc_tune *t, int keep) {
  arc_tune__sort_members(t);
  int pivot = arc_tune__fastest_with_threshold(t);
  arc_tune__cut(t, keep);
  t->probes = 0;
  for (int e = 0; e < t->config.paths && t->fine_heats == 0; ++e)
    arc_tune__propose_around(t, arc_tune__valley(t, e));
  if (pivot != t->pivot && t->fine_heats < ARC_TUNE__FINE_HEATS) arc_tune__propose_around(t, pivot);
  t->pivot = pivot;
  if (t->probes == 0) {
    arc_tune__begin_final(t);
    return;
  }
  t->phase = ARC_TUNE__FINE_PROBES;
  arc_tune__clear_rounds(t);
}

ARC_TUNE__FN void arc_tune__after_baseline(arc_tune *t, const arc_tune__round *r) {
  double values[ARC_TUNE__SLOTS];
  int count = 0;
  for (int i = 0; i < r->count; ++i)
    if (r->slot[i].time_us > 0.0f) values[count++] = r->slot[i].time_us;
  if (count < 3) return; /* once more */
  t->level_us = arc_tune__median(values, count);
  t->candidate[t->incumbent].launches += count;
  for (int i = 0; i < count; ++i)
    values[i] =
        values[i] > t->level_us ? values[i] / t->level_us - 1.0 : 1.0 - values[i] / t->level_us;
  double noise = 1.5 * arc_tune__median(values, count);
  t->noise = noise < 0.01 ? 0.01 : noise > 0.3 ? 0.3 : noise;
  t->phase = ARC_TUNE__COARSE_PROBES;
}

/* In launches of the best policy. Tuning once is given the budget of a default interval. */
ARC_TUNE__FN double arc_tune__budget(const arc_tune *t) {
  return t->config.budget * (t->config.interval > 0 ? t->config.interval : 2000);
}

ARC_TUNE__FN void arc_tune__after_coarse_probes(arc_tune *t) {
  if (t->spent < 0.6 * arc_tune__budget(t))
    for (int e = 0; e < t->config.paths; ++e) arc_tune__propose_steps(t, e);
  if (t->probes > 0) return;
  t->members = 0;
  arc_tune__join(t, t->incumbent);
  for (int i = 0; i < t->candidates; ++i)
    if (t->candidate[i].verdict == ARC_TUNE__ALIVE && arc_tune__in_zone(t, t->candidate[i].ratio))
      arc_tune__join(t, i);
  arc_tune__begin_heat(t, ARC_TUNE__COARSE_HEAT);
  if (t->members == 1) arc_tune__finish(t, ARC_TUNE__DECIDED);
}

ARC_TUNE__FN void arc_tune__after_fine_probes(arc_tune *t) {
  if (t->probes > 0) return;
  int before = t->members;
  for (int i = 0; i < t->candidates; ++i)
    if (t->candidate[i].verdict == ARC_TUNE__ALIVE && t->candidate[i].count == 0)
      arc_tune__join(t, i);
  t->fine_heats += 1;
  if (t->members == before)
    arc_tune__begin_final(t);
  else
    arc_tune__begin_heat(t, ARC_TUNE__FINE_HEAT);
}

ARC_TUNE__FN void arc_tune__after_heat_round(arc_tune *t) {
  if (t->phase == ARC_TUNE__COARSE_HEAT) {
    if (t->members > 1 && t->rounds_done < ARC_TUNE__COARSE_ROUNDS) return;
    arc_tune__refine(t, t->members > 5 ? (t->members + 1) / 2 : 3);
  } else if (t->phase == ARC_TUNE__FINE_HEAT) {
    if (t->members > 1 && t->candidate[t->leader].unbooked < ARC_TUNE__FINE_TURNS) return;
    arc_tune__refine(t, ARC_TUNE__FINALISTS);
  } else if (t->members == 1) {
    arc_tune__finish(t, ARC_TUNE__DECIDED);
  }
}

/* All results of a round are in, or given up. */
ARC_TUNE__FN void arc_tune__end_round(arc_tune *t, arc_tune__round *ended) {
  arc_tune__round r = *ended;
  int timed = 0;
  ended->serial = 0;
  for (int i = 0; i < r.count; ++i) timed += r.slot[i].time_us > 0.0f;
  t->silent = timed > 0 ? 0 : t->silent + 1;
  if (t->phase == ARC_TUNE__BASELINE) {
    arc_tune__after_baseline(t, &r);
    if (t->phase == ARC_TUNE__COARSE_PROBES) arc_tune__after_coarse_probes(t);
  } else if (t->phase == ARC_TUNE__COARSE_PROBES) {
    arc_tune__take_probes(t, &r);
    arc_tune__after_coarse_probes(t);
  } else if (t->phase == ARC_TUNE__FINE_PROBES) {
    arc_tune__take_probes(t, &r);
    arc_tune__after_fine_probes(t);
  } else {
    arc_tune__take_heat_round(t, &r);
    arc_tune__after_heat_round(t);
  }
  if (t->phase == ARC_TUNE__IDLE) return;
  if (t->silent >= 3)
    arc_tune__finish(t, ARC_TUNE__NO_TIMES);
  else if (arc_tune__spent(t) >= arc_tune__budget(t))
    arc_tune__finish(t, ARC_TUNE__OUT_OF_BUDGET);
  else if (t->launch - t->began >= (unsigned)t->config.launch_limit)
    arc_tune__finish(t, ARC_TUNE__OUT_OF_LAUNCHES);
}

ARC_TUNE__FN void arc_tune__give_up_late(arc_tune *t) {
  for (int i = 0; i < ARC_TUNE__ROUNDS && t->phase != ARC_TUNE__IDLE; ++i) {
    arc_tune__round *r = &t->round[i];
    if (r->serial != 0 && r->issued == r->count &&
        t->launch - r->last_launch > (unsigned)t->config.patience)
      arc_tune__end_round(t, r);
  }
}

/* ------------------------------------------------------------------------------------------ */
/* >>loop                                                                                       */

ARC_TUNE__FN int arc_tune__is_ready(const arc_tune *t) {
  return t != NULL && t->magic == ARC_TUNE__MAGIC;
}

ARC_TUNE__FN arc_tune_config arc_tune_config_default(void) {
  arc_tune_config config;
  memset(&config, 0, sizeof config);
  config.path[0].path = config.path[1].path = ARC_PATH_AUTO;
  config.path[1].uses_threshold = 1;
  config.paths = 2;
  for (int i = 0; i <= ARC_THRESHOLD_NEVER; ++i) config.threshold[i] = i;
  config.thresholds = ARC_THRESHOLD_NEVER + 1;
  config.start_path = ARC_PATH_AUTO;
  config.start_threshold = ARC_THRESHOLD_AUTO;
  config.interval = 2000;
  config.warmup = 8;
  config.launch_limit = 1900;
  config.patience = 256;
  config.budget = 0.01;
  config.seed = 1;
  return config;
}

ARC_TUNE__FN int arc_tune__lists_are_legal(const arc_tune_config *c) {
  int with_threshold = 0;
  if (c->paths < 1 || c->paths > ARC_TUNE_MAX_PATHS) return 0;
  if (c->thresholds < 0 || c->thresholds > ARC_TUNE_MAX_THRESHOLDS) return 0;
  for (int i = 0; i < c->paths; ++i) {
    const arc_tune_path *p = &c->path[i];
    if (p->path < ARC_PATH_ATOMIC || p->path > ARC_TUNE_MAX_PATH) return 0;
    if (p->uses_threshold < 0 || p->uses_threshold > 1) return 0;
    with_threshold += p->uses_threshold;
    for (int j = 0; j < i; ++j)
      if (c->path[j].path == p->path && c->path[j].uses_threshold == p->uses_threshold) return 0;
  }
  for (int i = 0; i < c->thresholds; ++i) {
    if (c->threshold[i] < 0 || c->threshold[i] > ARC_THRESHOLD_NEVER) return 0;
    for (int j = 0; j < i; ++j)
      if (c->threshold[j] == c->threshold[i]) return 0;
  }
  return with_threshold == 0 || c->thresholds > 0;
}

ARC_TUNE__FN int arc_tune__config_is_legal(const arc_tune_config *c) {
  return arc_tune__lists_are_legal(c) && c->interval >= 0 && c->interval <= 1000000000 &&
         c->warmup >= 0 && c->warmup <= 1000000000 && c->launch_limit >= 1 &&
         c->launch_limit <= 1000000000 && c->patience >= 1 && c->patience <= 1000000000 &&
         c->budget > 0.0 && c->budget <= 1.0;
}

ARC_TUNE__FN int arc_tune__set_up(arc_tune *t, const arc_tune_config *config) {
  memset(t, 0, sizeof *t);
  t->config = *config;
  arc_tune__list_candidates(t);
  int start = arc_tune__find(t, config->start_path, config->start_threshold);
  if (start < 0) return ARC_TUNE_ERROR_CONFIG;
  t->magic = ARC_TUNE__MAGIC;
  t->best = arc_tune__policy(t, start);
  t->incumbent = t->leader = t->previous = start;
  t->phase = ARC_TUNE__IDLE;
  t->account = ARC_TUNE__NOTHING;
  t->random = config->seed * 2654435769u | 1u;
  t->rest = config->warmup;
  return ARC_TUNE_OK;
}

ARC_TUNE__FN int arc_tune_init(arc_tune *t, const arc_tune_config *config) {
  if (t == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  arc_tune_config safe = arc_tune_config_default();
  if (config != NULL && arc_tune__config_is_legal(config) &&
      arc_tune__set_up(t, config) == ARC_TUNE_OK)
    return ARC_TUNE_OK;
  arc_tune__set_up(t, &safe);
  return config == NULL ? ARC_TUNE_ERROR_ARGUMENT : ARC_TUNE_ERROR_CONFIG;
}

ARC_TUNE__FN void arc_tune__hand_out(arc_tune *t, arc_tune_policy *policy) {
  if (t->phase == ARC_TUNE__IDLE) arc_tune__begin(t);
  arc_tune__give_up_late(t);
  arc_tune__round *r = t->phase == ARC_TUNE__IDLE ? NULL : arc_tune__open_round(t);
  if (r == NULL) {
    *policy = arc_tune__policy(t, t->leader);
    return;
  }
  int index = r->issued++;
  r->slot[index].waiting = 1;
  r->last_launch = t->launch;
  *policy = arc_tune__policy(t, r->slot[index].candidate);
  policy->ticket = t->ticket = r->serial << 5 | (unsigned)index;
}

ARC_TUNE__FN int arc_tune_next(arc_tune *t, arc_tune_policy *policy) {
  static const arc_tune_policy untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  if (policy == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  if (!arc_tune__is_ready(t)) {
    *policy = untuned;
    return ARC_TUNE_ERROR_STATE;
  }
  t->launch += 1;
  t->ticket = 0;
  if (t->rest == 0) {
    arc_tune__hand_out(t, policy);
    return ARC_TUNE_OK;
  }
  if (t->rest > 0) t->rest -= 1;
  *policy = t->best;
  return ARC_TUNE_OK;
}

/* Null unless the launch of that ticket is still waited for. */
ARC_TUNE__FN arc_tune__round *arc_tune__round_of(arc_tune *t, unsigned ticket) {
  unsigned serial = ticket >> 5, index = ticket & 31u;
  arc_tune__round *r = &t->round[serial % ARC_TUNE__ROUNDS];
  if (serial == 0 || r->serial != serial) return NULL;
  if (index >= ARC_TUNE__SLOTS || index >= (unsigned)r->issued) return NULL;
  return r->slot[index].waiting ? r : NULL;
}

ARC_TUNE__FN int arc_tune_report_ticket(arc_tune *t, unsigned ticket, double time_us) {
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  if (ticket == 0) return ARC_TUNE_OK;
  arc_tune__round *r = arc_tune__round_of(t, ticket);
  if (r == NULL) return ARC_TUNE_ERROR_TICKET;
  int good = time_us >= 0.001 && time_us <= 1e12; /* a NaN is neither */
  arc_tune__slot *slot = &r->slot[ticket & 31u];
  slot->waiting = 0;
  slot->time_us = good ? (float)time_us : 0.0f;
  r->reported += 1;
  if (r->reported == r->count) arc_tune__end_round(t, r);
  return good ? ARC_TUNE_OK : ARC_TUNE_ERROR_TIME;
}

ARC_TUNE__FN int arc_tune_report(arc_tune *t, double time_us) {
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  return arc_tune_report_ticket(t, t->ticket, time_us);
}

ARC_TUNE__FN int arc_tune_best(const arc_tune *t, arc_tune_policy *policy) {
  static const arc_tune_policy untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  if (policy == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  *policy = arc_tune__is_ready(t) ? t->best : untuned;
  return arc_tune__is_ready(t) ? ARC_TUNE_OK : ARC_TUNE_ERROR_STATE;
}

ARC_TUNE__FN int arc_tune_is_tuning(const arc_tune *t) {
  return arc_tune__is_ready(t) && t->rest == 0;
}

/* Forgets a tuning under way. */
ARC_TUNE__FN void arc_tune__stop(arc_tune *t) {
  t->phase = ARC_TUNE__IDLE;
  t->ticket = 0;
  t->probes = t->members = 0;
  arc_tune__clear_rounds(t);
}

ARC_TUNE__FN int arc_tune_retune(arc_tune *t) {
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  arc_tune__stop(t);
  if (t->frozen)
    t->rest_when_thawed = 0;
  else
    t->rest = 0;
  return ARC_TUNE_OK;
}

ARC_TUNE__FN int arc_tune_freeze(arc_tune *t, int frozen) {
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  if (frozen && !t->frozen) {
    t->rest_when_thawed = t->rest;
    t->rest = ARC_TUNE__FOREVER;
    arc_tune__stop(t);
  } else if (!frozen && t->frozen) {
    t->rest = t->rest_when_thawed;
  }
  t->frozen = frozen != 0;
  return ARC_TUNE_OK;
}

ARC_TUNE__FN const char *arc_tune_error_text(int error) {
  static const char *const texts[ARC_TUNE_ERRORS] = {
      "no error",
      "a pointer is null, or a string too long or of more than one line",
      "a field of the configuration is out of range, or the start policy is not in the list",
      "the tuner was not initialised",
      "the time is not within 0.001 and 1e12 microseconds; that launch counts as not timed",
      "no time is waited for under this ticket",
      "no tuning has ended yet, there is nothing to save",
      "the buffer was too small, the text is cut",
      "the file cannot be read or written",
      "the file is damaged",
      "the file has another device, driver, kernel, width, version or list of policies",
      "the text is neither freeze nor a policy of the list, such as auto or transposed:12",
      "a call of the CUDA runtime failed"};
  return error >= 0 && error < ARC_TUNE_ERRORS ? texts[error] : "not an error of arc_tune";
}

/* ------------------------------------------------------------------------------------------ */
/* >>explain                                                                                    */

typedef struct arc_tune__text {
  char *buffer;
  size_t size, length;
  int cut;
} arc_tune__text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
ARC_TUNE__FN void
arc_tune__print(arc_tune__text *text, const char *format, ...) {
  va_list list;
  size_t room = text->size - text->length;
  va_start(list, format);
  int length = vsnprintf(text->buffer + text->length, room, format, list);
  va_end(list);
  if (length < 0 || (size_t)length >= room) {
    text->cut = 1;
    text->length = text->size - 1;
  } else {
    text->length += (size_t)length;
  }
}

/* Null for what is no path of arc. */
ARC_TUNE__FN const char *arc_tune__path_name(int path) {
  static const char *const names[] = {"atomic",     "serialized", "butterfly",
                                      "transposed", "tree",       "auto"};
  return path >= ARC_PATH_ATOMIC && path <= ARC_PATH_AUTO ? names[path - ARC_PATH_ATOMIC] : NULL;
}

ARC_TUNE__FN void arc_tune__print_policy(const arc_tune *t, arc_tune__text *text, int candidate) {
  arc_tune_policy p = arc_tune__policy(t, candidate);
  const char *name = arc_tune__path_name(p.path);
  if (name != NULL)
    arc_tune__print(text, "%s", name);
  else
    arc_tune__print(text, "path%d", p.path);
  if (p.threshold != ARC_THRESHOLD_AUTO) arc_tune__print(text, ":%d", p.threshold);
}

ARC_TUNE__FN const char *arc_tune__reason_text(int reason) {
  switch (reason) {
    case ARC_TUNE__DECIDED:
      return "decided";
    case ARC_TUNE__OUT_OF_BUDGET:
      return "ended by its budget, on the evidence so far";
    case ARC_TUNE__OUT_OF_LAUNCHES:
      return "ended by its launch limit, on the evidence so far";
    case ARC_TUNE__NO_TIMES:
      return "given up: no times were reported";
    default:
      return "not tuned yet";
  }
}

ARC_TUNE__FN const char *arc_tune__verdict_text(const arc_tune *t, int candidate) {
  if (candidate == t->leader) return "chosen";
  switch (t->candidate[candidate].verdict) {
    case ARC_TUNE__BAD:
      return "clearly worse at the first look";
    case ARC_TUNE__BEHIND:
      return "not among the fastest of its heat";
    case ARC_TUNE__WORSE:
      return "worse beyond the noise";
    case ARC_TUNE__TIED:
      return "no gain that counts";
    default:
      return candidate == t->previous ? "was in use; not shown to be slower"
                                      : "not shown to be faster";
  }
}

ARC_TUNE__FN void arc_tune__print_summary(const arc_tune *t, arc_tune__text *text) {
  double gain = 1.0 - t->candidate[t->leader].ratio / t->candidate[t->previous].ratio;
  arc_tune__print_policy(t, text, t->previous);
  if (t->leader == t->previous) {
    arc_tune__print(text, " stays");
  } else {
    arc_tune__print(text, " -> ");
    arc_tune__print_policy(t, text, t->leader);
    arc_tune__print(text, ", %.1f %% less time", 100.0 * gain);
  }
  arc_tune__print(text, "; %s\n", arc_tune__reason_text(t->reason));
  arc_tune__print(text, "noise of a launch %.1f %%, gains below %.1f %% count as none\n",
                  100.0 * t->noise, 100.0 * arc_tune__margin(t));
  arc_tune__print(text, "%u launches, cost about %.1f launches' worth of time (budget %.1f)\n",
                  t->ended - t->began, t->spent, arc_tune__budget(t));
}

ARC_TUNE__FN void arc_tune__print_candidates(const arc_tune *t, arc_tune__text *text) {
  int untried = 0;
  arc_tune__print(text, "%-16s %8s %8s  %s\n", "policy", "launches", "time", "verdict");
  for (int i = 0; i < t->candidates; ++i) {
    const arc_tune__candidate *c = &t->candidate[i];
    if (c->launches == 0) {
      untried += 1;
      continue;
    }
    size_t before = text->length;
    arc_tune__print_policy(t, text, i);
    int width = (int)(text->length - before);
    arc_tune__print(text, "%*s %8d %8.3f  %s\n", width < 16 ? 16 - width : 0, "", c->launches,
                    c->ratio / t->candidate[t->leader].ratio, arc_tune__verdict_text(t, i));
  }
  arc_tune__print(text, "time: over that of the choice; %d policies were not tried\n", untried);
}

ARC_TUNE__FN int arc_tune_explain(const arc_tune *t, char *buffer, size_t size) {
  if (buffer == NULL || size == 0) return ARC_TUNE_ERROR_ARGUMENT;
  buffer[0] = '\0';
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  arc_tune__text text = {buffer, size, 0, 0};
  if (t->phase != ARC_TUNE__IDLE) {
    arc_tune__print(&text,
                    "a tuning is under way, %u launches so far; in use: ", t->launch - t->began);
    arc_tune__print_policy(t, &text, arc_tune__find(t, t->best.path, t->best.threshold));
    arc_tune__print(&text, "\n");
  } else if (t->account == ARC_TUNE__TUNED) {
    arc_tune__print_summary(t, &text);
    arc_tune__print_candidates(t, &text);
  } else {
    arc_tune__print_policy(t, &text, arc_tune__find(t, t->best.path, t->best.threshold));
    arc_tune__print(&text, " in use: %s\n",
                    t->account == ARC_TUNE__GIVEN ? "loaded or given, not tuned"
                                                  : arc_tune__reason_text(t->reason));
  }
  if (t->frozen) arc_tune__print(&text, "frozen\n");
  return text.cut ? ARC_TUNE_ERROR_SIZE : ARC_TUNE_OK;
}

/* ------------------------------------------------------------------------------------------ */
/* >>file                                                                                       */

#define ARC_TUNE__FILE_BYTES 1024
#define ARC_TUNE__PATH_BYTES 4096

ARC_TUNE__FN int arc_tune__is_line(const char *text) {
  return text != NULL && strlen(text) <= 127 && strchr(text, '\n') == NULL &&
         strchr(text, '\r') == NULL;
}

ARC_TUNE__FN int arc_tune__key_is_legal(const arc_tune_key *key) {
  return key != NULL && arc_tune__is_line(key->device) && arc_tune__is_line(key->driver) &&
         arc_tune__is_line(key->kernel);
}

ARC_TUNE__FN void arc_tune__print_key(arc_tune__text *text, const arc_tune_key *key) {
  arc_tune__print(text, "arc_tune 1\narc %d\ndevice %s\ndriver %s\nkernel %s\nwidth %d\n",
                  ARC_VERSION, key->device, key->driver, key->kernel, key->width);
}

/* FNV-1a: any change of one byte changes it. */
ARC_TUNE__FN unsigned arc_tune__checksum(const char *bytes, size_t count) {
  unsigned hash = 2166136261u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
  return hash;
}

ARC_TUNE__FN int arc_tune__write_file(const char *path, const arc_tune__text *text) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return 0;
  int good = fwrite(text->buffer, 1, text->length, file) == text->length;
  good = fflush(file) == 0 && good;
  good = fclose(file) == 0 && good;
  if (!good) remove(path);
  return good;
}

ARC_TUNE__FN int arc_tune_save(const arc_tune *t, const char *path, const arc_tune_key *key) {
  char bytes[ARC_TUNE__FILE_BYTES], temporary[ARC_TUNE__PATH_BYTES];
  arc_tune__text text = {bytes, sizeof bytes, 0, 0};
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  if (path == NULL || strlen(path) + 5 > sizeof temporary || !arc_tune__key_is_legal(key))
    return ARC_TUNE_ERROR_ARGUMENT;
  if (t->account == ARC_TUNE__NOTHING) return ARC_TUNE_ERROR_UNTUNED;
  arc_tune__print_key(&text, key);
  arc_tune__print(&text, "policy ");
  arc_tune__print_policy(t, &text, arc_tune__find(t, t->best.path, t->best.threshold));
  arc_tune__print(&text, "\n");
  arc_tune__print(&text, "check %08x\n", arc_tune__checksum(bytes, text.length));
  strcpy(temporary, path);
  strcat(temporary, ".tmp");
  if (!arc_tune__write_file(temporary, &text)) return ARC_TUNE_ERROR_FILE;
#if defined(_WIN32)
  remove(path); /* rename() does not replace there */
#endif
  if (rename(temporary, path) == 0) return ARC_TUNE_OK;
  remove(temporary);
  return ARC_TUNE_ERROR_FILE;
}

/* The bytes before the line of the checksum, or 0. */
ARC_TUNE__FN size_t arc_tune__checked_length(const char *bytes, size_t count) {
  char line[16];
  arc_tune__text text = {line, sizeof line, 0, 0};
  if (count < 15) return 0;
  arc_tune__print(&text, "check %08x\n", arc_tune__checksum(bytes, count - 15));
  return memcmp(bytes + count - 15, line, 15) == 0 ? count - 15 : 0;
}

/* The candidate that `bytes` are the saved form of, or -1. */
ARC_TUNE__FN int arc_tune__match_saved(const arc_tune *t, const char *bytes, size_t count,
                                       const arc_tune_key *key) {
  char expected[ARC_TUNE__FILE_BYTES];
  for (int i = 0; i < t->candidates; ++i) {
    arc_tune__text text = {expected, sizeof expected, 0, 0};
    arc_tune__print_key(&text, key);
    arc_tune__print(&text, "policy ");
    arc_tune__print_policy(t, &text, i);
    arc_tune__print(&text, "\n");
    if (text.length == count && memcmp(bytes, expected, count) == 0) return i;
  }
  return -1;
}

ARC_TUNE__FN void arc_tune__take_over(arc_tune *t, int candidate, int rest) {
  arc_tune__stop(t);
  t->best = arc_tune__policy(t, candidate);
  t->incumbent = t->leader = t->previous = candidate;
  t->account = ARC_TUNE__GIVEN;
  if (t->frozen)
    t->rest_when_thawed = rest;
  else
    t->rest = rest;
}

ARC_TUNE__FN int arc_tune_load(arc_tune *t, const char *path, const arc_tune_key *key) {
  char bytes[ARC_TUNE__FILE_BYTES + 1];
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  if (path == NULL || !arc_tune__key_is_legal(key)) return ARC_TUNE_ERROR_ARGUMENT;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return ARC_TUNE_ERROR_FILE;
  size_t count = fread(bytes, 1, sizeof bytes, file);
  int failed = ferror(file);
  fclose(file);
  if (failed) return ARC_TUNE_ERROR_FILE;
  size_t length = arc_tune__checked_length(bytes, count);
  if (count == sizeof bytes || length == 0) return ARC_TUNE_ERROR_DAMAGED;
  int candidate = arc_tune__match_saved(t, bytes, length, key);
  if (candidate < 0) return ARC_TUNE_ERROR_FOREIGN;
  arc_tune__take_over(t, candidate,
                      t->config.interval > 0 ? t->config.interval : ARC_TUNE__FOREVER);
  return ARC_TUNE_OK;
}

/* ------------------------------------------------------------------------------------------ */
/* >>environment                                                                                */

ARC_TUNE__FN int arc_tune_from_environment(arc_tune *t, const char *name) {
  char spelt[32];
  if (!arc_tune__is_ready(t)) return ARC_TUNE_ERROR_STATE;
  if (name == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  const char *value = getenv(name);
  if (value == NULL || value[0] == '\0') return ARC_TUNE_OK;
  if (strcmp(value, "freeze") == 0) return arc_tune_freeze(t, 1);
  for (int i = 0; i < t->candidates; ++i) {
    arc_tune__text text = {spelt, sizeof spelt, 0, 0};
    arc_tune__print_policy(t, &text, i);
    if (strcmp(value, spelt) != 0) continue;
    arc_tune__take_over(t, i, 0);
    return arc_tune_freeze(t, 1);
  }
  return ARC_TUNE_ERROR_TEXT;
}

/* ------------------------------------------------------------------------------------------ */
/* >>cuda                                                                                       */

#if defined(__CUDACC__) || defined(ARC_TUNE_CUDA)

ARC_TUNE__FN int arc_tune_cuda_open(arc_tune_cuda *timer, arc_tune *t) {
  if (timer == NULL || t == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  memset(timer, 0, sizeof *timer);
  timer->tune = t;
  for (int i = 0; i < ARC_TUNE_CUDA_RING; ++i) {
    if (cudaEventCreate(&timer->slot[i].start) == cudaSuccess) {
      timer->slot[i].events = 1;
      if (cudaEventCreate(&timer->slot[i].stop) == cudaSuccess) {
        timer->slot[i].events = 2;
        continue;
      }
    }
    arc_tune_cuda_close(timer);
    return ARC_TUNE_ERROR_CUDA;
  }
  return ARC_TUNE_OK;
}

ARC_TUNE__FN int arc_tune_cuda_close(arc_tune_cuda *timer) {
  int good = 1;
  if (timer == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  for (int i = 0; i < ARC_TUNE_CUDA_RING; ++i) {
    arc_tune_cuda_slot *slot = &timer->slot[i];
    if (slot->events >= 1) good = cudaEventDestroy(slot->start) == cudaSuccess && good;
    if (slot->events >= 2) good = cudaEventDestroy(slot->stop) == cudaSuccess && good;
  }
  memset(timer, 0, sizeof *timer);
  return good ? ARC_TUNE_OK : ARC_TUNE_ERROR_CUDA;
}

/* 1: this stream is captured, or cannot be asked; nothing may be recorded on it. */
ARC_TUNE__FN int arc_tune__is_captured(cudaStream_t stream) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
    return status != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError(); /* the legacy stream while another one is captured */
  return 1;
}

/* The time of a launch that has ended goes to the tuner. 0: it has not ended. */
ARC_TUNE__FN int arc_tune__collect(arc_tune_cuda *timer, arc_tune_cuda_slot *slot) {
  float milliseconds = 0.0f;
  cudaError_t ended = cudaEventQuery(slot->stop);
  if (ended == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return 0;
  }
  if (ended == cudaSuccess) ended = cudaEventElapsedTime(&milliseconds, slot->start, slot->stop);
  slot->state = ARC_TUNE__SLOT_FREE;
  timer->failed = timer->failed || ended != cudaSuccess;
  arc_tune_report_ticket(timer->tune, slot->ticket, 1000.0 * milliseconds);
  return 1;
}

/* Streams end in any order, so that one launch that has not ended does not stop the search; a few
   do. */
ARC_TUNE__FN void arc_tune__poll(arc_tune_cuda *timer) {
  int unready = 0;
  for (int i = 0; i < ARC_TUNE_CUDA_RING && unready < 3; ++i) {
    arc_tune_cuda_slot *slot = &timer->slot[(timer->next + i) % ARC_TUNE_CUDA_RING];
    if (slot->state == ARC_TUNE__SLOT_PENDING) unready += !arc_tune__collect(timer, slot);
  }
}

ARC_TUNE__FN int arc_tune__record_start(arc_tune_cuda *timer, cudaStream_t stream,
                                        arc_tune_policy *policy) {
  arc_tune_cuda_slot *slot = &timer->slot[timer->next];
  int status = arc_tune_next(timer->tune, policy);
  if (policy->ticket == 0) return status;
  slot->ticket = policy->ticket;
  slot->stream = stream;
  if (cudaEventRecord(slot->start, stream) != cudaSuccess) {
    arc_tune_report_ticket(timer->tune, policy->ticket, 0.0);
    return ARC_TUNE_ERROR_CUDA;
  }
  slot->state = ARC_TUNE__SLOT_OPEN;
  timer->next = (timer->next + 1) % ARC_TUNE_CUDA_RING;
  timer->open += 1;
  return status;
}

/* The oldest free slot is next in turn; one whose stream hangs is passed over. 0: none is free. */
ARC_TUNE__FN int arc_tune__find_slot(arc_tune_cuda *timer) {
  for (int i = 0; i < ARC_TUNE_CUDA_RING; ++i) {
    int slot = (timer->next + i) % ARC_TUNE_CUDA_RING;
    if (timer->slot[slot].state != ARC_TUNE__SLOT_FREE) continue;
    timer->next = slot;
    return 1;
  }
  return 0;
}

/* A launch that was begun on this stream and never ended is not timed. */
ARC_TUNE__FN void arc_tune__abandon(arc_tune_cuda *timer, cudaStream_t stream) {
  for (int i = 0; i < ARC_TUNE_CUDA_RING && timer->open > 0; ++i) {
    arc_tune_cuda_slot *slot = &timer->slot[i];
    if (slot->state != ARC_TUNE__SLOT_OPEN || slot->stream != stream) continue;
    slot->state = ARC_TUNE__SLOT_FREE;
    timer->open -= 1;
    arc_tune_report_ticket(timer->tune, slot->ticket, 0.0);
  }
}

ARC_TUNE__FN int arc_tune__begin_timed(arc_tune_cuda *timer, cudaStream_t stream,
                                       arc_tune_policy *policy) {
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  int status = ARC_TUNE_OK;
  *policy = arc_tune__policy(timer->tune, timer->tune->leader);
  /* An error of the program's own is the program's to find, not ours to clear. */
  if (cudaPeekAtLastError() != cudaSuccess || arc_tune__is_captured(stream)) return status;
  /* Another stream may be captured by this thread; asking for an event would spoil that. */
  if (cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess) return ARC_TUNE_ERROR_CUDA;
  timer->failed = 0;
  arc_tune__abandon(timer, stream);
  arc_tune__poll(timer);
  if (arc_tune__find_slot(timer)) status = arc_tune__record_start(timer, stream, policy);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  return timer->failed ? ARC_TUNE_ERROR_CUDA : status;
}

ARC_TUNE__FN int arc_tune_cuda_begin(arc_tune_cuda *timer, cudaStream_t stream,
                                     arc_tune_policy *policy) {
  if (policy == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  arc_tune *t = timer == NULL ? NULL : timer->tune;
  if (!arc_tune_is_tuning(t)) return arc_tune_next(t, policy);
  return arc_tune__begin_timed(timer, stream, policy);
}

ARC_TUNE__FN int arc_tune_cuda_end(arc_tune_cuda *timer, cudaStream_t stream) {
  if (timer == NULL) return ARC_TUNE_ERROR_ARGUMENT;
  if (timer->open == 0) return ARC_TUNE_OK;
  for (int i = 0; i < ARC_TUNE_CUDA_RING; ++i) {
    arc_tune_cuda_slot *slot = &timer->slot[i];
    if (slot->state != ARC_TUNE__SLOT_OPEN || slot->stream != stream) continue;
    timer->open -= 1;
    slot->state = ARC_TUNE__SLOT_FREE;
    if (!arc_tune__is_captured(stream) && cudaEventRecord(slot->stop, stream) == cudaSuccess) {
      slot->state = ARC_TUNE__SLOT_PENDING;
      return ARC_TUNE_OK;
    }
    arc_tune_report_ticket(timer->tune, slot->ticket, 0.0);
    return ARC_TUNE_ERROR_CUDA;
  }
  return ARC_TUNE_OK;
}

#endif

#endif /* ARC_TUNE_H */
