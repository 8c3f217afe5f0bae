/* arc example gaussians: the picture's gradient, back to front, added up through arc.
   SPDX-License-Identifier: Apache-2.0

   Include with BACKWARD_NAME defined, and BACKWARD_ADD(target, sums, rows, key, values, hit,
   threshold): how one warp adds; the whole warp comes, with the same key, and some lane is hit.
   Gives twelve kernels and the host function backward_<name>. backward_default.cu is the one to
   copy from.

   At a pixel, with s the colour behind a splat (all of it dotted with the loss by the pixel's
   colour),
       T = T behind / (1 - alpha),   d loss / d alpha = T (colour . slope) - s / (1 - alpha),
   and only u = alpha * d loss / d alpha, times powers of the offset, differs from pixel to pixel.
   */
#ifndef GAUSSIANS_RENDER_BACKWARD_CUH
#define GAUSSIANS_RENDER_BACKWARD_CUH

#include "backward_promises.h"
#include "backward.h"

static __device__ __forceinline__ int warp_largest(int value) {
  for (int step = 16; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(WHOLE_WARP, value, step));
  return value;
}

static __device__ __forceinline__ int block_largest(int warps_value, int warps) {
  __shared__ int values[TILE_WARPS];
  int largest = 0;
  if ((threadIdx.x & 31u) == 0u) values[threadIdx.x >> 5] = warps_value;
  __syncthreads();
  for (int w = 0; w < warps; ++w) largest = max(largest, values[w]);
  return largest;
}

/* A pixel on the way. */
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

/* What the pixels of a lane see of a splat; they lie in one column, WARP_ROWS apart. */
typedef struct splat_view {
  float dx, dy[MOST_PIXELS], q[MOST_PIXELS];
  bool hits[MOST_PIXELS];
} splat_view;

/* Whether any of them is hit. */
static __device__ __forceinline__ bool look_at_splat(splat_view *view, const pixel_slope *slopes,
                                                     int pixels, pixel first, const splat *s,
                                                     int position) {
  bool any = false;
  view->dx = s->x - first.x;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    view->dy[i] = s->y - (first.y + (float)(WARP_ROWS * i));
    view->q[i] = splat_distance(s, view->dx, view->dy[i]);
    view->hits[i] = (position < slopes[i].drawn) & splat_hits(s, view->q[i]);
    any = any | view->hits[i];
  }
  return any;
}

/* One step of one pixel. Adds to the values what differs along a column; where the pixel is not
   hit, alpha is 0: its state stays, and it adds zeros. No branch: warps in which a splat misses all
   lanes have left before, and the others would pay for it. */
static __device__ __forceinline__ void splat_slope(pixel_slope *p, const splat *s, float dy,
                                                   float q, bool hit, float v[SPLAT_WIDTH]) {
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

/* One step of a lane: the values of its pixels, added up before they meet those of other lanes. */
static __device__ __forceinline__ void splat_slopes(pixel_slope *slopes, int pixels, const splat *s,
                                                    const splat_view *view, float v[SPLAT_WIDTH]) {
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) v[i] = -0.0f; /* which the compiler need not add */
  UNROLL
  for (int i = 0; i < pixels; ++i)
    splat_slope(&slopes[i], s, view->dy[i], view->q[i], view->hits[i], v);
  v[SUM_X] = v[SUM_U] * view->dx;
  v[SUM_XX] = v[SUM_X] * view->dx;
  v[SUM_XY] = v[SUM_Y] * view->dx;
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
#define BACKWARD_BEGIN     /* what a way to add wants to declare for each lane */
#define BACKWARD_END(sums) /* and to do with it in the end */
#endif

/* The whole warp, which is at place `position` of the tile's list; `asks`: it knows that the splat
   hits a lane. s is in shared memory. The warp is converged anyway: a compiler that is told so does
   not guard every vote and shuffle below. */
#define BACKWARD_STEP(s, position)                                              \
  do {                                                                          \
    splat_view view;                                                            \
    float v[SPLAT_WIDTH];                                                       \
    __syncwarp();                                                               \
    bool hit = look_at_splat(&view, slopes, pixels, first, s, position);        \
    if (!asks && !BACKWARD_VISITS_EMPTY && !__any_sync(WHOLE_WARP, hit)) break; \
    splat_slopes(slopes, pixels, s, &view, v);                                  \
    BACKWARD_ADD(target, a->sums, rows, (s)->key, v, hit, a->threshold);        \
  } while (0)

/* The hits of up to 256 splats, in the lane of each group of 32; count: of the splats. */
static __device__ __forceinline__ unsigned load_hits(const backward_arguments *a, int begin,
                                                     int start, int count, int pixels) {
  int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
  unsigned hits = 0u;
  UNROLL
  for (int i = 0; i < pixels && lane * 32 < count; ++i) {
    int drawing = ((warp >> 1) * pixels + i) * 2 + (warp & 1); /* the warp that drew pixel i */
    hits |= a->planes.hits[word_of_hits(begin, (int)blockIdx.x, start / 32 + lane, drawing)];
  }
  return hits;
}

/* Splats from the last one drawn down to place 0, 256 at a time. rows, asks and pixels are
   literals. */
static __device__ __forceinline__ void backward_tile(const backward_arguments *a, bool rows,
                                                     bool asks, int pixels) {
  __shared__ splat batch[TILE_PIXELS];
  const render_arguments *r = &a->render;
  int begin = r->lists.first[blockIdx.x];
  pixel_slope slopes[MOST_PIXELS];
  pixel first = pixel_of_lane(r->width, r->height, r->tiles_x, pixels, 0);
  int drawn = 0;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    slopes[i] = load_pixel(a, pixel_of_lane(r->width, r->height, r->tiles_x, pixels, i));
    drawn = max(drawn, slopes[i].drawn);
  }
  int warp_last = warp_largest(drawn), last = block_largest(warp_last, TILE_WARPS / pixels);
  arc_target_f32 target = sums_target(a->sums, rows);
  (void)target;
  BACKWARD_BEGIN
  for (int start = (last + TILE_PIXELS - 1) / TILE_PIXELS * TILE_PIXELS - TILE_PIXELS; start >= 0;
       start -= TILE_PIXELS) {
    int count = min(last - start, (int)TILE_PIXELS);
    unsigned hits = asks ? load_hits(a, begin, start, count, pixels) : 0u;
    __syncthreads(); /* everybody is done with the batch before */
    UNROLL
    for (int i = 0; i < pixels; ++i) {
      int k = (int)threadIdx.x + i * (TILE_PIXELS / pixels);
      if (k < count) batch[k] = r->splats[r->lists.list[begin + start + k]];
    }
    __syncthreads();
    if (!asks) { /* no pixel of this warp has looked further than warp_last */
      NO_UNROLL
      for (int k = min(count, warp_last - start) - 1; k >= 0; --k)
        BACKWARD_STEP(&batch[k], start + k);
    }
    for (int group = (count - 1) / 32; asks && group >= 0; --group) {
      unsigned rest = __shfl_sync(WHOLE_WARP, hits, group);
      while (rest != 0u) {
        int k = 32 * group + next_splat(&rest);
        BACKWARD_STEP(&batch[k], start + k);
      }
    }
  }
  BACKWARD_END(a->sums)
}

/* Blocks a multiprocessor should hold: 48, 64 and 80 registers, measured on an H200. */
#define BACKWARD_BLOCKS_1 5
#define BACKWARD_BLOCKS_2 8
#define BACKWARD_BLOCKS_4 12
#define BACKWARD_KERNEL(name, rows, asks, pixels)                                   \
  __global__ void __launch_bounds__(TILE_PIXELS / pixels, BACKWARD_BLOCKS_##pixels) \
      name(backward_arguments a) {                                                  \
    backward_tile(&a, rows, asks, pixels);                                          \
  }
#define BACKWARD_JOIN_(a, b) a##b
#define BACKWARD_JOIN(a, b) BACKWARD_JOIN_(a, b)
#define BACKWARD_FUNCTION BACKWARD_JOIN(backward_, BACKWARD_NAME)
#define BACKWARD_NAMED(layout) BACKWARD_JOIN(BACKWARD_FUNCTION, layout)
#define BACKWARD_KERNELS(pixels)                                                \
  BACKWARD_KERNEL(BACKWARD_NAMED(_pieces_##pixels), false, false, pixels)       \
  BACKWARD_KERNEL(BACKWARD_NAMED(_pieces_asking_##pixels), false, true, pixels) \
  BACKWARD_KERNEL(BACKWARD_NAMED(_rows_##pixels), true, false, pixels)          \
  BACKWARD_KERNEL(BACKWARD_NAMED(_rows_asking_##pixels), true, true, pixels)
BACKWARD_KERNELS(1)
BACKWARD_KERNELS(2)
BACKWARD_KERNELS(4)

/* In the order of 2 * rows + asks. */
#define BACKWARD_NAMES(pixels)                                               \
  BACKWARD_NAMED(_pieces_##pixels), BACKWARD_NAMED(_pieces_asking_##pixels), \
      BACKWARD_NAMED(_rows_##pixels), BACKWARD_NAMED(_rows_asking_##pixels)

void BACKWARD_FUNCTION(int tiles, const backward_arguments *a, bool asks, int pixels) {
  static void (*const kernels[][4])(backward_arguments) = {
      {BACKWARD_NAMES(1)}, {BACKWARD_NAMES(2)}, {BACKWARD_NAMES(4)}};
  SIMT_LAUNCH(kernels[pixels / 2][2 * a->sums.rows + asks], tiles, TILE_PIXELS / pixels, 0, 0, *a);
}

#endif
