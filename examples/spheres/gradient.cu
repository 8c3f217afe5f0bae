/* arc example spheres: the gradient of the spheres, and of the camera.
   SPDX-License-Identifier: Apache-2.0

   The kernel to copy from is `gradient`, at the end. A thread has a pixel and visits the spheres
   that it tracks, closest first. The lanes of a warp are neighbours, so that many of them have the
   same sphere in a step, but seldom all: the add has a key for each lane. WAY_WALK orders the steps
   otherwise: by sphere, so that an add has one key, but there are more of them. */
#include "../common/ways.cuh"
#include "blend.cuh"

/* Every step is voted for, so that no warp adds nothing; WAY_WALK has one key a step. */
#define KEY_PROMISES(way)       \
  (ARC_PROMISE_WARP_IS_ACTIVE | \
   ((way) == WAY_WALK ? ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_HAS_KEY : 0))
/* Of rows: lanes without a sphere hold zeros, and rows are aligned. */
#define ROW_PROMISES(way) \
  (KEY_PROMISES(way) | ARC_PROMISE_INACTIVE_IS_ZERO | ARC_PROMISE_ALIGNED_16)

typedef struct gradient_arguments {
  camera view;
  int width, height, tiles_x, spheres;
  const float4 *rows;
  const float *colour, *total, *target;
  const int *tracked;
  float *sums;
  unsigned *seen;
  int threshold;
  unsigned long long *counts;
} gradient_arguments;

/* What a thread keeps from step to step. */
typedef struct pixel_slope {
  pixel p;
  float3 colour, slope;   /* the pixel's, and the loss's by it */
  float reciprocal_total; /* of the weights */
} pixel_slope;

static __device__ __forceinline__ float3 load_planes(const float *planes, size_t plane, int i) {
  return make_float3(planes[i], planes[plane + i], planes[2 * plane + i]);
}

static __device__ __forceinline__ pixel_slope load_pixel(const gradient_arguments *a) {
  const size_t plane = (size_t)a->width * a->height;
  pixel_slope s = {};
  s.p = pixel_of_thread(&a->view, a->width, a->height, a->tiles_x);
  s.colour = load_planes(a->colour, plane, s.p.index);
  s.slope = add_scaled(s.colour, load_planes(a->target, plane, s.p.index), -1.0f);
  s.reciprocal_total = 1.0f / a->total[s.p.index];
  return s;
}

static __device__ __forceinline__ void put(float v[3], float3 value) {
  v[0] = value.x;
  v[1] = value.y;
  v[2] = value.z;
}

/* The gradient's row of one sphere at one pixel; zeros where `active` is false, so that any sphere
   may be read then. by_: the loss by. */
static __device__ __forceinline__ void row_of_pixel(float v[ROW_FLOATS],
                                                    const gradient_arguments *a,
                                                    const pixel_slope *s, int sphere, bool active) {
  const float4 place = place_of(a->rows, sphere), look = look_of(a->rows, sphere);
  const float3 colour = make_float3(look.x, look.y, look.z);
  const approach near_by = approach_of(offset_of(place, &a->view), s->p.ray);
  const weight w = weight_of(&near_by, place.w, look.w);
  const float share = active ? s->reciprocal_total : 0.0f;
  const float by_u = share * dot(s->slope, add_scaled(colour, s->colour, -1.0f));
  const float by_closeness = by_u * look.w * w.front;
  const float by_exponent = by_u * w.value * (1.0f / SOFTNESS);
  const float by_depth = -DEPTH_SCALE * by_exponent * look.w;
  const float pull = 2.0f * by_closeness * w.radius_reciprocal_square;
  const float3 by_offset = add_scaled(scale(s->p.ray, by_depth), near_by.across, -pull);
  const float3 by_direction =
      scale(near_by.across, s->p.inverse * (by_depth + pull * near_by.depth));
  put(v + SPHERE_X, by_offset);
  v[SPHERE_RADIUS] = pull * near_by.square / place.w;
  put(v + SPHERE_RED, scale(s->slope, share * w.value));
  v[SPHERE_OPACITY] = by_u * w.closeness * w.front + by_exponent * w.z;
  put(v + SPHERE_FLOATS, scale(by_offset, -1.0f)); /* the eye's */
  put(v + SPHERE_FLOATS + 3, by_direction);
  put(v + SPHERE_FLOATS + 6, scale(by_direction, s->p.x));
  put(v + SPHERE_FLOATS + 9, scale(by_direction, s->p.y));
}

/* One more pixel tracks each lane's sphere. */
template <int way>
static __device__ __forceinline__ void add_seen(const gradient_arguments *a, int sphere,
                                                bool active) {
  const unsigned one = 1u;
  if constexpr (way == WAY_PLAIN || way == WAY_CUB || way == WAY_CG) {
    if (active) atomicAdd(&a->seen[sphere], one);
  } else if constexpr (way == WAY_DIVERGENT) {
    arc_add_divergent_u32(arc_target_u32_rows(a->seen, 1, 1), sphere, &one, a->threshold);
  } else if constexpr (way != WAY_COUNT) {
    arc_options o = arc_options_default();
    o.threshold = a->threshold;
    o.promises = KEY_PROMISES(way);
    arc_add_with_u32(arc_target_u32_rows(a->seen, 1, 1), sphere, &one, active, o);
  }
}

/* One step of the warp: a row and a count to each lane's sphere. In WAY_DIVERGENT only the active
   lanes call, else all do. */
template <int way, int layout>
static __device__ __forceinline__ void visit(const gradient_arguments *a, const pixel_slope *s,
                                             const way_rows *rows, float *camera_sums, int sphere,
                                             bool active) {
  float v[ROW_FLOATS];
  row_of_pixel(v, a, s, sphere, active);
  if constexpr (layout == CAMERA_ROW) UNROLL
  for (int i = 0; i < CAMERA_FLOATS; ++i) camera_sums[i] += v[SPHERE_FLOATS + i];
  if constexpr (way == WAY_DIVERGENT)
    arc_add_divergent_f32(rows->target, sphere, v, a->threshold);
  else
    way_add(rows, sphere, v, active, way == WAY_WALK ? WAY_AUTO : way, a->threshold,
            ROW_PROMISES(way));
  add_seen<way>(a, sphere, active);
}

/* Closest first. A pixel's planes fill from the front: behind -1 there is nothing. */
template <int way, int layout>
static __device__ __forceinline__ void visit_by_depth(const gradient_arguments *a,
                                                      const pixel_slope *s, const way_rows *rows,
                                                      float *camera_sums) {
  const size_t plane = (size_t)a->width * a->height;
  NO_UNROLL
  for (int i = 0; i < TRACKED; ++i) {
    const int sphere = s->p.inside ? a->tracked[i * plane + s->p.index] : -1;
    const bool active = sphere >= 0;
    if constexpr (way == WAY_DIVERGENT) {
      if (active) visit<way, layout>(a, s, rows, camera_sums, sphere, true);
    } else {
      if (!__any_sync(WHOLE_WARP, active)) break;
      visit<way, layout>(a, s, rows, camera_sums, max(sphere, 0), active);
    }
  }
}

/* By ascending number, each sphere once a warp. */
template <int way, int layout>
static __device__ __forceinline__ void visit_by_sphere(const gradient_arguments *a,
                                                       const pixel_slope *s, const way_rows *rows,
                                                       float *camera_sums) {
  const size_t plane = (size_t)a->width * a->height;
  const unsigned none = 0xffffffffu;
  unsigned rest[TRACKED]; /* ascending; -1 becomes `none`, which is last */
  UNROLL
  for (int i = 0; i < TRACKED; ++i) {
    rest[i] = s->p.inside ? (unsigned)a->tracked[i * plane + s->p.index] : none;
    UNROLL
    for (int k = i; k > 0; --k) {
      const unsigned low = min(rest[k - 1], rest[k]);
      rest[k] = max(rest[k - 1], rest[k]);
      rest[k - 1] = low;
    }
  }
  for (;;) {
    const unsigned sphere = __reduce_min_sync(WHOLE_WARP, rest[0]);
    if (sphere == none) break;
    const bool active = rest[0] == sphere;
    visit<way, layout>(a, s, rows, camera_sums, (int)sphere, active);
    UNROLL
    for (int i = 0; i < TRACKED; ++i)
      if (active) rest[i] = i + 1 < TRACKED ? rest[i + 1] : none;
  }
}

/* The whole grid adds to the camera's row: arc's ways let the block sum it first. */
template <int way>
static __device__ __forceinline__ void add_camera(const gradient_arguments *a,
                                                  const float *camera_sums, bool inside) {
  float *row = a->sums + SPHERE_FLOATS;
  if constexpr (way == WAY_PLAIN || way == WAY_CUB || way == WAY_CG) {
    const way_rows rows = way_rows_begin(row, ROW_FLOATS, CAMERA_FLOATS, a->counts);
    way_add(&rows, a->spheres, camera_sums, inside, way, a->threshold, 0u);
  } else if constexpr (way != WAY_COUNT) {
    __shared__ float shared[ARC_HOT_SUMS(1, CAMERA_FLOATS, TILE_PIXELS)];
    const arc_target_f32 target = arc_target_f32_rows(row, ROW_FLOATS, CAMERA_FLOATS);
    const arc_hot_f32 hot = arc_hot_begin_f32(target, shared, a->spheres, 1);
    arc_hot_add_f32(&hot, a->spheres, camera_sums, inside, ARC_BALANCE_THRESHOLD);
    arc_hot_end_f32(&hot, true);
  }
}

/* One block a tile. */
template <int way, int layout>
__global__ void __launch_bounds__(TILE_PIXELS) gradient(gradient_arguments a) {
  const pixel_slope s = load_pixel(&a);
  const way_rows rows = way_rows_begin(
      a.sums, ROW_FLOATS, layout == CAMERA_ROW ? (int)SPHERE_FLOATS : (int)ROW_FLOATS, a.counts);
  float camera_sums[CAMERA_FLOATS] = {};
  if constexpr (way == WAY_WALK)
    visit_by_sphere<way, layout>(&a, &s, &rows, camera_sums);
  else
    visit_by_depth<way, layout>(&a, &s, &rows, camera_sums);
  if constexpr (layout == CAMERA_ROW) add_camera<way>(&a, camera_sums, s.p.inside);
}

/* ---- host ------------------------------------------------------------------------------------ */

typedef void (*gradient_kernel)(gradient_arguments);

#define LAYOUTS(way) \
  { gradient<way, CAMERA_BY_SPHERE>, gradient<way, CAMERA_ROW> }

void renderer_gradient(renderer *r, const float *target, int way, int threshold, int camera_layout,
                       unsigned long long *counts) {
  static const gradient_kernel counting[CAMERA_LAYOUTS] = LAYOUTS(WAY_COUNT);
  static const gradient_kernel kernels[ALL_WAYS][CAMERA_LAYOUTS] = {
    LAYOUTS(WAY_PLAIN),
    LAYOUTS(WAY_SERIALIZED),
    LAYOUTS(WAY_BUTTERFLY),
    LAYOUTS(WAY_TRANSPOSED),
    LAYOUTS(WAY_TREE),
    LAYOUTS(WAY_AUTO),
#if SIMT_ON_CPU
    {nullptr, nullptr},
    {nullptr, nullptr},
#else
    LAYOUTS(WAY_CUB),
    LAYOUTS(WAY_CG),
#endif
    LAYOUTS(WAY_DIVERGENT),
    LAYOUTS(WAY_WALK)
  };
  const gradient_kernel kernel =
      way == WAY_COUNT ? counting[camera_layout] : kernels[way][camera_layout];
  const gradient_arguments a = {r->view,
                                r->width,
                                r->height,
                                r->tiles_x,
                                r->spheres,
                                (const float4 *)r->rows.data,
                                (const float *)r->colour.data,
                                (const float *)r->total.data,
                                target,
                                (const int *)r->tracked.data,
                                (float *)r->sums.data,
                                (unsigned *)r->seen.data,
                                threshold,
                                counts};
  SIMT_LAUNCH(kernel, r->tiles, TILE_PIXELS, 0, 0, a);
  device_check(cudaGetLastError(), "the gradient");
}
