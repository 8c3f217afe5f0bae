/* arc example gaussians: what training may be told.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_SETTINGS_H
#define GAUSSIANS_SETTINGS_H

#include "paths.h"

/* Which tiles get a splat: those of the square around the circle that the field draws around its
   longer axis, blind to opacity; those of the tight box of what is at least 1/255 opaque; or those
   of the box that this ellipse truly reaches. The image is the same. */
typedef enum tile_test { TILE_CIRCLE = 1, TILE_BOX, TILE_EXACT } tile_test;

typedef struct frame_settings {
  tile_test test;
  bool asks;  /* which warps a splat reaches, forward, and remembers it: pixels.cuh */
  bool rows;  /* sums in padded rows instead of four arrays */
  int pixels; /* a lane of the backward pass draws: 1, 2 or 4 */
  add_path path;
  int threshold;
  float background[3];
} frame_settings;

typedef struct train_settings {
  frame_settings frame;
  bool tunes; /* picks path and threshold while training, in place of the frame's */
  int iterations, sh_degree;
  bool full_degree; /* from the start, for a model that has been trained before */
  unsigned seed;
  bool densifies;
  int densify_from, densify_until, densify_every, reset_every; /* iterations */
  float densify_pull; /* the mean pull, in halves of the picture's sides, from which it is cloned */
  int most_gaussians;
} train_settings;

#endif
