/* model.h - a cost model of an H200: clocks of the chip from the CPU warp's counts. C and C++.
   SPDX-License-Identifier: Apache-2.0

   A *model* for comparing alternatives, never a time; bench/README.md gives its errors. Its
   constants are fitted to what an H200 took for the cells of --preset paths. A shuffle is charged
   for itself and the addition that follows, a vote for its branch, a match for each different key; a
   scan keeps a unit of its own busy for 8 clocks, of which half overlaps. */
#pragma once

#include "simt/simt_control.h"

static inline double model_larger(double a, double b) { return a > b ? a : b; }

/* Clocks of the whole chip, evenly loaded. What is not counted, arithmetic above all, the caller
   puts into `uncounted_clocks`: scheduler clocks of all warps together. */
static inline double model_clocks(const struct simt_counters *c, double uncounted_clocks) {
  const double schedulers = 132 * 4;
  double shuffles = (double)c->shuffles, requests = (double)c->reductions;
  double issue = uncounted_clocks + 2.5 * shuffles + 8.0 * (double)c->votes +
                 6.0 * (double)c->matches + 8.0 * (double)c->redux + 4.0 * (double)c->scans +
                 1.0 * (double)c->warp_syncs + 5.5 * requests;
  double unit = 5.0 * shuffles + 4.0 * requests;
  double memory =
      model_larger(requests / 46.0, (double)c->sectors / 56.0 + (double)c->conflicts / 40.0);
  return model_larger(model_larger(issue, unit) / schedulers, memory);
}

/* The same at the clock of an H200 under load. */
static inline double model_ms(const struct simt_counters *c) {
  return model_clocks(c, 0.0) / 1.98e6;
}

/* Scheduler clocks that the sweep's kernel takes around an add, a warp update. Fitted with the
   others. */
static inline double model_kernel_clocks(int width, int keyed) {
  return 45.2 + 1.1 * width + (keyed ? 29.7 : 0.0);
}
