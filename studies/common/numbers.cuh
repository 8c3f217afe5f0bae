/* arc studies: what differs between the CPU warp and GPUs, in one place. SPDX-License-Identifier:
   Apache-2.0

   Activations are floats or halves; kernels are compiled for either. The CPU warp has halves only
   in rows to which arc adds. */
#pragma once

#include "device.h"

#if !SIMT_ON_CPU
#include <cuda_fp16.h>
#endif

/* Two neighbours. */
template <typename number>
struct pair_of {
  typedef float2 type;
};
DEVICE float2 load_pair(const float *p) { return *reinterpret_cast<const float2 *>(p); }
DEVICE void store_pair(float *p, float x, float y) {
  *reinterpret_cast<float2 *>(p) = make_float2(x, y);
}

#if SIMT_ON_CPU
static inline void add_half_pair(void *p, float x, float y) {
  const unsigned word = simt_cvt_rn_f16_f32(x) | (unsigned)simt_cvt_rn_f16_f32(y) << 16;
  simt_red_add_f16x2(p, &word, 1);
}
static inline unsigned short half_bits(float x) { return simt_cvt_rn_f16_f32(x); }
static inline float2 half_pair(unsigned word) {
  return make_float2(simt_cvt_f32_f16((unsigned short)word),
                     simt_cvt_f32_f16((unsigned short)(word >> 16)));
}
#else
template <>
struct pair_of<__half> {
  typedef __half2 type;
};
DEVICE float2 load_pair(const __half *p) {
  return __half22float2(*reinterpret_cast<const __half2 *>(p));
}
DEVICE void store_pair(__half *p, float x, float y) {
  *reinterpret_cast<__half2 *>(p) = __floats2half2_rn(x, y);
}
static inline unsigned short half_bits(float x) { return __half_as_ushort(__float2half_rn(x)); }
DEVICE float2 half_pair(unsigned word) {
  return __half22float2(*reinterpret_cast<const __half2 *>(&word));
}
DEVICE void add_half_pair(void *p, float x, float y) {
  atomicAdd(reinterpret_cast<__half2 *>(p), __floats2half2_rn(x, y));
}
#endif

/* Two neighbours, aligned to both: one request where the architecture has one. */
DEVICE void add_pair(float *p, float x, float y) {
#if SIMT_ON_CPU && SIMT_ARCH >= 900
  simt_red_add_v2_f32(p, x, y);
#elif !SIMT_ON_CPU && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float2 *>(p), make_float2(x, y));
#else
  atomicAdd(p, x);
  atomicAdd(p + 1, y);
#endif
}
