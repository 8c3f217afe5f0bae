/* arc example gaussians: settings of drawing.
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
