/* arc example gaussians: pictures alone: no gradient follows, so the colour is all that is kept.
   SPDX-License-Identifier: Apache-2.0

   After FlashGS (Feng et al., arXiv 2408.07967, 5.2 and 5.3). Opacity lies in the exponent:
   limit - q = log2(255 alpha), so that one subtraction gives both the test of a hit and the
   exponent, and a pixel's sums are 255 times as large until it is stored. A lane draws `pixels`
   pixels of one column, for which what depends on dx alone is computed once. The next splats are
   read while those before them are drawn, and no warp waits for another: a warp reads its tile's
   list by itself. As in pixels.cuh it reads 32 splats at a time, a lane each, and visits those that
   reach its rectangle. */
#pragma once

#include "draw.h"
#include "pixels.cuh"

enum { MOST_PAINTED = 4 }; /* pixels of a lane */

typedef struct painted {
  float red, green, blue;
  float transmittance; /* negative: the pixel is done */
} painted;

/* alpha: 255 times as large where lifted, which is a literal; 0: no hit. Without a branch. Where the
   pixel is done, `rest` is negative, and nothing changes. */
DEVICE void blend(painted *p, const splat *s, float alpha, bool lifted) {
  float weight = fminf(alpha, lifted ? 255.0f * LARGEST_ALPHA : LARGEST_ALPHA);
  float rest = lifted ? p->transmittance : p->transmittance * (1.0f - weight);
  weight *= p->transmittance;
  if (lifted) rest = fmaf(weight, -1.0f / 255.0f, rest);
  bool ends = rest < OPAQUE_TRANSMITTANCE;
  weight = ends ? 0.0f : weight;
  p->red += weight * s->red;
  p->green += weight * s->green;
  p->blue += weight * s->blue;
  p->transmittance = ends ? -fabsf(p->transmittance) : rest;
}

/* The lane's pixels, of which `first` is the uppermost. One splat. skips: a lane that is not hit
   does no more. All but the first three: literals. */
DEVICE void paint_splat(painted *p, const splat *s, pixel first, bool lifted, bool skips,
                        int pixels) {
  float dx = s->x - first.x, dy = s->y - first.y, alpha[MOST_PAINTED];
  float top = fmaf(-s->a * dx, dx, s->limit), slope = s->b * dx;
  bool hits[MOST_PAINTED], any = false;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    float down = dy - (float)(WARP_ROWS * i);
    alpha[i] = lifted ? fmaf(-down, fmaf(s->c, down, slope), top) : splat_distance(s, dx, down);
    hits[i] = splat_hits(s, alpha[i]); /* a done pixel, too: see blend */
    any = any | (hits[i] & (p[i].transmittance > 0.0f));
  }
  if (skips && !any) return;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    float full = lifted ? exp2_fast(alpha[i]) : s->opacity * exp2_fast(-alpha[i]);
    blend(&p[i], s, hits[i] ? full : 0.0f, lifted);
  }
}

DEVICE bool all_done(const painted *p, int pixels) {
  bool done = true;
  UNROLL
  for (int i = 0; i < pixels; ++i) done = done & (p[i].transmittance < 0.0f);
  return done;
}

/* A warp's way through its tile's list, which is not empty: 32 splats at a time. */
template <bool lifted, int pixels>
DEVICE void paint_groups(painted *p, const render_arguments *a, pixel first, int begin, int end) {
  __shared__ splat staged[TILE_WARPS / pixels][32];
  int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
  warp_rectangle r = rectangle_of_warp(first, pixels);
  int at = begin + 31 - lane; /* next_splat starts from the highest bit */
  splat mine = a->splats[a->lists.list[min(at, end - 1)]];
  int index = a->lists.list[min(at + 32, end - 1)];
  for (; begin < end; begin += 32, at += 32) {
    splat next = a->splats[index];
    index = a->lists.list[min(at + 64, end - 1)];
    bool reaches = splat_reaches(&mine, r.x0, r.y0, r.x1, r.y1);
    unsigned rest = __ballot_sync(WHOLE_WARP, reaches & (at < end));
    if (__all_sync(WHOLE_WARP, all_done(p, pixels))) return;
    __syncwarp(); /* all have read those before */
    staged[warp][lane] = mine;
    __syncwarp();
    while (rest != 0u)
      paint_splat(p, &staged[warp][next_splat(&rest)], first, lifted, false, pixels);
    mine = next;
  }
}

/* As the paper has it: all lanes read one splat, the next, and the index of the one after it. */
template <bool lifted, int pixels>
DEVICE void paint_singles(painted *p, const render_arguments *a, pixel first, int begin, int end) {
  enum { STEPS_BETWEEN_VOTES = 8 };
  splat now = a->splats[a->lists.list[begin]];
  int index = a->lists.list[min(begin + 1, end - 1)];
  for (int i = begin; i < end; ++i) {
    splat next = a->splats[index];
    index = a->lists.list[min(i + 2, end - 1)];
    if ((i - begin) % STEPS_BETWEEN_VOTES == 0 && __all_sync(WHOLE_WARP, all_done(p, pixels)))
      return;
    paint_splat(p, &now, first, lifted, true, pixels);
    now = next;
  }
}

/* As training draws: the block reads 256 splats at a time, and waits for all its warps. */
template <bool lifted, int pixels>
DEVICE void paint_batches(painted *p, const render_arguments *a, pixel first, int begin, int end) {
  __shared__ splat batch[TILE_PIXELS];
  warp_rectangle r = rectangle_of_warp(first, pixels);
  for (; begin < end; begin += TILE_PIXELS) {
    int count = min(end - begin, (int)TILE_PIXELS);
    if (__syncthreads_and(all_done(p, pixels))) return;
    stage_splats(batch, a, a->lists.list + begin, count, pixels);
    __syncthreads();
    for (int group = 0; group < count; group += 32) {
      if (__all_sync(WHOLE_WARP, all_done(p, pixels))) break;
      unsigned rest = splats_of_warp(batch, group, count, r);
      while (rest != 0u)
        paint_splat(p, &batch[group + 31 - next_splat(&rest)], first, lifted, false, pixels);
    }
  }
}

/* The units of its macro tile that a warp draws. side, of a unit, and pixels: literals. */
DEVICE unsigned units_of_warp(warp_rectangle r, int side, int pixels) {
  int x = (int)r.x0 / side % MACRO_COLUMNS, y = (int)r.y0 / side % MACRO_ROWS;
  unsigned upper = 1u << (y * MACRO_COLUMNS + x);
  return WARP_ROWS * pixels > side ? upper | upper << MACRO_COLUMNS : upper;
}

/* The tile that the block draws, of macro tile *list; -1: it is outside the picture. Blocks of long
   lists begin first, so that none is left when the others are through. */
DEVICE int tile_of_block(const render_arguments *a, int side, int *list) {
  const int columns = MACRO_COLUMNS * side / TILE_SIDE, rows = MACRO_ROWS * side / TILE_SIDE;
  int k = (int)blockIdx.x % (columns * rows);
  *list = a->lists.order[(int)blockIdx.x / (columns * rows)];
  int x = *list % a->lists.grid.lists_x * columns + k % columns;
  int y = *list / a->lists.grid.lists_x * rows + k / columns;
  return x < a->tiles_x && y * TILE_SIDE < a->height ? y * a->tiles_x + x : -1;
}

/* A warp's way through the list of its macro tile: the Gaussians that reach its units wait in a
   ring, from which 32 at a time are read; those that reach its rectangle, again, are drawn. */
template <bool lifted, int pixels, int side>
DEVICE void paint_masks(painted *p, const render_arguments *a, pixel first, int begin, int end) {
  enum { RING = 64, WHOLE_UNITS = side == WARP_COLUMNS && WARP_ROWS * pixels >= side };
  __shared__ splat staged[TILE_WARPS / pixels][32];
  __shared__ int rings[TILE_WARPS / pixels][RING];
  const masked_gaussian *list = a->lists.masked;
  int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5, found = 0, taken = 0;
  int *ring = rings[warp], drawn = 0; /* splats that are staged */
  const unsigned before = (1u << lane) - 1u;
  warp_rectangle r = rectangle_of_warp(first, pixels);
  unsigned units = units_of_warp(r, side, pixels);
  masked_gaussian here = list[min(begin + lane, end - 1)];
  if (lane == 0) ring[RING - 1] = (int)(here >> 32); /* what is read where none waits */
  for (;;) {
    for (; found - taken < 32 && begin < end; begin += 32) {
      bool waits = (((unsigned)here & units) != 0u) & (begin + lane < end);
      unsigned all = __ballot_sync(WHOLE_WARP, waits);
      int place = found + __popc(all & before);
      if (waits) ring[place & (RING - 1)] = (int)(here >> 32);
      found += __popc(all);
      here = list[min(begin + 32 + lane, end - 1)];
    }
    int count = min(found - taken, 32);
    __syncwarp();
    splat next = a->splats[ring[(taken + min(lane, count - 1)) & (RING - 1)]];
    for (const splat *s = staged[warp]; s < staged[warp] + drawn; ++s)
      paint_splat(p, s, first, lifted, false, pixels);
    if (count == 0 || __all_sync(WHOLE_WARP, all_done(p, pixels))) return;
    bool reaches = WHOLE_UNITS || splat_reaches(&next, r.x0, r.y0, r.x1, r.y1);
    unsigned all = __ballot_sync(WHOLE_WARP, reaches & (lane < count));
    if (all >> lane & 1u) staged[warp][__popc(all & before)] = next;
    drawn = __popc(all);
    taken += count;
    __syncwarp();
  }
}

/* One block a tile; of macro tiles also for those that stick out of the picture. */
template <int walk, bool lifted, int pixels>
__global__ void __launch_bounds__(TILE_PIXELS / pixels) paint(render_arguments a, float *colour) {
  painted p[MOST_PAINTED];
  const int side = walk == WALK_UNITS_8 ? 8 : 16;
  int tile = (int)blockIdx.x, list = tile;
  if (walk >= WALK_UNITS_8) tile = tile_of_block(&a, side, &list);
  if (tile < 0) return;
  pixel first = pixel_of_tile(a.width, a.height, a.tiles_x, tile, pixels, 0);
  int begin = a.lists.first[list], end = a.lists.first[list + 1];
  size_t plane = (size_t)a.width * a.height;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    bool inside = pixel_of_tile(a.width, a.height, a.tiles_x, tile, pixels, i).inside;
    p[i] = {0.0f, 0.0f, 0.0f, inside ? 1.0f : -1.0f};
  }
  if (begin < end) {
    if constexpr (walk == WALK_GROUPS) paint_groups<lifted, pixels>(p, &a, first, begin, end);
    if constexpr (walk == WALK_SINGLES) paint_singles<lifted, pixels>(p, &a, first, begin, end);
    if constexpr (walk == WALK_BATCHES) paint_batches<lifted, pixels>(p, &a, first, begin, end);
    if constexpr (walk >= WALK_UNITS_8) paint_masks<lifted, pixels, side>(p, &a, first, begin, end);
  }
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    pixel here = pixel_of_tile(a.width, a.height, a.tiles_x, tile, pixels, i);
    const float unit = lifted ? 1.0f / 255.0f : 1.0f;
    float left = fabsf(p[i].transmittance);
    if (!here.inside) continue;
    colour[here.index] = unit * p[i].red + left * a.background[0];
    colour[plane + here.index] = unit * p[i].green + left * a.background[1];
    colour[2 * plane + here.index] = unit * p[i].blue + left * a.background[2];
  }
}
