/* test_grid_sample.cu - the gradients of grid_sample against double precision, and the same bits in
   any order of samples, on any grid of blocks. SPDX-License-Identifier: Apache-2.0

   A value in memory has 16 bits, as a bfloat16, or 32. */
#include "../../../bench/common/test_device.h"
#include "../../../bench/common/test_memory.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <numeric>

#include "brief.h"

static __host__ __device__ inline float to_float(float x) { return x; }
static __host__ __device__ inline void store(float *at, float x) { *at = x; }
static __device__ inline void add(float *at, float x) { atomicAdd(at, x); }
/* Not atomic: what is not finite is in floats here. */
static __device__ inline void add(brief *at, float x) { store(at, to_float(*at) + x); }
#if defined(__CUDA_ARCH__)
static __device__ inline brief __ldcs(const brief *at) { return *at; }
static __device__ inline void __stcs(brief *at, brief x) { *at = x; }
#endif

struct device {
  cudaStream_t stream;
  int multiprocessors;
};
#define LAUNCH(kernel, blocks, threads, stream, j) \
  SIMT_LAUNCH(kernel, blocks, threads, 0, stream, j)
#include "../grid_sample.cuh"

enum { SMOOTH, RANDOM, ONE_CELL, BEYOND, KINDS };

struct shape {
  int images, channels, size[3], samples[3]; /* x, y, z */
};

static unsigned long long state = 11;
static double draw() { return test_random(&state); }

template <class T>
static T as(double x) {
  T value;
  store(&value, (float)x);
  return value;
}

struct gradients {
  std::vector<float> input, grid;
};

struct call {
  shape s;
  int axes, padding;
  bool aligned;
  std::vector<float> input, grid, gradient; /* [image][channel or axis][place] */

  long long pixels() const { return (long long)s.size[0] * s.size[1] * s.size[2]; }
  long long samples() const { return (long long)s.samples[0] * s.samples[1] * s.samples[2]; }
};

static lattice lie(const void *at, const int *size, int channels, bool last) {
  const long long places = (long long)size[0] * size[1] * size[2], step = last ? channels : 1;
  return {at, places * channels, last ? 1 : places, step * size[0] * size[1], step * size[0], step};
}

template <class T>
static std::vector<T> placed(const std::vector<float> &values, int channels, long long places,
                             bool last) {
  std::vector<T> there(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t place = i % places, channel = i / places % channels, image = i / places / channels;
    there[last ? (image * places + place) * channels + channel : i] = as<T>(values[i]);
  }
  return there;
}

template <class T, int AXES, int TAPS>
static gradients run(const call &c, bool last, int step, long long bytes, int tile = TILE) {
  const shape &s = c.s;
  const test_memory<T> input(placed<T>(c.input, s.channels, c.pixels(), last));
  const test_memory<T> gradient(placed<T>(c.gradient, s.channels, c.samples(), last));
  const test_memory<T> grid(placed<T>(c.grid, AXES, c.samples(), !last));
  const test_memory<T> out(std::vector<T>(c.input.size(), as<T>(99)));
  const test_memory<T> out_grid(std::vector<T>(c.grid.size(), as<T>(99)));
  unsigned bits = 0u, others = 0u;
  float largest = 0.0f;
  for (float x : c.gradient) isfinite(x) ? largest = std::max(largest, fabsf(x)) : others = 1u;
  memcpy(&bits, &largest, sizeof bits);
  grid_job j = {};
  j.gradient = lie(gradient.at, s.samples, s.channels, last),
  j.input = lie(input.at, s.size, s.channels, last);
  j.grid = lie(grid.at, s.samples, AXES, !last);
  for (int d = 0; d < 3; ++d) j.size[d] = s.size[d], j.samples[d] = s.samples[d];
  j.images = s.images, j.channels = s.channels, j.padding = c.padding, j.aligned = c.aligned;
  j.words = plan_sums(&j, TAPS, bytes);
  const bool is_looked_for = j.by_sample || TAPS == 1; /* else by slope_samples, which clears */
  const test_memory<long long> sums(std::vector<long long>(j.words, is_looked_for ? 0 : -1));
  const test_memory<unsigned> largest_there(
      std::vector<unsigned>({is_looked_for ? bits : 0u, is_looked_for ? others : 0u}));
  j.tile = std::min(j.tile, tile), j.step = step;
  j.sums = sums.at, j.largest = largest_there.at, j.out = out.at, j.out_grid = out_grid.at;
  sample<T, AXES, TAPS>(j, {0, 2});
  const std::vector<unsigned> found = largest_there.read();
  CHECK(found[0] == bits && found[1] >= others, "the largest gradient");
  gradients g;
  for (T x : out.read()) g.input.push_back(to_float(x));
  for (T x : out_grid.read()) g.grid.push_back(TAPS == 1 ? 0.f : to_float(x));
  return g;
}

/* PyTorch's definition in double: a place of the picture, where padding moves one outside. */
static double pixel_of(const call &c, double x, int size) {
  return c.aligned ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
}

static double padded(const call &c, double at, int size) {
  const double low = c.aligned ? 0 : -0.5, high = c.aligned ? size - 1 : size - 0.5;
  if (c.padding == PAD_ZEROS) return at;
  if (c.padding == PAD_REFLECTION && low == high) return 0;
  while (c.padding == PAD_REFLECTION && (at < low || at > high))
    at = at < low ? 2 * low - at : 2 * high - at;
  return at <= 0 ? 0 : at >= size - 1 ? size - 1 : at; /* NaN stays */
}

/* The weights of an axis's places, as the graph of a function of the distance. */
static std::vector<double> weights_of(const call &c, int taps, double x, int size) {
  std::vector<double> w(size);
  const double at = pixel_of(c, x, size);
  if (taps < 4) {
    const double place = padded(c, at, size);
    for (int i = 0; i < size; ++i) {
      const double d = fabs(place - i);
      w[i] = taps == 1 ? nearbyint(place) == i : d < 1 ? 1 - d : 0;
    }
    return w;
  }
  for (double i = floor(at) - 1; i < floor(at) + 3; ++i) {
    const double d = fabs(i - at), place = padded(c, i, size);
    if (place >= 0 && place < size)
      w[(int)place] += d <= 1 ? (1.25 * d - 2.25) * d * d + 1 : -0.75 * (((d - 5) * d + 8) * d - 4);
  }
  return w;
}

typedef std::vector<double> weights[3]; /* x, y, z */

/* f(place, weight) for each place that a sample reads. */
template <class F>
static void each_place(const call &c, const weights &w, F f) {
  for (int z = 0; z < c.s.size[2]; ++z)
    for (int y = 0; y < c.s.size[1]; ++y)
      for (int x = 0; x < c.s.size[0]; ++x)
        if (w[0][x] * w[1][y] * w[2][z] != 0)
          f((z * c.s.size[1] + y) * c.s.size[0] + x, w[0][x] * w[1][y] * w[2][z]);
}

struct wanted {
  std::vector<double> input, grid, sizes; /* of the grid NaN: unknown; sums of magnitudes */
};

static wanted by_definition(const call &c, int taps) {
  const double h = 1e-6;
  wanted r = {std::vector<double>(c.input.size()), std::vector<double>(c.grid.size()),
              std::vector<double>(c.input.size())};
  for (int n = 0; n < c.s.images; ++n)
    for (long long i = 0; i < c.samples(); ++i) {
      const float *at = c.grid.data() + n * c.axes * c.samples() + i;
      weights w = {{1.0}, {1.0}, {1.0}};
      for (int d = 0; d < c.axes; ++d) w[d] = weights_of(c, taps, at[d * c.samples()], c.s.size[d]);
      bool is_edge = false; /* where the function has no slope */
      for (int d = 0; d < c.axes; ++d) {
        const double twice = 2 * pixel_of(c, at[d * c.samples()], c.s.size[d]);
        is_edge = is_edge || (taps < 4 && fabs(twice - nearbyint(twice)) < 1e-4);
      }
      for (int channel = 0; channel < c.s.channels; ++channel) {
        const long long plane = n * c.s.channels + channel;
        const double g = c.gradient[plane * c.samples() + i];
        each_place(c, w, [&](long long place, double weight) {
          r.input[plane * c.pixels() + place] += g * weight;
          r.sizes[plane * c.pixels() + place] += fabs(g * weight);
        });
        for (int d = 0; taps > 1 && d < c.axes; ++d)
          for (int side = -1; side < 2; side += 2) {
            weights beside = {w[0], w[1], w[2]};
            beside[d] = weights_of(c, taps, at[d * c.samples()] + side * h, c.s.size[d]);
            each_place(c, beside, [&](long long place, double weight) {
              r.grid[n * c.axes * c.samples() + i * c.axes + d] +=
                  (is_edge ? NAN : side / (2 * h)) * g * weight *
                  c.input[plane * c.pixels() + place];
            });
          }
      }
    }
  return r;
}

static const double outside[] = {NAN, INFINITY, -INFINITY, 3e9, -1e30};

template <class T>
static call draw_call(shape s, int axes, int padding, bool aligned, int kind, bool is_cubic) {
  call c = {s, axes, padding, aligned, {}, {}, {}};
  for (long long i = 0; i < s.images * s.channels * c.pixels(); ++i)
    c.input.push_back(to_float(as<T>(2 * draw() - 1)));
  for (long long i = 0; i < s.images * s.channels * c.samples(); ++i)
    c.gradient.push_back(to_float(as<T>(2 * draw() - 1)));
  for (int n = 0; n < s.images; ++n)
    for (int d = 0; d < axes; ++d)
      for (long long i = 0; i < c.samples(); ++i) {
        const long long place = d == 0   ? i % s.samples[0]
                                : d == 1 ? i / s.samples[0] % s.samples[1]
                                         : i / s.samples[0] / s.samples[1];
        const double side = (2.0 * place + 1) / s.samples[d] - 1 + 0.02 * draw();
        c.grid.push_back(
            to_float(as<T>(kind == SMOOTH                              ? 1.1 * side
                           : kind == ONE_CELL                          ? 0.31 + 0.02 * draw()
                           : kind == RANDOM                            ? 2 * draw() - 1
                           : is_cubic                                  ? 5 * draw() - 2.5
                           : padding != PAD_REFLECTION && draw() < 0.1 ? outside[(int)(5 * draw())]
                           : draw() < 0.05                             ? NAN
                                                                       : 5 * draw() - 2.5)));
      }
  return c;
}

static bool same(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/* The samples of each image change places. */
static call shuffled(const call &c) {
  call other = c;
  std::vector<int> order(c.samples());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[(int)(draw() * (i + 1))]);
  for (size_t i = 0; i < c.grid.size(); ++i)
    other.grid[i] = c.grid[i / order.size() * order.size() + order[i % order.size()]];
  for (size_t i = 0; i < c.gradient.size(); ++i)
    other.gradient[i] = c.gradient[i / order.size() * order.size() + order[i % order.size()]];
  return other;
}

template <class T, int AXES, int TAPS>
static void check(shape s) {
  const double eps = sizeof(T) == 4 ? 1e-5 : 4e-3;
  for (int kind = SMOOTH; kind < KINDS; ++kind)
    for (int padding = PAD_ZEROS; padding <= PAD_REFLECTION; ++padding)
      for (int aligned = 0; aligned < 2; ++aligned) {
        call c = draw_call<T>(s, AXES, padding, aligned, kind, TAPS == 4);
        const gradients got = run<T, AXES, TAPS>(c, false, 3, 1 << 20);
        const wanted w = by_definition(c, TAPS);
        for (size_t i = 0; i < w.input.size(); ++i)
          CHECK(fabs(got.input[i] - w.input[i]) <= eps * fabs(w.input[i]) + 1e-5 * (w.sizes[i] + 1),
                "%d axes, %d taps, kind %d, padding %d, %d: gradient %d is %g, not %g", AXES, TAPS,
                kind, padding, aligned, (int)i, got.input[i], w.input[i]);
        for (size_t i = 0; i < w.grid.size(); ++i)
          CHECK(isnan(w.grid[i]) || fabs(got.grid[i] - w.grid[i]) <= eps * fabs(w.grid[i]) + 1e-3,
                "%d axes, %d taps, kind %d, padding %d, %d: of the grid, %d is %g, not %g", AXES,
                TAPS, kind, padding, aligned, (int)i, got.grid[i], w.grid[i]);
        const gradients again = run<T, AXES, TAPS>(c, true, 1 + kind, 0);
        CHECK(same(again.input, got.input) && same(again.grid, got.grid),
              "other blocks and chunks");
        CHECK(same(run<T, AXES, TAPS>(shuffled(c), false, 4, 2000, 32).input, got.input),
              "%d axes, %d taps, kind %d, padding %d: samples in another order", AXES, TAPS, kind,
              padding);
      }
}

/* What is not finite reaches the places that its sample reads, as a sum in any order would. */
static void check_not_finite() {
  const float specials[] = {INFINITY, -INFINITY, NAN};
  for (int first = 0; first < 3; ++first)
    for (int second = 0; second < 3; ++second) {
      call c = draw_call<float>({1, 2, {6, 5, 1}, {40, 3, 1}}, 2, PAD_ZEROS, false, SMOOTH, false);
      for (long long at : {7ll, 50ll}) {
        c.gradient[at] = at == 7 ? specials[first] : specials[second];
        for (int d = 0; d < 2; ++d) c.grid[d * c.samples() + at] = 0.123f;
      }
      const wanted w = by_definition(c, 2);
      const gradients got = run<float, 2, 2>(c, false, 2, 1 << 20);
      int others = 0;
      for (size_t i = 0; i < w.input.size(); ++i) {
        const double x = w.input[i];
        others += !isfinite(x);
        CHECK(isfinite(x) ? fabs(got.input[i] - x) < 1e-4
              : isnan(x)  ? isnan(got.input[i])
                          : got.input[i] == (float)x,
              "%g and %g: gradient %d is %g, not %g", specials[first], specials[second], (int)i,
              got.input[i], x);
      }
      CHECK(others == 4, "%d places", others);
    }
}

/* PyTorch's cubic weights of no number are none, at the border's first place. */
static void check_cubic_of_nan() {
  call c = draw_call<float>({1, 1, {6, 5, 1}, {40, 3, 1}}, 2, PAD_BORDER, false, SMOOTH, true);
  c.grid[9] = c.grid[c.samples() + 9] = NAN;
  const gradients got = run<float, 2, 4>(c, false, 2, 1 << 20);
  for (size_t i = 0; i < got.input.size(); ++i)
    CHECK(isnan(got.input[i]) == (i == 0), "gradient %d is %g", (int)i, got.input[i]);
  c.padding = PAD_ZEROS; /* all places are outside: 0 of a NaN's weights is none either */
  const gradients outside = run<float, 2, 4>(c, false, 2, 1 << 20);
  for (size_t i = 0; i < outside.grid.size(); ++i)
    CHECK(isnan(outside.grid[i]) == (i / 2 == 9), "slope %d is %g", (int)i, outside.grid[i]);
}

int main() {
  if (!test_has_device("test_grid_sample")) return TEST_SKIPPED;
  const shape picture = {2, 5, {7, 6, 1}, {37, 9, 1}}, volume = {2, 3, {5, 4, 6}, {34, 3, 2}};
  const shape near = {1, 2, {40, 7, 1}, {37, 9, 1}}; /* a sample a place: neighbours' are next */
  check<float, 2, 1>(near);
  check<float, 2, 2>(near);
  check<float, 2, 1>(picture);
  check<float, 2, 2>(picture);
  check<float, 2, 4>(picture);
  check<float, 3, 1>(volume);
  check<float, 3, 2>(volume);
  check<float, 3, 2>({1, 5, {5, 4, 6}, {34, 3, 2}}); /* by walks */
  check<brief, 2, 2>(picture);
  check<brief, 3, 2>(volume);
  check<float, 2, 2>({1, 1, {1, 3, 1}, {1, 50, 1}});
  check<float, 2, 4>({1, 2, {2, 2, 1}, {37, 3, 1}});
  check_not_finite();
  check_cubic_of_nan();
  return test_end("test_grid_sample");
}
