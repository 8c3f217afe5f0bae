/* arc example gaussians: the picture's gradient, back to front, added up through arc.
   SPDX-License-Identifier: Apache-2.0

   The kernel to copy from is `backward` at the end; its call of arc is add_through_arc.

   At a pixel, with s the colour behind a splat (all of it dotted with the loss by the pixel's
   colour),
       T = T behind / (1 - alpha),   d loss / d alpha = T (colour . slope) - s / (1 - alpha),
   and only u = alpha * d loss / d alpha, times powers of the offset, differs from pixel to pixel.
 */
#ifndef GAUSSIANS_BACKWARD_CUH
#define GAUSSIANS_BACKWARD_CUH

#include "backward_peers.cuh"

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

/* One pixel's state from step to step. */
typedef struct pixel_slope {
  float red, green, blue; /* the loss by the pixel's colour */
  float transmittance;    /* in front of the splats visited so far */
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

/* A splat as seen from the pixels of a lane, which lie in one column, WARP_ROWS apart. */
typedef struct splat_view {
  float dx, dy[MOST_PIXELS], q[MOST_PIXELS];
  bool hits[MOST_PIXELS];
} splat_view;

/* Returns whether any of them is hit. */
static __device__ __forceinline__ bool view_splat(splat_view *view, const pixel_slope *slopes,
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
   hit, alpha is 0: its state stays, and it adds zeros. No branch: splats that miss the whole
   warp are not visited, and with a branch the others would be slower. */
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

/* One step of a lane: the values, summed over its pixels. unit: of the offsets. */
static __device__ __forceinline__ void splat_slopes(pixel_slope *slopes, int pixels, const splat *s,
                                                    const splat_view *view, float unit,
                                                    float v[SPLAT_WIDTH]) {
  float dx = unit * view->dx;
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) v[i] = -0.0f; /* which the compiler need not add */
  UNROLL
  for (int i = 0; i < pixels; ++i)
    splat_slope(&slopes[i], s, unit * view->dy[i], view->q[i], view->hits[i], v);
  v[SUM_X] = v[SUM_U] * dx;
  v[SUM_XX] = v[SUM_X] * dx;
  v[SUM_XY] = v[SUM_Y] * dx;
}

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

/* ---- the sums ------------------------------------------------------------------------------- */

/* Once, above the loop; not of SUMS_FIXED. layout: a literal. */
static __device__ __forceinline__ arc_target_f32 sums_target(splat_sums sums, int layout) {
  arc_piece_f32 pieces[4] = {
      {sums.means, 2, 2}, {sums.conics, 3, 3}, {sums.opacities, 1, 1}, {sums.colours, 3, 3}};
  if (layout == SUMS_ROWS) return arc_target_f32_rows(sums.means, SPLAT_ROW, SPLAT_WIDTH);
  return arc_target_f32_pieces(pieces, 4);
}

/* What a lane keeps from step to step. */
typedef struct backward_lane {
  pixel first; /* the uppermost of its pixels */
  pixel_slope slopes[MOST_PIXELS];
  arc_target_f32 target;
  arc_target_fixed fixed; /* of SUMS_FIXED, the other of all others */
  unsigned kept;          /* ADD_NONE: bits of the values; ADD_COUNT: steps */
} backward_lane;

/* The whole warp calls. It walks over one list, so every lane has the key; it visits only splats
   that hit one of its lanes; and the lanes that are not hit hold zeros. layout, path: literals. */
static __device__ __forceinline__ void add_through_arc(const backward_lane *l, int layout, int key,
                                                       const float *values, bool hit, int path,
                                                       int threshold) {
  arc_options options = arc_options_default();
  options.path = path;
  options.threshold = threshold;
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER;
  if (layout == SUMS_FIXED)
    arc_add_with_fixed(l->fixed, key, values, hit, options);
  else
    arc_add_with_f32(l->target, key, values, hit, options);
}

/* The values of one step. A template, so that only one of the calls is compiled. */
template <int way>
static __device__ __forceinline__ void add_values(const backward_arguments *a, backward_lane *l,
                                                  int layout, int key, const float *v, bool hit) {
  bool rows = layout == SUMS_ROWS;
  if constexpr (way == ADD_DEFAULT)
    add_through_arc(l, layout, key, v, hit, ARC_PATH, ARC_BALANCE_THRESHOLD);
  if constexpr (way == ADD_AUTO)
    add_through_arc(l, layout, key, v, hit, ARC_PATH_AUTO, a->threshold);
  if constexpr (way == ADD_SERIALIZED)
    add_through_arc(l, layout, key, v, hit, ARC_PATH_SERIALIZED, a->threshold);
  if constexpr (way == ADD_BUTTERFLY)
    add_through_arc(l, layout, key, v, hit, ARC_PATH_BUTTERFLY, a->threshold);
  if constexpr (way == ADD_PLAIN) add_plain(a->sums, rows, key, v, hit);
  if constexpr (way == ADD_SHUFFLES) add_shuffles(a->sums, rows, key, v);
  if constexpr (way == ADD_CUB) add_cub(a->sums, rows, key, v);
  if constexpr (way == ADD_NONE) l->kept = keep_values(l->kept, v);
  if constexpr (way == ADD_COUNT) {
    count_lanes(a->histogram, hit);
    l->kept += 1u;
  }
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* The whole warp, which is at place `position` of the tile's list. s is in shared memory. The warp
   is converged anyway: a compiler that is told so does not guard every vote and shuffle below. */
template <int way, int layout, int pixels>
static __device__ __forceinline__ void backward_step(const backward_arguments *a, backward_lane *l,
                                                     const splat *s, int position) {
  splat_view view;
  float v[SPLAT_WIDTH];
  __syncwarp();
  bool hit = view_splat(&view, l->slopes, pixels, l->first, s, position);
  splat_slopes(l->slopes, pixels, s, &view, layout == SUMS_FIXED ? s->unit : 1.0f, v);
  add_values<way>(a, l, layout, s->key, v, hit);
}

/* warp_last: the largest `drawn` of the warp's pixels. */
static __device__ __forceinline__ void backward_end(const backward_arguments *a,
                                                    const backward_lane *l, int way,
                                                    int warp_last) {
  if (way == ADD_NONE && l->kept == 0x6bad5eedu) *a->sums.means = 0.0f; /* once in 2^32 lanes */
  if (way == ADD_COUNT && (threadIdx.x & 31u) == 0u)
    atomicAdd(&a->histogram[0], (unsigned long long)((unsigned)warp_last - l->kept));
}

/* Loads the lane's pixels; returns the largest `drawn` of them. */
static __device__ __forceinline__ int backward_begin(const backward_arguments *a, backward_lane *l,
                                                     int pixels) {
  const render_arguments *r = &a->render;
  int drawn = 0;
  l->first = pixel_of_lane(r->width, r->height, r->tiles_x, pixels, 0);
  l->kept = 0u;
  UNROLL
  for (int i = 0; i < pixels; ++i) {
    l->slopes[i] = load_pixel(a, pixel_of_lane(r->width, r->height, r->tiles_x, pixels, i));
    drawn = max(drawn, l->slopes[i].drawn);
  }
  return drawn;
}

/* The whole block: the splats of places start to start + count - 1 into shared memory. */
static __device__ __forceinline__ void load_batch(splat *batch, const render_arguments *r,
                                                  const int *list, int count, int pixels) {
  __syncthreads(); /* all warps are done with the batch before */
  stage_splats(batch, r, list, count, pixels);
  __syncthreads();
}

/* One block a tile: splats from the last one drawn down to place 0, 256 at a time. Blocks a
   multiprocessor should hold: 48, 64 and 80 registers, measured on an H200. */
template <int way, int layout, int pixels>
__global__ void __launch_bounds__(TILE_PIXELS / pixels, pixels == 1   ? 5
                                                        : pixels == 2 ? 8
                                                                      : 12)
    backward(backward_arguments a) {
  __shared__ splat batch[TILE_PIXELS];
  backward_lane lane;
  int begin = a.render.lists.first[blockIdx.x];
  int warp_last = warp_largest(backward_begin(&a, &lane, pixels));
  int last = block_largest(warp_last, TILE_WARPS / pixels);
  if (layout == SUMS_FIXED)
    lane.fixed = arc_target_fixed_rows(a.sums.fixed, SPLAT_ROW, SPLAT_WIDTH, SUM_SCALE_LOG2);
  else
    lane.target = sums_target(a.sums, layout);
  for (int start = (last + TILE_PIXELS - 1) / TILE_PIXELS * TILE_PIXELS - TILE_PIXELS; start >= 0;
       start -= TILE_PIXELS) {
    int count = min(last - start, (int)TILE_PIXELS);
    unsigned hits = load_hits(&a, begin, start, count, pixels);
    load_batch(batch, &a.render, a.render.lists.list + begin + start, count, pixels);
    for (int group = (count - 1) / 32; group >= 0; --group) {
      unsigned rest = __shfl_sync(WHOLE_WARP, hits, group);
      while (rest != 0u) {
        int k = 32 * group + next_splat(&rest);
        backward_step<way, layout, pixels>(&a, &lane, &batch[k], start + k);
      }
    }
  }
  backward_end(&a, &lane, way, warp_last);
}

template <int way>
static inline void backward_launch_way(int tiles, const backward_arguments *a, int pixels) {
  constexpr int fixed = add_way_is_arc(way) ? SUMS_FIXED : SUMS_ROWS; /* others are not asked to */
  static void (*const kernels[][3])(backward_arguments) = {
      {backward<way, SUMS_ARRAYS, 1>, backward<way, SUMS_ROWS, 1>, backward<way, fixed, 1>},
      {backward<way, SUMS_ARRAYS, 2>, backward<way, SUMS_ROWS, 2>, backward<way, fixed, 2>},
      {backward<way, SUMS_ARRAYS, 4>, backward<way, SUMS_ROWS, 4>, backward<way, fixed, 4>}};
  SIMT_LAUNCH(kernels[pixels / 2][a->sums.layout], tiles, TILE_PIXELS / pixels, 0, 0, *a);
}

#endif
