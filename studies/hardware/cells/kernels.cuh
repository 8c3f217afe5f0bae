/* kernels.cuh - the kernels of cells.h; NVRTC takes them, too.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "simt/simt.cuh"

#include "arc.cuh"
#include "cells.h"

#define CELL_FN static __device__ __forceinline__

CELL_FN void cell_plain(float *rows, int width, int key, const float *values, bool active) {
  for (int i = 0; i < width && active; ++i) atomicAdd(rows + (long long)key * width + i, values[i]);
}

/* As rasterizers do, one key per warp: five shuffles per value, and lane 0 adds the sums. */
CELL_FN void cell_shuffles(float *rows, int width, int key, const float *values, bool active) {
  if (!__any_sync(0xffffffffu, active)) return;
  CELL_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = active ? values[i] : 0.0f;
    CELL_UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(rows + (long long)key * width + i, sum);
  }
}

/* The same of any keys: plain atomics where they differ. Lane 0 is active. */
CELL_FN void cell_shuffles_keyed(float *rows, int width, int key, const float *values,
                                 bool active) {
  const int first = __shfl_sync(0xffffffffu, key, 0);
  if (__all_sync(0xffffffffu, !active || key == first))
    cell_shuffles(rows, width, key, values, active);
  else
    cell_plain(rows, width, key, values, active);
}

CELL_FN void cell_arc(float *rows, int width, int key, const float *values, bool active, int path,
                      int promises, int threshold) {
  arc_options o = arc_options_default();
  o.path = path;
  o.promises |= promises;
  o.threshold = threshold;
  arc_add_with_f32(arc_target_f32_rows(rows, width, width), key, values, active, o);
}

#define CELL_KERNEL(name, W, ...)                                            \
  extern "C" __global__ void name##_##W(float *rows, const struct cell c) {  \
    const int lane = (int)threadIdx.x % 32;                                  \
    const int warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;      \
    const bool active = lane < c.lanes;                                      \
    CELL_LOOP                                                                \
    for (int update = 0; update < c.updates; ++update) {                     \
      const int key = CELL_KEY(c, warp, update, lane);                       \
      float values[W];                                                       \
      CELL_UNROLL                                                            \
      for (int i = 0; i < (W); ++i) values[i] = CELL_VALUE(lane, update, i); \
      __VA_ARGS__;                                                           \
    }                                                                        \
  }
#define CELL_BY_HAND(W, name, add_one, add_keyed)                   \
  CELL_KERNEL(one_##name, W, add_one(rows, W, key, values, active)) \
  CELL_KERNEL(keyed_##name, W, add_keyed(rows, W, key, values, active))
#define CELL_ARC(W, name, path, threshold)                                                  \
  CELL_KERNEL(one_##name, W,                                                                \
              cell_arc(rows, W, key, values, active, path, ARC_PROMISE_ONE_KEY, threshold)) \
  CELL_KERNEL(keyed_##name, W, cell_arc(rows, W, key, values, active, path, 0, threshold))

#define CELL_KERNELS(W)                                         \
  CELL_BY_HAND(W, plain, cell_plain, cell_plain)                \
  CELL_BY_HAND(W, shuffles, cell_shuffles, cell_shuffles_keyed) \
  CELL_ARC(W, serialized, ARC_PATH_SERIALIZED, 0)               \
  CELL_ARC(W, butterfly, ARC_PATH_BUTTERFLY, 0)                 \
  CELL_ARC(W, transposed, ARC_PATH_TRANSPOSED, 0)               \
  CELL_ARC(W, tree, ARC_PATH_TREE, 0)                           \
  CELL_ARC(W, automatic, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO)
CELL_KERNELS(1)
CELL_KERNELS(4)
CELL_KERNELS(9)
CELL_KERNELS(16)
