/* baseline.cuh - what arc is measured against: written by hand, without a line of arc.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_BASELINE_CUH
#define ARC_BENCH_BASELINE_CUH

#include "simt/simt.cuh"

#include "../sweep_draw.cuh"

/* Adds nothing; the key is made all the same. */
static __device__ __forceinline__ void sweep_add_none(long long never, int key) {
  sweep_keep1(never, __int_as_float(key));
}

static __device__ __forceinline__ void sweep_add_plain(float *rows, int stride, int width, int key,
                                                       const float *values, bool active) {
  if (!active) return;
  float *row = rows + (long long)key * stride;
  for (int i = 0; i < width; ++i) atomicAdd(row + i, values[i]);
}

static __device__ __forceinline__ void sweep_red_v4(float *p, float x, float y, float z, float w) {
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

static __device__ __forceinline__ void sweep_red_v2(float *p, float x, float y) {
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
static __device__ __forceinline__ void sweep_add_vector(float *rows, int stride, int width, int key,
                                                        const float *v, bool active) {
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

#endif
