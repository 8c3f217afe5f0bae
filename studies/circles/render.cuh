/* arc study circles: pixels, warps and what reaches them, the same for both directions.
   SPDX-License-Identifier: Apache-2.0

   A block paints a box of 16 x 16 pixels, a warp 8 x 4 of them, a lane one. The circles of a box's
   list go through shared memory, the front one first. A warp takes 32 circles at a time: each lane
   tests whether one circle reaches the warp's pixels, then the warp visits those that do. */
#pragma once

#include "circles.h"

#define WHOLE_WARP 0xffffffffu
/* Where less is left to see through, a pixel is done: no more than 1/4 of 1/255 is missing. */
#define LEAST_TRANSMITTANCE (1.0f / 1024.0f)

/* The pixel centres x0..x1 by y0..y1. */
typedef struct rectangle {
  float x0, y0, x1, y1;
} rectangle;

DEVICE rectangle rectangle_of_box(box_lists l, int box) {
  float x = (float)(box % l.columns * l.side), y = (float)(box / l.columns * l.side);
  return {x + 0.5f, y + 0.5f, x + (float)l.side - 0.5f, y + (float)l.side - 0.5f};
}

DEVICE bool circle_reaches(float x, float y, float radius, rectangle r) {
  float dx = fmaxf(fmaxf(r.x0 - x, x - r.x1), 0.0f);
  float dy = fmaxf(fmaxf(r.y0 - y, y - r.y1), 0.0f);
  float reach = radius + 0.5f;
  return dx * dx + dy * dy < reach * reach;
}

typedef struct pixel {
  float x, y;  /* its centre */
  int at;      /* its first float in the picture */
  bool inside; /* the last boxes of a row or column stick out of the picture */
} pixel;

DEVICE pixel pixel_of_lane(int width, int height, int columns, int box) {
  int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
  int column = box % columns * BOX_SIDE + warp % 2 * 8 + (lane & 7);
  int row = box / columns * BOX_SIDE + warp / 2 * 4 + (lane >> 3);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < width && row < height;
  p.at = p.inside ? 3 * (row * width + column) : 0;
  return p;
}

DEVICE rectangle rectangle_of_warp(pixel p) {
  int lane = (int)threadIdx.x & 31;
  float left = p.x - (float)(lane & 7), top = p.y - (float)(lane >> 3);
  return {left, top, left + 7.0f, top + 3.0f};
}

/* A circle as seen from a pixel: where from, and t of the head of circles.h. */
typedef struct circle_view {
  float dx, dy, per_distance, t;
} circle_view;

DEVICE bool is_done(float transmittance) { return transmittance < LEAST_TRANSMITTANCE; }

DEVICE circle_view view_circle(const circle *c, pixel p, float transmittance) {
  circle_view v;
  v.dx = p.x - c->x;
  v.dy = p.y - c->y;
  float square = fmaxf(v.dx * v.dx + v.dy * v.dy, 1e-12f); /* at the centre no side is nearer */
  v.per_distance = rsqrtf(square);
  v.t = __saturatef(c->radius + 0.5f - square * v.per_distance);
  if (is_done(transmittance)) v.t = 0.0f;
  return v;
}

DEVICE float coverage_of(float t) { return t * t * (3.0f - 2.0f * t); }

DEVICE int list_begin(box_lists l, int box) { return l.offsets[box * l.parts]; }

/* The whole block calls: the last circles of the list from place `begin` to `end`, as many as the
   block has threads, the front one first. Returns how many. */
DEVICE int load_batch(circle *batch, const circle *circles, const int *list, int begin, int end) {
  int count = min(end - begin, (int)blockDim.x), mine = end - 1 - (int)threadIdx.x;
  if (mine >= end - count) {
    int key = list[mine];
    circle c = circles[key];
    c.key = key;
    batch[threadIdx.x] = c;
  }
  __syncthreads();
  return count;
}

/* Which circles of the batch, `group` to group + 31 and below count, reach the warp's pixels, from
   the highest bit down; none where all of these are done. The whole warp calls. */
DEVICE unsigned circles_of_warp(const circle *batch, int group, int count, pixel p,
                                float transmittance) {
  int k = group + 31 - ((int)threadIdx.x & 31);
  const circle *c = &batch[min(k, count - 1)];
  bool reaches = circle_reaches(c->x, c->y, c->radius, rectangle_of_warp(p)) & (k < count);
  if (__all_sync(WHOLE_WARP, is_done(transmittance))) return 0u;
  return __ballot_sync(WHOLE_WARP, reaches);
}

/* Takes the next one out of *rest, which is not 0: its place in the group. */
DEVICE int next_circle(unsigned *rest) {
  int place = __clz((int)*rest);
  *rest ^= 0x80000000u >> place;
  return place;
}
