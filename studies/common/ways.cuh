/* arc studies: the ways to add that workloads share; a switch picks one at run time.
   SPDX-License-Identifier: Apache-2.0

   A kernel is compiled once for each way; `way` is then a literal, and compilers fold choices. */
#pragma once

#include "simt/simt.cuh"

#include "workload.h"

#include "arc.cuh"

#if !SIMT_ON_CPU
#include "cccl.cuh"
#endif

/* For tables of kernels, by way: X of WAY_COUNT, then of all that are shared, in their order. */
#define EACH_WAY(X)                                                                         \
  X(WAY_COUNT), X(WAY_PLAIN), X(WAY_SERIALIZED), X(WAY_BUTTERFLY), X(WAY_AUTO), X(WAY_CUB), \
      X(WAY_CG)

/* Rows of `stride` floats, of which `width` are added to; built once, above the loop. */
typedef struct way_rows {
  float *base;
  int stride, width;
  arc_target_f32 target;
  unsigned long long *counts; /* for WAY_COUNT: 33 numbers by lanes, 33 by keys */
} way_rows;

DEVICE way_rows way_rows_begin(float *base, int stride, int width, unsigned long long *counts) {
  return {base, stride, width, arc_target_f32_rows(base, stride, width), counts};
}

/* Counts the step: by its active lanes, and by the different keys they hold. */
DEVICE void way_count(unsigned long long *counts, int key, bool active) {
  unsigned lanes = __ballot_sync(ARC_LANES_ALL, active);
  unsigned peers = __match_any_sync(ARC_LANES_ALL, key) & lanes;
  bool first = active && __ffs((int)peers) - 1 == (int)(threadIdx.x & 31u);
  unsigned keys = __ballot_sync(ARC_LANES_ALL, first);
  if ((threadIdx.x & 31u) != 0u) return;
  atomicAdd(&counts[__popc(lanes)], 1ull);
  atomicAdd(&counts[33 + __popc(keys)], 1ull);
}

/* The whole warp calls. values: r->width of them; way, promises (ARC_PROMISE_...) and the width of
   r: literals. */
DEVICE void way_add(const way_rows *r, int key, const float *values, bool active, int way,
                    int threshold, unsigned promises) {
  arc_options o = arc_options_default();
  o.threshold = threshold;
  o.promises = promises;
  o.path = way == WAY_SERIALIZED  ? ARC_PATH_SERIALIZED
           : way == WAY_BUTTERFLY ? ARC_PATH_BUTTERFLY
                                  : ARC_PATH_AUTO;
  if (way == WAY_COUNT) {
    way_count(r->counts, key, active);
  } else if (way == WAY_PLAIN) {
    for (int i = 0; i < r->width; ++i)
      if (active) atomicAdd(r->base + (long long)key * r->stride + i, values[i]);
#if !SIMT_ON_CPU
  } else if (way == WAY_CUB || way == WAY_CG) {
    const bool one_key = (promises & ARC_PROMISE_ONE_KEY) != 0u;
    if (way == WAY_CUB)
      cccl_add_warp(r->base, r->stride, r->width, key, values, active, one_key);
    else
      cccl_add_groups(r->base, r->stride, r->width, key, values, active, one_key);
#endif
  } else {
    arc_add_with_f32(r->target, key, values, active, o);
  }
}
