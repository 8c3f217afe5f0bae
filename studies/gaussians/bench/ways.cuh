/* studies/gaussians/bench: all ways to add in the trainer's kernel, for the number of pixels per
   lane that BACKWARD_PIXELS and BACKWARD_BLOCKS set. SPDX-License-Identifier: Apache-2.0

   The whole warp calls with one key; at least one lane is hit, and the others hold zeros. */
#pragma once

#define ARC_MAX_PIECES 4 /* a target of means, conics, opacities and colours */
#include "simt/simt.cuh"

#include "../render/backward.cuh"
#include "ways.h"

#if !SIMT_ON_CPU
#include <cub/warp/warp_reduce.cuh>
#endif

DEVICE arc_target_f32 target_of_way(const way_arguments *a, int layout) {
  if (layout == SUMS_ROWS) return arc_target_f32_rows(a->sums.rows, SPLAT_ROW, SPLAT_WIDTH);
  arc_piece_f32 pieces[4] = {{sum_address(a, layout, 0, SUM_X), 2, 2},
                             {sum_address(a, layout, 0, SUM_XX), 3, 3},
                             {sum_address(a, layout, 0, SUM_U), 1, 1},
                             {sum_address(a, layout, 0, SUM_RED), 3, 3}};
  return arc_target_f32_pieces(pieces, 4);
}

DEVICE void add_plain(const way_arguments *a, int layout, int key, const float *values, bool hit) {
  if (!hit) return;
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) atomicAdd(sum_address(a, layout, key, i), values[i]);
}

DEVICE void add_shuffles(const way_arguments *a, int layout, int key, const float *values) {
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) {
    float sum = values[i];
    UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(WHOLE_WARP, sum, step);
    if ((threadIdx.x & 31u) == 0u) atomicAdd(sum_address(a, layout, key, i), sum);
  }
}

#if !SIMT_ON_CPU
DEVICE void add_cub(const way_arguments *a, int layout, int key, const float *values) {
  __shared__ cub::WarpReduce<float>::TempStorage storage[BLOCK_THREADS / 32];
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) {
    float sum = cub::WarpReduce<float>(storage[threadIdx.x >> 5]).Sum(values[i]);
    if ((threadIdx.x & 31u) == 0u) atomicAdd(sum_address(a, layout, key, i), sum);
  }
}
#endif

DEVICE void count_steps(const way_arguments *a, int lanes, long long steps) {
  if ((threadIdx.x & 31u) == 0u)
    atomicAdd((unsigned long long *)a->sums.words + lanes, (unsigned long long)steps);
}

/* In place of arc_sums. A template, so that only one of the calls is compiled; pixels tells the
   kernels of two files apart. */
template <int way, int layout, int pixels = BACKWARD_PIXELS>
struct way_sums {
  const way_arguments *a;
  unsigned kept; /* ADD_NONE: bits of the values, about the least that is a use of them */
  arc_target_f32 target;

  explicit __device__ __forceinline__ way_sums(const way_arguments *arguments)
      : a(arguments), kept(0u), target(target_of_way(arguments, layout)) {
    backward_lane lane;
    if constexpr (way == ADD_COUNT) count_steps(a, 0, warp_largest(backward_begin(a, &lane)));
  }

  __device__ __forceinline__ void add_by(int path, int key, const float *v, bool hit) {
    arc_options options = arc_options_default();
    options.path = path;
    options.threshold = a->threshold;
    options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER;
    arc_add_with_f32(target, key, v, hit, options);
  }

  __device__ __forceinline__ void add(int key, float *v, bool hit) {
    if constexpr (way == ADD_DEFAULT) arc_add_renderer_f32(target, key, v, hit);
    if constexpr (way == ADD_AUTO) add_by(ARC_PATH_AUTO, key, v, hit);
    if constexpr (way == ADD_SERIALIZED) add_by(ARC_PATH_SERIALIZED, key, v, hit);
    if constexpr (way == ADD_BUTTERFLY) add_by(ARC_PATH_BUTTERFLY, key, v, hit);
    if constexpr (way == ADD_SHUFFLES) add_shuffles(a, layout, key, v);
#if !SIMT_ON_CPU
    if constexpr (way == ADD_CUB) add_cub(a, layout, key, v);
#endif
    UNROLL
    for (int i = 0; i < SPLAT_WIDTH; ++i) {
      if constexpr (way == ADD_MAGNITUDES) v[i] = fabsf(v[i]);
      if constexpr (way == ADD_NONE) kept ^= __float_as_uint(v[i]);
    }
    if constexpr (way == ADD_PLAIN || way == ADD_MAGNITUDES) add_plain(a, layout, key, v, hit);
    if constexpr (way == ADD_COUNT) {
      count_steps(a, __popc(__ballot_sync(WHOLE_WARP, hit)), 1);
      count_steps(a, 0, -1); /* which the constructor has counted with those without a hit */
    }
  }

  __device__ __forceinline__ ~way_sums() {
    if (way == ADD_NONE && kept == 0x6bad5eedu) *a->sums.rows = 0.0f; /* once in 2^32 lanes */
  }
};

template <class sums>
static void way_launch(int tiles, const backward_arguments *a) {
  void (*const kernel)(way_arguments) = backward<sums, way_arguments>;
  SIMT_LAUNCH(kernel, tiles, BLOCK_THREADS, 0, 0, way_arguments_of(a));
}

template <int layout>
static backward_launcher way_launcher_in(add_way way) {
#define WAY(way) way_launch<way_sums<way, layout>>
  static const backward_launcher launchers[] = {
      WAY(ADD_PLAIN), WAY(ADD_SERIALIZED), WAY(ADD_BUTTERFLY), WAY(ADD_CUB),   WAY(ADD_SHUFFLES),
      WAY(ADD_AUTO),  WAY(ADD_DEFAULT),    WAY(ADD_NONE),      WAY(ADD_COUNT), WAY(ADD_MAGNITUDES)};
#undef WAY
  return SIMT_ON_CPU && way == ADD_CUB ? nullptr : launchers[way];
}

template <int pixels>
static backward_launcher way_launcher_of(add_way way, sum_layout layout) {
  static_assert(pixels == BACKWARD_PIXELS, "the kernel is compiled for another number");
  return layout == SUMS_ROWS ? way_launcher_in<SUMS_ROWS>(way) : way_launcher_in<SUMS_ARRAYS>(way);
}
