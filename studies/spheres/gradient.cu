/* arc study spheres: the gradient of the spheres, and of the camera.
   SPDX-License-Identifier: Apache-2.0

   The kernel to copy from is `gradient`, at the end. A thread has a pixel and visits the spheres
   that the pixel tracks, closest first. The lanes of a warp are neighbouring pixels, so many of
   them, but seldom all, have the same sphere in a step: each lane has its own key. */
#include "../common/ways.cuh"
#include "arc/hot.cuh"
#include "blend.cuh"

/* Every step is voted for, and lanes without a sphere hold zeros; WAY_WALK has one key per step. */
#define PROMISES(way)                                          \
  (ARC_PROMISE_WARP_IS_ACTIVE | ARC_PROMISE_INACTIVE_IS_ZERO | \
   ((way) == WAY_WALK ? ARC_PROMISE_ONE_KEY : 0))

static __device__ constexpr bool way_is_arc(int way) {
  return way != WAY_COUNT && way != WAY_PLAIN && way != WAY_CUB && way != WAY_CG;
}

typedef struct gradient_arguments {
  picture p;
  const float *target;
  int threshold;
  unsigned long long *counts;
} gradient_arguments;

/* What a thread keeps from step to step. */
typedef struct pixel_slope {
  pixel at;
  float3 colour, slope;   /* the pixel's, and the loss's by it */
  float reciprocal_total; /* of the weights */
} pixel_slope;

DEVICE pixel_slope load_pixel(const gradient_arguments *a) {
  const pixel at = pixel_of_thread(&a->p);
  const size_t plane = plane_of(&a->p), red = at.index, green = red + plane, blue = green + plane;
  const float *c = a->p.colour, *t = a->target;
  const float3 colour = make_float3(c[red], c[green], c[blue]);
  const float3 slope = make_float3(c[red] - t[red], c[green] - t[green], c[blue] - t[blue]);
  return {at, colour, slope, 1.0f / a->p.total[red]};
}

/* The pixel's spheres, closest first or by ascending number; ~0 behind the last. */
DEVICE void load_tracked(unsigned spheres[TRACKED + 1], const picture *p, const pixel *at,
                         bool by_number) {
  UNROLL
  for (int k = 0; k <= TRACKED; ++k) {
    const bool is_one = k < TRACKED && at->inside;
    spheres[k] = is_one ? (unsigned)p->tracked[k * plane_of(p) + at->index] : ~0u;
    UNROLL
    for (int j = k; j > 0 && by_number; --j) {
      const unsigned low = min(spheres[j - 1], spheres[j]);
      spheres[j] = max(spheres[j - 1], spheres[j]);
      spheres[j - 1] = low;
    }
  }
}

/* Drops the first one, where `taken`. */
DEVICE void drop_first(unsigned spheres[TRACKED + 1], bool taken) {
  UNROLL
  for (int k = 0; k < TRACKED; ++k) spheres[k] = taken ? spheres[k + 1] : spheres[k];
}

DEVICE void put(float v[3], float3 value) {
  v[0] = value.x;
  v[1] = value.y;
  v[2] = value.z;
}

/* The row of sphere i at one pixel; zeros if not `active`, whatever i is. by_: the loss by. */
DEVICE void row_of_pixel(float v[ROW_FLOATS], const picture *p, const pixel_slope *pixel, int i,
                         bool active) {
  const sphere s = load_sphere(p, i);
  const share a = share_of(&s, pixel->at.ray);
  const float part = active ? pixel->reciprocal_total : 0.0f;
  const float by_u = part * dot(pixel->slope, add_scaled(s.colour, pixel->colour, -1.0f));
  const float by_exponent = by_u * a.u * (1.0f / SOFTNESS);
  const float by_depth = -DEPTH_SCALE * by_exponent * s.opacity;
  const float pull = 2.0f * by_u * s.opacity * a.front / (s.radius * s.radius);
  const float3 by_offset = add_scaled(scale(pixel->at.ray, by_depth), a.across, -pull);
  const float3 by_direction = scale(a.across, pixel->at.inverse * (by_depth + pull * a.depth));
  put(v + SPHERE_X, by_offset);
  v[SPHERE_RADIUS] = pull * a.square / s.radius;
  put(v + SPHERE_RED, scale(pixel->slope, part * a.u));
  v[SPHERE_OPACITY] = by_u * a.closeness * a.front + by_exponent * a.z;
  put(v + SPHERE_FLOATS, scale(by_offset, -1.0f)); /* by the eye, and so on as in camera */
  put(v + SPHERE_FLOATS + 3, by_direction);
  put(v + SPHERE_FLOATS + 6, scale(by_direction, pixel->at.x));
  put(v + SPHERE_FLOATS + 9, scale(by_direction, pixel->at.y));
}

/* One more pixel tracks each lane's sphere. A sum of ones needs no reduction: the lanes that hold a
   key are counted, and one of them adds their number. */
template <int way>
DEVICE void add_seen(const gradient_arguments *a, int i, bool active) {
  const unsigned one = 1u;
  if constexpr (way == WAY_DIVERGENT) {
    arc_add_divergent_u32(arc_target_u32_rows(a->p.seen, 1, 1), i, &one);
  } else if constexpr (way == WAY_PLAIN) {
    if (active) atomicAdd(&a->p.seen[i], one);
  } else if constexpr (way != WAY_COUNT) {
    const unsigned lanes = way == WAY_WALK ? __ballot_sync(ARC_LANES_ALL, active)
                                           : __match_any_sync(ARC_LANES_ALL, active ? i : -1);
    if (active && __ffs((int)lanes) - 1 == (int)(threadIdx.x & 31u))
      atomicAdd(&a->p.seen[i], (unsigned)__popc(lanes));
  }
}

/* What a thread adds to. */
typedef struct gradient_sums {
  way_rows rows;
  float *camera; /* CAMERA_ROW: this pixel's, so far */
} gradient_sums;

/* One step of the warp: a row and a count to each lane's sphere i. In WAY_DIVERGENT only the active
   lanes call, else all do. */
template <int way, int layout>
DEVICE void visit(const gradient_arguments *a, const pixel_slope *at, const gradient_sums *sums,
                  int i, bool active) {
  float v[ROW_FLOATS];
  row_of_pixel(v, &a->p, at, i, active);
  UNROLL
  for (int k = 0; k < CAMERA_FLOATS && layout == CAMERA_ROW; ++k)
    sums->camera[k] += v[SPHERE_FLOATS + k];
  if constexpr (way == WAY_DIVERGENT) {
    arc_options options = arc_options_default();
    options.threshold = a->threshold;
    options.lane_mask = ARC_LANES_HERE;
    arc_add_with_f32(sums->rows.target, i, v, true, options);
  } else {
    way_add(&sums->rows, i, v, active, way > WAYS ? WAY_AUTO : way, a->threshold,
            PROMISES(way) | ARC_PROMISE_ALIGNED_16);
  }
  add_seen<way>(a, i, active);
}

/* Each lane its next sphere in every step. */
template <int way, int layout>
DEVICE void visit_own(const gradient_arguments *a, const pixel_slope *at,
                      const gradient_sums *sums) {
  unsigned spheres[TRACKED + 1];
  load_tracked(spheres, &a->p, &at->at, way == WAY_SORTED);
  NO_UNROLL
  for (int number = 0; number < TRACKED; ++number) {
    const int i = (int)spheres[0];
    drop_first(spheres, true);
    if constexpr (way == WAY_DIVERGENT) {
      if (i >= 0) visit<way, layout>(a, at, sums, i, true);
    } else {
      if (!__any_sync(ARC_LANES_ALL, i >= 0)) break;
      visit<way, layout>(a, at, sums, max(i, 0), i >= 0);
    }
  }
}

DEVICE unsigned warp_smallest(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int step = 16; step > 0; step /= 2)
    value = min(value, __shfl_xor_sync(ARC_LANES_ALL, value, step));
  return value;
#else
  return __reduce_min_sync(ARC_LANES_ALL, value);
#endif
}

/* WAY_WALK: all lanes the same sphere, the smallest number that one of them has not visited. */
template <int layout>
DEVICE void visit_common(const gradient_arguments *a, const pixel_slope *at,
                         const gradient_sums *sums) {
  unsigned spheres[TRACKED + 1];
  load_tracked(spheres, &a->p, &at->at, true);
  for (unsigned i; (i = warp_smallest(spheres[0])) != ~0u;) {
    const bool active = spheres[0] == i;
    visit<WAY_WALK, layout>(a, at, sums, (int)i, active);
    drop_first(spheres, active);
  }
}

/* The whole grid adds to the camera's row: arc's ways let the block sum it first. */
template <int way>
DEVICE void add_camera(const gradient_arguments *a, const float *sums, bool inside) {
  const int key = a->p.spheres;
  if constexpr (way_is_arc(way)) {
    __shared__ float
        shared[ARC_HOT_BYTES(sizeof(float), 1, CAMERA_FLOATS, TILE_PIXELS) / sizeof(float)];
    const arc_target_f32 rows =
        arc_target_f32_rows(a->p.sums + SPHERE_FLOATS, ROW_FLOATS, CAMERA_FLOATS);
    const arc_hot_f32 hot = arc_hot_begin_f32(rows, shared, key, 1);
    arc_hot_add_f32(&hot, key, sums, inside);
    arc_hot_end_f32(&hot);
  } else if constexpr (way != WAY_COUNT) {
    const way_rows rows =
        way_rows_begin(a->p.sums + SPHERE_FLOATS, ROW_FLOATS, CAMERA_FLOATS, a->counts);
    way_add(&rows, key, sums, inside, way, a->threshold, ARC_PROMISE_ONE_KEY);
  }
}

/* One block a tile. */
template <int way, int layout>
__global__ void __launch_bounds__(TILE_PIXELS, 4) gradient(gradient_arguments a) {
  const int width = layout == CAMERA_ROW ? (int)SPHERE_FLOATS : (int)ROW_FLOATS;
  const pixel_slope at = load_pixel(&a);
  float camera_sums[CAMERA_FLOATS] = {};
  const gradient_sums sums = {way_rows_begin(a.p.sums, ROW_FLOATS, width, a.counts), camera_sums};
  if constexpr (way == WAY_WALK)
    visit_common<layout>(&a, &at, &sums);
  else
    visit_own<way, layout>(&a, &at, &sums);
  if constexpr (layout == CAMERA_ROW) add_camera<way>(&a, camera_sums, at.at.inside);
}

/* ---- host ------------------------------------------------------------------------------------ */

typedef void (*gradient_kernel)(gradient_arguments);

#define LAYOUTS(way) \
  { gradient<way, CAMERA_BY_SPHERE>, gradient<way, CAMERA_ROW> }

void renderer_gradient(renderer *r, const float *target, int way, int threshold, int camera_layout,
                       unsigned long long *counts) {
  static const gradient_kernel kernels[1 + ALL_WAYS][CAMERA_LAYOUTS] = {
      EACH_WAY(LAYOUTS), LAYOUTS(WAY_DIVERGENT), LAYOUTS(WAY_SORTED), LAYOUTS(WAY_WALK)};
  const gradient_arguments a = {r->p, target, threshold, counts};
  SIMT_LAUNCH(kernels[way - WAY_COUNT][camera_layout], r->tiles, TILE_PIXELS, 0, 0, a);
  device_check(cudaGetLastError(), "the gradient");
}
