/* type_bf16.cu - floats into bfloats; by hand, two a request.
   SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#if !SIMT_ON_CPU
#include <cuda_bf16.h>
#endif

#if SIMT_ON_CPU
/* Rounded to nearest even; x is no NaN. */
static inline unsigned rounded(float x) {
  unsigned bits = __float_as_uint(x);
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
#endif

/* To an address aligned to both. */
static __device__ __forceinline__ void add_pair(unsigned short *at, float low, float high) {
#if SIMT_ON_CPU
  unsigned pair = rounded(low) | rounded(high) << 16;
  simt_red_add_bf16x2(at, &pair, 1);
#else
  atomicAdd((__nv_bfloat162 *)at, __floats2bfloat162_rn(low, high));
#endif
}

#define SWEEP_NAME bf16
#define SWEEP_ROWS(width) arc_target_f32_rows_bf16(a.rows, a.stride, width)
#include "halves.cuh"
