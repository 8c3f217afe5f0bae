/* arc example gaussians: the picture's gradient, back to front, added up through arc.
   SPDX-License-Identifier: Apache-2.0

   Include with BACKWARD_NAME defined, and BACKWARD_ADD(target, sums, rows, key, values, hit,
   threshold): how one warp adds. Gives four kernels and the host function backward_<name>.
   backward_default.cu is the one to copy from.

   At a pixel, with s the colour behind a splat (all of it dotted with the loss by the pixel's
   colour),
       T = T behind / (1 - alpha),   d loss / d alpha = T (colour . slope) - s / (1 - alpha),
   and only u = alpha * d loss / d alpha, times powers of the offset, differs from pixel to pixel.
   */
#ifndef GAUSSIANS_RENDER_BACKWARD_CUH
#define GAUSSIANS_RENDER_BACKWARD_CUH

#include "backward.h"

static __device__ __forceinline__ int warp_largest(int value) {
  for (int step = 16; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(WHOLE_WARP, value, step));
  return value;
}

static __device__ __forceinline__ int block_largest(int warps_value) {
  __shared__ int values[TILE_WARPS];
  int largest = 0;
  if ((threadIdx.x & 31u) == 0u) values[threadIdx.x >> 5] = warps_value;
  __syncthreads();
  for (int w = 0; w < TILE_WARPS; ++w) largest = max(largest, values[w]);
  return largest;
}

typedef struct pixel_slope {
  float red, green, blue; /* the loss by the pixel's colour */
  float transmittance;    /* in front of what has been walked so far */
  float behind;           /* the colour behind, dotted with the three */
  int drawn;
} pixel_slope;

static __device__ __forceinline__ pixel_slope load_pixel(const backward_arguments *a, pixel p) {
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

/* One step of one pixel. Where it is not hit, alpha is 0: the state stays and all values are 0. */
static __device__ __forceinline__ void splat_slope(pixel_slope *p, const splat *s, float dx,
                                                   float dy, float q, bool hit,
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
  v[SUM_X] = u * dx;
  v[SUM_Y] = u * dy;
  v[SUM_XX] = v[SUM_X] * dx;
  v[SUM_XY] = v[SUM_X] * dy;
  v[SUM_YY] = v[SUM_Y] * dy;
  v[SUM_U] = u;
  v[SUM_RED] = weight * p->red;
  v[SUM_GREEN] = weight * p->green;
  v[SUM_BLUE] = weight * p->blue;
}

static __device__ __forceinline__ arc_target_f32 sums_target(splat_sums sums, bool rows) {
  arc_piece_f32 pieces[4] = {
      {sums.means, 2, 2}, {sums.conics, 3, 3}, {sums.opacities, 1, 1}, {sums.colours, 3, 3}};
  if (rows) return arc_target_f32_rows(sums.means, SPLAT_ROW, SPLAT_WIDTH);
  return arc_target_f32_pieces(pieces, 4);
}

#ifndef BACKWARD_VISITS_EMPTY
#define BACKWARD_VISITS_EMPTY 0 /* 1: BACKWARD_ADD also where no lane is hit; for counting */
#endif
#ifndef BACKWARD_BEGIN
#define BACKWARD_BEGIN     /* what a way to add wants to declare for each pixel */
#define BACKWARD_END(sums) /* and to do with it in the end */
#endif

/* The whole warp, which is at place `position` of the tile's list. s is in shared memory. */
#define BACKWARD_STEP(s, position)                                       \
  do {                                                                   \
    float v[SPLAT_WIDTH], dx = (s)->x - p.x, dy = (s)->y - p.y;          \
    float q = splat_distance(s, dx, dy);                                 \
    bool hit = (position) < slope.drawn && splat_hits(s, q);             \
    if (!BACKWARD_VISITS_EMPTY && !__any_sync(WHOLE_WARP, hit)) break;   \
    splat_slope(&slope, s, dx, dy, q, hit, v);                           \
    BACKWARD_ADD(target, a->sums, rows, (s)->key, v, hit, a->threshold); \
  } while (0)

/* Splats from the last one drawn down to place 0, 256 at a time: the furthest is batch[0]. rows and
   asks are literals. */
static __device__ __forceinline__ void backward_tile(const backward_arguments *a, bool rows,
                                                     bool asks) {
  __shared__ splat batch[TILE_PIXELS];
  const render_arguments *r = &a->render;
  pixel p = pixel_of_thread(r->width, r->height, r->tiles_x);
  pixel_slope slope = load_pixel(a, p);
  int warp_last = warp_largest(slope.drawn), last = block_largest(warp_last);
  int begin = r->lists.first[blockIdx.x];
  warp_rectangle rectangle = rectangle_of_warp(p);
  arc_target_f32 target = sums_target(a->sums, rows);
  (void)target, (void)rectangle;
  BACKWARD_BEGIN
  for (int furthest = last - 1; furthest >= 0; furthest -= TILE_PIXELS) {
    int mine = furthest - (int)threadIdx.x, count = min(furthest + 1, (int)TILE_PIXELS);
    __syncthreads(); /* everybody is done with the batch before */
    if (mine >= 0) batch[threadIdx.x] = r->splats[r->lists.list[begin + mine]];
    __syncthreads();
    int k = max(furthest + 1 - warp_last, 0); /* no pixel of this warp has looked further */
    if (!asks) {
      NO_UNROLL
      for (; k < count; ++k) BACKWARD_STEP(&batch[k], furthest - k);
    }
    for (int group = k; asks && group < count; group += 32) {
      unsigned rest = splats_of_warp(batch, group, count, rectangle);
      while (rest != 0u) {
        k = group + next_splat(&rest);
        BACKWARD_STEP(&batch[k], furthest - k);
      }
    }
  }
  BACKWARD_END(a->sums)
}

#define BACKWARD_KERNEL(name, rows, asks)                                     \
  __global__ void __launch_bounds__(TILE_PIXELS) name(backward_arguments a) { \
    backward_tile(&a, rows, asks);                                            \
  }
#define BACKWARD_JOIN_(a, b) a##b
#define BACKWARD_JOIN(a, b) BACKWARD_JOIN_(a, b)
#define BACKWARD_FUNCTION BACKWARD_JOIN(backward_, BACKWARD_NAME)
#define BACKWARD_PIECES BACKWARD_JOIN(BACKWARD_FUNCTION, _pieces)
#define BACKWARD_PIECES_ASKING BACKWARD_JOIN(BACKWARD_FUNCTION, _pieces_asking)
#define BACKWARD_ROWS BACKWARD_JOIN(BACKWARD_FUNCTION, _rows)
#define BACKWARD_ROWS_ASKING BACKWARD_JOIN(BACKWARD_FUNCTION, _rows_asking)

BACKWARD_KERNEL(BACKWARD_PIECES, false, false)
BACKWARD_KERNEL(BACKWARD_PIECES_ASKING, false, true)
BACKWARD_KERNEL(BACKWARD_ROWS, true, false)
BACKWARD_KERNEL(BACKWARD_ROWS_ASKING, true, true)

void BACKWARD_FUNCTION(int tiles, const backward_arguments *a, bool asks) {
  if (a->sums.rows && asks) {
    SIMT_LAUNCH(BACKWARD_ROWS_ASKING, tiles, TILE_PIXELS, 0, 0, *a);
  } else if (a->sums.rows) {
    SIMT_LAUNCH(BACKWARD_ROWS, tiles, TILE_PIXELS, 0, 0, *a);
  } else if (asks) {
    SIMT_LAUNCH(BACKWARD_PIECES_ASKING, tiles, TILE_PIXELS, 0, 0, *a);
  } else {
    SIMT_LAUNCH(BACKWARD_PIECES, tiles, TILE_PIXELS, 0, 0, *a);
  }
}

#endif
