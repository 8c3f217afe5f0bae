/* arc example environment: shading, and its gradient by the maps' texels.
   SPDX-License-Identifier: Apache-2.0

   A pixel reads 12 texels: four of the diffuse map, four of each of two specular levels. Its
   gradient goes to the same 12; neighbours share some of them, so that a warp holds several keys
   a step. */
#include "shade.h"

#include <vector>

#include "../common/ways.cuh"
#include "prefilter.h"

enum { BLOCK_SIDE = 8, BLOCK_PIXELS = BLOCK_SIDE * BLOCK_SIDE, WARPS = 8 };

/* Of a texel's list: which pixel reads it, with which weight. */
typedef struct texel_tap {
  int pixel;
  float weight;
} texel_tap;

/* The texel of tap 0 to 11 of a pixel, and how much of it is in the colour. */
CUBE_FN int pixel_tap(cube_pyramid maps, const surface_pixel *p, int tap, float *weight) {
  const int last = maps.levels - 2, low = p->level < (float)last ? (int)p->level : last;
  const int map = tap < 4 ? maps.levels : low + (tap >= 8), side = pyramid_side(maps, map);
  const float high_share = p->level - (float)low;
  const cube_place place = cube_meet(tap < 4 ? p->normal : p->reflection, side);
  const int key = pyramid_first(maps, map) + cube_tap(place, side, tap % 4, weight);
  *weight *= tap < 4 ? p->albedo : p->gloss * (tap < 8 ? 1.0f - high_share : high_share);
  return key;
}

/* Blocks are 8 x 8 pixels, warps 8 x 4. */
static __device__ __forceinline__ int own_pixel(int side) {
  const int along = (side + BLOCK_SIDE - 1) / BLOCK_SIDE, block = (int)blockIdx.x;
  const int x = block % along * BLOCK_SIDE + (int)threadIdx.x % BLOCK_SIDE;
  const int y = block / along * BLOCK_SIDE + (int)threadIdx.x / BLOCK_SIDE;
  return x < side && y < side ? y * side + x : -1;
}

__global__ void __launch_bounds__(BLOCK_PIXELS)
    shade(int side, cube_pyramid form, const surface_pixel *pixels, const float *maps,
          const float *target, float scale, float *colours, float *by_colour) {
  const int k = own_pixel(side);
  if (k < 0) return;
  const surface_pixel p = pixels[k];
  float sum[3] = {0.0f, 0.0f, 0.0f};
  for (int tap = 0; tap < TAPS && p.covered; ++tap) {
    float weight;
    const float *texel = maps + 3 * pixel_tap(form, &p, tap, &weight);
    for (int i = 0; i < 3; ++i) sum[i] += weight * texel[i];
  }
  for (int i = 0; i < 3; ++i) {
    colours[3 * k + i] = sum[i];
    if (by_colour != nullptr) by_colour[3 * k + i] = scale * (sum[i] - target[3 * k + i]);
  }
}

template <int way>
__global__ void __launch_bounds__(BLOCK_PIXELS)
    scatter_taps(int side, cube_pyramid form, const surface_pixel *pixels, const float *by_colour,
                 float *by_maps, unsigned long long *counts, int threshold) {
  const int k = max(own_pixel(side), 0);
  const surface_pixel p = pixels[k];
  const bool active = own_pixel(side) >= 0 && p.covered;
  if (!__any_sync(ARC_LANES_ALL, active)) return;
  const way_rows rows = way_rows_begin(by_maps, 3, 3, counts);
  const float slope[3] = {by_colour[3 * k], by_colour[3 * k + 1], by_colour[3 * k + 2]};
  for (int tap = 0; tap < TAPS; ++tap) {
    float weight;
    const int key = active ? pixel_tap(form, &p, tap, &weight) : 0;
    if (!active) weight = 0.0f;
    const float v[3] = {weight * slope[0], weight * slope[1], weight * slope[2]};
    __syncwarp();
    way_add(&rows, key, v, active, way, threshold,
            ARC_PROMISE_INACTIVE_IS_ZERO | ARC_PROMISE_WARP_IS_ACTIVE);
  }
}

/* A warp a texel; no atomics. */
__global__ void __launch_bounds__(32 * WARPS)
    gather_taps(int texels, const int *first, const texel_tap *taps, const float *by_colour,
                float *by_maps) {
  const int texel = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  float sum[3] = {0.0f, 0.0f, 0.0f};
  if (texel >= texels) return;
  for (int k = first[texel] + lane; k < first[texel + 1]; k += 32)
    for (int i = 0; i < 3; ++i) sum[i] += taps[k].weight * by_colour[3 * taps[k].pixel + i];
  __syncwarp();
  for (int i = 0; i < 3; ++i) {
    for (int step = 16; step > 0; step /= 2) sum[i] += __shfl_xor_sync(ARC_LANES_ALL, sum[i], step);
    if (lane == i) by_maps[3 * texel + i] += sum[i];
  }
}

/* ---- host ----------------------------------------------------------------------------------- */

static int blocks_of(int side) {
  const int along = (side + BLOCK_SIDE - 1) / BLOCK_SIDE;
  return along * along;
}

void shade_view(const shaded_view *v, cube_pyramid form, const float *maps, float *colours,
                float *by_colour) {
  SIMT_LAUNCH(shade, blocks_of(v->side), BLOCK_PIXELS, 0, 0, v->side, form,
              (const surface_pixel *)v->pixels.data, maps, (const float *)v->target.data,
              1.0f / (float)max(3 * v->count, 1), colours, by_colour);
}

typedef void (*tap_kernel)(int, cube_pyramid, const surface_pixel *, const float *, float *,
                           unsigned long long *, int);

void shade_backward(const shaded_view *v, cube_pyramid form, int way, int threshold,
                    const float *by_colour, float *by_maps) {
  static const tap_kernel kernels[WAYS + 1] = {
      scatter_taps<WAY_COUNT>,     scatter_taps<WAY_PLAIN>,      scatter_taps<WAY_SERIALIZED>,
      scatter_taps<WAY_BUTTERFLY>, scatter_taps<WAY_TRANSPOSED>, scatter_taps<WAY_TREE>,
      scatter_taps<WAY_AUTO>,      scatter_taps<WAY_CUB>,        scatter_taps<WAY_CG>};
  const int texels = pyramid_first(form, form.levels + 1);
  if (way == OWN_GATHER) {
    SIMT_LAUNCH(gather_taps, (texels + WARPS - 1) / WARPS, 32 * WARPS, 0, 0, texels,
                (const int *)v->first.data, (const texel_tap *)v->taps.data, by_colour, by_maps);
    return;
  }
  if (way >= WAYS) way = way == OWN_FOUR ? WAY_AUTO : WAY_PLAIN;
  SIMT_LAUNCH(kernels[way + 1], blocks_of(v->side), BLOCK_PIXELS, 0, 0, v->side, form,
              (const surface_pixel *)v->pixels.data, by_colour, by_maps, workload_counts(),
              threshold);
}

static void upload(device_memory *memory, device_array *array, const void *data, size_t bytes) {
  device_reserve(memory, array, bytes, "memory for a view");
  host_to_device(array->data, data, bytes, "a view");
}

void shaded_view_begin(shaded_view *v, const surface_pixel *pixels, int side, cube_pyramid form,
                       device_memory *memory) {
  const size_t count = (size_t)side * side;
  std::vector<int> first((size_t)pyramid_first(form, form.levels + 1) + 2);
  std::vector<texel_tap> taps(1);
  float weight;
  *v = {};
  v->side = side;
  for (int pass = 0; pass < 2; ++pass) { /* a counting sort */
    for (size_t k = 0; k < count; ++k)
      for (int tap = 0; tap < TAPS && pixels[k].covered; ++tap) {
        const size_t texel = (size_t)pixel_tap(form, &pixels[k], tap, &weight);
        if (pass == 1) taps[(size_t)first[texel + 1]] = {(int)k, weight};
        first[texel + (pass == 0 ? 2 : 1)] += 1;
      }
    for (size_t t = 2; t < first.size() && pass == 0; ++t) first[t] += first[t - 1];
    taps.resize((size_t)first.back() + 1);
  }
  v->count = first.back() / TAPS;
  upload(memory, &v->pixels, pixels, count * sizeof *pixels);
  upload(memory, &v->first, first.data(), first.size() * sizeof(int));
  upload(memory, &v->taps, taps.data(), taps.size() * sizeof(texel_tap));
  device_reserve(memory, &v->target, 3 * count * sizeof(float), "memory for a view");
}

void shaded_view_end(shaded_view *v, device_memory *memory) {
  device_array *arrays[] = {&v->pixels, &v->target, &v->first, &v->taps};
  for (device_array *array : arrays) device_release(memory, array);
}
