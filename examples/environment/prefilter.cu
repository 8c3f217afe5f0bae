/* arc example environment: the filters of cube maps, and how their gradients are added.
   SPDX-License-Identifier: Apache-2.0

   The kernel to read is `scatter`. A lane owns an output texel, walks over the input texels
   inside its lobe and adds three floats to each. Plain atomics walk as the original's do: each
   lane over its own box of texels. For all others the lanes of a warp walk together over the box
   around theirs, so that all active lanes hold one key. Tiles are 8 x 8 texels, warps 8 x 4, as
   in the original; but a block walks over one face only, since maps have few texels and their
   lobes many. */
#include "prefilter.h"

#include "../common/ways.cuh"

enum { TILE_SIDE = 8, TILE_TEXELS = TILE_SIDE * TILE_SIDE, FACES = 6 };

/* Of texels on one face; empty where a last one is below the first. */
typedef struct cube_box {
  int left, right, top, bottom;
} cube_box;

typedef struct filter_arguments {
  cube_filter f;
  const cube_texel *texels;
  float *inverse;      /* 1 / the sum of an output texel's weights */
  const float *values; /* three for each texel walked over or, in scatter, owned */
  float *sums;
  unsigned long long *counts;
  int threshold;
} filter_arguments;

/* ---- filters -------------------------------------------------------------------------------- */

cube_filter cube_filter_diffuse(int side) {
  const cube_filter f = {side, true, 1.0f, 4.0f, 1.0f};
  return f;
}

static double distribution(double alpha2, double angle) {
  const double c = cos(angle), d = c * c * (alpha2 - 1) + 1;
  return alpha2 / (d * d);
}

cube_filter cube_filter_specular(int side, float roughness) {
  enum { STEPS = 20000 };
  const double alpha2 = pow(roughness, 4), step = 0.5 * 3.14159265358979323846 / STEPS;
  double all = 0, part = 0;
  int end = 0;
  for (int i = 0; i < STEPS; ++i) all += distribution(alpha2, (i + 0.5) * step);
  while (part < 0.99 * all) part += distribution(alpha2, (end++ + 0.5) * step);
  const cube_filter f = {side, false, (float)alpha2, (float)(2 - 2 * cos(end * step)),
                         (float)sin(end * step)};
  return f;
}

/* The weight of a texel in the direction `to` from that of the lobe, but for its area; 0 outside
   of the lobe. By the distance of the two, since 1 - c would cancel for narrow lobes. diffuse:
   f's own, a literal. */
static __device__ __forceinline__ float filter_weight(cube_filter f, bool diffuse, cube_texel from,
                                                      cube_texel to) {
  const float x = from.x - to.x, y = from.y - to.y, z = from.z - to.z;
  const float apart = x * x + y * y + z * z, c = 1.0f - 0.5f * apart;
  if (diffuse) return fmaxf(c, 0.0f);
  const float d = f.alpha2 + 0.25f * (1.0f - f.alpha2) * apart;
  const float weight = __fdividef(c, d * d); /* constant factors do not matter */
  return apart <= f.farthest ? weight : 0.0f;
}

/* ---- texels of lanes, boxes ----------------------------------------------------------------- */

typedef struct owned_texel {
  bool inside;
  int key;
  cube_texel at;
} owned_texel;

static __device__ __forceinline__ owned_texel own_texel(const filter_arguments *a, int tile,
                                                        int t) {
  const int side = a->f.side, along = (side + TILE_SIDE - 1) / TILE_SIDE, row = tile / along;
  const int x = (tile - row * along) * TILE_SIDE + t % TILE_SIDE;
  const int face = row / along, y = (row - face * along) * TILE_SIDE + t / TILE_SIDE;
  const bool inside = x < side && y < side;
  const int key = inside ? (face * side + y) * side + x : 0;
  const owned_texel mine = {inside, key, a->texels[key]};
  return mine;
}

/* First and last of the texels whose middles lie, seen along one axis of a face, between the two
   planes that touch a cone. along, across: of the cone's middle, on the face's normal and that
   axis; sine: of its half angle, which is below a right one. */
static __device__ __forceinline__ void cone_span(float along, float across, float sine, int side,
                                                 int *first, int *last) {
  const float turn2 = along * along + across * across - sine * sine;
  const float turn = turn2 * rsqrtf(fmaxf(turn2, 1e-30f)), half = 0.5f * (float)side, slack = 1e-3f;
  const float low_along = along * turn + across * sine, low = across * turn - along * sine;
  const float high_along = along * turn - across * sine, high = across * turn + along * sine;
  const bool all = turn2 <= 0.0f; /* the cone holds the other axis */
  *first = 0, *last = side - 1;
  if (!all && low_along > 0.0f)
    *first =
        (int)ceilf(fminf((__fdividef(low, low_along) + 1.0f) * half - 0.5f - slack, (float)side));
  if (!all && high_along > 0.0f)
    *last = (int)floorf(fmaxf((__fdividef(high, high_along) + 1.0f) * half - 0.5f + slack, -1.0f));
  if (!all && low_along <= 0.0f && high_along <= 0.0f) *last = -1;
  *first = max(*first, 0), *last = min(*last, side - 1);
}

static __device__ __forceinline__ cube_box lobe_box(cube_filter f, cube_texel middle, int face) {
  const vec3 m = {middle.x, middle.y, middle.z};
  const float along = face % 2 == 0 ? vec3_part(m, face / 2) : -vec3_part(m, face / 2);
  cube_box box;
  cone_span(along, vec3_part(m, (face / 2 + 1) % 3), f.sine, f.side, &box.left, &box.right);
  cone_span(along, vec3_part(m, (face / 2 + 2) % 3), f.sine, f.side, &box.top, &box.bottom);
  return box;
}

static __device__ __forceinline__ int warp_least(int value) {
  for (int step = 16; step > 0; step /= 2)
    value = min(value, __shfl_xor_sync(ARC_LANES_ALL, value, step));
  return value;
}

/* What to walk over on a face: for the lane alone, or for all of the warp's that are inside. The
   diffuse lobe is cut nowhere, as in the original. */
static __device__ __forceinline__ cube_box box_to_walk(cube_filter f, bool diffuse, bool alone,
                                                       const owned_texel *mine, int face) {
  const int side = f.side;
  const cube_box whole = {0, side - 1, 0, side - 1}, nothing = {side, -1, side, -1};
  if (diffuse) return whole;
  cube_box box = lobe_box(f, mine->at, face);
  if (!mine->inside || box.right < box.left || box.bottom < box.top) box = nothing;
  if (alone) return box;
  const cube_box all = {warp_least(box.left), -warp_least(-box.right), warp_least(box.top),
                        -warp_least(-box.bottom)};
  return all;
}

/* ---- without atomics: the filter, and its adjoint in gather form ---------------------------- */

typedef struct weighted_sum {
  float weight;
  vec3 colour;
} weighted_sum;

/* A block is a tile of texels, six times: its threads share out the faces to find boxes on, and
   then the rows of all boxes. The weight of a pair is the same from both ends, but for two
   factors: the area of the input texel and 1 / the sum of the output's. So the adjoint is the
   filter with the two exchanged. */
template <bool forward, bool diffuse>
__global__ void __launch_bounds__(FACES *TILE_TEXELS) gather(filter_arguments a) {
  __shared__ cube_box boxes[FACES][TILE_TEXELS / 32];
  __shared__ weighted_sum parts[FACES][TILE_TEXELS];
  const int share = (int)threadIdx.x / TILE_TEXELS, t = (int)threadIdx.x % TILE_TEXELS;
  const owned_texel mine = own_texel(&a, (int)blockIdx.x, t);
  weighted_sum sum = {0.0f, {0.0f, 0.0f, 0.0f}};
  const cube_box found = box_to_walk(a.f, diffuse, false, &mine, share);
  if (t % 32 == 0) boxes[share][t / 32] = found;
  __syncthreads();
  for (int face = 0; face < FACES; ++face) {
    const cube_box box = boxes[face][t / 32];
    for (int y = box.top + share; y <= box.bottom; y += FACES)
      for (int x = box.left; x <= box.right; ++x) {
        const int key = (face * a.f.side + y) * a.f.side + x;
        const cube_texel texel = a.texels[key];
        const float factor = forward ? texel.area : a.inverse[key];
        const float weight = filter_weight(a.f, diffuse, mine.at, texel) * factor;
        const vec3 value = {a.values[3 * key], a.values[3 * key + 1], a.values[3 * key + 2]};
        sum.colour = vec3_add(sum.colour, weight, value);
        sum.weight += weight;
      }
  }
  parts[share][t] = sum;
  __syncthreads();
  if (share != 0 || !mine.inside) return;
  for (int i = 1; i < FACES; ++i) {
    sum.colour = vec3_add(sum.colour, 1.0f, parts[i][t].colour);
    sum.weight += parts[i][t].weight;
  }
  const float scale = forward ? 1.0f / sum.weight : mine.at.area;
  if (forward) a.inverse[mine.key] = scale;
  for (int i = 0; i < 3; ++i) {
    float *out = a.sums + 3 * mine.key + i;
    *out = (forward ? 0.0f : *out) + scale * vec3_part(sum.colour, i);
  }
}

/* ---- the adjoint as atomics ----------------------------------------------------------------- */

/* In the diffuse lobe all lanes are active at every step, also those that look away and add zeros:
   so it is in the original. together: texels of a row in one call, a row of so many times 3 floats;
   divides the side. */
template <int way, bool diffuse, int together>
__global__ void __launch_bounds__(TILE_TEXELS) scatter(filter_arguments a) {
  const unsigned promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO |
                            ARC_PROMISE_INACTIVE_HAS_KEY |
                            (diffuse ? ARC_PROMISE_WARP_IS_ACTIVE : 0);
  const int face = (int)blockIdx.x % FACES;
  const owned_texel mine = own_texel(&a, (int)blockIdx.x / FACES, (int)threadIdx.x);
  const float scale = mine.inside ? a.inverse[mine.key] : 0.0f, *slope = a.values + 3 * mine.key;
  const float by_weight[3] = {scale * slope[0], scale * slope[1], scale * slope[2]};
  if (!__any_sync(ARC_LANES_ALL, mine.inside)) return;
  const way_rows rows = way_rows_begin(a.sums, 3 * together, 3 * together, a.counts);
  const cube_box box = box_to_walk(a.f, diffuse, way == WAY_PLAIN, &mine, face);
  for (int y = box.top; y <= box.bottom; ++y)
    for (int x = box.left / together * together; x <= box.right; x += together) {
      const int key = (face * a.f.side + y) * a.f.side + x;
      bool active = diffuse;
      float v[3 * together];
      for (int i = 0; i < together; ++i) {
        const cube_texel texel = a.texels[key + i];
        const float near = filter_weight(a.f, diffuse, mine.at, texel);
        const float weight = near * texel.area;
        active = active || near > 0.0f;
        for (int c = 0; c < 3; ++c) v[3 * i + c] = weight * by_weight[c];
      }
      if (way != WAY_PLAIN) __syncwarp(); /* it is converged: compilers are told */
      way_add(&rows, key / together, v, active && mine.inside,
              way == OWN_UNION ? (int)WAY_PLAIN : way, a.threshold, promises);
    }
}

/* ---- host ----------------------------------------------------------------------------------- */

typedef void (*filter_kernel)(filter_arguments);

/* scatter: a tile and a face a block; gather: a tile and all faces. */
static void launch(const prefilter *p, filter_kernel kernel, bool is_scatter, const float *values,
                   float *sums, int threshold) {
  const filter_arguments a = {p->filter,
                              (const cube_texel *)p->texels.data,
                              (float *)p->inverse.data,
                              values,
                              sums,
                              workload_counts(),
                              threshold};
  const int along = (p->filter.side + TILE_SIDE - 1) / TILE_SIDE, tiles = FACES * along * along;
  SIMT_LAUNCH(kernel, is_scatter ? FACES * tiles : tiles,
              is_scatter ? TILE_TEXELS : FACES * TILE_TEXELS, 0, 0, a);
}

void prefilter_forward(const prefilter *p, const float *light, float *filtered) {
  launch(p, p->filter.diffuse ? gather<true, true> : gather<true, false>, false, light, filtered,
         0);
}

#define SCATTER_PAIR(way, together) \
  { scatter<way, false, together>, scatter<way, true, together> }

void prefilter_backward(const prefilter *p, int way, int threshold, const float *by_filtered,
                        float *by_light) {
  static const filter_kernel kernels[][2] = {
      SCATTER_PAIR(WAY_COUNT, 1),      SCATTER_PAIR(WAY_PLAIN, 1),
      SCATTER_PAIR(WAY_SERIALIZED, 1), SCATTER_PAIR(WAY_BUTTERFLY, 1),
      SCATTER_PAIR(WAY_TRANSPOSED, 1), SCATTER_PAIR(WAY_TREE, 1),
      SCATTER_PAIR(WAY_AUTO, 1),       SCATTER_PAIR(WAY_CUB, 1),
      SCATTER_PAIR(WAY_CG, 1),         {gather<false, false>, gather<false, true>},
      SCATTER_PAIR(OWN_UNION, 1),      SCATTER_PAIR(WAY_AUTO, 4)};
  if (way == OWN_FOUR && p->filter.side % 4 != 0) way = WAY_AUTO;
  launch(p, kernels[way + 1][p->filter.diffuse], way != OWN_GATHER, by_filtered, by_light,
         threshold);
}

void prefilter_begin(prefilter *p, cube_filter filter, device_memory *memory) {
  const size_t count = (size_t)cube_count(filter.side);
  cube_texel *texels = (cube_texel *)host_memory(count * sizeof *texels);
  *p = {};
  p->filter = filter;
  for (size_t k = 0; k < count; ++k) texels[k] = cube_texel_of((int)k, filter.side);
  device_reserve(memory, &p->texels, count * sizeof *texels, "memory for texels");
  device_reserve(memory, &p->inverse, count * sizeof(float), "memory for texels");
  host_to_device(p->texels.data, texels, count * sizeof *texels, "texels");
  free(texels);
}

void prefilter_end(prefilter *p, device_memory *memory) {
  device_release(memory, &p->texels);
  device_release(memory, &p->inverse);
}

/* ---- levels of light ------------------------------------------------------------------------ */

/* side: of the coarser map, whose texel's floats are computed, a thread each, or passed on. */
template <bool forward>
__global__ void shrink(int side, float *fine, float *coarse) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), texel = i / 3;
  const int x = texel % side, y = texel / side % side, face = texel / (side * side);
  float *corner = fine + ((size_t)(face * 2 * side + 2 * y) * 2 * side + 2 * x) * 3 + i % 3;
  if (face >= FACES) return;
  if (forward) coarse[i] = 0.0f;
  for (int k = 0; k < 4; ++k) {
    float *texel_of_four = corner + 3 * ((k / 2) * 2 * side + k % 2);
    if (forward) coarse[i] += 0.25f * *texel_of_four;
    if (!forward) *texel_of_four += 0.25f * coarse[i];
  }
}

static void shrink_level(cube_pyramid form, int level, float *light, bool is_forward) {
  const int side = pyramid_side(form, level);
  SIMT_LAUNCH((is_forward ? shrink<true> : shrink<false>),
              line_blocks(3 * (size_t)cube_count(side)), LINE_THREADS, 0, 0, side,
              light + 3 * (size_t)pyramid_first(form, level - 1),
              light + 3 * (size_t)pyramid_first(form, level));
}

void pyramid_shrink(cube_pyramid form, float *light) {
  for (int level = 1; level < form.levels; ++level) shrink_level(form, level, light, true);
}

void pyramid_shrink_backward(cube_pyramid form, float *by_light) {
  for (int level = form.levels - 1; level > 0; --level) shrink_level(form, level, by_light, false);
}
