/* arc example gaussians: settings of drawing.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef GAUSSIANS_SETTINGS_H
#define GAUSSIANS_SETTINGS_H

#include "ways.h"

/* Which tiles get a splat: those of the square around the circle of 3.33 standard
   deviations along its longer axis, whatever its opacity; those of the tight box of its ellipse of
   alpha 1/255; or those of the box that this ellipse reaches. The image is the same. */
typedef enum tile_test { TILE_CIRCLE = 1, TILE_BOX, TILE_EXACT } tile_test;

/* Where the sums of splats lie. */
typedef enum sum_layout {
  SUMS_ARRAYS, /* four arrays, as rasterizers have them */
  SUMS_ROWS,   /* a padded row a splat */
  SUMS_FIXED   /* such rows of 64-bit fixed-point numbers: every run gives the same bits */
} sum_layout;

typedef struct frame_settings {
  tile_test test;
  sum_layout layout;
  int pixels; /* a lane of the backward pass draws: 1, 2 or 4 */
  add_way way;
  int threshold;
  float background[3];
} frame_settings;

#endif
