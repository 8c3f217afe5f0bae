/* model.h - a cost model of a GPU: clocks of the chip from the CPU warp's counts. C and C++.
   SPDX-License-Identifier: Apache-2.0

   A *model* for comparing alternatives, never a time. README.md has the formula, where its
   constants come from, and how far to trust it. */
#ifndef ARC_BENCH_MODEL_H
#define ARC_BENCH_MODEL_H

#include <stddef.h>
#include <string.h>

#include "simt/simt_control.h"

struct model_gpu {
  const char *name;
  double schedulers;
  double shuffle, vote, match, redux, scan, sync, reduction_issue;   /* clocks of one scheduler */
  double shuffle_unit, reduction_unit;                               /* of its unit, likewise */
  double requests_per_clock, sectors_per_clock, conflicts_per_clock; /* of the whole chip */
};
static const struct model_gpu model_gpus[] = {
    {"h200", 132 * 4, 2.5, 8, 6, 8, 4, 1, 5.5, 5, 4, 46, 56, 40},
};

static inline double model_larger(double a, double b) { return a > b ? a : b; }

/* Clocks of the whole chip, evenly loaded. What is not counted, arithmetic above all, the caller
   puts into `uncounted_clocks`: scheduler clocks of all warps together. Negative for a GPU that is
   not in the table. */
static inline double model_clocks(const struct simt_counters *c, double uncounted_clocks,
                                  const char *gpu) {
  const size_t gpu_count = sizeof model_gpus / sizeof model_gpus[0];
  for (const struct model_gpu *g = model_gpus; g < model_gpus + gpu_count; ++g) {
    if (strcmp(gpu, g->name) != 0) continue;
    double issue = (double)c->shuffles * g->shuffle + (double)c->votes * g->vote +
                   (double)c->matches * g->match + (double)c->redux * g->redux +
                   (double)c->scans * g->scan + (double)c->warp_syncs * g->sync +
                   (double)c->reductions * g->reduction_issue + uncounted_clocks;
    double unit = (double)c->shuffles * g->shuffle_unit + (double)c->reductions * g->reduction_unit;
    double requests = (double)c->reductions / g->requests_per_clock;
    double lanes =
        (double)c->sectors / g->sectors_per_clock + (double)c->conflicts / g->conflicts_per_clock;
    return model_larger(model_larger(issue, unit) / g->schedulers, model_larger(requests, lanes));
  }
  return -1.0;
}

/* Scheduler clocks that the sweep's kernel takes around an add, a warp update. Fitted with the
   others. */
static inline double model_kernel_clocks(int width, int keyed) {
  return 45.2 + 1.1 * width + (keyed ? 29.7 : 0.0);
}

#endif
