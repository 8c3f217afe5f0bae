/* arc studies: what the papers' workloads share: options, iterations, the tuner, measuring, and
   the papers' table. SPDX-License-Identifier: Apache-2.0

   A program fills a `workload` and calls workload_main. Its options, beside the program's own:

     --path NAME, --threshold N, --tune     how the gradient step adds
     --dataset NAME                         one of the datasets of --experiment
     --iterations N, --seed N, --out FILE   how to train, and where the picture goes
     --compare-paths                        the gradient step alone, by every way, in one table
     --experiment FILE                      the papers' table: every way and threshold on every
                                            dataset; adds its rows to FILE

   The last two are in studies/papers. An iteration is forward(), gradient(), update(). Only
   gradient() is timed: on the GPU by events, on the CPU warp by a *model* in studies/papers, from
   the counted operations. */
#pragma once

#include <math.h>

#include "device.h"
#include "../../bench/common/option_table.h"
#include "search.h"

/* The ways that all share (ways.cuh); a program's own follow, from WAYS on. */
enum {
  WAY_PLAIN,      /* an atomicAdd for every value: what arc replaces */
  WAY_SERIALIZED, /* the papers' SW-S, through arc */
  WAY_BUTTERFLY,  /* the papers' SW-B, through arc */
  WAY_AUTO,       /* arc decides */
  WAY_CUB,        /* cub::WarpReduce a value; GPU only */
  WAY_CG,         /* cooperative groups: labeled_partition and reduce; GPU only */
  WAYS,
  WAY_COUNT = -1 /* adds nothing, counts lanes and keys of each step */
};

/* Those of the GPU alone are left out on the CPU warp. */
static inline bool way_runs_here(int way) {
  return !SIMT_ON_CPU || (way != WAY_CUB && way != WAY_CG);
}

/* Of those that all share: whether it takes the balancing threshold. */
static inline bool way_has_threshold(int way) {
  return way == WAY_SERIALIZED || way == WAY_BUTTERFLY || way == WAY_AUTO;
}

typedef struct workload_options {
  int way, threshold; /* threshold: 0 to 33, or ARC_THRESHOLD_AUTO */
  bool tune, compare;
  int iterations, seed;
  const char *dataset, *out, *experiment; /* null: not asked for */
  const char *file;                       /* begin() may set it: what the table calls the dataset */
} workload_options;

/* Against what is to be learnt; not-a-number where there is none. PSNR in dB. */
typedef struct workload_quality {
  double train_psnr, train_l1, test_psnr, test_l1;
} workload_quality;

/* One parameter row's gradients, on the device. */
typedef struct workload_sums {
  const float *data;
  size_t count; /* floats */
} workload_sums;

typedef struct workload {
  const char *name;            /* of the program, and in the table */
  option *options;             /* what it does, and its own; ends with an empty line */
  const char *const *datasets; /* for --experiment; the last is null */
  unsigned ways;               /* bit w: way w is offered; plain always is, WAYS and more too */
  const char *const *own_ways; /* names of WAYS, WAYS + 1, ...; the last is null. Null: none */
  unsigned thresholds;         /* bit w: own way w takes the balancing threshold */
  int iterations;              /* by default */

  /* Makes everything. dataset: one of them; null: what the options say. May print lines
     "word       what it is". o->iterations may be lowered: 0, nothing is trained on it. False, with
     the error set: an input or an option is wrong. What takes long looks at `interrupts`; of what
     is left incomplete only end() is called. */
  bool (*begin)(const char *dataset, workload_options *o, error_line *error);
  void (*reset)(void);                      /* parameters as after begin */
  void (*forward)(int iteration);           /* up to the gradient step; clears its sums */
  void (*gradient)(int way, int threshold); /* launches it, once or again and again */
  void (*update)(int iteration);            /* takes the step */
  workload_sums (*sums)(void);              /* what gradient() adds to */
  /* After so many iterations; false: the result is wrong. Null: there is nothing to judge. What it
     says after an interrupt is not used. */
  bool (*judge)(int iterations, workload_quality *quality, error_line *error);
  bool (*write)(const char *file, error_line *error); /* --out; null: not offered */
  void (*end)(void);
} workload;

/* Returns the exit status: 0 done, 1 failed, 2 wrong usage or input, 128 + signal interrupted. */
int workload_main(int argc, char **argv, const workload *w);

const char *workload_way_name(const workload *w, int way);

/* On the device, for kernels of WAY_COUNT: 33 numbers by active lanes, 33 by different keys. */
enum { WORKLOAD_COUNTS = 66 };
unsigned long long *workload_counts(void);

/* ---- measuring (studies/papers) ------------------------------------------------------------- */

/* Both return the exit status.
   Of what has begun: every way's gradient step alone, in one table, its sums against those of plain
   atomics. */
int experiment_compare(const workload *w, const workload_options *o);

/* Every way, at the papers' five thresholds and arc's own, on every dataset: rows of o->experiment,
   of its gradient step alone, and of a training by each way at its best one. After an interrupt the
   rows so far are written; after a wrong sum the file is as it was. */
int experiment_run(const workload *w, const workload_options *o);

/* Milliseconds that an H200 would take, by the counts of the CPU warp; there only. */
float experiment_model_ms(void);

/* What it needs. */

/* What a training or a measurement of one way gave; not-a-number: was not measured. */
typedef struct workload_outcome {
  int way, threshold, iterations = 0;
  float forward_ms = NAN;  /* median, if bench measures it */
  float gradient_ms = NAN; /* the same of gradient(); on the CPU warp modelled, for an H200 */
  double seconds = NAN, millijoules = NAN, error = NAN;
  workload_quality quality = {NAN, NAN, NAN, NAN};
} workload_outcome;

/* From a reset through o->iterations, or to Ctrl-C. */
workload_outcome workload_train(const workload *w, const workload_options *o, int way,
                                int threshold, threshold_search search);
/* Its quality; false: it is wrong. */
bool workload_judge(const workload *w, workload_outcome *its, error_line *error);

/* Milliseconds of one launch. */
float workload_time_gradient(const workload *w, int way, int threshold);

int workload_way_count(const workload *w);
bool workload_offers(const workload *w, int way);
bool workload_has_threshold(const workload *w, int way);
/* "-" where the way takes none, and is run with ARC_THRESHOLD_AUTO. */
std::string workload_threshold_word(const workload *w, const workload_outcome *its);
