/* arc study hashgrid: a grid and a perceptron, trained together. SPDX-License-Identifier:
   Apache-2.0 */
#pragma once

#include "../common/grid.h"
#include "../common/perceptron.h"

/* ---- what is learnt, and where samples of it lie (scene.cu) ---------------------------------- */

enum { SCENE_PICTURE, SCENE_DISTANCE, SCENES };
/* Random: each sample by itself. Rays: RAY_SAMPLES after each other along the line between two
   random points. Lattice: pixel by pixel, in the plane z = 1/2. */
enum { ORDER_RANDOM, ORDER_RAYS, ORDER_LATTICE };
enum { RAY_SAMPLES = 256 };

typedef struct scene {
  int kind, axes, outputs;
  int width, height; /* of the picture; of a distance, of the slice that is shown */
  const float *rgb;  /* on the device; null: a distance */
} scene;

typedef struct sample_draw {
  int order, samples;
  int first; /* of a lattice */
  unsigned long long seed;
} sample_draw;

/* positions: an array for each axis; targets: for each output. Distances, of a ring and a box, are
   signed, in units of half the cube. */
void scene_draw(const scene *s, const sample_draw *d, float *positions, float *targets);

/* ---- training -------------------------------------------------------------------------------- */

typedef struct trainer_options {
  int order, batch_log2, table_log2, width;
  bool tensor, half_rows; /* the perceptron on tensor cores; gradients of the grid in halves */
  unsigned long long seed;
} trainer_options;

typedef struct trainer {
  trainer_options o;
  scene its;
  grid g;
  perceptron net;
  int samples;
  int hot_levels, threshold[LEVELS]; /* of WAY_LEVELS */
  device_pool arrays;
  float *positions, *targets, *slopes, *outputs;
  void *features, *half_sums;                              /* half_sums: null but for half_rows */
  float *table, *table_sums, *table_moments, *net_moments; /* moments: two of each number */
} trainer;

/* Of a scene whose picture stays on the device as long as the trainer. */
void trainer_begin(trainer *t, const scene *s, const trainer_options *o);
void trainer_end(trainer *t);
void trainer_reset(trainer *t);
/* A batch up to the slopes of its features; clears sums. */
void trainer_forward(trainer *t, int iteration);
/* Of so many levels from the first on. */
void trainer_add(trainer *t, int way, int threshold, int first_level, int levels);
void trainer_clear_sums(trainer *t); /* of the grid */
void trainer_update(trainer *t, int iteration);
/* After trainer_forward: measures thresholds at each level and sets its own; on the CPU warp, which
   has no times, they stay auto. prints: the table of levels too (levels.cu). */
void levels_choose(trainer *t, bool prints);
/* Sums of the grid as floats. */
const float *trainer_sums(trainer *t);
/* Draws a batch and evaluates it: t->outputs beside t->targets. */
void trainer_evaluate(trainer *t, const sample_draw *d);
