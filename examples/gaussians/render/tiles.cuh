/* arc example gaussians: which splats each 16 x 16 tile has to draw, from front to back.
   SPDX-License-Identifier: Apache-2.0

   One pass tests splats against tiles and emits a (tile, depth) key for each that meet, in an order
   that differs from run to run; the keys are sorted; equal ones are brought into the order of their
   Gaussians; where the tile changes, a list ends. For pictures alone that pass projects, too, and
   how many pairs there are stays on the device: all that there is room for is sorted. */
#pragma once

#include "ellipse.cuh"
#include "project.cuh"
#include "sort.h"

enum { DEPTH_BITS = 32, SMALL_BOX_TILES = 32 };

/* The depth is positive, so its bits sort like the number. */
static __device__ __forceinline__ unsigned long long pair_key(int tile, float depth) {
  return (unsigned long long)(unsigned)tile << DEPTH_BITS | __float_as_uint(depth);
}

typedef struct pair_output {
  unsigned long long *keys;
  int *values;
  int capacity;
  unsigned *total; /* of all keys, also of those for which there was no room: the host compares */
} pair_output;

static __device__ __forceinline__ void put_pair(pair_output out, unsigned place, int tile,
                                                float depth, int key) {
  if (place >= (unsigned)out.capacity) return;
  out.keys[place] = pair_key(tile, depth);
  out.values[place] = key;
}

/* Which of the up to 32 tiles of the box the splat reaches, row by row from bit 0. */
static __device__ __forceinline__ unsigned tiles_reached(const splat *s, tile_box box, int area,
                                                         tile_test test) {
  unsigned reached = 0u;
  int column = box.x0, row = box.y0;
  for (int tile = 0; tile < area; ++tile) {
    if (test != TILE_EXACT || splat_reaches_tile(s, column, row)) reached |= 1u << tile;
    if (++column == box.x1) {
      column = box.x0;
      row += 1;
    }
  }
  return reached;
}

/* The lanes' small boxes: each lane tests its own, the warp takes room for all at once. Returns
   whether the lane's splat reaches a tile. */
static __device__ __forceinline__ bool emit_small(const projection *p, int area, int tiles_x,
                                                  tile_test test, pair_output out) {
  int lane = (int)(threadIdx.x & 31u);
  unsigned reached = tiles_reached(&p->s, p->box, area, test), base = 0u;
  int count = __popc(reached), up_to_here = count;
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(WHOLE_WARP, up_to_here, step);
    if (lane >= step) up_to_here += before;
  }
  if (lane == 31) base = atomicAdd(out.total, (unsigned)up_to_here);
  base = __shfl_sync(WHOLE_WARP, base, 31) + (unsigned)(up_to_here - count);
  int width = p->box.x1 - p->box.x0;
  for (; reached != 0u; reached &= reached - 1u) {
    int tile = __ffs((int)reached) - 1;
    put_pair(out, base++, (p->box.y0 + tile / width) * tiles_x + p->box.x0 + tile % width, p->depth,
             p->s.key);
  }
  return count > 0;
}

/* One large box: the warp tests 32 of its tiles at a time. Returns whether any is reached. */
static __device__ __forceinline__ bool emit_large(const projection *p, int tiles_x, tile_test test,
                                                  pair_output out) {
  int lane = (int)(threadIdx.x & 31u), width = p->box.x1 - p->box.x0;
  int area = width * (p->box.y1 - p->box.y0);
  bool any = false;
  for (int first = 0; first < area; first += 32) {
    int tile = first + lane, column = p->box.x0 + tile % width, row = p->box.y0 + tile / width;
    bool reaches = tile < area && (test != TILE_EXACT || splat_reaches_tile(&p->s, column, row));
    unsigned reached = __ballot_sync(WHOLE_WARP, reaches), base = 0u;
    if (reached == 0u) continue;
    any = true;
    if (lane == 0) base = atomicAdd(out.total, (unsigned)__popc(reached));
    base = __shfl_sync(WHOLE_WARP, base, 0);
    if (reaches)
      put_pair(out, base + (unsigned)__popc(reached & ((1u << lane) - 1u)), row * tiles_x + column,
               p->depth, p->s.key);
  }
  return any;
}

static __device__ __forceinline__ projection load_projection(projections in, int i) {
  projection p = {in.splats[i], in.boxes[i], in.depths[i]};
  return p;
}

/* One thread a splat, whole warps. total: 0 at the start. */
__global__ void __launch_bounds__(LINE_THREADS)
    emit_pairs(projections in, int count, int tiles_x, tile_test test, pair_output out) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  projection p = load_projection(in, i < count ? i : 0);
  int area = i < count ? (p.box.x1 - p.box.x0) * (p.box.y1 - p.box.y0) : 0;
  bool large = area > SMALL_BOX_TILES;
  emit_small(&p, large ? 0 : area, tiles_x, test, out);
  for (unsigned rest = __ballot_sync(WHOLE_WARP, large); rest != 0u; rest &= rest - 1u) {
    projection whose = load_projection(in, __shfl_sync(WHOLE_WARP, i, __ffs((int)rest) - 1));
    emit_large(&whose, tiles_x, test, out);
  }
}

/* The projection that another lane of the warp has, without its colour. */
static __device__ __forceinline__ projection projection_of_lane(const projection *mine, int lane) {
  projection p = {};
  const splat *s = &mine->s;
  p.s.x = __shfl_sync(WHOLE_WARP, s->x, lane);
  p.s.y = __shfl_sync(WHOLE_WARP, s->y, lane);
  p.s.a = __shfl_sync(WHOLE_WARP, s->a, lane);
  p.s.b = __shfl_sync(WHOLE_WARP, s->b, lane);
  p.s.c = __shfl_sync(WHOLE_WARP, s->c, lane);
  p.s.limit = __shfl_sync(WHOLE_WARP, s->limit, lane);
  p.s.key = __shfl_sync(WHOLE_WARP, s->key, lane);
  p.box.x0 = __shfl_sync(WHOLE_WARP, mine->box.x0, lane);
  p.box.y0 = __shfl_sync(WHOLE_WARP, mine->box.y0, lane);
  p.box.x1 = __shfl_sync(WHOLE_WARP, mine->box.x1, lane);
  p.box.y1 = __shfl_sync(WHOLE_WARP, mine->box.y1, lane);
  p.depth = __shfl_sync(WHOLE_WARP, mine->depth, lane);
  return p;
}

/* For pictures alone: projects and emits at once. Only splats that reach a tile get a colour and
   are written. One thread a Gaussian, whole warps. total: 0 at the start. */
__global__ void __launch_bounds__(LINE_THREADS)
    place(gaussians g, int count, int degree, device_camera c, tile_test test, splat *splats,
          pair_output out) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  projection one = {};
  float p[3];
  bool seen = i < count && place_splat(&one, &g, i, &c, test, p);
  int area = seen ? (one.box.x1 - one.box.x0) * (one.box.y1 - one.box.y0) : 0;
  bool large = area > SMALL_BOX_TILES;
  one.s.key = i;
  bool reaches = emit_small(&one, large ? 0 : area, c.tiles_x, test, out);
  for (unsigned rest = __ballot_sync(WHOLE_WARP, large); rest != 0u; rest &= rest - 1u) {
    int lane = __ffs((int)rest) - 1;
    projection whose = projection_of_lane(&one, lane);
    bool any = emit_large(&whose, c.tiles_x, test, out);
    reaches = lane == (int)(threadIdx.x & 31u) ? any : reaches;
  }
  if (!reaches) return;
  colour_splat(&one.s, &g, i, degree, &c, p);
  splats[i] = one.s;
}

/* The keys of places without a pair sort behind all pairs: their tile is behind the last. */
__global__ void __launch_bounds__(LINE_THREADS)
    pad_pairs(unsigned long long *keys, int room, const unsigned *total, int tiles) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < room && (unsigned)i >= *total) keys[i] = pair_key(tiles, 0.0f);
}

/* Where pair i of the sorted ones belongs: among those of equal key by its Gaussian. */
static __device__ __forceinline__ int place_of_pair(const unsigned long long *keys,
                                                    const int *values, int count, int i) {
  int place = i;
  for (int k = i - 1; k >= 0 && keys[k] == keys[i]; --k) place -= values[k] > values[i];
  for (int k = i + 1; k < count && keys[k] == keys[i]; ++k) place += values[k] < values[i];
  return place;
}

/* Puts the Gaussian of pair i into the list and, wherever the tile changes, sets `first` of all
   tiles up to the new one. i == count: ends the last list. */
static __device__ __forceinline__ void find_list(const unsigned long long *keys, const int *values,
                                                 int i, int count, int tiles, int *first,
                                                 int *list) {
  if (i > count) return;
  if (i < count) list[place_of_pair(keys, values, count, i)] = values[i];
  int tile = i < count ? (int)(keys[i] >> DEPTH_BITS) : tiles;
  int before = i > 0 ? (int)(keys[i - 1] >> DEPTH_BITS) : -1;
  for (int t = before + 1; t <= tile; ++t) first[t] = i;
}

/* One thread a pair, and one more. */
__global__ void __launch_bounds__(LINE_THREADS)
    find_lists(const unsigned long long *keys, const int *values, int count, int tiles, int *first,
               int *list) {
  find_list(keys, values, (int)(blockIdx.x * blockDim.x + threadIdx.x), count, tiles, first, list);
}

/* The same where the device alone knows the count; threads for all the room. */
__global__ void __launch_bounds__(LINE_THREADS)
    find_counted_lists(const unsigned long long *keys, const int *values, int room,
                       const unsigned *total, int tiles, int *first, int *list) {
  int count = (int)min(*total, (unsigned)room);
  find_list(keys, values, (int)(blockIdx.x * blockDim.x + threadIdx.x), count, tiles, first, list);
}
