/* arc example circles: circles, and scenes of them.
   SPDX-License-Identifier: Apache-2.0

   A circle covers a pixel whose centre is d pixels from its own by

       coverage = t t (3 - 2 t),   t = radius - d + 1/2, clamped to 0..1,

   so that its edge fades over one pixel and a derivative by position and radius is there. In order
   of their numbers, circles are painted over a white picture:

       alpha = opacity coverage,   colour of the pixel <- (1 - alpha) colour + alpha colour of it */
#ifndef CIRCLES_SCENE_H
#define CIRCLES_SCENE_H

#include <vector>

#include "../common/output_file.h"

#define BACKGROUND 1.0f
#define LARGEST_OPACITY 0.99f /* the backward pass divides by 1 - alpha */

/* Position and radius in pixels, from the top left corner; opacity 0 to LARGEST_OPACITY. As floats
   a row of CIRCLE_ROW, as its gradients are. */
typedef struct alignas(16) circle {
  float x, y, radius, opacity, red, green, blue;
  int key; /* its number; only in shared memory */
} circle;

/* The parameters of a circle, and the sums of a row of gradients. */
enum { SUM_X, SUM_Y, SUM_RADIUS, SUM_OPACITY, SUM_RED, SUM_GREEN, SUM_BLUE, CIRCLE_WIDTH };
enum { CIRCLE_ROW = 8 };

typedef struct scene {
  int width, height;
  std::vector<circle> circles;
} scene;

enum { SCENE_FIT, SCENE_3, SCENE_10K, SCENE_100K, SCENE_BIGLITTLE, SCENES };
extern const char *const scene_names[SCENES + 1]; /* the last is null */
int scene_circles(int kind);                      /* how many it has by default */

scene scene_make(int kind, int width, int height, int circles, unsigned long long seed);

#endif
