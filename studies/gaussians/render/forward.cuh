/* arc study gaussians: the picture, front to back.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pixels.cuh"

typedef struct pixel_state {
  float red, green, blue, transmittance;
  int drawn;
  unsigned hits; /* among 32 splats of the tile's list: bit b for splat 32 group + b */
  bool done;
} pixel_state;

/* position: of the splat in the tile's list. */
DEVICE void draw_splat(pixel_state *p, const splat *s, float x, float y, int position) {
  float q = splat_distance(s, s->x - x, s->y - y);
  if (p->done || !splat_hits(s, q)) return;
  float alpha = fminf(s->opacity * exp2_fast(-q), LARGEST_ALPHA);
  float rest = p->transmittance * (1.0f - alpha);
  if (rest < OPAQUE_TRANSMITTANCE) {
    p->done = true;
    return;
  }
  float weight = alpha * p->transmittance;
  p->red += weight * s->red;
  p->green += weight * s->green;
  p->blue += weight * s->blue;
  p->transmittance = rest;
  p->drawn = position + 1;
  p->hits |= 1u << (position & 31);
}

/* The bits that any lane of the warp has. */
DEVICE unsigned warp_or(unsigned bits) {
#if SIMT_ON_CPU || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
  return __reduce_or_sync(WHOLE_WARP, bits);
#else
  for (int step = 16; step > 0; step /= 2) bits |= __shfl_xor_sync(WHOLE_WARP, bits, step);
  return bits;
#endif
}

DEVICE void store_pixel(const render_arguments *a, pixel p, const pixel_state *state,
                        picture_planes out) {
  if (!p.inside) return;
  size_t plane = (size_t)a->width * a->height;
  out.colour[p.index] = state->red + state->transmittance * a->background[0];
  out.colour[plane + p.index] = state->green + state->transmittance * a->background[1];
  out.colour[2 * plane + p.index] = state->blue + state->transmittance * a->background[2];
  out.transmittance[p.index] = state->transmittance;
  out.drawn[p.index] = state->drawn;
}

/* first: of the batch in the tile's list. hits: the warp's words of the batch, TILE_WARPS apart. */
DEVICE void draw_batch(pixel_state *state, const splat *batch, int count, int first, pixel p,
                       unsigned *hits) {
  warp_rectangle rectangle = rectangle_of_warp(p, 1);
  for (int group = 0; group < count; group += 32) {
    if (__all_sync(WHOLE_WARP, state->done)) return;
    unsigned rest = splats_of_warp(batch, group, count, rectangle);
    state->hits = 0u;
    while (rest != 0u) {
      int k = group + 31 - next_splat(&rest);
      draw_splat(state, &batch[k], p.x, p.y, first + k);
    }
    unsigned hit = warp_or(state->hits);
    if ((threadIdx.x & 31u) == 0u) hits[group / 32 * TILE_WARPS] = hit;
  }
}

/* One block a tile. */
__global__ void __launch_bounds__(TILE_PIXELS) render(render_arguments a, picture_planes out) {
  __shared__ splat batch[TILE_PIXELS];
  pixel p = pixel_of_lane(a.width, a.height, a.tiles_x, 1, 0);
  pixel_state state = {0.0f, 0.0f, 0.0f, 1.0f, 0, 0u, !p.inside};
  int begin = a.lists.first[blockIdx.x], end = a.lists.first[blockIdx.x + 1];
  for (int first = begin; first < end; first += TILE_PIXELS) {
    int mine = first + (int)threadIdx.x, count = min(end - first, (int)TILE_PIXELS);
    if (__syncthreads_and(state.done)) break; /* and all warps are done with the batch before */
    if (mine < end) batch[threadIdx.x] = a.splats[a.lists.list[mine]];
    __syncthreads();
    unsigned *hits = out.hits + word_of_hits(begin, (int)blockIdx.x, (first - begin) / 32,
                                             (int)threadIdx.x >> 5);
    draw_batch(&state, batch, count, first - begin, p, hits);
  }
  store_pixel(&a, p, &state, out);
}
