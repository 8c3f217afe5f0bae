/* brief.h - a value of 8 bits, as a bfloat16, for tests. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

struct brief {
  unsigned short bits;
};

static __host__ __device__ inline float to_float(brief x) {
  const unsigned bits = (unsigned)x.bits << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* To nearest even. */
static __host__ __device__ inline void store(brief *at, float x) {
  unsigned bits;
  memcpy(&bits, &x, sizeof(bits));
  at->bits = (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
