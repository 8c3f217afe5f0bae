/* arc_tune.h - picks path and balancing threshold of a kernel while the program runs.
   SPDX-License-Identifier: Apache-2.0

     static arc_tune tune;
     static arc_tune_cuda timer;
     arc_tune_config config = arc_tune_config_default();
     arc_tune_init(&tune, &config), timer.tune = &tune;
     for (...) {
       arc_tune_policy p = arc_tune_cuda_begin(&timer, stream);
       ... launch on that stream, with p.path and p.threshold ...
       arc_tune_cuda_end(&timer, stream, p);
     }

   CUDA events measure the times; no call waits for them. To measure by yourself, call
   p = arc_tune_next(&tune) before a launch, and arc_tune_report(&tune, p.ticket, microseconds)
   later, in any order, or never. To keep the result for the next run, store the two ints of
   tune.result.choice and start from them.
   Policies round differently: if sums in a fixed target must be the same bits in every run, tune
   only with options.exact or ARC_EXACT 1. C99, C++ or CUDA host code; no libm, no allocation. Use
   one arc_tune per kernel, from one thread at a time; any order of calls is safe.

   docs/how.md says how a tuning decides, and what it costs: by default 700 to 820 launches are
   timed, and 0.3 to 0.7 % of an interval is lost. Until the next tuning nothing is timed. */
#ifndef ARC_TUNE_H
#define ARC_TUNE_H

#include <string.h>
#include "arc_policy.cuh"
/* ---- >>api ---------------------------------------------------------------------------------- */
#define ARC_TUNE_MAX_POLICIES 272 /* 8 paths of 34 thresholds */
#define ARC_TUNE__SLOTS 256       /* launches whose times are awaited, at most */
enum { ARC_TUNE_OK = 0, ARC_TUNE_ERROR_CONFIG, ARC_TUNE_ERROR_REPORT };

/* What a launch uses. A path above ARC_PATH_AUTO stands for a kernel of yours that differs in
   something else (pixels per lane, registers). ARC_THRESHOLD_AUTO: the kernel ignores the threshold
   or leaves it to arc. */
typedef struct arc_tune_policy {
  int path, threshold; /* what to launch */
  unsigned ticket;     /* pass it to the report; 0: no time is wanted */
} arc_tune_policy;

typedef struct arc_tune_config {
  arc_tune_policy policy[ARC_TUNE_MAX_POLICIES]; /* candidates; arc_tune_add appends */
  arc_tune_policy start; /* the policy before the first tuning: one of them */
  int policies, warmup;  /* how many; launches before the first tuning */
  int interval;          /* launches from the end of a tuning to the next; 0: tune once */
  double budget; /* the share of an interval (0: of 2000) that a tuning may lose: 0 < budget <= 1 */
  unsigned seed; /* of the random choices: same seed and times, same result */
} arc_tune_config;

/* The state of a tuner. arc_tune_init fills it; you may read its field `result`. */
typedef struct arc_tune {
  struct {
    arc_tune_policy choice; /* in use */
    double gain, cost;      /* of the last tuning: share of time saved, or 0; launches lost */
    int launches, tunings;  /* launches timed in it; tunings ended so far */
  } result;
  arc_tune_config config;
  struct {
    int state, times; /* times: that ratio is the mean of */
    unsigned awaited; /* ticket of its latest launch until that is reported, or 0 */
    double ratio;     /* time over level */
  } candidate[ARC_TUNE_MAX_POLICIES];
  short slot[ARC_TUNE__SLOTS];  /* by ticket: 1 + the candidate whose time is awaited, or 0 */
  int rest;                     /* launches until the next tuning; -1: there is none */
  int step;                     /* thresholds to those a candidate brings in; or a phase */
  int incumbent, leader, timed; /* timed: launches reported in this tuning */
  double level_us, noise;       /* time of ratio 1 as of now; deviation of a launch, as a share */
  double spent, budget;         /* launches' worth of time; to time a launch costs 0.01 */
  unsigned random, ticket, newest; /* tickets: the latest, and the latest that was reported */
} arc_tune;

/* Appends candidates: `path` with each threshold of low..high, or with ARC_THRESHOLD_AUTO if both
   are. Threshold 33, plain atomics, may be very slow: the tuner tries it (or ARC_PATH_ATOMIC with
   33) only if a threshold of 29 or more did well. */
static inline void arc_tune_add(arc_tune_config *c, int path, int low, int high) {
  for (; low <= high; ++low, ++c->policies) {
    const arc_tune_policy policy = {path, low, 0};
    if (c->policies < ARC_TUNE_MAX_POLICIES) c->policy[c->policies] = policy;
  }
}

/* Returns a configuration that starts from ARC_PATH_AUTO as compiled and tries its thresholds
   0..32. */
static inline arc_tune_config arc_tune_config_default(void) {
  arc_tune_config c;
  memset(&c, 0, sizeof c);
  arc_tune_add(&c, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, ARC_THRESHOLD_AUTO);
  arc_tune_add(&c, ARC_PATH_AUTO, 0, ARC_THRESHOLD_NEVER - 1);
  c.start = c.policy[0], c.interval = 2000, c.warmup = 8, c.budget = 0.01, c.seed = 1;
  return c;
}

/* Begins a tuner with a copy of `config`; *t may hold anything. Returns ARC_TUNE_ERROR_CONFIG if a
   field is not as its comment says; every policy is then ARC_PATH_AUTO with ARC_THRESHOLD_AUTO, and
   no launch is timed. */
static inline int arc_tune_init(arc_tune *t, const arc_tune_config *config) {
  const arc_tune_policy untuned = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  const arc_tune_config c = *config; /* which may lie in *t */
  int start = -1, legal = c.policies <= ARC_TUNE_MAX_POLICIES && c.interval >= 0 && c.warmup >= 0 &&
                          c.budget > 0.0 && c.budget <= 1.0;
  for (int i = 0; legal && i < c.policies; ++i) {
    const arc_tune_policy p = c.policy[i];
    legal = p.path >= ARC_PATH_ATOMIC && p.threshold >= 0 && p.threshold <= ARC_THRESHOLD_AUTO;
    if (p.path == c.start.path && p.threshold == c.start.threshold) start = i;
  }
  legal &= start >= 0;
  memset(t, 0, sizeof *t);
  t->config = c;
  t->random = c.seed * 2654435769u;
  t->budget = c.budget * (c.interval > 0 ? c.interval : 2000);
  t->incumbent = start;
  t->result.choice = legal ? c.policy[start] : untuned;
  t->rest = legal ? c.warmup : -1;
  return legal ? ARC_TUNE_OK : ARC_TUNE_ERROR_CONFIG;
}

/* Begins a tuner anew that has begun before: its earlier tickets become void. */
static inline int arc_tune_restart(arc_tune *t, const arc_tune_config *config) {
  const unsigned ticket = t->ticket;
  const int error = arc_tune_init(t, config);
  t->ticket = t->newest = ticket;
  return error;
}

/* ---- >>race --------------------------------------------------------------------------------- */
enum { ARC_TUNE__FINAL = -1, ARC_TUNE__IDLE = 0, ARC_TUNE__FINE = 1, ARC_TUNE__COARSE = 4 };
enum { ARC_TUNE__DROPPED = -1, ARC_TUNE__UNTRIED = 0, ARC_TUNE__RACES = 1 };

static inline double arc_tune__gap(const arc_tune *t, int a, int b) {
  return t->candidate[a].ratio / t->candidate[b].ratio - 1.0; /* by which a is slower, a share */
}
/* Running means of candidate, level (it follows clocks and work) and noise. Deviations are clamped,
   so that an outlier moves them little; if the first time was one, which are slow, the second
   replaces it. Losses beyond the noise are spent; gains pay nothing back. */
static inline void arc_tune__take(arc_tune *t, int i, double time_us) {
  if (t->timed++ == 0) t->level_us = time_us;
  double *ratio = &t->candidate[i].ratio, latest = time_us / t->level_us;
  double off = latest / *ratio - 1.0, most = 0.002 + 3.0 * t->noise;
  int times = ++t->candidate[i].times;
  if (times == 1 || (times == 2 && off < -most)) {
    *ratio = latest;
    t->candidate[i].times = 1;
  } else {
    off = off > most ? most : off < -most ? -most : off;
    *ratio *= 1.0 + off / times;
    t->level_us *= 1.0 + off / 8.0;
    t->noise += (1.25 * (off < 0.0 ? -off : off) - t->noise) / 32.0; /* of normal times */
  }
  const double loss = arc_tune__gap(t, i, t->incumbent);
  if (loss > 0.5 * t->noise) t->spent += loss;
}

/* Whether a, doing well, brings in b: a step away on its path, or the threshold nearest to its own
   on another path, or on any if it has the threshold that arc chooses (8 stands for it). */
static inline int arc_tune__is_near(const arc_tune *t, int a, int b) {
  const arc_tune_policy *p = t->config.policy;
  const int up = p[b].threshold - (p[a].threshold == ARC_THRESHOLD_AUTO ? 8 : p[a].threshold);
  const int apart = up < 0 ? -up : up, nearer = up < 0 ? b + 1 : b - 1;
  if (p[b].threshold == ARC_THRESHOLD_AUTO || apart == 0) return 1;
  if (p[a].path == p[b].path && apart == t->step) return 1;
  if (p[b].threshold == ARC_THRESHOLD_NEVER && apart > ARC_TUNE__COARSE) return 0;
  return (unsigned)nearer >= (unsigned)t->config.policies || p[nearer].path != p[b].path ||
         p[nearer].threshold == ARC_THRESHOLD_AUTO; /* none of b's path is nearer */
}

/* Whether i is slower than the leader by two standard errors, the incumbent by five, as the test is
   repeated; the squares stand for one outlier. A single time loses if it is six times as long. What
   is hardly faster counts as slower: measuring its gain takes more launches than it saves. */
static inline int arc_tune__loses(const arc_tune *t, int i) {
  double gap = arc_tune__gap(t, i, t->leader), error = (i == t->incumbent ? 5.0 : 2.0) * t->noise;
  if (t->candidate[i].times < 2) return gap > 5.0; /* never untried: its ratio is 0 */
  double x = 1.0 / t->candidate[i].times, y = 1.0 / t->candidate[t->leader].times;
  if (i != t->incumbent) gap += 0.002 + 0.2 * t->noise;
  return i != t->leader && gap * gap > error * error * (x + y + 4.0 * (x * x + y * y));
}

static inline void arc_tune__finish(arc_tune *t, int choice) {
  t->result.choice = t->config.policy[choice];
  t->result.gain = choice == t->incumbent ? 0.0 : -arc_tune__gap(t, choice, t->incumbent);
  t->result.cost = t->spent, t->result.launches = t->timed, t->result.tunings += 1;
  t->rest = t->config.interval > 0 ? t->config.interval : -1;
  t->incumbent = choice, t->step = ARC_TUNE__IDLE;
  memset(t->slot, 0, sizeof t->slot);
}

/* After a time of `latest`. The final has a quarter of the budget; an old mean counts as a time. */
static inline void arc_tune__decide(arc_tune *t, int latest) {
  int racing = 0, unsure = 0, n = t->config.policies;
  for (int i = 0; i < n; ++i)
    if (t->candidate[i].state == ARC_TUNE__RACES && t->candidate[i].times > 1 &&
        arc_tune__gap(t, i, t->leader) < 0.0)
      t->leader = i;
  int well = t->candidate[latest].times > 1 && t->candidate[latest].state == ARC_TUNE__RACES &&
             !arc_tune__loses(t, latest);
  for (int i = 0; i < n; ++i) {
    if (arc_tune__loses(t, i)) t->candidate[i].state = ARC_TUNE__DROPPED;
    if (t->candidate[i].state == ARC_TUNE__UNTRIED && well && arc_tune__is_near(t, latest, i))
      t->candidate[i].state = ARC_TUNE__RACES;
    if (t->candidate[i].state != ARC_TUNE__RACES) continue;
    racing += 1;
    unsure |= t->candidate[i].times < (t->step == ARC_TUNE__COARSE ? 4 : 60);
  }
  unsure &= racing > 1;
  if (t->step == ARC_TUNE__FINAL) {
    if (racing == 1) arc_tune__finish(t, t->leader);
  } else if (t->spent < 0.75 * t->budget && (unsure || t->step == ARC_TUNE__COARSE)) {
    if (!unsure) t->step = ARC_TUNE__FINE;
  } else if (t->leader == t->incumbent) {
    arc_tune__finish(t, t->leader);
  } else {
    for (int i = 0; i < n; ++i) t->candidate[i].state = ARC_TUNE__DROPPED;
    t->candidate[t->leader].state = t->candidate[t->incumbent].state = ARC_TUNE__RACES;
    t->candidate[t->leader].times = t->candidate[t->incumbent].times = 1;
    t->step = ARC_TUNE__FINAL;
  }
}

/* ---- >>calls -------------------------------------------------------------------------------- */
/* Returns the policy of the next launch; call it once per launch. Host cost: nanoseconds between
   tunings, about a microsecond during one. A candidate with fewer than two known times may be very
   slow: the tuner has at most one such launch under way, and counts it as lost once a launch 9
   later has been reported. */
static inline arc_tune_policy arc_tune_next(arc_tune *t) {
  arc_tune_policy policy = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  int count = 0, drawn = t->leader;
  if (t->config.policies == 0) return policy;
  if (t->rest == 0 && t->step == ARC_TUNE__IDLE) {
    memset(t->candidate, 0, sizeof t->candidate);
    t->candidate[t->incumbent].state = ARC_TUNE__RACES;
    t->leader = t->incumbent, t->step = ARC_TUNE__COARSE;
    t->timed = 0, t->spent = 0.0, t->noise = 0.1;
  }
  if (t->rest == 0 && t->spent >= t->budget) arc_tune__finish(t, t->incumbent);
  t->rest -= t->rest > 0;
  if (t->step == ARC_TUNE__IDLE) return t->result.choice;
  for (int i = 0; i < t->config.policies; ++i) {
    unsigned awaited = t->candidate[i].times < 2 ? t->candidate[i].awaited : 0;
    int is_open = awaited != 0 && (int)(t->newest - awaited) <= 8;
    if (t->candidate[i].state != ARC_TUNE__RACES || is_open) continue;
    t->random = t->random * 1664525u + 1013904223u;
    if ((t->random >> 8) % (unsigned)++count == 0) drawn = i;
  }
  policy = t->config.policy[drawn];
  policy.ticket = t->candidate[drawn].awaited = ++t->ticket;
  t->slot[policy.ticket % ARC_TUNE__SLOTS] = (short)(1 + drawn);
  t->spent += 0.01;
  return policy;
}

/* Reports the time of a launch. Returns ARC_TUNE_ERROR_REPORT if the ticket is not awaited, as
   after 256 further launches: then nothing happens; or if the time is not within 0.001 .. 1e12:
   then the launch counts as not timed. */
static inline int arc_tune_report(arc_tune *t, unsigned ticket, double time_us) {
  short *slot = &t->slot[ticket % ARC_TUNE__SLOTS];
  const int i = *slot - 1;
  if (t->ticket - ticket >= ARC_TUNE__SLOTS || i < 0) return ARC_TUNE_ERROR_REPORT;
  *slot = 0;
  if ((int)(ticket - t->newest) > 0) t->newest = ticket;
  if (t->candidate[i].awaited == ticket) t->candidate[i].awaited = 0;
  if (!(time_us >= 0.001 && time_us <= 1e12)) return ARC_TUNE_ERROR_REPORT;
  arc_tune__take(t, i, time_us);
  if (t->timed >= 8) arc_tune__decide(t, i);
  return ARC_TUNE_OK;
}

/* ---- >>cuda: events around the launches of one tuner, on one device; nothing waits for it ---- */
#if defined(__CUDACC__) || defined(ARC_TUNE_CUDA)
#include <cuda_runtime_api.h>
typedef struct arc_tune_cuda {
  arc_tune *tune;                        /* set it; zero all other fields first */
  cudaEvent_t event[ARC_TUNE__SLOTS][2]; /* start and stop; made when first used */
  unsigned ended[ARC_TUNE__SLOTS];       /* the ticket whose two events are recorded */
} arc_tune_cuda;

static inline int arc_tune__cuda_ok(cudaError_t error) {
  return error == cudaSuccess || (cudaGetLastError(), 0); /* clears it: there was none before it */
}

/* Not while the stream is captured, or unknown because another one is; nor after an error of the
   program, which the tuner's calls would hide. */
static inline int arc_tune__may_record(cudaStream_t stream) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaPeekAtLastError() == cudaSuccess &&
         arc_tune__cuda_ok(cudaStreamIsCapturing(stream, &status)) &&
         status == cudaStreamCaptureStatusNone;
}
static inline int arc_tune__record(cudaEvent_t *event, cudaStream_t stream) {
  return (*event != NULL || arc_tune__cuda_ok(cudaEventCreate(event))) &&
         arc_tune__cuda_ok(cudaEventRecord(*event, stream));
}

/* Returns the policy of the next launch and times it: begin before the launch, end after it, both
   on its stream. Pairs on several streams may interleave. While the stream is captured into a
   graph, the tuning pauses. Host cost: microseconds during a tuning, else no CUDA call. close frees
   the events. */
static inline arc_tune_policy arc_tune_cuda_begin(arc_tune_cuda *timer, cudaStream_t stream) {
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; /* another's capture goes on */
  arc_tune *t = timer->tune;
  if (t->rest != 0) return arc_tune_next(t);
  if (!arc_tune__may_record(stream)) return t->result.choice;
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  for (unsigned age = ARC_TUNE__SLOTS; age-- > 0;) { /* up to the first that is not over */
    unsigned ticket = t->ticket - age, i = ticket % ARC_TUNE__SLOTS;
    float ms = 0.0f;
    if (timer->ended[i] != ticket || t->slot[i] == 0) continue;
    if (!arc_tune__cuda_ok(cudaEventQuery(timer->event[i][1]))) break;
    (void)arc_tune__cuda_ok(cudaEventElapsedTime(&ms, timer->event[i][0], timer->event[i][1]));
    arc_tune_report(t, ticket, 1000.0 * ms);
  }
  arc_tune_policy p = arc_tune_next(t);
  if (p.ticket != 0 && !arc_tune__record(timer->event[p.ticket % ARC_TUNE__SLOTS], stream))
    arc_tune_report(t, p.ticket, 0.0);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  return p;
}
static inline void arc_tune_cuda_end(arc_tune_cuda *timer, cudaStream_t stream, arc_tune_policy p) {
  unsigned i = p.ticket % ARC_TUNE__SLOTS;
  if (timer->tune->ticket - p.ticket >= ARC_TUNE__SLOTS || timer->ended[i] == p.ticket) return;
  if (arc_tune__may_record(stream) && arc_tune__record(&timer->event[i][1], stream))
    timer->ended[i] = p.ticket;
  else
    arc_tune_report(timer->tune, p.ticket, 0.0);
}
static inline void arc_tune_cuda_close(arc_tune_cuda *timer) {
  for (int i = 0; i < 2 * ARC_TUNE__SLOTS; ++i)
    if (timer->event[i / 2][i % 2] != NULL) (void)cudaEventDestroy(timer->event[i / 2][i % 2]);
  memset(timer, 0, sizeof *timer);
}
#endif
#endif /* ARC_TUNE_H */
