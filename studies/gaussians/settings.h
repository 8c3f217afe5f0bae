/* arc study gaussians: settings of rendering and of training.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which tiles get a splat: those of the square around the circle of 3.33 standard
   deviations along its longer axis, whatever its opacity; those of the tight box of its ellipse of
   alpha 1/255; or those of the box that this ellipse reaches. The image is the same. */
typedef enum tile_test { TILE_CIRCLE = 1, TILE_BOX, TILE_EXACT } tile_test;

typedef struct frame_settings {
  tile_test test;
  bool reproducible; /* sums in whole numbers */
  int threshold;     /* of the backward pass */
  float background[3];
} frame_settings;

typedef struct train_settings {
  frame_settings frame;
  int search; /* a threshold_search; of nobody the threshold is the frame's */
  int iterations, sh_degree;
  int batch;        /* views of a step, which counts as so many iterations */
  bool full_degree; /* from the start, for a model that has been trained before */
  unsigned seed;
  int densifies;                                               /* 0, 1 */
  int densify_from, densify_until, densify_every, reset_every; /* iterations */
  float densify_pull; /* the mean pull, in halves of the picture's sides, from which it is cloned */
  int most_gaussians;
} train_settings;
