/* arc study environment: the filters of cube maps, and how their gradients are added.
   SPDX-License-Identifier: Apache-2.0

   The kernel to read is `scatter`. A lane owns an output texel, walks over the input texels inside
   its lobe and adds three floats to each. With plain atomics each lane walks over its own box of
   texels, as in the original. With every other way the lanes of a warp walk together over the box
   around all their boxes, so all active lanes hold one key. Tiles are 8 x 8 texels, warps 8 x 4, as
   in the original. Unlike there, a block walks over one face only, since maps have few texels and
   lobes have many. */
#include "../common/ways.cuh"
#include "environment.h"

static_assert(int(OWN_GATHER) == int(WAYS), "own ways follow");

enum { TILE_SIDE = 8, TILE_TEXELS = TILE_SIDE * TILE_SIDE, FACES = 6 };

/* Of texels on one face; empty where a last one is below the first. */
typedef struct cube_box {
  int left, right, top, bottom;
} cube_box;

static double distribution(double alpha2, double angle) {
  return alpha2 * pow(1 + (alpha2 - 1) * cos(angle) * cos(angle), -2);
}

cube_filter cube_filter_make(int side, float roughness, const cube_texel *texels, float *inverse) {
  enum { STEPS = 20000 };
  const double alpha2 = pow(roughness, 4), step = 0.5 * 3.14159265358979323846 / STEPS;
  double all = 0, part = 0;
  int end = 0;
  if (roughness <= 0.0f) return {side, true, 1.0f, 4.0f, 1.0f, texels, inverse};
  for (int i = 0; i < STEPS; ++i) all += distribution(alpha2, (i + 0.5) * step);
  while (part < 0.99 * all) part += distribution(alpha2, (end++ + 0.5) * step);
  return {side,   false,  (float)alpha2, (float)(2 - 2 * cos(end * step)), (float)sin(end * step),
          texels, inverse};
}

/* The weight of a texel in the direction `to` from that of the lobe, but for its area; 0 outside
   of the lobe. By the distance of the two, since 1 - c would cancel for narrow lobes. diffuse:
   f's own, a literal. */
DEVICE float filter_weight(cube_filter f, bool diffuse, cube_texel from, cube_texel to) {
  const float x = from.x - to.x, y = from.y - to.y, z = from.z - to.z;
  const float apart = x * x + y * y + z * z, c = 1.0f - 0.5f * apart;
  if (diffuse) return fmaxf(c, 0.0f);
  const float d = f.alpha2 + 0.25f * (1.0f - f.alpha2) * apart;
  const float weight = __fdividef(c, d * d); /* constant factors do not matter */
  return apart <= f.farthest ? weight : 0.0f;
}

typedef struct owned_texel {
  bool inside;
  int key;
  cube_texel at;
} owned_texel;

DEVICE owned_texel own_texel(cube_filter f, int tile, int t) {
  const int side = f.side, along = (side + TILE_SIDE - 1) / TILE_SIDE, row = tile / along;
  const int x = (tile - row * along) * TILE_SIDE + t % TILE_SIDE;
  const int face = row / along, y = (row - face * along) * TILE_SIDE + t / TILE_SIDE;
  const bool inside = x < side && y < side;
  const int key = inside ? (face * side + y) * side + x : 0;
  return {inside, key, f.texels[key]};
}

/* First and last of the texels whose middles lie, seen along one axis of a face, between the two
   planes that touch a cone. along, across: of the cone's middle, on the face's normal and that
   axis; sine: of its half angle, which is below a right one. */
DEVICE void cone_span(float along, float across, float sine, int side, int *first, int *last) {
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

DEVICE int warp_least(int value) {
  for (int step = 16; step > 0; step /= 2)
    value = min(value, __shfl_xor_sync(ARC_LANES_ALL, value, step));
  return value;
}

/* What to walk over on a face: for the lane alone, or for all of the warp's that are inside. The
   diffuse lobe is cut nowhere, as in the original. */
DEVICE cube_box box_to_walk(cube_filter f, bool diffuse, bool alone, const owned_texel *mine,
                            int face) {
  const int side = f.side;
  if (diffuse) return {0, side - 1, 0, side - 1};
  const vec3 m = {mine->at.x, mine->at.y, mine->at.z};
  const float along = face % 2 == 0 ? vec3_part(m, face / 2) : -vec3_part(m, face / 2);
  cube_box box;
  cone_span(along, vec3_part(m, (face / 2 + 1) % 3), f.sine, side, &box.left, &box.right);
  cone_span(along, vec3_part(m, (face / 2 + 2) % 3), f.sine, side, &box.top, &box.bottom);
  if (!mine->inside || box.right < box.left || box.bottom < box.top) box = {side, -1, side, -1};
  if (alone) return box;
  return {warp_least(box.left), -warp_least(-box.right), warp_least(box.top),
          -warp_least(-box.bottom)};
}

/* ---- without atomics: the filter, and its adjoint in gather form ---------------------------- */

/* A block is a tile of texels, six times: its threads share out the faces to find boxes on, and
   then the rows of all boxes. The weight of a pair is the same from both ends, but for two
   factors: the area of the input texel and 1 / the sum of the output's. So the adjoint is the
   filter with the two exchanged. */
template <bool forward, bool diffuse>
__global__ void __launch_bounds__(FACES *TILE_TEXELS)
    gather(cube_filter f, const float *values, float *sums, unsigned long long *, int) {
  __shared__ cube_box boxes[FACES][TILE_TEXELS / 32];
  __shared__ float parts[FACES][TILE_TEXELS][4];
  const int share = (int)threadIdx.x / TILE_TEXELS, t = (int)threadIdx.x % TILE_TEXELS;
  const owned_texel mine = own_texel(f, (int)blockIdx.x, t);
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f}; /* the last: of weights */
  const cube_box found = box_to_walk(f, diffuse, false, &mine, share);
  if (t % 32 == 0) boxes[share][t / 32] = found;
  __syncthreads();
  for (int face = 0; face < FACES; ++face) {
    const cube_box box = boxes[face][t / 32];
    for (int y = box.top + share; y <= box.bottom; y += FACES)
      for (int x = box.left; x <= box.right; ++x) {
        const int key = (face * f.side + y) * f.side + x;
        const cube_texel texel = f.texels[key];
        const float factor = forward ? texel.area : f.inverse[key];
        const float weight = filter_weight(f, diffuse, mine.at, texel) * factor;
        for (int i = 0; i < 3; ++i) sum[i] += weight * values[3 * key + i];
        sum[3] += weight;
      }
  }
  for (int i = 0; i < 4; ++i) parts[share][t][i] = sum[i];
  __syncthreads();
  if (share != 0 || !mine.inside) return;
  for (int k = 1; k < FACES; ++k)
    for (int i = 0; i < 4; ++i) sum[i] += parts[k][t][i];
  const float scale = forward ? 1.0f / sum[3] : mine.at.area;
  if (forward) f.inverse[mine.key] = scale;
  for (int i = 0; i < 3; ++i) {
    float *out = sums + 3 * mine.key + i;
    *out = (forward ? 0.0f : *out) + scale * sum[i];
  }
}

/* ---- the adjoint as atomics ----------------------------------------------------------------- */

/* In the diffuse lobe all lanes are active at every step, also those that look away and add zeros:
   so it is in the original. together: texels of a row in one call, a row of so many times 3 floats;
   divides the side. */
template <int way, bool diffuse, int together>
__global__ void __launch_bounds__(TILE_TEXELS)
    scatter(cube_filter f, const float *values, float *sums, unsigned long long *counts,
            int threshold) {
  const unsigned promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO |
                            (diffuse ? ARC_PROMISE_WARP_IS_ACTIVE : 0);
  const int face = (int)blockIdx.x % FACES;
  const owned_texel mine = own_texel(f, (int)blockIdx.x / FACES, (int)threadIdx.x);
  const float scale = mine.inside ? f.inverse[mine.key] : 0.0f, *slope = values + 3 * mine.key;
  const float by_weight[3] = {scale * slope[0], scale * slope[1], scale * slope[2]};
  if (!__any_sync(ARC_LANES_ALL, mine.inside)) return;
  const way_rows rows = way_rows_begin(sums, 3 * together, 3 * together, counts);
  const cube_box box = box_to_walk(f, diffuse, way == WAY_PLAIN, &mine, face);
  for (int y = box.top; y <= box.bottom; ++y)
    for (int x = box.left / together * together; x <= box.right; x += together) {
      const int key = (face * f.side + y) * f.side + x;
      bool active = diffuse;
      float v[3 * together];
      for (int i = 0; i < together; ++i) {
        const cube_texel texel = f.texels[key + i];
        const float near = filter_weight(f, diffuse, mine.at, texel);
        const float weight = near * texel.area;
        active = active || near > 0.0f;
        for (int c = 0; c < 3; ++c) v[3 * i + c] = weight * by_weight[c];
      }
      if (way != WAY_PLAIN) __syncwarp(); /* it is converged: compilers are told */
      way_add(&rows, key / together, v, active && mine.inside, way, threshold, promises);
    }
}

typedef void (*filter_kernel)(cube_filter, const float *, float *, unsigned long long *, int);

/* scatter: a tile and a face a block; gather: a tile and all faces. */
static void launch(const cube_filter *f, filter_kernel kernel, bool is_scatter, const float *values,
                   float *sums, int threshold) {
  const int along = (f->side + TILE_SIDE - 1) / TILE_SIDE, tiles = FACES * along * along;
  SIMT_LAUNCH(kernel, is_scatter ? FACES * tiles : tiles,
              is_scatter ? TILE_TEXELS : FACES * TILE_TEXELS, 0, 0, *f, values, sums,
              workload_counts(), threshold);
}

void filter_forward(const cube_filter *f, const float *light, float *filtered) {
  launch(f, f->diffuse ? gather<true, true> : gather<true, false>, false, light, filtered, 0);
}

#define SCATTER_PAIR(way, together) \
  { scatter<way, false, together>, scatter<way, true, together> }
#define SCATTER_ONE(way) SCATTER_PAIR(way, 1)

void filter_backward(const cube_filter *f, int way, int threshold, const float *by_filtered,
                     float *by_light) {
  static const filter_kernel kernels[][2] = {EACH_WAY(SCATTER_ONE),
                                             {gather<false, false>, gather<false, true>},
                                             SCATTER_PAIR(WAY_AUTO, 4)};
  if (way == OWN_FOUR && f->side % 4 != 0) way = WAY_AUTO;
  launch(f, kernels[way + 1][f->diffuse], way != OWN_GATHER, by_filtered, by_light, threshold);
}

/* side: of the coarser map, whose texel's floats are computed, a thread each, or passed on. */
__global__ void shrink(bool is_forward, int side, float *fine, float *coarse) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = i / (3 * side);
  if (i >= 18 * side * side) return;
  float *corner = fine + 6 * (size_t)(2 * row * side + i / 3 % side) + i % 3, mean = 0.0f;
  for (int k = 0; k < 4; ++k) {
    float *texel = corner + 3 * (k / 2 * 2 * side + k % 2);
    if (!is_forward) *texel += 0.25f * coarse[i];
    mean += 0.25f * *texel;
  }
  if (is_forward) coarse[i] = mean;
}

void pyramid_shrink(cube_pyramid form, float *light, bool is_forward) {
  for (int i = 1; i < form.levels; ++i) {
    const int level = is_forward ? i : form.levels - i, side = pyramid_side(form, level);
    SIMT_LAUNCH(shrink, line_blocks(3 * (size_t)cube_count(side)), LINE_THREADS, 0, 0, is_forward,
                side, light + 3 * (size_t)pyramid_first(form, level - 1),
                light + 3 * (size_t)pyramid_first(form, level));
  }
}
