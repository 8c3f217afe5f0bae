/* arc study gaussians: the picture's gradient, back to front, added up through arc.
   SPDX-License-Identifier: Apache-2.0

   The kernel to copy from is `backward` at the end; its call of arc is in arc_sums.

   At a pixel, with s the colour behind a splat (all of it dotted with the loss by the pixel's
   colour),
       T = T behind / (1 - alpha),   d loss / d alpha = T (colour . slope) - s / (1 - alpha),
   and only u = alpha * d loss / d alpha, times powers of the offset, differs from pixel to pixel.
 */
#pragma once

#include "backward.h"

/* Pixels of a lane, and how many blocks a multiprocessor should hold: with 64 registers per thread,
   measured on an H200. studies/gaussians/bench compiles others, too. */
#ifndef BACKWARD_PIXELS
#define BACKWARD_PIXELS 2
#define BACKWARD_BLOCKS 8
#endif
enum { LANE_PIXELS = BACKWARD_PIXELS, BLOCK_THREADS = TILE_PIXELS / LANE_PIXELS };

DEVICE int warp_largest(int value) {
  for (int step = 16; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(WHOLE_WARP, value, step));
  return value;
}

DEVICE int block_largest(int warps_value) {
  __shared__ int values[BLOCK_THREADS / 32];
  int largest = 0;
  if ((threadIdx.x & 31u) == 0u) values[threadIdx.x >> 5] = warps_value;
  __syncthreads();
  for (int w = 0; w < BLOCK_THREADS / 32; ++w) largest = max(largest, values[w]);
  return largest;
}

/* One pixel's state from step to step. */
typedef struct pixel_slope {
  float red, green, blue; /* the loss by the pixel's colour */
  float transmittance;    /* in front of the splats visited so far */
  float behind;           /* the colour behind, dotted with the three */
  int drawn;
} pixel_slope;

DEVICE pixel_slope load_pixel(const backward_arguments *a, pixel p) {
  const render_arguments *r = &a->render;
  size_t plane = (size_t)r->width * r->height;
  pixel_slope s = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0};
  if (!p.inside) return s;
  s.red = a->slope[p.index];
  s.green = a->slope[plane + p.index];
  s.blue = a->slope[2 * plane + p.index];
  s.transmittance = a->planes.transmittance[p.index];
  s.drawn = a->planes.drawn[p.index];
  s.behind = s.transmittance *
             (s.red * r->background[0] + s.green * r->background[1] + s.blue * r->background[2]);
  return s;
}

/* A splat as seen from the pixels of a lane, which lie in one column, WARP_ROWS apart. */
typedef struct splat_view {
  float dx, dy[LANE_PIXELS], q[LANE_PIXELS];
  bool hits[LANE_PIXELS];
} splat_view;

/* Returns whether any of them is hit. */
DEVICE bool view_splat(splat_view *view, const pixel_slope *slopes, pixel first, const splat *s,
                       int position) {
  bool any = false;
  view->dx = s->x - first.x;
  UNROLL
  for (int i = 0; i < LANE_PIXELS; ++i) {
    view->dy[i] = s->y - (first.y + (float)(WARP_ROWS * i));
    view->q[i] = splat_distance(s, view->dx, view->dy[i]);
    view->hits[i] = (position < slopes[i].drawn) & splat_hits(s, view->q[i]);
    any = any | view->hits[i];
  }
  return any;
}

/* One step of one pixel. Adds to the values what differs along a column; where the pixel is not
   hit, alpha is 0: its state stays, and it adds zeros. No branch: splats that miss the whole
   warp are not visited, and with a branch the others would be slower. */
DEVICE void splat_slope(pixel_slope *p, const splat *s, float dy, float q, bool hit,
                        float v[SPLAT_WIDTH]) {
  float full = hit ? s->opacity * exp2_fast(-q) : 0.0f;
  float alpha = fminf(full, LARGEST_ALPHA);
  float through = reciprocal_fast(1.0f - alpha);
  p->transmittance *= through;
  float weight = alpha * p->transmittance;
  float colour = s->red * p->red + s->green * p->green + s->blue * p->blue;
  float by_alpha = p->transmittance * colour - p->behind * through;
  p->behind += weight * colour;
  float u = full > LARGEST_ALPHA ? 0.0f : alpha * by_alpha;
  float u_dy = u * dy;
  v[SUM_Y] += u_dy;
  v[SUM_YY] += u_dy * dy;
  v[SUM_U] += u;
  v[SUM_RED] += weight * p->red;
  v[SUM_GREEN] += weight * p->green;
  v[SUM_BLUE] += weight * p->blue;
}

/* One step of a lane: the values, summed over its pixels. */
DEVICE void splat_slopes(pixel_slope *slopes, const splat *s, const splat_view *view,
                         float v[SPLAT_WIDTH]) {
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) v[i] = -0.0f; /* which the compiler need not add */
  UNROLL
  for (int i = 0; i < LANE_PIXELS; ++i)
    splat_slope(&slopes[i], s, view->dy[i], view->q[i], view->hits[i], v);
  v[SUM_X] = v[SUM_U] * view->dx;
  v[SUM_XX] = v[SUM_X] * view->dx;
  v[SUM_XY] = v[SUM_Y] * view->dx;
}

/* The hits of up to 256 splats, in the lane of each group of 32; count: of the splats. */
DEVICE unsigned load_hits(const backward_arguments *a, int begin, int start, int count) {
  int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
  unsigned hits = 0u;
  UNROLL
  for (int i = 0; i < LANE_PIXELS && lane * 32 < count; ++i) {
    int drawing = ((warp >> 1) * LANE_PIXELS + i) * 2 + (warp & 1); /* the warp that drew pixel i */
    hits |= a->planes.hits[word_of_hits(begin, (int)blockIdx.x, start / 32 + lane, drawing)];
  }
  return hits;
}

/* ---- the sums ------------------------------------------------------------------------------- */

/* What the kernel adds to, a target of rows, and the call. The kernel is a template of it: sums in
   repeat are in backward.cu, and what arc is compared with in studies/gaussians/bench. */
struct arc_sums {
  arc_target_f32 target;

  /* Once, above the loop. */
  explicit __device__ __forceinline__ arc_sums(const backward_arguments *a)
      : target(arc_target_f32_rows(a->sums.rows, SPLAT_ROW, SPLAT_WIDTH)) {}

  /* The whole warp calls. It walks over one list, so every lane has the key; it visits only splats
     that hit one of its lanes; and the lanes that are not hit hold zeros. */
  __device__ __forceinline__ void add(int key, const float *values, bool hit) {
    arc_add_renderer_f32(target, key, values, hit);
  }
};

/* ---- the kernel ----------------------------------------------------------------------------- */

/* What a lane keeps from step to step. */
typedef struct backward_lane {
  pixel first; /* the uppermost of its pixels */
  pixel_slope slopes[LANE_PIXELS];
} backward_lane;

/* The whole warp, which is at place `position` of the tile's list. s is in shared memory. The warp
   is converged anyway: a compiler that is told so does not guard every vote and shuffle below. */
template <class sums>
DEVICE void backward_step(backward_lane *l, sums *to, const splat *s, int position) {
  splat_view view;
  float v[SPLAT_WIDTH];
  __syncwarp();
  bool hit = view_splat(&view, l->slopes, l->first, s, position);
  splat_slopes(l->slopes, s, &view, v);
  to->add(s->key, v, hit);
}

/* Loads the lane's pixels; returns the largest `drawn` of them. */
DEVICE int backward_begin(const backward_arguments *a, backward_lane *l) {
  const render_arguments *r = &a->render;
  int drawn = 0;
  l->first = pixel_of_lane(r->width, r->height, r->tiles_x, LANE_PIXELS, 0);
  UNROLL
  for (int i = 0; i < LANE_PIXELS; ++i) {
    l->slopes[i] = load_pixel(a, pixel_of_lane(r->width, r->height, r->tiles_x, LANE_PIXELS, i));
    drawn = max(drawn, l->slopes[i].drawn);
  }
  return drawn;
}

/* The whole block: the splats of places start to start + count - 1 into shared memory. */
DEVICE void load_batch(splat *batch, const render_arguments *r, const int *list, int count) {
  __syncthreads(); /* all warps are done with the batch before */
  stage_splats(batch, r, list, count, LANE_PIXELS);
  __syncthreads();
}

/* One block a tile: splats from the last one drawn down to place 0, 256 at a time. arguments: what
   `sums` begins with. */
template <class sums, class arguments = backward_arguments>
__global__ void __launch_bounds__(BLOCK_THREADS, BACKWARD_BLOCKS) backward(arguments a) {
  __shared__ splat batch[TILE_PIXELS];
  backward_lane lane;
  int begin = a.render.lists.first[blockIdx.x];
  int last = block_largest(warp_largest(backward_begin(&a, &lane)));
  sums to(&a);
  for (int start = (last + TILE_PIXELS - 1) / TILE_PIXELS * TILE_PIXELS - TILE_PIXELS; start >= 0;
       start -= TILE_PIXELS) {
    int count = min(last - start, (int)TILE_PIXELS);
    unsigned hits = load_hits(&a, begin, start, count);
    load_batch(batch, &a.render, a.render.lists.list + begin + start, count);
    for (int group = (count - 1) / 32; group >= 0; --group) {
      unsigned rest = __shfl_sync(WHOLE_WARP, hits, group);
      while (rest != 0u) {
        int k = 32 * group + next_splat(&rest);
        backward_step(&lane, &to, &batch[k], start + k);
      }
    }
  }
}
