/* arc study gaussians: pictures alone: no gradient follows, so only the colour is kept.
   SPDX-License-Identifier: Apache-2.0

   After FlashGS (Feng et al., arXiv 2408.07967, 5.2 and 5.3). Opacity lies in the exponent:
   limit - q = log2(255 alpha), so that one subtraction gives both the test of a hit and the
   exponent, and the sums of a pixel are 255 times as large until the pixel is stored. A lane paints
   `pixels` pixels of one column; what depends on dx alone is computed once for all of them. A warp
   reads its tile's list by itself, so no warp waits for another, and reads the next splats while it
   paints the current ones. As in pixels.cuh it reads 32 splats at a time, one per lane, and visits
   those that reach its rectangle. The warp ends once all its pixels are opaque; no pixel stops
   earlier. */
#pragma once

#include "draw.h"
#include "pixels.cuh"

enum { MOST_PAINTED = 4 }; /* pixels of a lane */

/* Training stops before a splat that would leave less than OPAQUE_TRANSMITTANCE; then less than this
   is left, and so much of what is behind may be missing. */
#define MAY_STOP (1.01f * OPAQUE_TRANSMITTANCE / (1.0f - LARGEST_ALPHA))

typedef struct painted {
  float red, green, blue, transmittance;
} painted;

/* alpha: 255 times as large where lifted, which is a literal. */
DEVICE void blend(painted *p, const splat *s, float alpha, bool lifted) {
  const float unit = lifted ? 255.0f : 1.0f;
  float weight = fminf(alpha, unit * LARGEST_ALPHA) * p->transmittance;
  p->red = fmaf(weight, s->red, p->red);
  p->green = fmaf(weight, s->green, p->green);
  p->blue = fmaf(weight, s->blue, p->blue);
  p->transmittance = fmaf(weight, -1.0f / unit, p->transmittance);
}

DEVICE bool is_done(const painted *p) { return p->transmittance < OPAQUE_TRANSMITTANCE; }

/* The lane's pixels, of which `first` is the uppermost. One splat. lifted, pixels: literals. */
DEVICE void paint_splat(painted *p, const splat *s, pixel first, bool lifted, int pixels) {
  float dx = s->x - first.x, dy = s->y - first.y, alpha[MOST_PAINTED];
  float top = fmaf(-s->a * dx, dx, s->limit), slope = s->b * dx;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    float down = dy - (float)(WARP_ROWS * i);
    alpha[i] = lifted ? fmaf(-down, fmaf(s->c, down, slope), top) : splat_distance(s, dx, down);
  }
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    float full = lifted ? exp2_fast(alpha[i]) : s->opacity * exp2_fast(-alpha[i]);
    if (splat_hits(s, alpha[i])) blend(&p[i], s, full, lifted);
  }
}

DEVICE bool all_done(const painted *p, int pixels) {
  bool done = true;
  UNROLL
  for (int i = 0; i < pixels; ++i) done = done & is_done(&p[i]);
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
    while (rest != 0u) paint_splat(p, &staged[warp][next_splat(&rest)], first, lifted, pixels);
    mine = next;
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
        paint_splat(p, &batch[group + 31 - next_splat(&rest)], first, lifted, pixels);
    }
  }
}

/* The units of its macro tile that a warp draws. side, of a unit, and pixels: literals. */
DEVICE unsigned units_of_warp(warp_rectangle r, int side, int pixels) {
  int x = (int)r.x0 / side % MACRO_COLUMNS, y = (int)r.y0 / side % MACRO_ROWS;
  unsigned upper = 1u << (y * MACRO_COLUMNS + x);
  return WARP_ROWS * pixels > side ? upper | upper << MACRO_COLUMNS : upper;
}

/* What a block draws: tile number k of a macro tile, of which the part from begin to end - 1; its
   number among all tiles, or -1: it is outside the picture, or there is nothing. */
typedef struct tile_part {
  list_part part;
  int k, tile, begin, end;
} tile_part;

/* side: a literal. Blocks of long parts begin first, so that none is left when the others are
   through. */
DEVICE tile_part part_of_block(const render_arguments *a, int side) {
  const int columns = MACRO_COLUMNS * side / TILE_SIDE, rows = MACRO_ROWS * side / TILE_SIDE;
  tile_part t = {a->lists.parts[(int)blockIdx.x / (columns * rows)],
                 (int)blockIdx.x % (columns * rows), -1, 0, 0};
  if (t.part.parts == 0) return t;
  int list = t.part.list, first = a->lists.first[list], end = a->lists.first[list + 1];
  int x = list % a->lists.grid.lists_x * columns + t.k % columns;
  int y = list / a->lists.grid.lists_x * rows + t.k / columns;
  int each = (end - first + t.part.parts - 1) / t.part.parts;
  t.begin = first + t.part.part * each;
  t.end = min(end, t.begin + each);
  if (x < a->tiles_x && y * TILE_SIDE < a->height) t.tile = y * a->tiles_x + x;
  return t;
}

/* Of the parts of the block's tile; the whole block. */
DEVICE drawn_parts *parts_of_tile(const render_arguments *a, const tile_part *t) {
  return &a->lists.drawn[(size_t)t->part.slot * a->lists.grid.tiles + t->k];
}

/* Whether a part before the block's is opaque: what it draws would be left out. */
DEVICE bool is_hidden(const render_arguments *a, const tile_part *t) {
  __shared__ int hidden;
  if (threadIdx.x == 0) hidden = *(volatile int *)&parts_of_tile(a, t)->hidden;
  __syncthreads();
  return hidden > t->part.parts - t->part.part;
}

/* What the block has drawn of a list that is cut waits for the other parts; the block that is the
   last of its tile lays all over each other, into p, up to the first that is opaque. Returns whether
   it is this one. The whole block. */
template <int pixels>
DEVICE bool lay_parts(painted *p, const render_arguments *a, const tile_part *t) {
  __shared__ int drawn, behind;
  const int tiles = a->lists.grid.tiles, n = t->part.parts, part = t->part.part;
  const size_t next = (size_t)tiles * TILE_PIXELS; /* part */
  float4 *mine = a->lists.pixels + t->part.slot * next + (size_t)t->k * TILE_PIXELS + threadIdx.x;
  UNROLL
  for (int i = 0; i < pixels; ++i)
    mine[part * next + i * (TILE_PIXELS / pixels)] =
        make_float4(p[i].red, p[i].green, p[i].blue, p[i].transmittance);
  bool opaque = __syncthreads_and(all_done(p, pixels));
  if (opaque && threadIdx.x == 0) atomicMax(&parts_of_tile(a, t)->hidden, n - part);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    drawn = atomicAdd(&parts_of_tile(a, t)->drawn, 1) + 1;
    __threadfence(); /* what the others have told is told */
    behind = *(volatile int *)&parts_of_tile(a, t)->hidden;
  }
  __syncthreads();
  if (drawn < n) return false;
  __threadfence(); /* nor are their pixels read before */
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    p[i] = {0.0f, 0.0f, 0.0f, 1.0f};
    for (int k = 0; k < min(n, n - behind + 1); ++k) {
      float4 v = mine[k * next + i * (TILE_PIXELS / pixels)];
      p[i].red += p[i].transmittance * v.x;
      p[i].green += p[i].transmittance * v.y;
      p[i].blue += p[i].transmittance * v.z;
      p[i].transmittance *= v.w;
    }
  }
  return true;
}

/* A Gaussian of a list, or none. */
DEVICE masked_gaussian masked_at(const masked_gaussian *list, int i, int end) {
  return i < end ? list[i] : 0ull;
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
  masked_gaussian here = masked_at(list, begin + lane, end);
  masked_gaussian next_here = masked_at(list, begin + 32 + lane, end);
  if (lane == 0) ring[RING - 1] = (int)(here >> 32); /* what is read where none waits */
  for (;;) {
    for (; found - taken < 32 && begin < end; begin += 32) {
      bool waits = ((unsigned)here & units) != 0u;
      unsigned all = __ballot_sync(WHOLE_WARP, waits);
      int place = found + __popc(all & before);
      if (waits) ring[place & (RING - 1)] = (int)(here >> 32);
      found += __popc(all);
      here = next_here;
      next_here = masked_at(list, begin + 64 + lane, end);
    }
    int count = min(found - taken, 32);
    __syncwarp();
    splat next = a->splats[ring[(taken + min(lane, count - 1)) & (RING - 1)]];
    for (const splat *s = staged[warp]; s < staged[warp] + drawn; ++s) {
      splat now = *s;
      paint_splat(p, &now, first, lifted, pixels);
    }
    if (count == 0 || __all_sync(WHOLE_WARP, all_done(p, pixels))) return;
    bool reaches = WHOLE_UNITS || splat_reaches(&next, r.x0, r.y0, r.x1, r.y1);
    unsigned all = __ballot_sync(WHOLE_WARP, reaches & (lane < count));
    __syncwarp(); /* all have read those before */
    if (all >> lane & 1u) staged[warp][__popc(all & before)] = next;
    drawn = __popc(all);
    taken += count;
    __syncwarp();
  }
}

/* One block a tile, and each part of its list; of macro tiles also for tiles that stick out of the
   picture. */
template <int walk, bool lifted, int pixels>
__global__ void __launch_bounds__(TILE_PIXELS / pixels) paint(render_arguments a, float *colour) {
  painted p[MOST_PAINTED];
  const int side = walk == WALK_UNITS_8 ? 8 : 16;
  tile_part t = {{0, 0, 1, 0}, 0, (int)blockIdx.x, 0, 0};
  if constexpr (walk >= WALK_UNITS_8) {
    t = part_of_block(&a, side);
  } else {
    t.begin = a.lists.first[t.tile], t.end = a.lists.first[t.tile + 1];
  }
  if (t.tile < 0) return;
  pixel first = pixel_of_tile(a.width, a.height, a.tiles_x, t.tile, pixels, 0);
  size_t plane = (size_t)a.width * a.height;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    bool inside = pixel_of_tile(a.width, a.height, a.tiles_x, t.tile, pixels, i).inside;
    p[i] = {0.0f, 0.0f, 0.0f, inside ? 1.0f : 0.0f};
  }
  if constexpr (walk >= WALK_UNITS_8)
    if (t.part.parts > 1 && is_hidden(&a, &t)) t.end = t.begin;
  if (t.begin < t.end) {
    if constexpr (walk == WALK_GROUPS) paint_groups<lifted, pixels>(p, &a, first, t.begin, t.end);
    if constexpr (walk == WALK_BATCHES) paint_batches<lifted, pixels>(p, &a, first, t.begin, t.end);
    if constexpr (walk >= WALK_UNITS_8)
      paint_masks<lifted, pixels, side>(p, &a, first, t.begin, t.end);
  }
  if constexpr (walk >= WALK_UNITS_8)
    if (t.part.parts > 1 && !lay_parts<pixels>(p, &a, &t)) return;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    pixel here = pixel_of_tile(a.width, a.height, a.tiles_x, t.tile, pixels, i);
    const float unit = lifted ? 1.0f / 255.0f : 1.0f;
    float left = p[i].transmittance;
    if (!here.inside) continue;
    colour[here.index] = unit * p[i].red + left * a.background[0];
    colour[plane + here.index] = unit * p[i].green + left * a.background[1];
    colour[2 * plane + here.index] = unit * p[i].blue + left * a.background[2];
  }
}
