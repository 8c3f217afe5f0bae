/* studies/gaussians/bench: the backward pass as the papers describe it, with their reductions
   and with arc in place of its atomics.
   SPDX-License-Identifier: Apache-2.0

   Written from the papers alone (3D Gaussian Splatting, section 6; DISTWAR, figures 5, 12 to 14).
   A block of 16 x 16 threads serves a tile, each thread one pixel: a warp has two rows of 16. The
   block loads 256 splats at a time, back to front, and each thread visits all of them. Functions of
   render/backward.cuh compute what a splat does to a pixel. */
#define BACKWARD_PIXELS 1
#define BACKWARD_BLOCKS 5
#include "ways.cuh"

enum {
  /* A thread leaves a step by `continue` where the splat does not reach its pixel: lanes part. */
  PAPERS_ATOMIC,    /* nine atomicAdds */
  PAPERS_SW_S,      /* SW-S in their place */
  PAPERS_DIVERGENT, /* arc's divergent call in their place: the smallest diff */
  /* It stays, not active and with zeros: lanes are kept together. */
  PAPERS_SW_B,      /* SW-B, figure 14; also steps without an active lane are computed */
  PAPERS_SW_B_SKIP, /* the same, and the warp leaves such steps, which the papers do not say */
  PAPERS_WHOLE      /* the warp leaves them, too: arc with a renderer's promises */
};

DEVICE pixel papers_pixel(const render_arguments *r) {
  int column = (int)(blockIdx.x % r->tiles_x * TILE_SIDE + threadIdx.x % TILE_SIDE);
  int row = (int)(blockIdx.x / r->tiles_x * TILE_SIDE + threadIdx.x / TILE_SIDE);
  pixel p;
  p.x = (float)column + 0.5f;
  p.y = (float)row + 0.5f;
  p.inside = column < r->width && row < r->height;
  p.index = p.inside ? row * r->width + column : 0;
  return p;
}

/* Of the columns in which the whole warp comes to the call, and with other promises than SW_B's. */
template <int way>
using papers_sums = way_sums<way == PAPERS_SW_B_SKIP ? ADD_BUTTERFLY
                             : way == PAPERS_WHOLE   ? ADD_DEFAULT
                                                     : ADD_PLAIN,
                             SUMS_ARRAYS>;

/* Where lanes part, those that are hit call, else the whole warp. */
template <int way>
DEVICE void papers_add(papers_sums<way> *to, int key, float *v, bool hit) {
  arc_options options = arc_options_default();
  options.threshold = to->a->threshold;
  if constexpr (way == PAPERS_SW_S) {
    options.path = ARC_PATH_SERIALIZED;
    options.lane_mask = ARC_LANES_HERE;
    arc_add_with_f32(to->target, key, v, true, options);
  } else if constexpr (way == PAPERS_DIVERGENT) {
    arc_add_divergent_f32(to->target, key, v);
  } else if constexpr (way == PAPERS_SW_B) {
    options.path = ARC_PATH_BUTTERFLY;
    options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
    arc_add_with_f32(to->target, key, v, hit, options);
  } else {
    to->add(key, v, hit);
  }
}

template <int way>
__global__ void __launch_bounds__(TILE_PIXELS) papers_backward(way_arguments a) {
  constexpr bool parts = way <= PAPERS_DIVERGENT, skips = way > PAPERS_SW_B;
  __shared__ splat batch[TILE_PIXELS];
  const int *list = a.render.lists.list + a.render.lists.first[blockIdx.x];
  backward_lane lane;
  lane.first = papers_pixel(&a.render);
  lane.slopes[0] = load_pixel(&a, lane.first);
  papers_sums<way> to(&a);
  int end = block_largest(warp_largest(lane.slopes[0].drawn));
  for (; end > 0; end -= TILE_PIXELS) {
    int start = max(end - (int)TILE_PIXELS, 0);
    load_batch(batch, &a.render, list + start, end - start);
    for (int k = end - start - 1; k >= 0; --k) {
      const splat *s = &batch[k];
      splat_view view;
      float v[SPLAT_WIDTH];
      if (parts && start + k >= lane.slopes[0].drawn) continue;
      bool hit = view_splat(&view, lane.slopes, lane.first, s, start + k);
      if (parts && !hit) continue;
      if (skips && !__any_sync(WHOLE_WARP, hit)) continue;
      splat_slopes(lane.slopes, s, &view, v);
      papers_add<way>(&to, s->key, v, hit);
    }
  }
}

template <int way>
static void papers_launch(int tiles, const backward_arguments *a) {
  SIMT_LAUNCH(papers_backward<way>, tiles, TILE_PIXELS, 0, 0, way_arguments_of(a));
}

const bench_kernel papers_kernels[PAPERS_KERNELS] = {
    {"atomic", ADD_PLAIN, SUMS_ARRAYS, 1, papers_launch<PAPERS_ATOMIC>},
    {"sw_s", ADD_SERIALIZED, SUMS_ARRAYS, 1, papers_launch<PAPERS_SW_S>},
    {"divergent", ADD_DEFAULT, SUMS_ARRAYS, 1, papers_launch<PAPERS_DIVERGENT>},
    {"sw_b", ADD_BUTTERFLY, SUMS_ARRAYS, 1, papers_launch<PAPERS_SW_B>},
    {"sw_b_skip", ADD_BUTTERFLY, SUMS_ARRAYS, 1, papers_launch<PAPERS_SW_B_SKIP>},
    {"whole", ADD_DEFAULT, SUMS_ARRAYS, 1, papers_launch<PAPERS_WHOLE>}};
