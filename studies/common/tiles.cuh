/* arc studies: tiles of a picture, and sums over the block that paints one.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device.h"

enum { TILE_SIDE = 16, TILE_PIXELS = TILE_SIDE * TILE_SIDE };

static inline int tiles_along(int pixels) { return (pixels + TILE_SIDE - 1) / TILE_SIDE; }

/* Tiles x0 to x1 - 1 by y0 to y1 - 1. */
typedef struct __align__(16) tile_box {
  int x0, y0, x1, y1;
}
tile_box;

/* Clamped before it becomes an integer, so that no value, NaN included, is out of range. */
DEVICE int tile_edge(float tile, int tiles) { return (int)fminf(fmaxf(tile, 0.0f), (float)tiles); }

/* The tiles with a pixel centre within `half` of the centre along both axes. */
DEVICE tile_box tile_box_around(float2 centre, float2 half, int tiles_x, int tiles_y) {
  const float per_pixel = 1.0f / TILE_SIDE;
  tile_box box;
  box.x0 = tile_edge(floorf((centre.x - half.x) * per_pixel), tiles_x);
  box.y0 = tile_edge(floorf((centre.y - half.y) * per_pixel), tiles_y);
  box.x1 = tile_edge(floorf((centre.x + half.x) * per_pixel) + 1.0f, tiles_x);
  box.y1 = tile_edge(floorf((centre.y + half.y) * per_pixel) + 1.0f, tiles_y);
  return box;
}

/* The sum over the block. The whole block calls. */
DEVICE float block_sum(float value) {
  __shared__ float warp_sums[TILE_PIXELS / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  __syncthreads(); /* all warps are done with the sums before */
  if ((threadIdx.x & 31u) == 0u) warp_sums[threadIdx.x >> 5] = value;
  __syncthreads();
  float sum = 0.0f;
  for (unsigned w = 0; w < blockDim.x / 32u; ++w) sum += warp_sums[w];
  return sum;
}
