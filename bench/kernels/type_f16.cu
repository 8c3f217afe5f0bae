/* type_f16.cu - floats into halves; by hand, two a request. SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#if !SIMT_ON_CPU
#include <cuda_fp16.h>
#endif

/* To an address aligned to both. */
static __device__ __forceinline__ void add_pair(unsigned short *at, float low, float high) {
#if SIMT_ON_CPU
  unsigned pair = simt_cvt_rn_f16_f32(low) | (unsigned)simt_cvt_rn_f16_f32(high) << 16;
  simt_red_add_f16x2(at, &pair, 1);
#else
  atomicAdd((__half2 *)at, __floats2half2_rn(low, high));
#endif
}

#define SWEEP_NAME f16
#define SWEEP_ROWS(width) arc_target_f32_rows_f16(a.rows, a.stride, width)
#include "halves.cuh"
