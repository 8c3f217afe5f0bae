/* arc example pagerank: ranks on the device, by pushing along edges. SPDX-License-Identifier:
   Apache-2.0 */
#ifndef PAGERANK_RANK_H
#define PAGERANK_RANK_H

#include "../common/device.h"
#include "graph.h"

#define DAMPING 0.85

/* Who takes an edge: a thread its own, or a thread all edges of a vertex. */
enum { BY_EDGE, BY_VERTEX, BYS };
/* How what is pushed is added. */
enum { WAY_PLAIN, WAY_SERIALIZED, WAY_BUTTERFLY, WAY_TREE, WAY_AUTO, WAY_ATOMRED, WAYS };

typedef struct ranking {
  const graph *g;
  device_memory memory;
  device_array source, target, begin, rank, share, sums, dangling;
  cudaEvent_t start, stop;
} ranking;

const char *way_name(int way);
const char *by_name(int by);

void ranking_begin(ranking *r, const graph *g);
void ranking_end(ranking *r);

/* All ranks are 1 / vertices. */
void ranking_reset(ranking *r);

/* One iteration. Returns the milliseconds of the push alone. threshold: of all ways but plain and
   atomred. */
float ranking_step(ranking *r, int by, int way, int threshold);

/* To be freed. */
float *ranking_read(const ranking *r);

#endif
