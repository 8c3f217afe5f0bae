/* arc study spheres: the tiles' lists, the picture, Adam. SPDX-License-Identifier: Apache-2.0

   A tile's list holds the spheres that may reach one of its pixels, in any order: each pixel keeps
   the closest ones. */
#include "../common/adam.h"
#include "../common/arrays.h"
#include "blend.cuh"

/* ---- which spheres may reach which tile ------------------------------------------------------ */

/* What a sphere covers of an axis of the plane at distance 1, seen from the eye: the tangents, as
   their mean and half their distance. z, the distance from the eye's plane, is above the radius. */
DEVICE float2 span_of(float x, float z, float radius) {
  const float reciprocal = 1.0f / (z * z - radius * radius);
  const float half = radius * sqrtf(x * x + z * z - radius * radius);
  return make_float2(x * z * reciprocal, half * reciprocal);
}

/* No tile where the sphere reaches the eye's plane: such a one is not drawn. */
DEVICE tile_box box_of(const picture *p, const sphere *s, int tiles_y) {
  const float3 a = from(p->view.right), b = from(p->view.down), corner = from(p->view.corner);
  const float per_unit = rsqrtf(dot(a, a)), slack = 0.01f; /* of a pixel, for rounding */
  const float3 forward =
      scale(make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x),
            per_unit * per_unit);
  const float z = dot(s->offset, forward);
  if (z <= s->radius) return {0, 0, 0, 0};
  const float2 x = span_of(per_unit * dot(s->offset, a), z, s->radius);
  const float2 y = span_of(per_unit * dot(s->offset, b), z, s->radius);
  const float2 centre = make_float2(per_unit * (x.x - per_unit * dot(corner, a)),
                                    per_unit * (y.x - per_unit * dot(corner, b)));
  const float2 half = make_float2(per_unit * x.y + slack, per_unit * y.y + slack);
  return tile_box_around(centre, half, p->tiles_x, tiles_y);
}

/* One thread a sphere. Once without a list, which counts a tile's spheres as range.y, and once with
   it, which fills the tile's range. */
__global__ void __launch_bounds__(LINE_THREADS)
    list_spheres(picture p, int tiles_y, int2 *ranges, int *list) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= p.spheres) return;
  const sphere s = load_sphere(&p, i);
  const tile_box box = box_of(&p, &s, tiles_y);
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) {
      const int position = atomicAdd(&ranges[y * p.tiles_x + x].y, 1);
      if (list != nullptr) list[position] = i;
    }
}

/* One thread per tile, in between: its range begins where another's ends. */
__global__ void __launch_bounds__(LINE_THREADS) place_tiles(int tiles, int2 *ranges) {
  const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= tiles) return;
  const int begin = atomicAdd(&ranges[tiles].x, ranges[t].y);
  ranges[t] = make_int2(begin, begin);
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* A depth, and below it the sphere: in the order of depths, which are above 0. */
typedef unsigned long long tracked_sphere;

DEVICE void keep_closest(tracked_sphere closest[TRACKED], float depth, int i) {
  tracked_sphere rest = (tracked_sphere)__float_as_uint(depth) << 32 | (unsigned)i;
  if (rest >= closest[TRACKED - 1]) return;
  UNROLL
  for (int k = 0; k < TRACKED; ++k) {
    const tracked_sphere nearer = min(closest[k], rest);
    rest = max(closest[k], rest);
    closest[k] = nearer;
  }
}

/* The whole block walks over its tile's list. */
DEVICE void track(const picture *p, float3 ray, int2 range, const int *list,
                  tracked_sphere closest[TRACKED]) {
  __shared__ float4 staged[TILE_PIXELS]; /* offset from the eye, and radius */
  __shared__ int names[TILE_PIXELS];
  for (int start = range.x; start < range.y; start += TILE_PIXELS) {
    const int mine = start + (int)threadIdx.x, count = min(range.y - start, (int)TILE_PIXELS);
    __syncthreads(); /* all warps are done with the spheres before */
    if (mine < range.y) {
      const sphere s = load_sphere(p, list[mine]);
      staged[threadIdx.x] = make_float4(s.offset.x, s.offset.y, s.offset.z, s.radius);
      names[threadIdx.x] = list[mine];
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float4 f = staged[k];
      const sphere s = {make_float3(f.x, f.y, f.z), make_float3(0.0f, 0.0f, 0.0f), f.w, 0.0f};
      const share a = share_of(&s, ray);
      if (a.square < f.w * f.w && a.depth > DEPTH_NEAR && a.depth < DEPTH_FAR)
        keep_closest(closest, a.depth, names[k]);
    }
  }
}

/* One block a tile. */
__global__ void __launch_bounds__(TILE_PIXELS)
    draw(picture p, const int2 *ranges, const int *list) {
  const pixel at = pixel_of_thread(&p);
  const size_t plane = plane_of(&p);
  float total = front_of(BACKGROUND_DEPTH), sum = total * BACKGROUND_COLOUR;
  float3 colour = make_float3(sum, sum, sum);
  tracked_sphere closest[TRACKED];
  for (int k = 0; k < TRACKED; ++k) closest[k] = ~0ull;
  track(&p, at.ray, ranges[blockIdx.x], list, closest);
  if (!at.inside) return;
  UNROLL
  for (int k = 0; k < TRACKED; ++k) {
    const int i = (int)(unsigned)closest[k]; /* -1 where there is none */
    p.tracked[k * plane + at.index] = i;
    if (i < 0) continue;
    const sphere s = load_sphere(&p, i);
    const float u = share_of(&s, at.ray).u;
    total += u;
    colour = add_scaled(colour, s.colour, u);
  }
  p.total[at.index] = total;
  p.colour[at.index] = colour.x / total;
  p.colour[plane + at.index] = colour.y / total;
  p.colour[2 * plane + at.index] = colour.z / total;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* One thread a float of a sphere. Adam measures a gradient by its own size, so that none would
   count as much as any: spheres that no pixel tracks stay. radius: what lengths are measured in. */
__global__ void __launch_bounds__(LINE_THREADS)
    take_step(picture p, float *moments, int step, adam_decay decay, float radius) {
  const float rate[SPHERE_FLOATS] = {radius, radius, radius, .5f * radius, 3, 3, 3, .2f};
  const float least[SPHERE_FLOATS] = {-9, -9, -9, .3f * radius, 0, 0, 0, .1f};
  const float most[SPHERE_FLOATS] = {9, 9, 9, 3 * radius, 1, 1, 1, 1};
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), floats = p.spheres * SPHERE_FLOATS;
  const int row = i / SPHERE_FLOATS, k = i % SPHERE_FLOATS;
  if (i >= floats || p.seen[row] == 0u) return;
  const float gradient = p.sums[(size_t)row * ROW_FLOATS + k];
  const float change = adam_change(decay, gradient, 1e-20f, &moments[i], &moments[floats + i]);
  const float pace = .01f * rsqrtf(1 + .01f * (float)step);
  float *number = (float *)p.rows + i;
  *number = fminf(fmaxf(*number - rate[k] * pace * change, least[k]), most[k]);
}

/* ---- host ------------------------------------------------------------------------------------ */

template <typename type>
static void take(renderer *r, type **array, size_t count) {
  *array = take_zeros<type>(&r->arrays, count, "spheres and pictures");
}

void renderer_begin(renderer *r, int spheres, int width, int height) {
  const size_t n = (size_t)spheres, plane = (size_t)width * (size_t)height;
  *r = {};
  r->p.spheres = spheres;
  r->p.width = width;
  r->p.height = height;
  r->p.tiles_x = tiles_along(width);
  r->tiles = r->p.tiles_x * tiles_along(height);
  take(r, &r->p.rows, n * SPHERE_FLOATS / 4);
  take(r, &r->p.colour, 3 * plane);
  take(r, &r->p.total, plane);
  take(r, &r->p.tracked, TRACKED * plane);
  take(r, &r->p.sums, (n + 1) * ROW_FLOATS);
  take(r, &r->p.seen, n);
  take(r, &r->moments, 2 * n * SPHERE_FLOATS);
  take(r, &r->ranges, (size_t)r->tiles + 1);
}

void renderer_end(renderer *r) {
  device_give_back(&r->arrays);
  device_release(&r->memory, &r->list);
}

void renderer_set(renderer *r, const float *rows) {
  const size_t bytes = (size_t)r->p.spheres * SPHERE_FLOATS * sizeof(float);
  host_to_device(r->p.rows, rows, bytes, "spheres");
  device_clear(r->moments, 2 * bytes);
}

void renderer_clear_sums(renderer *r) {
  device_clear(r->p.sums, ((size_t)r->p.spheres + 1) * ROW_FLOATS * sizeof(float));
  device_clear(r->p.seen, (size_t)r->p.spheres * sizeof(unsigned));
}

void renderer_draw(renderer *r, const camera *view) {
  const int blocks = line_blocks((size_t)r->p.spheres), tiles_y = r->tiles / r->p.tiles_x;
  int pairs, *none = nullptr;
  r->p.view = *view;
  device_clear(r->ranges, ((size_t)r->tiles + 1) * sizeof(int2));
  SIMT_LAUNCH(list_spheres, blocks, LINE_THREADS, 0, 0, r->p, tiles_y, r->ranges, none);
  SIMT_LAUNCH(place_tiles, line_blocks((size_t)r->tiles), LINE_THREADS, 0, 0, r->tiles, r->ranges);
  device_to_host(&pairs, r->ranges + r->tiles, sizeof pairs, "lists");
  if (r->list.bytes < (size_t)pairs * sizeof(int))
    device_reserve(&r->memory, &r->list, (size_t)pairs * sizeof(int) * 5 / 4, "lists");
  int *list = (int *)r->list.data;
  SIMT_LAUNCH(list_spheres, blocks, LINE_THREADS, 0, 0, r->p, tiles_y, r->ranges, list);
  SIMT_LAUNCH(draw, r->tiles, TILE_PIXELS, 0, 0, r->p, r->ranges, list);
  device_check(cudaGetLastError(), "drawing");
}

void renderer_step(renderer *r, int step, float radius) {
  const int blocks = line_blocks((size_t)r->p.spheres * SPHERE_FLOATS);
  SIMT_LAUNCH(take_step, blocks, LINE_THREADS, 0, 0, r->p, r->moments, step,
              adam_decay_at(0.9, 0.99, 1, step + 1), radius);
  device_check(cudaGetLastError(), "a step");
}
