/* arc study pagerank: ranks on the device, by pushing along edges. SPDX-License-Identifier:
   Apache-2.0 */
#pragma once

#include "../common/workload.h"
#include "graph.h"

#define DAMPING 0.85

/* Who takes an edge: a thread its own, or a thread all edges of a vertex. */
enum { BY_EDGE, BY_VERTEX, BYS };
/* How what is pushed is added, beside the ways that workloads share. */
enum { WAY_ATOMRED = WAYS, RANK_WAYS };

typedef struct ranking {
  const graph *g;
  device_pool arrays;
  int *source, *target;
  long long *begin;
  float *rank, *share, *sums;
  double *dangling;
} ranking;

void ranking_begin(ranking *r, const graph *g);
void ranking_end(ranking *r);

/* All ranks are 1 / vertices. */
void ranking_reset(ranking *r);

/* One iteration is these three: what each vertex gives along an edge, the pushes, the new ranks.
   counts: of WAY_COUNT, on the device. */
void ranking_divide(ranking *r);
void ranking_push(ranking *r, int by, int way, int threshold, unsigned long long *counts);
void ranking_apply(ranking *r);

std::vector<float> ranking_read(const ranking *r);
