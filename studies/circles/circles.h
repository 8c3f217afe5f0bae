/* arc study circles: circles, scenes of them, and the renderer on the device.
   SPDX-License-Identifier: Apache-2.0

   If the centres of a circle and of a pixel are d pixels apart, the circle covers the pixel by

       coverage = t t (3 - 2 t),   t = radius - d + 1/2, clamped to 0..1,

   so its edge fades over one pixel, and the coverage has derivatives by position and radius.
   Circles are painted over a white picture in the order of their numbers:

       alpha = opacity coverage,   colour of the pixel <- (1 - alpha) colour + alpha colour of it

   loss = sum over pixels and channels of (picture - target)^2 */
#pragma once

#include <vector>

#include "../common/device.h"
#include "../common/image_io.h"

#define BACKGROUND 1.0f
#define LARGEST_OPACITY 0.99f /* the backward pass divides by 1 - alpha */

/* The CPU warp draws a smaller picture. */
enum { DEFAULT_WIDTH = SIMT_ON_CPU ? 96 : 1024, DEFAULT_HEIGHT = SIMT_ON_CPU ? 64 : 768 };

/* Position and radius in pixels, from the top left corner; opacity 0 to LARGEST_OPACITY. As floats
   a row of CIRCLE_ROW, as its gradients are. */
typedef struct alignas(16) circle {
  float x, y, radius, opacity, red, green, blue;
  int key; /* its number; only in shared memory */
} circle;

enum { SUM_X, SUM_Y, SUM_RADIUS, SUM_OPACITY, SUM_RED, SUM_GREEN, SUM_BLUE, CIRCLE_WIDTH };
enum { CIRCLE_ROW = 8 };

typedef struct scene {
  int width, height;
  std::vector<circle> circles;
} scene;

enum { SCENE_3, SCENE_FIT, SCENE_10K, SCENE_100K, SCENE_BIGLITTLE, SCENES };
extern const char *const scene_names[SCENES + 1]; /* the last is null */
int scene_circles(int kind);                      /* how many it has by default */
scene scene_make(int kind, int width, int height, int circles, int seed);

/* The picture, circle after circle in double precision: what renderers are held against. 3 numbers
   a pixel. */
std::vector<double> scene_draw_serially(const scene *s); /* up to an interrupt */

/* ---- the renderer --------------------------------------------------------------------------- */

enum { BOX_SIDE = 16, BOX_PIXELS = BOX_SIDE * BOX_SIDE };

/* Boxes of side x side pixels and, for each, the numbers of the circles that reach it, ascending.
   Each list is made by `parts` warps: part p of box b is list[offsets[b * parts + p]] and on. */
typedef struct box_lists {
  int side, columns, boxes, parts;
  int *offsets; /* boxes * parts + 1 */
  int *list;    /* null: every box has all circles */
  int capacity; /* of the list */
} box_lists;

enum { LEVEL_COARSE, LEVEL_FINE, LEVELS };

typedef struct renderer {
  int width, height, count, step;
  device_pool arrays; /* of the next, as long as the renderer */
  circle *circles;
  float *sums, *means, *squares, *picture, *target; /* rows of circles; 3 floats per pixel */
  device_memory memory;
  device_array counts, scratch, offsets[LEVELS], lists[LEVELS];
  box_lists levels[LEVELS];
} renderer;

/* target: null, where there is nothing to fit. */
void renderer_begin(renderer *r, const scene *s, const image *target);
void renderer_end(renderer *r);

/* The circles are those of the scene; nothing is known of earlier steps. */
void renderer_reset(renderer *r, const scene *s);

/* Which circles reach which box of BOX_SIDE. */
void renderer_lists(renderer *r);

/* Draws, or adds the loss's derivatives by each parameter to the sums, in a way of workload.h.
   counts: of WAY_COUNT. */
enum { PASS_DRAW = -2 };
void renderer_pass(renderer *r, int way, int threshold, unsigned long long *counts);
void renderer_clear_sums(renderer *r);
/* A step of Adam against the sums; size: 1 at the start. */
void renderer_update(renderer *r, float size);
std::vector<float> renderer_read(const renderer *r); /* 3 floats per pixel */
