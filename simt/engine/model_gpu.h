// model_gpu.h -- the constants of the cost model; C as well as C++.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_MODEL_GPU_H
#define SIMT_ENGINE_MODEL_GPU_H

struct model_gpu {
  const char *name;
  double schedulers;
  double shuffle, vote, match, redux, scan, sync, reduction_issue;    // clocks of one scheduler
  double shuffle_unit, reduction_unit;                                // of its unit, likewise
  double requests_per_clock, sectors_per_clock, conflicts_per_clock;  // the whole chip
  int sides_overlap;  // 1: the larger side counts, 0: their sum
};
static const struct model_gpu model_gpus[] = {
    {"h200", 132 * 4, 2.5, 8, 6, 8, 4, 1, 5.5, 5, 4, 46, 56, 40, 1},
    {"generic", 1, 4, 8, 6, 8, 4, 1, 5.5, 0, 0, 0.1, 0.1, 0.1, 0},
};

#endif
