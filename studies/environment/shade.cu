/* arc study environment: shading, and its gradient by the maps' texels.
   SPDX-License-Identifier: Apache-2.0

   A pixel reads 12 texels: four of the diffuse map, and four of each of two specular levels. Its
   gradient goes to the same 12 texels. Neighbouring pixels share some of them, so a warp holds
   several keys per step. */
#include "../common/ways.cuh"
#include "environment.h"

enum { BLOCK_SIDE = 8, BLOCK_PIXELS = BLOCK_SIDE * BLOCK_SIDE, TAPS = 12 };

/* The texel of tap 0 to 11 of a pixel, and how much of it is in the colour. */
DEVICE int pixel_tap(cube_pyramid maps, const surface_pixel *p, int tap, float *weight) {
  const int last = maps.levels - 2, low = p->level < (float)last ? (int)p->level : last;
  const int map = tap < 4 ? maps.levels : low + (tap >= 8), side = pyramid_side(maps, map);
  const float high_share = p->level - (float)low;
  const cube_place place = cube_meet(tap < 4 ? p->normal : p->reflection, side);
  const int key = pyramid_first(maps, map) + cube_tap(place, side, tap % 4, weight);
  *weight *= tap < 4 ? p->albedo : p->gloss * (tap < 8 ? 1.0f - high_share : high_share);
  return key;
}

/* Blocks are 8 x 8 pixels, warps 8 x 4. */
DEVICE int own_pixel(int side) {
  const int along = (side + BLOCK_SIDE - 1) / BLOCK_SIDE, block = (int)blockIdx.x;
  const int x = block % along * BLOCK_SIDE + (int)threadIdx.x % BLOCK_SIDE;
  const int y = block / along * BLOCK_SIDE + (int)threadIdx.x / BLOCK_SIDE;
  return x < side && y < side ? y * side + x : -1;
}

__global__ void __launch_bounds__(BLOCK_PIXELS)
    shade(shaded_view v, cube_pyramid form, const float *maps, float *colours, float *by_colour) {
  const int k = own_pixel(v.side);
  if (k < 0) return;
  const surface_pixel p = v.pixels[k];
  const float scale = __fdividef(1.0f, (float)max(3 * v.covered, 1));
  float sum[3] = {0.0f, 0.0f, 0.0f};
  for (int tap = 0; tap < TAPS && p.near > 0.0f; ++tap) {
    float weight;
    const float *texel = maps + 3 * pixel_tap(form, &p, tap, &weight);
    for (int i = 0; i < 3; ++i) sum[i] += weight * texel[i];
  }
  for (int i = 0; i < 3; ++i) {
    colours[3 * k + i] = sum[i];
    if (by_colour != nullptr) by_colour[3 * k + i] = (sum[i] - v.target[3 * k + i]) * scale;
  }
}

template <int way>
__global__ void __launch_bounds__(BLOCK_PIXELS)
    scatter_taps(shaded_view view, cube_pyramid form, const float *by_colour, float *by_maps,
                 unsigned long long *counts, int threshold) {
  const int k = max(own_pixel(view.side), 0);
  const surface_pixel p = view.pixels[k];
  const bool active = own_pixel(view.side) >= 0 && p.near > 0.0f;
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

static int blocks_of(int side) {
  const int along = (side + BLOCK_SIDE - 1) / BLOCK_SIDE;
  return along * along;
}

void shade_view(const shaded_view *v, cube_pyramid form, const float *maps, float *colours,
                float *by_colour) {
  SIMT_LAUNCH(shade, blocks_of(v->side), BLOCK_PIXELS, 0, 0, *v, form, maps, colours, by_colour);
}

void shade_backward(const shaded_view *v, cube_pyramid form, int way, int threshold,
                    const float *by_colour, float *by_maps) {
#define SCATTER(way) scatter_taps<way>
  static void (*const kernels[])(shaded_view, cube_pyramid, const float *, float *,
                                 unsigned long long *, int) = {EACH_WAY(SCATTER)};
  SIMT_LAUNCH(kernels[(way < WAYS ? way : WAY_AUTO) + 1], blocks_of(v->side), BLOCK_PIXELS, 0, 0,
              *v, form, by_colour, by_maps, workload_counts(), threshold);
}
