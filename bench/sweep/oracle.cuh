/* oracle.cuh - what the rows must hold after a launch, in double precision.
   SPDX-License-Identifier: Apache-2.0

   Parameter i of a row is the sum of x * coefficient(i) over the row's updates, so one sum of x a
   row serves every width and path. It is added up one lane at a time, with double atomics on the
   GPU and in plain loops on the CPU warp: not a line of arc or simt takes part. */
#ifndef ARC_BENCH_ORACLE_CUH
#define ARC_BENCH_ORACLE_CUH

#include "simt/simt.cuh"

#include "../kernels/draw.cuh"

struct sweep_expected {
  double sum, magnitude; /* of x and of |x| */
  unsigned long long updates;
};

struct sweep_verified {
  unsigned long long wrong;
  unsigned worst; /* bits of a float >= 0: the largest error as a fraction of its bound */
};

/* Rounding to nearest errs at most updates * 2^-24 of the magnitude, and far less in long sums: the
   errors are independent, so 8 * sqrt(updates) is never reached in practice. */
static __host__ __device__ __forceinline__ float sweep_error(const struct sweep_expected *e,
                                                             float found, int parameter,
                                                             int width) {
  double coefficient = parameter < width ? (double)sweep_coefficient(parameter) : 0.0;
  double updates = (double)e->updates, likely = 8.0 * sqrt(updates);
  double units = (updates < likely ? updates : likely) + 2.0;
  double bound = coefficient * e->magnitude * units / 16777216.0 + 1e-30;
  double error = fabs((double)found - coefficient * e->sum) / bound;
  return error <= 3e38 ? (float)error : 3e38f; /* NaN is the largest error of all */
}

/* Each thread walks its own updates. `add` is called once for each active lane's update. */
#define SWEEP_EXPECT(a, uniform, block, thread, threads, add)                          \
  do {                                                                                 \
    struct sweep_lane lane = sweep_lane_begin(&(a), block, thread, threads);           \
    for (int u = 0; u < (a).updates; ++u) {                                            \
      struct sweep_update d =                                                          \
          (uniform) ? sweep_draw_uniform(&(a), &lane) : sweep_draw_keyed(&(a), &lane); \
      if (d.active) add(d.key, d.x);                                                   \
    }                                                                                  \
  } while (0)

#if SIMT_ON_CPU

static void sweep_expect(const struct sweep_args *a, int uniform, int blocks, int threads,
                         struct sweep_expected *expected) {
#define ADD_ON_HOST(key, x)             \
  do {                                  \
    expected[key].sum += (x);           \
    expected[key].magnitude += fabs(x); \
    expected[key].updates += 1;         \
  } while (0)
  for (int block = 0; block < blocks; ++block)
    for (int thread = 0; thread < threads; ++thread)
      SWEEP_EXPECT(*a, uniform, (unsigned)block, (unsigned)thread, (unsigned)threads, ADD_ON_HOST);
#undef ADD_ON_HOST
}

static void sweep_verify(const struct sweep_args *a, int width,
                         const struct sweep_expected *expected, struct sweep_verified *v) {
  for (int row = 0; row < a->row_count; ++row) {
    for (int i = 0; i < a->stride; ++i) {
      float error = sweep_error(&expected[row], a->rows[(long long)row * a->stride + i], i, width);
      unsigned bits = (unsigned)__float_as_int(error);
      v->worst = bits > v->worst ? bits : v->worst;
      v->wrong += error > 1.0f;
    }
  }
}

#else

static __global__ void sweep_expect_kernel(const struct sweep_args a, int uniform,
                                           struct sweep_expected *expected) {
#define ADD_ON_DEVICE(key, x)                               \
  do {                                                      \
    atomicAdd(&expected[key].sum, (double)(x));             \
    atomicAdd(&expected[key].magnitude, fabs((double)(x))); \
    atomicAdd(&expected[key].updates, 1ull);                \
  } while (0)
  SWEEP_EXPECT(a, uniform, blockIdx.x, threadIdx.x, blockDim.x, ADD_ON_DEVICE);
#undef ADD_ON_DEVICE
}

static __global__ void sweep_verify_kernel(const struct sweep_args a, int width,
                                           const struct sweep_expected *expected,
                                           struct sweep_verified *v) {
  long long count = (long long)a.row_count * a.stride;
  unsigned worst = 0, wrong = 0;
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < count;
       at += (long long)gridDim.x * blockDim.x) {
    struct sweep_expected e = expected[at / a.stride];
    float error = sweep_error(&e, a.rows[at], (int)(at % a.stride), width);
    worst = max(worst, __float_as_uint(error));
    wrong += error > 1.0f;
  }
  if (wrong != 0) atomicAdd(&v->wrong, (unsigned long long)wrong);
  if (worst != 0) atomicMax(&v->worst, worst);
}

#endif
#endif
