// model.h -- the cost model: clocks from counts.
// SPDX-License-Identifier: Apache-2.0
//
// Issue side: what the counted instructions, and what always comes with them, occupy of a
// scheduler, in clocks per warp instruction; and what the caller says of the rest. Beside it works
// the unit that shuffles and reductions pass through. Memory side: what the second-level cache
// charges for a reduction: a request each, or something for each 32-byte sector and for each lane
// on an address already hit, whichever is more. README.md says where the constants come from.
#ifndef SIMT_ENGINE_MODEL_H
#define SIMT_ENGINE_MODEL_H

#include "model_gpu.h"

double simt_model_clocks(const struct simt_counters *c, const char *gpu) {
  for (const model_gpu &g : model_gpus) {
    if (!gpu || strcmp(gpu, g.name) != 0) continue;
    double issue = (double)c->shuffles * g.shuffle + (double)c->votes * g.vote +
                   (double)c->matches * g.match + (double)c->redux * g.redux +
                   (double)c->scans * g.scan + (double)c->warp_syncs * g.sync +
                   (double)c->reductions * g.reduction_issue + (double)c->uncounted;
    double unit = (double)c->shuffles * g.shuffle_unit + (double)c->reductions * g.reduction_unit;
    double requests = (double)c->reductions / g.requests_per_clock;
    double lanes =
        (double)c->sectors / g.sectors_per_clock + (double)c->conflicts / g.conflicts_per_clock;
    double memory = requests > lanes ? requests : lanes;
    issue = (issue > unit ? issue : unit) / g.schedulers;
    return g.sides_overlap ? (issue > memory ? issue : memory) : issue + memory;
  }
  return -1.0;
}

#endif
