/* arc study gaussians: pixels, warps and their splats, the same for both directions.
   SPDX-License-Identifier: Apache-2.0

   A block serves a tile; 256 splats at a time go through shared memory. A lane has one pixel; in
   the backward pass it has `pixels` pixels of one column, and the block has 256 / pixels threads. A
   warp covers 8 x 4 pixels for each pixel of a lane: 8 x 4 with one, 8 x 8 with two. It does not
   cover lines of the tile, since a splat hits most of a compact rectangle or nothing. Before a warp
   of the forward pass walks over 32 staged splats, each lane tests whether one splat reaches the
   warp's rectangle; the warp then visits only the splats that do. The warp stores a bit for each
   splat that hit a pixel, and the backward pass visits only those splats. */
#pragma once

#include "ellipse.cuh"

enum { TILE_WARPS = TILE_PIXELS / 32, WARP_COLUMNS = 8, WARP_ROWS = 4 };

typedef struct picture_planes {
  float *colour;        /* all red, all green, all blue */
  float *transmittance; /* what is left of the background at each pixel */
  int *drawn;           /* how far into its tile's list a pixel looked: the last hit, plus 1 */
  unsigned *hits;       /* which splats hit which warps: word_of_hits; 0 before */
} picture_planes;

/* The bits of 32 splats of a tile's list, for one of its TILE_WARPS warps: splat 32 group + b is
   bit b. Tiles start at a word of their own; begin: of the tile's list. */
DEVICE size_t word_of_hits(int begin, int tile, int group, int warp) {
  return ((size_t)(begin / 32 + tile) + group) * TILE_WARPS + warp;
}

static inline size_t hits_bytes(size_t pairs, size_t tiles) {
  return (pairs / 32 + tiles + 1) * TILE_WARPS * sizeof(unsigned);
}

typedef struct pixel {
  float x, y; /* its centre */
  int index;
  bool inside; /* the last tiles of a row or column stick out of the picture */
} pixel;

/* Pixel i of the calling lane, which has `pixels` of them in that tile; pixels is a literal. */
DEVICE pixel pixel_of_tile(int width, int height, int tiles_x, int tile, int pixels, int i) {
  int thread = (int)threadIdx.x, lane = thread & 31, warp = thread >> 5;
  int column = tile % tiles_x * TILE_SIDE + (warp & 1) * WARP_COLUMNS + (lane & 7);
  int row = tile / tiles_x * TILE_SIDE + ((warp >> 1) * pixels + i) * WARP_ROWS + (lane >> 3);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < width && row < height;
  p.index = p.inside ? row * width + column : 0;
  return p;
}

/* Of the block's tile. */
DEVICE pixel pixel_of_lane(int width, int height, int tiles_x, int pixels, int i) {
  return pixel_of_tile(width, height, tiles_x, (int)blockIdx.x, pixels, i);
}

/* The pixel centres of a warp. */
typedef struct warp_rectangle {
  float x0, y0, x1, y1;
} warp_rectangle;

/* p: pixel 0 of the calling lane, which has `pixels` of them. */
DEVICE warp_rectangle rectangle_of_warp(pixel p, int pixels) {
  int lane = (int)(threadIdx.x & 31u);
  float left = p.x - (float)(lane & 7), top = p.y - (float)(lane >> 3);
  return {left, top, left + (WARP_COLUMNS - 1), top + (float)(WARP_ROWS * pixels - 1)};
}

/* Which of the staged splats group to group + 31 (and below count) this warp has to walk over, from
   the highest bit down. The whole warp calls. */
DEVICE unsigned splats_of_warp(const splat *batch, int group, int count, warp_rectangle r) {
  int k = group + 31 - (int)(threadIdx.x & 31u);
  bool reaches = splat_reaches(&batch[min(k, count - 1)], r.x0, r.y0, r.x1, r.y1);
  return __ballot_sync(WHOLE_WARP, reaches & (k < count));
}

/* Takes the next splat out of *rest, which is not 0: how many of its group come after it. */
DEVICE int next_splat(unsigned *rest) {
  int bit = 31 - __clz((int)*rest);
  *rest ^= 1u << bit;
  return bit;
}

typedef struct render_arguments {
  int width, height, tiles_x;
  tile_lists lists;
  const splat *splats;
  float background[3];
} render_arguments;

/* The whole block, without a barrier: the splats of places 0 to count - 1 into shared memory. */
DEVICE void stage_splats(splat *batch, const render_arguments *r, const int *list, int count,
                         int pixels) {
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    int k = (int)threadIdx.x + i * (TILE_PIXELS / pixels);
    if (k < count) batch[k] = r->splats[list[k]];
  }
}
