/* by_hand.cuh - what arc is measured against: written by hand, without a line of arc.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "simt/simt.cuh"

#include "draw.cuh"

/* Adds nothing; the key is made all the same. */
SWEEP_FN void sweep_add_none(long long never, int key) { sweep_keep1(never, __int_as_float(key)); }

SWEEP_FN void sweep_add_plain(float *rows, int stride, int width, int key, const float *values,
                              bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  for (int i = 0; i < width; ++i) atomicAdd(row + i, values[i]);
}

/* The same in an order that rotates from lane to lane: each computes its values where it adds. */
SWEEP_FN void sweep_add_rotating(float *rows, int stride, int width, int key, float x,
                                 bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  int parameter = (int)threadIdx.x % width;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    atomicAdd(row + parameter, x * sweep_coefficient(parameter));
    parameter = parameter + 1 < width ? parameter + 1 : 0;
  }
}

/* Lane 31 adds nothing. */
SWEEP_FN void sweep_add_broken(float *rows, int stride, int width, int key, const float *values,
                               bool active) {
  sweep_add_plain(rows, stride, width, key, values, active && threadIdx.x % 32 != 31);
}

SWEEP_FN void sweep_red_v4(float *p, float x, float y, float z, float w) {
#if SIMT_ON_CPU
  simt_red_add_v4_f32(p, x, y, z, w);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
               "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
#else
  atomicAdd(p, x), atomicAdd(p + 1, y), atomicAdd(p + 2, z), atomicAdd(p + 3, w);
#endif
}

SWEEP_FN void sweep_red_v2(float *p, float x, float y) {
#if SIMT_ON_CPU
  simt_red_add_v2_f32(p, x, y);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "f"(x),
               "f"(y)
               : "memory");
#else
  atomicAdd(p, x), atomicAdd(p + 1, y);
#endif
}

/* Rows must start at multiples of 16 bytes. */
SWEEP_FN void sweep_add_vector(float *rows, int stride, int width, int key, const float *v,
                               bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  int i = 0;
  for (; i + 4 <= width; i += 4) sweep_red_v4(row + i, v[i], v[i + 1], v[i + 2], v[i + 3]);
  if (width & 2) {
    sweep_red_v2(row + i, v[i], v[i + 1]);
    i += 2;
  }
  if (width & 1) atomicAdd(row + i, v[i]);
}

/* ---- peers: all 32 lanes of the warp call; keys and values of inactive lanes are garbage ---- */

#define SWEEP_ALL_LANES 0xffffffffu

/* Whether the active lanes, one at least, hold one key. The cost of a reduction that can
   serve but one key per warp: three votes and a shuffle at most. */
SWEEP_FN bool sweep_one_key(unsigned active_lanes, int key, bool active) {
  int first = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  return __all_sync(SWEEP_ALL_LANES, !active || key == first);
}

/* The reduction of rasterizers: a warp without an active lane leaves after one vote; else five
   shuffles per value, and lane 0 adds the sums one by one. `key` is that of lane 0. */
SWEEP_FN void sweep_add_shuffle_skip(float *rows, int stride, int width, int key,
                                     const float *values, bool active) {
  if (!__any_sync(SWEEP_ALL_LANES, active)) return;
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = active ? values[i] : 0.0f;
    SWEEP_UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(SWEEP_ALL_LANES, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(row + i, sum);
  }
}

/* Where keys may differ: the same if they do not, else plain atomics. */
SWEEP_FN void sweep_add_shuffle_skip_keyed(float *rows, int stride, int width, int key,
                                           const float *values, bool active) {
  unsigned active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  if (active_lanes == 0) return;
  if (!sweep_one_key(active_lanes, key, active)) {
    sweep_add_plain(rows, stride, width, key, values, active);
    return;
  }
  key = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  sweep_add_shuffle_skip(rows, stride, width, key, values, active);
}
