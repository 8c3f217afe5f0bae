/* arc studies: a multi-resolution hash grid. SPDX-License-Identifier: Apache-2.0

   A level is a lattice over the unit square or cube, with a row of two features at each corner of
   its cells. A point's features at a level are those of the 4 or 8 corners around it, interpolated.
   Coarse levels have a row for each corner; where a level has more corners than its table has rows,
   a hash of the corner names the row, and corners share rows (Müller et al. 2022, whose primes
   these are). */
#pragma once

#include "workload.h"

enum { LEVELS = 16 /* at most */, FEATURES = 2, MOST_AXES = 3 };

typedef struct grid_level {
  int cells; /* along an axis; corners are one more */
  int first; /* of its rows in the table of all levels */
  int rows;  /* of a hashed level a power of two */
  int hashed;
} grid_level;

typedef struct grid {
  int axes, levels, rows;
  grid_level level[LEVELS];
} grid;

/* From `coarsest` to `finest` cells along an axis, in equal ratios; 2^table_log2 rows per level at
   most. levels: from 2 on. */
grid grid_make(int axes, int levels, int table_log2, int coarsest, int finest);

#define GRID_FN static __host__ __device__ __forceinline__

typedef struct grid_cell {
  int corner[MOST_AXES]; /* the lowest one */
  float part[MOST_AXES]; /* how far across the cell the point lies, 0 to 1 */
} grid_cell;

/* Axis a of the point is position[a * step], 0 to 1. axes: a literal. */
GRID_FN grid_cell cell_of(const grid_level *l, int axes, const float *position, size_t step) {
  grid_cell c = {{0, 0, 0}, {0.0f, 0.0f, 0.0f}};
  for (int a = 0; a < axes; ++a) {
    float place = position[(size_t)a * step] * (float)l->cells;
    int lowest = (int)place;
    c.corner[a] = lowest < l->cells ? lowest : l->cells - 1;
    c.part[a] = place - (float)c.corner[a];
  }
  return c;
}

/* The row, counted from the level's first. Bit a of `which` chooses the higher corner of axis a. */
GRID_FN int corner_row(const grid_level *l, int axes, const grid_cell *c, int which) {
  unsigned x = (unsigned)(c->corner[0] + (which & 1)),
           y = (unsigned)(c->corner[1] + (which >> 1 & 1));
  unsigned z = axes > 2 ? (unsigned)(c->corner[2] + (which >> 2)) : 0u,
           side = (unsigned)l->cells + 1u;
  if (l->hashed) return (int)((x ^ y * 2654435761u ^ z * 805459861u) & (unsigned)(l->rows - 1));
  return (int)(x + side * (y + side * z));
}

GRID_FN float corner_weight(int axes, const grid_cell *c, int which) {
  float weight = 1.0f;
  for (int a = 0; a < axes; ++a) weight *= (which >> a & 1) ? c->part[a] : 1.0f - c->part[a];
  return weight;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A batch of points; arrays of samples, one after the other for each axis. */
typedef struct grid_points {
  const float *positions;
  int samples;
} grid_points;

/* Features of all levels: for each level, a pair for each sample; of halves, or of floats. */
void grid_encode(const grid *g, grid_points points, const float *table, void *features,
                 bool half_features);

/* The ways of this program, beside those of all. */
enum { WAY_VECTOR = WAYS, WAY_LEVELS, GRID_WAYS };

enum { GRID_WIDE = 13 }; /* long longs of a row of wide sums: ARC_WIDE_ROW(FEATURES) */

/* The gradient step: adds `slopes`, the loss by each feature, laid out as features of floats, to
   the rows around each point. */
typedef struct grid_scatter {
  grid g;
  grid_points points;
  const float *slopes;
  float *sums;          /* FEATURES for each row; */
  void *half_sums;      /* or this, which is then not null: halves, added plainly or by auto */
  long long *wide_sums; /* or this, by auto: rows of GRID_WIDE words, the same bits in any run */
  unsigned long long *counts;
  int first_level, levels;
  /* Of WAY_LEVELS: the block form for so many of the coarsest levels; each other's threshold. */
  int hot_levels, threshold[LEVELS];
} grid_scatter;

/* Whether the block form may serve a level. */
bool grid_level_fits_block(const grid *g, int level);
void grid_add(const grid_scatter *s, int way, int threshold);
/* Wide sums as floats; clears them. */
void grid_take_wide(const grid *g, long long *wide_sums, float *sums);
