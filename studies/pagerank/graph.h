/* arc study pagerank: a directed graph, read or generated. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <vector>

#include "../../bench/common/output_file.h"

enum { GRAPH_MOST_SCALE = 26, GRAPH_MOST_DEGREE = 256 };
enum { GRAPH_MOST_NUMBER = 1000000, GRAPH_MOST_PER_EDGE = 100 };

/* Edges are sorted by source: those of vertex v are [begin[v], begin[v + 1]). */
typedef struct graph {
  int vertices;
  long long edges;
  std::vector<int> source, target;
  std::vector<long long> begin;
} graph;

/* A list of edges as SNAP publishes them: a line "from to" of whole numbers from 0 on for each,
   lines that begin with # are left out. There are as many vertices as the largest number asks for,
   of which GRAPH_MOST_NUMBER and GRAPH_MOST_PER_EDGE for each edge are accepted: a short file does
   not take all memory. False, with the line that is wrong, if it cannot be read; or if it was
   interrupted. */
bool graph_read(graph *g, const char *path, error_line *error);

/* 2^scale vertices, `degree` edges for each, by R-MAT with the probabilities of Graph500 (0.57,
   0.19, 0.19, 0.05): degrees follow a power law. Numbers of vertices are shuffled. False: it was
   interrupted. */
bool graph_generate(graph *g, int scale, int degree, unsigned long long seed, error_line *error);

/* Power iteration in double precision, one vertex after the other, up to an interrupt. */
void graph_rank_serially(const graph *g, double damping, int iterations, double *rank);
