/* oracle.cuh - what the rows must hold after a launch, in double precision.
   SPDX-License-Identifier: Apache-2.0

   Parameter i of a row is the sum of x * coefficient(i) over the row's updates, so one sum of x a
   row serves every width, path and type. It is added up one lane at a time, with double atomics on
   the GPU and in plain loops on the CPU warp: not a line of arc or simt takes part. */
#pragma once

#include "simt/simt.cuh"

#include "arc_policy.cuh"
#include "../kernels/cell.h"
#include "../kernels/draw.cuh"

struct sweep_expected {
  double sum, magnitude; /* of x and of |x| */
  unsigned long long updates;
};

struct sweep_verified {
  unsigned long long wrong;
  unsigned worst; /* bits of a float >= 0: the largest error as a fraction of its bound */
};

/* What a half in memory is; infinity and NaN become large numbers. */
SWEEP_FN float sweep_half(int type, unsigned bits) {
  if (type == SWEEP_TYPE_bf16) return __int_as_float((int)(bits << 16));
  float x = __int_as_float((int)((bits & 0x7fffu) << 13)) * 5.192296858534828e33f; /* 2^112 */
  return bits >> 15 ? -x : x;
}

/* Words of 2^16 times the unit of the one before. */
SWEEP_FN double sweep_wide(const long long *row, int width, int i) {
  const int lowest = 16 * ((15 - ARC_WIDE_WORDS) / 2) - 150;
  double sum = 0.0;
  for (int w = ARC_WIDE_WORDS - 1; w >= 0; --w) sum = sum * 65536.0 + (double)row[w * width + i];
  return i < width ? ldexp(sum, lowest) : 0.0;
}

SWEEP_FN double sweep_found(int type, const void *rows, long long at) {
  const double fixed_unit = 1.0 / (double)(1ll << SWEEP_SCALE_LOG2);
  if (type == SWEEP_TYPE_f32) return (double)((const float *)rows)[at];
  if (type == SWEEP_TYPE_f64) return ((const double *)rows)[at];
  if (type == SWEEP_TYPE_fixed || type == SWEEP_TYPE_exact)
    return (double)((const long long *)rows)[at] * fixed_unit;
  return (double)sweep_half(type, ((const unsigned short *)rows)[at]);
}

/* What the error of a sum of such magnitude never reaches in practice. Rounding to nearest errs at
   most by a unit an addition, and far less in long sums: the errors are independent, hence
   8 * sqrt(additions). For halves that would hide a lost value; there the bound is a few units,
   since values have both signs, and what they are added to is far below the magnitude. Doubles have
   room for every sum; into fixed and wide memory at most the 32 lanes of a warp are added as floats. */
SWEEP_FN double sweep_bound(int type, double magnitude, double updates) {
  const double tiny = 1e-30, least_f16 = 1.0 / 16777216.0;
  bool halves = type == SWEEP_TYPE_f16 || type == SWEEP_TYPE_bf16;
  double unit = type == SWEEP_TYPE_f16    ? 1.0 / 2048.0
                : type == SWEEP_TYPE_bf16 ? 1.0 / 256.0
                                          : 1.0 / 16777216.0;
  double additions = type == SWEEP_TYPE_exact ? 0.0 : updates;
  bool whole = type == SWEEP_TYPE_fixed || type == SWEEP_TYPE_wide;
  if (whole && additions > 32.0) additions = 32.0;
  double likely = halves ? 8.0 : 8.0 * sqrt(additions);
  double units = (additions < likely ? additions : likely) + 2.0; /* values are rounded as well */
  if (type == SWEEP_TYPE_f64) return tiny;
  return magnitude * units * unit + (type == SWEEP_TYPE_f16 ? updates * least_f16 : 0.0) + tiny;
}

/* The error of rows[at] as a fraction of its bound: a parameter of a row that must be *e. */
SWEEP_FN float sweep_error(const struct sweep_expected *e, int type, const void *rows, int stride,
                           long long at, int parameter, int width) {
  const float most = 3e38f; /* that of NaN, too */
  double coefficient = parameter < width ? (double)sweep_coefficient(parameter) : 0.0;
  if (type == SWEEP_TYPE_i64) {
    long long whole = (long long)(e->sum * SWEEP_X_UNITS * 64.0 * coefficient);
    unsigned long long sum = (unsigned long long)whole * (unsigned long long)SWEEP_BOTH_HALVES;
    return ((const unsigned long long *)rows)[at] == sum ? 0.0f : most;
  }
  double bound = sweep_bound(type, coefficient * e->magnitude, (double)e->updates);
  const long long *row = (const long long *)rows + at / stride * ARC_WIDE_ROW(stride);
  double found =
      type == SWEEP_TYPE_wide ? sweep_wide(row, width, parameter) : sweep_found(type, rows, at);
  double error = fabs(found - coefficient * e->sum) / bound;
  return error <= most ? (float)error : most;
}

/* The same for the cell's rows or planes. */
SWEEP_FN float sweep_error_at(const struct sweep_args *a, const struct sweep_cell *c,
                              const struct sweep_expected *expected, long long at) {
  const bool planes = c->form == SWEEP_FORM_PLANES;
  const int each = planes ? a->row_count : a->stride;
  const int outer = (int)(at / each), inner = (int)(at % each);
  return sweep_error(&expected[planes ? inner : outer], c->type, a->rows, a->stride, at,
                     planes ? outer : inner, c->width);
}

/* Each thread walks its own updates. add(key, x) is called for each of an active lane. */
template <typename add_type>
SWEEP_FN void sweep_each_update(const struct sweep_args *a, int uniform, unsigned block,
                                unsigned thread, unsigned threads, add_type add) {
  struct sweep_lane lane = sweep_lane_begin(a, block, thread, threads);
  for (int u = 0; u < a->updates; ++u) {
    struct sweep_update d = uniform ? sweep_draw_uniform(a, &lane) : sweep_draw_keyed(a, &lane);
    if (d.active) add(d.key, d.x);
  }
}

#if SIMT_ON_CPU

static void sweep_expect(const struct sweep_args *a, int uniform, int blocks, int threads,
                         struct sweep_expected *expected) {
  const auto add = [expected](int key, float x) {
    expected[key].sum += x;
    expected[key].magnitude += fabs(x);
    expected[key].updates += 1;
  };
  for (int block = 0; block < blocks; ++block)
    for (int thread = 0; thread < threads; ++thread)
      sweep_each_update(a, uniform, (unsigned)block, (unsigned)thread, (unsigned)threads, add);
}

static void sweep_verify(const struct sweep_args *a, const struct sweep_cell *c,
                         const struct sweep_expected *expected, struct sweep_verified *v) {
  for (long long at = 0; at < (long long)a->row_count * a->stride; ++at) {
    float error = sweep_error_at(a, c, expected, at);
    unsigned bits = (unsigned)__float_as_int(error);
    v->worst = bits > v->worst ? bits : v->worst;
    v->wrong += error > 1.0f;
  }
}

#else

static __global__ void sweep_expect_kernel(const struct sweep_args a, int uniform,
                                           struct sweep_expected *expected) {
  const auto add = [expected](int key, float x) {
    atomicAdd(&expected[key].sum, (double)x);
    atomicAdd(&expected[key].magnitude, fabs((double)x));
    atomicAdd(&expected[key].updates, 1ull);
  };
  sweep_each_update(&a, uniform, blockIdx.x, threadIdx.x, blockDim.x, add);
}

static __global__ void sweep_verify_kernel(const struct sweep_args a, const struct sweep_cell c,
                                           const struct sweep_expected *expected,
                                           struct sweep_verified *v) {
  long long count = (long long)a.row_count * a.stride;
  unsigned worst = 0, wrong = 0;
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < count;
       at += (long long)gridDim.x * blockDim.x) {
    float error = sweep_error_at(&a, &c, expected, at);
    worst = max(worst, __float_as_uint(error));
    wrong += error > 1.0f;
  }
  if (wrong != 0) atomicAdd(&v->wrong, (unsigned long long)wrong);
  if (worst != 0) atomicMax(&v->worst, worst);
}

#endif
