/* arc example hashgrid: what is learnt, and where samples of it lie. SPDX-License-Identifier:
   Apache-2.0 */
#ifndef HASHGRID_SCENE_H
#define HASHGRID_SCENE_H

#include "../common/device.h"

enum { SCENE_PICTURE, SCENE_DISTANCE, SCENES };
/* Random: each sample by itself. Rays: RAY_SAMPLES after each other along a line between two random
   points of the square's or cube's surface. Lattice: pixel by pixel, in the plane z = 1/2. */
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

#endif
