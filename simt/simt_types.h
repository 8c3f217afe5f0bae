// simt_types.h -- CUDA's qualifiers and vector types for the CPU warp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The standard headers come first: the macros below must not be seen by them.
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>
#include <type_traits>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT__ASAN 1
#endif
#endif
#ifndef SIMT__ASAN
#define SIMT__ASAN 0
#endif

// Plays __CUDA_ARCH__: 900 has vector reductions, 800 integer __reduce_*, 700 matches, 600 neither.
#ifndef SIMT_ARCH
#define SIMT_ARCH 900
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// Blocks run one after another, so one static object serves them all. The tag becomes part of its
// name in the program's symbols: by these the engine tells shared from global memory, and refills it
// with garbage for each block. (g++ knows no section of one's own for objects of templates.)
// AddressSanitizer has redzones behind the objects, so there they stay ordinary statics.
#ifndef SIMT_SHARED_SECTION
#if SIMT__ASAN || !defined(__ELF__)
#define SIMT_SHARED_SECTION 0
#else
#define SIMT_SHARED_SECTION 1
#endif
#endif
#if SIMT_SHARED_SECTION
#define __shared__ static __attribute__((used, abi_tag("simt_shared")))
#else
#define __shared__ static
#endif

#define SIMT__VECTORS(name, scalar, align2, align4)                                            \
  struct name##1 { scalar x; };                                                                \
  struct __attribute__((aligned(align2))) name##2 { scalar x, y; };                            \
  struct name##3 { scalar x, y, z; };                                                          \
  struct __attribute__((aligned(align4))) name##4 { scalar x, y, z, w; };                      \
  static inline name##1 make_##name##1(scalar x) { name##1 v = {x}; return v; }                \
  static inline name##2 make_##name##2(scalar x, scalar y) { name##2 v = {x, y}; return v; }   \
  static inline name##3 make_##name##3(scalar x, scalar y, scalar z) {                         \
    name##3 v = {x, y, z};                                                                     \
    return v;                                                                                  \
  }                                                                                            \
  static inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {               \
    name##4 v = {x, y, z, w};                                                                  \
    return v;                                                                                  \
  }
SIMT__VECTORS(char, signed char, 2, 4)
SIMT__VECTORS(uchar, unsigned char, 2, 4)
SIMT__VECTORS(short, short, 4, 8)
SIMT__VECTORS(ushort, unsigned short, 4, 8)
SIMT__VECTORS(int, int, 8, 16)
SIMT__VECTORS(uint, unsigned, 8, 16)
SIMT__VECTORS(longlong, long long, 16, 16)
SIMT__VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT__VECTORS(float, float, 8, 16)
SIMT__VECTORS(double, double, 16, 16)
#undef SIMT__VECTORS

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  operator uint3() const { return make_uint3(x, y, z); }
};
