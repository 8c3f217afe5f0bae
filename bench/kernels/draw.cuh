/* draw.cuh - keys, active lanes and values of every update, drawn as it goes.
   SPDX-License-Identifier: Apache-2.0

   One generator serves the measured kernels and the expected sums, on the GPU and on the host. It
   costs some thirty instructions an update (forty where lanes draw their own keys), the same for
   every path, whatever it draws: shapes, layouts and workload models are tables and bit masks in
   the arguments, never branches. sweep/workload.cpp fills them in. */
#pragma once

#include "simt/simt.cuh"

#include "draw_args.h"

/* Of a function that kernels call. */
#define SWEEP_FN static __device__ __forceinline__

#if SIMT_ON_CPU
#define SWEEP_UNROLL
#else
#define SWEEP_UNROLL _Pragma("unroll")
#endif

/* What stays the same for a thread from update to update, and the two generators. */
struct sweep_lane {
  struct sweep_lane_setup setup;
  unsigned salt, block_state, warp_state;
};

struct sweep_update {
  int key;
  bool active;
  float x; /* the lane's value; parameter i gets x * sweep_coefficient(i) */
};

static __host__ __device__ __forceinline__ unsigned sweep_mix(unsigned h) {
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

static __host__ __device__ __forceinline__ unsigned sweep_below(unsigned random, unsigned bound) {
  return (unsigned)(((unsigned long long)random * bound) >> 32);
}

/* A key that is an int to the compiler, not the upper half of a product. */
static __host__ __device__ __forceinline__ int sweep_key(unsigned random, int key_count) {
  int key = (int)sweep_below(random, (unsigned)key_count);
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(key));
#endif
  return key;
}

/* In [-0.5, 0.5) from the upper 23 bits. */
static __host__ __device__ __forceinline__ float sweep_signed_unit(unsigned random) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float((random >> 9) | 0x3F800000u) - 1.5f;
#else
  return (float)(random >> 9) * (1.0f / 8388608.0f) - 0.5f;
#endif
}

/* Of x, which is a multiple of 1 / SWEEP_X_UNITS. */
#define SWEEP_X_UNITS 8388608.0f
#define SWEEP_BOTH_HALVES 0x100000001ll

/* Tells the parameters apart. Exact in float: a sum is the coefficient times the sum of x. */
static __host__ __device__ __forceinline__ float sweep_coefficient(int parameter) {
  return (float)(17 + (parameter * 37 & 63)) * (1.0f / 64.0f);
}

static __host__ __device__ __forceinline__ struct sweep_lane sweep_lane_begin(
    const struct sweep_args *a, unsigned block, unsigned thread, unsigned threads) {
  struct sweep_lane l;
  unsigned warp = block * ((threads + 31) / 32) + thread / 32;
  l.setup = a->lanes[thread % 32];
  l.salt = sweep_mix(a->seed ^ (warp * 32 + thread % 32)) | 1u;
  l.block_state = sweep_mix(a->seed + 0x9E3779B9u * (block + 1));
  l.warp_state = sweep_mix(a->seed + 0x7F4A7C15u * (warp + 1));
  return l;
}

/* Advances the warp's generator and returns its bits. */
static __host__ __device__ __forceinline__ unsigned sweep_draw_lane(const struct sweep_args *a,
                                                                    struct sweep_lane *l,
                                                                    struct sweep_update *d) {
  l->warp_state = l->warp_state * 1664525u + 1013904223u;
  unsigned h = l->warp_state ^ (l->warp_state >> 15);
  int count_mask = a->count_mask_many ^ (-(int)(h & 1u) & a->count_mask_flip);
  int count = a->masks ? a->masks[h >> 22].lanes : a->count_base + ((int)(h >> 7) & count_mask);
  unsigned step = 1u + ((h >> 12) & a->rank_step_mask); /* odd: a permutation modulo 32 */
  unsigned position = (unsigned)l->setup.rank * step + ((h >> 17) & a->rank_shift_mask);
  d->active = (int)((position & 31u) | (h & a->empty_mask)) < count;
  d->x = sweep_signed_unit(h * l->salt);
  return h;
}

/* One key for the whole block, as the pixels of a tile walk one list. */
static __host__ __device__ __forceinline__ struct sweep_update sweep_draw_uniform(
    const struct sweep_args *a, struct sweep_lane *l) {
  struct sweep_update d;
  sweep_draw_lane(a, l, &d);
  l->block_state = l->block_state * 1664525u + 1013904223u;
  d.key = sweep_key(l->block_state, a->key_count);
  return d;
}

/* Every warp draws its own keys; lanes of one group share one. */
static __host__ __device__ __forceinline__ struct sweep_update sweep_draw_keyed(
    const struct sweep_args *a, struct sweep_lane *l) {
  struct sweep_update d;
  unsigned h = sweep_draw_lane(a, l, &d);
  int rate = (a->rate_base + ((int)(h >> 18) & a->rate_add_mask))
             << ((int)(h >> 22) & a->rate_shift_mask);
  if (a->masks) rate = a->masks[h >> 22].rate;
  int along = l->setup.position * rate + ((int)(h >> 25) & a->phase_mask);
  unsigned group = (unsigned)(along >> 7) +
                   sweep_below((l->warp_state ^ 0x5851F42Du) * l->salt, a->random_groups);
  unsigned k = (l->warp_state + group * a->group_spread) * 0x85EBCA6Bu;
  int key = sweep_key(k ^ (k << 13), a->key_count);
  d.key = (key >> ((k >> 9) & a->key_shift_mask)) + (int)group * a->group_step;
  return d;
}

/* Keeps values: they must be made, in every path alike, because they would be stored if `never`
   were not 0. A branch in C would let the compiler move their making into it, or into the branch of
   the path under test. Costs an issue slot per four values. */
#if SIMT_ON_CPU
SWEEP_FN void sweep_keep1(long long, float) {}
SWEEP_FN void sweep_keep2(long long, const float *) {}
SWEEP_FN void sweep_keep4(long long, const float *) {}
#else
SWEEP_FN void sweep_keep1(long long never, float x) {
  asm volatile("{ .reg .pred p; setp.ne.s64 p, %0, 0; @p st.global.f32 [%0], %1; }" ::"l"(never),
               "f"(x));
}
SWEEP_FN void sweep_keep2(long long never, const float *v) {
  asm volatile(
      "{ .reg .pred p; setp.ne.s64 p, %0, 0; @p st.global.v2.f32 [%0], {%1, %2}; }" ::"l"(never),
      "f"(v[0]), "f"(v[1]));
}
SWEEP_FN void sweep_keep4(long long never, const float *v) {
  asm volatile(
      "{ .reg .pred p; setp.ne.s64 p, %0, 0; @p st.global.v4.f32 [%0], {%1, %2, %3, %4}; }" ::"l"(
          never),
      "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]));
}
#endif

SWEEP_FN void sweep_keep(long long never, const float *values, int width) {
  SWEEP_UNROLL
  for (int i = 0; i + 4 <= width; i += 4) sweep_keep4(never, values + i);
  if (width % 4 >= 2) sweep_keep2(never, values + width / 4 * 4);
  if (width % 2 == 1) sweep_keep1(never, values[width - 1]);
}

SWEEP_FN long long sweep_bits(double x) { return __double_as_longlong(x); }
SWEEP_FN long long sweep_bits(long long x) { return x; }

/* 64-bit values, two at a time; the last one may stand twice. */
template <typename T>
SWEEP_FN void sweep_keep(long long never, const T *values, int width) {
#if SIMT_ON_CPU
  (void)never, (void)values, (void)width;
#else
  SWEEP_UNROLL
  for (int i = 0; i < width; i += 2)
    asm volatile(
        "{ .reg .pred p; setp.ne.s64 p, %0, 0; @p st.global.v2.b64 [%0], {%1, %2}; }" ::"l"(never),
        "l"(sweep_bits(values[i])), "l"(sweep_bits(values[i + 1 < width ? i + 1 : i])));
#endif
}

/* What a lane's values are multiples of; garbage, or 0, in an inactive lane. An i64 holds x, made a
   whole number, in both of its halves. */
SWEEP_FN float sweep_x(const float *, struct sweep_update d, const struct sweep_lane *l) {
  return d.active ? d.x : l->setup.inactive_value;
}
SWEEP_FN double sweep_x(const double *, struct sweep_update d, const struct sweep_lane *l) {
  return (double)(d.active ? d.x : l->setup.inactive_value);
}
SWEEP_FN long long sweep_x(const long long *, struct sweep_update d, const struct sweep_lane *l) {
  int x = d.active ? (int)(d.x * SWEEP_X_UNITS) : __float_as_int(l->setup.inactive_value);
  return x * SWEEP_BOTH_HALVES;
}

/* The values of a lane: whole numbers get 64 times the coefficient, which is one, too. */
template <typename T>
SWEEP_FN void sweep_values(T *values, int width, T x, long long never) {
  const bool whole = (T)0.5f == (T)0;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i)
    values[i] = x * (T)(sweep_coefficient(i) * (whole ? 64.0f : 1.0f));
  sweep_keep(never, values, width);
}
