/* kernels.cuh - the kernels of slices.h, gaussians_plain and so on; NVRTC takes them, too.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "simt/simt.cuh"

#include "arc.cuh"
#include "slices.h"

enum { SLICE_plain, SLICE_none, SLICE_serialized, SLICE_butterfly, SLICE_automatic };
/* PTX instructions of the loop itself, and of a further load's address. */
enum { SLICE_LOOP = 15, SLICE_ADDRESS = 5, SLICE_CHAINS = 8 };

/* A load that is issued here, not where its result is used. */
#if SIMT_ON_CPU
#define SLICE_HIDE(kind, value)
#else
#define SLICE_HIDE(kind, value) asm volatile("" : kind(value))
#endif

/* `none` does the work that makes a value in place of it. */
template <int width, int stride, int promises, int instructions, int loads, int path>
static __device__ __forceinline__ void slice_run(const struct slice &s) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int own = SLICE_LOOP + SLICE_ADDRESS * (loads - 1) + (path == SLICE_none ? 0 : width);
  float kept[SLICE_CHAINS] = {}, loaded[loads + 1], values[width], all = 0;
  if (warp >= s.warps) return;
  unsigned step = s.first[warp];
  int next = s.keys[step * 32 + lane];
  SLICE_ONE_BY_ONE
  for (const unsigned end = s.first[warp + 1]; step < end; ++step) {
    const int held = next;
    next = s.keys[step * 32 + 32 + lane];
    SLICE_HIDE("+r", next);
    const bool active = held >= 0;
    const int key = active ? held : ~held;
    const float on = active ? 1.0f : 0.0f, first = on * SLICE_VALUE(lane, step, 0);
    SLICE_UNROLL
    for (int i = 1; i < loads; ++i) {
      loaded[i] = s.table[step % 2 * 32 + lane + 64 * (i - 1)];
      SLICE_HIDE("+f", loaded[i]);
    }
    SLICE_UNROLL
    for (int i = 0; i < instructions - own; ++i)
      kept[i % SLICE_CHAINS] = kept[i % SLICE_CHAINS] * 0.5f + 1.0f;
    SLICE_UNROLL
    for (int i = 1; i < loads; ++i) kept[i] += loaded[i];
    SLICE_UNROLL
    for (int i = 0; i < width; ++i) values[i] = on * (float)i + first;
    if (path == SLICE_none) {
      kept[0] += first;
    } else if (path == SLICE_plain) {
      SLICE_UNROLL
      for (int i = 0; i < width; ++i)
        if (active) atomicAdd(s.rows + (long long)key * stride + i, values[i]);
    } else {
      arc_options o = arc_options_default();
      o.promises |= promises;
      o.path = path == SLICE_serialized  ? ARC_PATH_SERIALIZED
               : path == SLICE_butterfly ? ARC_PATH_BUTTERFLY
                                         : ARC_PATH_AUTO;
      o.threshold = path == SLICE_automatic ? ARC_THRESHOLD_AUTO : s.threshold;
      arc_add_with_f32(arc_target_f32_rows(s.rows, stride, width), key, values, active, o);
    }
  }
  SLICE_UNROLL
  for (int i = 0; i < SLICE_CHAINS; ++i) all += kept[i];
  if (all < 0) s.rows[0] = all; /* never: but the work is to stay */
}

#define SLICE_KERNEL(path, name, ...)                              \
  extern "C" __global__ void name##_##path(const struct slice s) { \
    slice_run<__VA_ARGS__, SLICE_##path>(s);                       \
  }
#define SLICE_FORM(...) SLICE_PATHS(SLICE_KERNEL, __VA_ARGS__)
SLICES(SLICE_FORM)
