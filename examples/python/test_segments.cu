/* test_segments.cu - sums of sorted keys are exact and rounded once, wherever segments are cut.
   SPDX-License-Identifier: Apache-2.0

   What out must hold is known from an exact sum on the host, in doubles that do not overlap. Values
   in memory are floats or have their upper 16 bits, as a bfloat16. */
#include "../common/test_device.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <vector>

struct brief {
  unsigned short bits;
};

static __host__ __device__ float to_float(brief x) {
  const unsigned bits = (unsigned)x.bits << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* What is given is not halfway between two of them unless it is exact. */
static __host__ __device__ void store(brief *at, double x) {
  float value = (float)x;
  unsigned bits;
  memcpy(&bits, &value, sizeof(bits));
  const bool is_tie = (bits & 0xffffu) == 0x8000u && value != x;
  const bool is_up = is_tie ? (x > value) == (value > 0) : (bits >> 16 & 1u) != 0u;
  const bool is_nan = value != value;
  at->bits = (unsigned short)(is_nan ? 0x7fc0u : (bits + 0x7fffu + is_up) >> 16);
}

static __host__ __device__ float to_float(float x) { return x; }
static __host__ __device__ void store(float *at, double x) { *at = (float)x; }

#include "torch/sum_segments.cuh"

enum { ROWS = 40, MARGIN = 3 };
enum keys { RANDOM, HALF_ON_ONE, ONE, EACH_ONCE, RUNS };
enum values { NEAR, FAR, ANY, STEP, SPECIAL, VALUES };

static unsigned long long state = 7;

static int draw(int below) { return (int)(test_random(&state) * below); }

template <class T>
static T of(double x) {
  T value;
  store(&value, x);
  return value;
}

/* Of a window's size; of two windows; of any exponent; the largest that the first one's window
   takes; with infinities and NaN. */
static double draw_value(int kind, bool is_first) {
  const double x = test_random(&state) - 0.4;
  if (kind == FAR) return draw(3) ? ldexp(x, 60) : draw(2) ? x : 0.0;
  if (kind == ANY) return ldexp(x, draw(276) - 149);
  if (kind == STEP) return is_first ? 1.0 : 15.9;
  if (kind == SPECIAL && draw(8) == 0) return draw(3) ? draw(2) ? INFINITY : -INFINITY : NAN;
  return x;
}

/* Doubles that do not overlap, the largest last, and exactly the sum (J. R. Shewchuk, 1997). */
struct exact {
  std::vector<double> parts;
  double special = 0.0; /* the sum of infinities and NaN */

  void add(double x) {
    size_t kept = 0;
    if (!isfinite(x)) special += x;
    if (!isfinite(x)) return;
    for (double part : parts) {
      if (fabs(x) < fabs(part)) std::swap(x, part);
      const double sum = x + part, rest = part - (sum - x);
      if (rest != 0.0) parts[kept++] = rest;
      x = sum;
    }
    parts.resize(kept);
    if (x != 0.0) parts.push_back(x);
  }

  /* Below, at or above `border`: -1, 0, 1. */
  int against(double border) const {
    exact difference = *this;
    difference.add(-border);
    const double largest = difference.parts.empty() ? 0.0 : difference.parts.back();
    return (largest > 0.0) - (largest < 0.0);
  }
};

/* Of a float's bits, and of what follows the largest. */
static double number_of(long long bits) {
  float value;
  const unsigned low = (unsigned)bits;
  memcpy(&value, &low, sizeof(value));
  return bits >= 0x7f800000 ? ldexp(1.0, 128) : value;
}

/* Whether `got`, of which `step` is the last bit, is the nearest to the sum, ties to even. */
static bool is_nearest(exact sum, float got, unsigned step) {
  if (sum.special != 0.0 || sum.special != sum.special)
    return got == (float)sum.special || (got != got && sum.special != sum.special);
  if (got != got) return false;
  if (signbit(got))
    for (double &part : sum.parts) part = -part;
  unsigned bits;
  memcpy(&bits, &got, sizeof(bits));
  bits &= 0x7fffffffu;
  const double at = number_of(bits), above = number_of((long long)bits + step);
  const double below = bits == 0u ? -above : number_of((long long)bits - step);
  const int even = (bits / step & 1u) == 0u ? 1 : 0;
  return sum.against((at + below) / 2.0) >= 1 - even &&
         (bits >= 0x7f800000u || sum.against((at + above) / 2.0) <= even - 1);
}

static std::vector<int> draw_keys(int kind, int n) {
  std::vector<int> keys(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = kind == ONE ? 3 : kind == EACH_ONCE ? i : kind == RUNS ? i / 8 : draw(ROWS);
    if (kind == HALF_ON_ONE && draw(2)) keys[i] = 7;
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <class T>
static T *on_device(const std::vector<T> &host) {
  T *device = nullptr;
  cudaMalloc((void **)&device, (host.size() + 1) * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <class T, int EACH>
static void launch(job j, long long pieces) {
  const int blocks = (int)((pieces * (j.width / EACH) + THREADS - 1) / THREADS);
  SIMT_LAUNCH((sum_pieces<T, EACH>), blocks, THREADS, 0, 0, j);
  SIMT_LAUNCH((join_pieces<T, EACH>), blocks, THREADS, 0, 0, j);
}

/* margin: values between the rows of out and of values. */
struct shape {
  int keys, n, width, each, piece, margin;
};

template <class T>
static void check(shape s, int kind) {
  const std::vector<int> keys = draw_keys(s.keys, s.n);
  const int rows = std::max(+ROWS, keys.back() + 1), stride = s.width + s.margin;
  std::vector<int> order(s.n);
  for (int i = 0; i < s.n; ++i) order[i] = i;
  for (int i = s.n - 1; i > 0; --i) std::swap(order[i], order[draw(i + 1)]);
  std::vector<T> values(s.n * stride), out(rows * stride);
  for (int i = 0; i < s.n; ++i)
    for (int k = 0; k < stride; ++k)
      values[order[i] * stride + k] = of<T>(draw_value(kind, i == 0));
  for (T &x : out) x = of<T>(draw(2) ? draw_value(kind == SPECIAL ? NEAR : kind, true) : 0.0);
  std::vector<exact> sums(out.size());
  for (size_t i = 0; i < out.size(); ++i) sums[i].add(to_float(out[i]));
  for (int i = 0; i < s.n; ++i)
    for (int k = 0; k < s.width; ++k)
      sums[keys[i] * stride + k].add(to_float(values[order[i] * stride + k]));

  const int pieces = (s.n + s.piece - 1) / s.piece;
  job j = {};
  j.n = s.n, j.rows = rows, j.width = s.width, j.piece = s.piece;
  j.values_stride = j.out_stride = stride;
  T *const values_there = on_device(values), *const out_there = on_device(out);
  int *const keys_there = on_device(keys), *const order_there = on_device(order);
  j.sums = on_device(std::vector<long long>(pieces * WORDS * s.width));
  j.infinities = on_device(std::vector<unsigned>(pieces * s.width));
  j.values = values_there, j.out = out_there, j.index = keys_there, j.order = order_there;
  if (s.each == 4)
    launch<T, 4>(j, pieces);
  else
    launch<T, 1>(j, pieces);
  CHECK(cudaDeviceSynchronize() == cudaSuccess, "the kernels have failed");
  cudaMemcpy(out.data(), out_there, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < out.size(); ++i)
    CHECK(is_nearest(sums[i], to_float(out[i]), sizeof(T) == sizeof(float) ? 1u : 0x10000u),
          "keys %d, values %d of %d bytes, %d rows, %d columns, %d each, pieces of %d: value %d is "
          "%g, not %g",
          s.keys, kind, (int)sizeof(T), s.n, s.width, s.each, s.piece, (int)i, to_float(out[i]),
          sums[i].parts.empty() ? sums[i].special : sums[i].parts.back());
  cudaFree(values_there), cudaFree(out_there), cudaFree(keys_there), cudaFree(order_there);
  cudaFree(j.sums), cudaFree(j.infinities);
}

static void check_types(shape s, int kind) {
  check<float>(s, kind);
  check<brief>(s, kind);
}

int main() {
  if (!test_has_device("test_segments")) return TEST_SKIPPED;
  for (int keys = RANDOM; keys <= RUNS; ++keys)
    for (int n : {1, 8, 9, 333})
      for (int piece : {8, 13, 64})
        for (int kind = NEAR; kind < VALUES; ++kind) {
          check_types({keys, n, 16, 4, piece, 8}, kind);
          check_types({keys, n, 5, 1, piece, MARGIN}, kind);
        }
  for (int kind = NEAR; kind < VALUES; ++kind) {
    check_types({ONE, 3000, 8, 4, 8, 0}, kind);    /* through many pieces */
    check_types({ONE, 3000, 1, 1, 3000, 0}, kind); /* more in a piece than a window takes */
    check_types({HALF_ON_ONE, 3000, 64, 4, 100, 8}, kind);
  }
  return test_end("test_segments");
}
