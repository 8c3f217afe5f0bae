/* arc study gaussians: the splats of each tile or macro tile, from front to back.
   SPDX-License-Identifier: Apache-2.0

   One pass tests splats against tiles and emits a (tile, depth) key for each splat and tile that
   meet, in an order that differs from run to run. Then the keys are sorted. A key has only the
   leading bits of the depth, so equal keys are then sorted by whole depth and by Gaussian. Where
   the tile changes, a list ends. If very many splats of a tile have nearly the same depth, as on a
   wall that faces the camera, the sort of equal keys takes time with the square of their number.
   For pictures alone the first pass also projects.

   V is what a list holds: int, a Gaussian, in the list of a tile; or masked_gaussian, in the list
   of a macro tile. */
#pragma once

#include "ellipse.cuh"
#include "project.cuh"
#include "sort.h"

enum { SMALL_BOX_TILES = 32, NEAR_LISTS = 4 /* 2 x 2 macro tiles */ };

template <class V>
static constexpr bool is_masked = sizeof(V) == sizeof(masked_gaussian);

/* The depth is at least NEAREST_DEPTH and at most 2^32 times that, so its bits sort like the
   number, and those above DEPTH_BITS do not change. */
DEVICE unsigned depth_bits_of(float depth) {
  unsigned beyond = __float_as_uint(depth) - __float_as_uint(NEAREST_DEPTH);
  return min(beyond, (1u << DEPTH_BITS) - 1u);
}

/* Leading bits of the depth that are not in the key, then the number of the Gaussian. */
DEVICE unsigned pair_value(const list_grid *grid, unsigned depth, int gaussian) {
  int rest = DEPTH_BITS - grid->depth_bits, room = 32 - grid->gaussian_bits;
  unsigned below = depth & ((1u << rest) - 1u);
  if (rest > room) below >>= rest - room;
  return below << grid->gaussian_bits | (unsigned)gaussian;
}

DEVICE unsigned upper_value(int value) { return (unsigned)value; }
DEVICE unsigned upper_value(masked_gaussian value) { return (unsigned)(value >> 32); }

/* What a list holds: without the depth. */
DEVICE int listed(const list_grid *grid, int value) {
  return value & (int)((1u << grid->gaussian_bits) - 1u);
}
DEVICE masked_gaussian listed(const list_grid *grid, masked_gaussian value) {
  return (masked_gaussian)listed(grid, (int)(value >> 32)) << 32 | (unsigned)value;
}

template <class V>
struct pair_output {
  unsigned *keys;
  V *values;
  int capacity;
  unsigned *total; /* of all keys, also of those for which there was no room: the host compares */
};

/* mask: not for a list of a tile. */
template <class V>
DEVICE void put_pair(pair_output<V> out, unsigned place, const list_grid *grid, int list,
                     const projection *p, unsigned mask) {
  if (place >= (unsigned)out.capacity) return;
  unsigned depth = depth_bits_of(p->depth), value = pair_value(grid, depth, p->s.key);
  out.keys[place] = (unsigned)list << grid->depth_bits | depth >> (DEPTH_BITS - grid->depth_bits);
  if constexpr (!is_masked<V>) {
    out.values[place] = (int)value;
  } else {
    out.values[place] = (masked_gaussian)value << 32 | mask;
  }
}

/* Which of the up to 32 units of the box the splat reaches, row by row from bit 0. */
DEVICE unsigned tiles_reached(const splat *s, tile_box box, int area, int side, tile_test test) {
  unsigned reached = 0u;
  int column = box.x0, row = box.y0;
  for (int tile = 0; tile < area; ++tile) {
    if (test != TILE_EXACT || splat_reaches_square(s, column, row, side)) reached |= 1u << tile;
    if (++column == box.x1) {
      column = box.x0;
      row += 1;
    }
  }
  return reached;
}

/* The lists whose tiles have units in the box. */
template <class V>
DEVICE tile_box lists_of_box(tile_box box) {
  if constexpr (!is_masked<V>) return box;
  return {box.x0 / MACRO_COLUMNS, box.y0 / MACRO_ROWS, (box.x1 - 1) / MACRO_COLUMNS + 1,
          (box.y1 - 1) / MACRO_ROWS + 1};
}

/* Whether the splats of so many units go to more lists than emit_small has room for. */
template <class V>
DEVICE bool is_large(tile_box box, int area) {
  if constexpr (!is_masked<V>) return area > SMALL_BOX_TILES;
  tile_box lists = lists_of_box<V>(box);
  return area > 0 && (lists.x1 - lists.x0 > 2 || lists.y1 - lists.y0 > 2);
}

/* The masks of a splat's units in up to 2 x 2 macro tiles: at the left and the right of the upper
   row, then of the lower row. Row by row: what an ellipse reaches in a row has no gap. */
DEVICE void find_masks(unsigned masks[NEAR_LISTS], const splat *s, tile_box box, int side,
                       tile_test test) {
  const int base = box.x0 / MACRO_COLUMNS * MACRO_COLUMNS;
  ellipse_rows rows = ellipse_rows_of(s);
  for (int row = box.y0; row < box.y1; ++row) {
    int2 reached = make_int2(box.x0, box.x1);
    if (test == TILE_EXACT) reached = squares_of_row(&rows, s, row, side, box);
    unsigned units = (1u << (reached.y - base)) - (1u << (reached.x - base));
    int up = MACRO_COLUMNS * (row % MACRO_ROWS), lower = row / MACRO_ROWS > box.y0 / MACRO_ROWS;
    unsigned left = (units & ((1u << MACRO_COLUMNS) - 1u)) << up;
    unsigned right = units >> MACRO_COLUMNS << up;
    masks[0] |= lower ? 0u : left;
    masks[1] |= lower ? 0u : right;
    masks[2] |= lower ? left : 0u;
    masks[3] |= lower ? right : 0u;
  }
}

/* The lanes' small boxes: the block takes room for all at once, since all blocks ask at one place.
   Returns whether the lane's splat reaches a tile. The whole block. */
template <class V>
DEVICE bool emit_small(const projection *p, int area, const list_grid *grid, tile_test test,
                       pair_output<V> out) {
  __shared__ unsigned sums[LINE_THREADS / 32], first;
  int lane = (int)(threadIdx.x & 31u);
  tile_box lists = lists_of_box<V>(p->box);
  int width = is_masked<V> ? 2 : lists.x1 - lists.x0;
  unsigned reached = 0u, masks[NEAR_LISTS] = {0u, 0u, 0u, 0u}, base = 0u;
  if constexpr (is_masked<V>) {
    if (area > 0) find_masks(masks, &p->s, p->box, grid->side, test);
    UNROLL
    for (int k = 0; k < NEAR_LISTS; ++k) reached |= masks[k] != 0u ? 1u << k : 0u;
  } else {
    reached = tiles_reached(&p->s, p->box, area, grid->side, test);
  }
  int count = __popc(reached), up_to_here = count;
  for (int step = 1; step < 32; step *= 2) {
    int before = __shfl_up_sync(WHOLE_WARP, up_to_here, step);
    if (lane >= step) up_to_here += before;
  }
  if (lane == 31) sums[threadIdx.x / 32u] = (unsigned)up_to_here;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned &sum : sums) {
      unsigned here = sum;
      sum = base;
      base += here;
    }
    first = base > 0u ? atomicAdd(out.total, base) : 0u;
  }
  __syncthreads();
  base = first + sums[threadIdx.x / 32u] + (unsigned)(up_to_here - count);
  for (; reached != 0u; reached &= reached - 1u) {
    int k = __ffs((int)reached) - 1;
    unsigned mask = k == 0 ? masks[0] : k == 1 ? masks[1] : k == 2 ? masks[2] : masks[3];
    put_pair(out, base++, grid, (lists.y0 + k / width) * grid->lists_x + lists.x0 + k % width, p,
             mask);
  }
  return count > 0;
}

/* One large box: the warp tests 32 of its lists at a time. Returns whether any is reached. */
template <class V>
DEVICE bool emit_large(const projection *p, const list_grid *grid, tile_test test,
                       pair_output<V> out) {
  tile_box lists = lists_of_box<V>(p->box);
  int lane = (int)(threadIdx.x & 31u), width = lists.x1 - lists.x0;
  int area = width * (lists.y1 - lists.y0);
  bool any = false;
  for (int first = 0; first < area; first += 32) {
    int list = first + lane, column = lists.x0 + list % width, row = lists.y0 + list / width;
    unsigned mask = 0u, base = 0u;
    if constexpr (is_masked<V>) {
      unsigned masks[NEAR_LISTS] = {0u, 0u, 0u, 0u};
      int x = MACRO_COLUMNS * column, y = MACRO_ROWS * row;
      tile_box part = {max(p->box.x0, x), max(p->box.y0, y), min(p->box.x1, x + MACRO_COLUMNS),
                       min(p->box.y1, y + MACRO_ROWS)};
      if (list < area) find_masks(masks, &p->s, part, grid->side, test);
      mask = masks[0];
    } else {
      mask = list < area &&
             (test != TILE_EXACT || splat_reaches_square(&p->s, column, row, grid->side));
    }
    unsigned reached = __ballot_sync(WHOLE_WARP, mask != 0u);
    if (reached == 0u) continue;
    any = true;
    if (lane == 0) base = atomicAdd(out.total, (unsigned)__popc(reached));
    base = __shfl_sync(WHOLE_WARP, base, 0);
    if (mask != 0u)
      put_pair(out, base + (unsigned)__popc(reached & ((1u << lane) - 1u)), grid,
               row * grid->lists_x + column, p, mask);
  }
  return any;
}

DEVICE projection load_projection(projections in, int i) {
  projection p = {in.splats[i], in.boxes[i], in.depths[i]};
  return p;
}

/* One thread per splat, whole warps. total: 0 at the start. */
__global__ void __launch_bounds__(LINE_THREADS)
    emit_pairs(projections in, int count, list_grid grid, tile_test test, pair_output<int> out) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  grid.side = TILE_SIDE; /* a literal */
  projection p = load_projection(in, i < count ? i : 0);
  int area = i < count ? (p.box.x1 - p.box.x0) * (p.box.y1 - p.box.y0) : 0;
  bool large = is_large<int>(p.box, area);
  emit_small(&p, large ? 0 : area, &grid, test, out);
  for (unsigned rest = __ballot_sync(WHOLE_WARP, large); rest != 0u; rest &= rest - 1u) {
    projection whose = load_projection(in, __shfl_sync(WHOLE_WARP, i, __ffs((int)rest) - 1));
    emit_large(&whose, &grid, test, out);
  }
}

/* The projection that another lane of the warp has, without its colour. */
DEVICE projection projection_of_lane(const projection *mine, int lane) {
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
   are written. One thread per Gaussian, whole warps. side: grid.side, as a literal. total: 0 at the
   start. */
template <class V, int side>
__global__ void __launch_bounds__(LINE_THREADS)
    place(gaussians g, int count, int degree, device_camera c, list_grid grid, tile_test test,
          splat *splats, float *depths, pair_output<V> out) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  projection one = {};
  float p[3];
  grid.side = side;
  bool seen = i < count && place_splat(&one, &g, i, &c, grid.side, test, p);
  int area = seen ? (one.box.x1 - one.box.x0) * (one.box.y1 - one.box.y0) : 0;
  bool large = is_large<V>(one.box, area);
  one.s.key = i;
  bool reaches = emit_small(&one, large ? 0 : area, &grid, test, out);
  for (unsigned rest = __ballot_sync(WHOLE_WARP, large); rest != 0u; rest &= rest - 1u) {
    int lane = __ffs((int)rest) - 1;
    projection whose = projection_of_lane(&one, lane);
    bool any = emit_large(&whose, &grid, test, out);
    reaches = lane == (int)(threadIdx.x & 31u) ? any : reaches;
  }
  if (!reaches) return;
  if constexpr (is_masked<V>) /* read again: registers */
    for (int k = 0; k < 3; ++k) p[k] = g.position[3 * (size_t)i + k];
  colour_splat(&one.s, &g, i, degree, &c, p);
  splats[i] = one.s;
  depths[i] = one.depth;
}

/* Whether the pair of value a lies before that of value b, where the keys are equal. */
DEVICE bool lies_before(const list_grid *grid, const float *depths, unsigned a, unsigned b) {
  if (a >> grid->gaussian_bits != b >> grid->gaussian_bits) return a < b;
  int one = listed(grid, (int)a), other = listed(grid, (int)b);
  return depths[one] != depths[other] ? depths[one] < depths[other] : one < other;
}

/* Where pair i of the sorted ones belongs. */
template <class V>
DEVICE int place_of_pair(const unsigned *keys, const V *values, const float *depths, int count,
                         const list_grid *grid, int i) {
  unsigned mine = upper_value(values[i]);
  int place = i;
  for (int k = i - 1; k >= 0 && keys[k] == keys[i]; --k)
    place -= lies_before(grid, depths, mine, upper_value(values[k]));
  for (int k = i + 1; k < count && keys[k] == keys[i]; ++k)
    place += lies_before(grid, depths, upper_value(values[k]), mine);
  return place;
}

/* Puts the Gaussian of pair i into its list and, wherever the list changes, sets `first` of all
   lists up to the new one; the pair after the last one ends the last list. One thread a pair, and
   one more. */
template <class V>
__global__ void __launch_bounds__(LINE_THREADS)
    find_lists(const unsigned *keys, const V *values, const float *depths, int count,
               list_grid grid, int *first, V *list) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i > count) return;
  if (i < count)
    list[place_of_pair(keys, values, depths, count, &grid, i)] = listed(&grid, values[i]);
  int here = i < count ? (int)(keys[i] >> grid.depth_bits) : grid.lists;
  int before = i > 0 ? (int)(keys[i - 1] >> grid.depth_bits) : -1;
  for (int t = before + 1; t <= here; ++t) first[t] = i;
}

/* ---- in which parts lists are drawn ---------------------------------------------------------- */

enum { LENGTH_CLASSES = 256, ORDER_THREADS = 1024 };

DEVICE int parts_of_list(const int *first, int list, int longest) {
  return max(1, (first[list + 1] - first[list] + longest - 1) / longest);
}

/* Eight classes an octave, the longest parts are of class 0. The further back a part lies, the
   shorter it is taken for: those before it may be opaque once it begins. */
DEVICE int class_of_part(const int *first, int list, int part, int parts) {
  float length = (float)((first[list + 1] - first[list]) / parts + 1) / (float)(1 + 3 * part);
  return LENGTH_CLASSES - 1 - (int)(8.0f * log2f(fmaxf(length, 1.0f)));
}

/* Lists of more than `longest` are cut. parts: by their classes, and up to `room` with none.
   drawn: 0 for each slot. One block. */
__global__ void __launch_bounds__(ORDER_THREADS)
    order_parts(const int *first, list_grid grid, int longest, list_part *parts, int room,
                drawn_parts *drawn) {
  __shared__ int counts[LENGTH_CLASSES], slots;
  int thread = (int)threadIdx.x, before = 0;
  if (thread < LENGTH_CLASSES) counts[thread] = 0;
  if (thread == 0) slots = 0;
  __syncthreads();
  for (int i = thread; i < grid.lists; i += ORDER_THREADS) {
    int n = parts_of_list(first, i, longest);
    for (int k = 0; k < n; ++k) atomicAdd(&counts[class_of_part(first, i, k, n)], 1);
  }
  __syncthreads();
  for (int k = 0; k < min(thread, (int)LENGTH_CLASSES); ++k) before += counts[k];
  __syncthreads();
  if (thread < LENGTH_CLASSES) counts[thread] = before;
  __syncthreads();
  for (int i = thread; i < grid.lists; i += ORDER_THREADS) {
    int n = parts_of_list(first, i, longest), slot = n > 1 ? atomicAdd(&slots, n) : 0;
    for (int k = 0; k < n; ++k)
      parts[atomicAdd(&counts[class_of_part(first, i, k, n)], 1)] = {i, k, n, slot};
  }
  __syncthreads();
  for (int i = counts[LENGTH_CLASSES - 1] + thread; i < room; i += ORDER_THREADS)
    parts[i] = {0, 0, 0, 0};
  for (int i = thread; i < slots * grid.tiles; i += ORDER_THREADS) drawn[i] = {0, 0};
}
