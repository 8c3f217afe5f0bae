/* arc example circles: the renderer on the device. SPDX-License-Identifier: Apache-2.0

   renderer_lists    which circles reach which box of the picture, in the order of painting
   renderer_draw     the picture
   renderer_gradient the squared difference from a target, by every parameter of every circle
   renderer_update   a step of Adam against it */
#ifndef CIRCLES_RENDER_H
#define CIRCLES_RENDER_H

#include "../common/device.h"
#include "../common/image_io.h"
#include "scene.h"

/* Boxes of side x side pixels and, for each, the numbers of the circles that reach it, ascending.
   Each list is made by `parts` warps: part p of box b is list[offsets[b * parts + p]] and on. */
typedef struct box_lists {
  int side, columns, boxes, parts;
  int *offsets; /* boxes * parts + 1 */
  int *list;    /* null: every box has all circles */
} box_lists;

/* A block of threads draws block x block pixels, which lie in one box. */
typedef struct canvas {
  int width, height;
  int block, columns, blocks;
} canvas;

enum { LEVEL_COARSE, LEVEL_FINE, LEVELS };

typedef struct renderer {
  canvas c;
  int count, step;
  device_memory memory;
  device_array circles, sums, first_moments, second_moments, picture, target;
  device_array counts, scratch, offsets[LEVELS], lists[LEVELS];
  box_lists levels[LEVELS];
} renderer;

/* block: 8 or 16. target: null, where there is nothing to fit. */
void renderer_begin(renderer *r, const scene *s, const image *target, int block);
void renderer_end(renderer *r);

/* The circles are those of the scene; nothing is known of earlier steps. */
void renderer_reset(renderer *r, const scene *s);

/* box: the side of one, a power of two, at least the canvas's block. */
void renderer_lists(renderer *r, int box);
void renderer_draw(renderer *r);
/* threshold: of arc's ways. The sums have to be 0 before. */
void renderer_gradient(renderer *r, int way, int threshold, unsigned long long *counts);
/* size: of the step, 1 at the start. */
void renderer_update(renderer *r, float size);
void renderer_clear_sums(renderer *r);

void renderer_read(const renderer *r, float *rgb); /* 3 floats a pixel */

#endif
