// simt_math.h -- CUDA's bit and arithmetic intrinsics for the CPU warp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt_types.h"

template <class To, class From>
static inline To simt__bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// simt_warp.h wraps these, in order to count them.
static inline int simt__popc(unsigned v) { return __builtin_popcount(v); }
static inline int simt__popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int simt__ffs(int v) { return __builtin_ffs(v); }
static inline int simt__ffsll(long long v) { return __builtin_ffsll(v); }
static inline int simt__clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int simt__clzll(long long v) {
  return v ? __builtin_clzll((unsigned long long)v) : 64;
}
static inline unsigned simt__brev(unsigned v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}
// Position of the n-th set bit of mask from position base: upwards for n > 0, downwards for n < 0,
// base itself for n = 0; ~0 where there is none.
static inline unsigned __fns(unsigned mask, unsigned base, int n) {
  int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
  if (n == 0) return mask >> (base & 31u) & 1u ? base : ~0u;
  for (int i = (int)base; i >= 0 && i < 32; i += step)
    if ((mask >> i & 1u) && --left == 0) return (unsigned)i;
  return ~0u;
}

static inline unsigned __float_as_uint(float v) { return simt__bit_cast<unsigned>(v); }
static inline int __float_as_int(float v) { return simt__bit_cast<int>(v); }
static inline float __uint_as_float(unsigned v) { return simt__bit_cast<float>(v); }
static inline float __int_as_float(int v) { return simt__bit_cast<float>(v); }
static inline long long __double_as_longlong(double v) { return simt__bit_cast<long long>(v); }
static inline double __longlong_as_double(long long v) { return simt__bit_cast<double>(v); }

static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
static inline int __float2int_rn(float a) { return (int)rintf(a); }
// As the hardware's: NaN gives the smallest integer, what is out of range the nearest one.
static inline long long __float2ll_rn(float a) {
  if (!(a >= -9223372036854775808.0f)) return (-9223372036854775807ll - 1);
  return a < 9223372036854775808.0f ? llrintf(a) : 9223372036854775807ll;
}
// Each of the four bytes of the result is one of the eight of b:a, by a nibble of the selector.
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7u) & 0xffu) << 8 * i;
  return result;
}

// PTX's cvt.rn.f16.f32 and cvt.f32.f16.
static inline float simt_cvt_f32_f16(unsigned short half) {
  unsigned sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 31u) return simt__bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  float magnitude = exponent ? ldexpf((float)(fraction | 0x400u), (int)exponent - 25)
                             : ldexpf((float)fraction, -24);
  return sign ? -magnitude : magnitude;
}
static inline unsigned short simt_cvt_rn_f16_f32(float x) {
  unsigned sign = __builtin_signbit(x) ? 0x8000u : 0u;
  float magnitude = fabsf(x);
  if (x != x) return 0x7fff;
  if (magnitude >= 65520.0f) return (unsigned short)(sign | 0x7c00u);
  int exponent = magnitude < 6.103515625e-5f ? -14 : ilogbf(magnitude);
  // The fraction's last bit; what carries out of the fraction raises the exponent.
  unsigned units = (unsigned)rintf(ldexpf(magnitude, 10 - exponent));
  return (unsigned short)(sign | ((unsigned)(exponent + 14) * 0x400u + units));
}
// PTX's cvt.rn.bf16.f32.
static inline unsigned short simt_cvt_rn_bf16_f32(float x) {
  unsigned bits = simt__bit_cast<unsigned>(x);
  return (unsigned short)(x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
static inline int __float2int_rd(float a) { return (int)floorf(a); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}

// The C library declares some of these names for itself, hence macros.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define rsqrtf(x) (1.0f / sqrtf(x))
#define rsqrt(x) (1.0 / sqrt(x))

#define SIMT__MIN_MAX(type)                                          \
  static inline type min(type a, type b) { return b < a ? b : a; }   \
  static inline type max(type a, type b) { return a < b ? b : a; }
SIMT__MIN_MAX(int)
SIMT__MIN_MAX(unsigned)
SIMT__MIN_MAX(long)
SIMT__MIN_MAX(unsigned long)
SIMT__MIN_MAX(long long)
SIMT__MIN_MAX(unsigned long long)
#undef SIMT__MIN_MAX
// As CUDA's: a NaN loses against a number.
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
// Mixed signedness, as CUDA overloads it.
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
