/* test_segments.cu - sums of sorted keys are rounded once, wherever segments are cut.
   SPDX-License-Identifier: Apache-2.0

   Values are multiples of a quarter, so that each sum in float or fixed point is exact, and what out
   must hold is that sum and what it held, rounded. Values that are not finite are left out of fixed
   point. A value in memory has 8 bits, as a bfloat16. And sums of rows in any order, of which
   add_runs.cuh takes those whose keys come in runs. */
#define ARC_KEYS_DROP
#include "../../../bench/common/test_device.h"
#include "../../../bench/common/test_memory.h"

#include <algorithm>

#include "brief.h"

#define __half half_of_here /* the CPU warp has none of CUDA's */
#include "../add_runs.cuh"
#include "../sum_segments.cuh"

enum { ROWS = 40, MARGIN = 3 };
enum keys { RANDOM, HALF_ON_ONE, ONE, EACH_ONCE, RUNS };

static unsigned long long state = 7;

static int draw(int below) { return (int)(test_random(&state) * below); }

static brief brief_of(float x) {
  brief b;
  store(&b, x);
  return b;
}

static std::vector<long long> draw_keys(int kind, int n) {
  std::vector<long long> keys(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = kind == ONE ? 3 : kind == EACH_ONCE ? i : kind == RUNS ? i / 8 : draw(ROWS);
    if (kind == HALF_ON_ONE && draw(2)) keys[i] = 7;
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <int EACH, class S>
static void launch(job j, long long pieces) {
  const int blocks = (int)((pieces * (j.width / EACH) + THREADS - 1) / THREADS);
  SIMT_LAUNCH((sum_pieces<brief, EACH, S>), blocks, THREADS, 0, 0, j);
  SIMT_LAUNCH((join_pieces<brief, EACH, S>), blocks, THREADS, 0, 0, j);
}

/* margin: values between the rows of out and of values. S: of sums. */
template <class S>
static void check(int kind, int n, int width, int each, int piece, int margin) {
  const std::vector<long long> keys = draw_keys(kind, n);
  const long long rows = std::max((long long)ROWS, keys.back() + 1);
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[draw(i + 1)]);
  std::vector<brief> values(n * (width + margin)), out(rows * (width + margin));
  for (brief &x : values) x = brief_of((draw(24) - 4) / 4.0f);
  for (brief &x : out) x = brief_of((draw(16) - 8) / 4.0f);
  const size_t infinite = (size_t)order[n / 2] * (width + margin); /* of fixed point */
  if (sizeof(S) > 4) values[infinite] = brief_of(0.0f);
  std::vector<double> sums(out.size());
  for (size_t i = 0; i < out.size(); ++i) sums[i] = to_float(out[i]);
  for (int i = 0; i < n; ++i)
    for (int column = 0; column < width; ++column)
      sums[keys[i] * (width + margin) + column] +=
          to_float(values[order[i] * (width + margin) + column]);

  const long long pieces = (n + piece - 1) / piece;
  const unsigned bits[2] = {0x40a00000u, 1u}; /* 5 is the largest, and something is not finite */
  job j = {};
  j.n = n, j.rows = rows, j.width = width, j.piece = piece;
  j.values_stride = j.out_stride = width + margin;
  if (sizeof(S) > 4) values[infinite].bits = 0x7f80;
  const test_memory<brief> values_there(values), out_there(out);
  const test_memory<long long> keys_there(keys);
  const test_memory<int> order_there(order);
  const test_memory<S> parts(std::vector<S>(2 * pieces * width, (S)1e9));
  const test_memory<unsigned> largest(bits);
  j.values = values_there.at, j.out = out_there.at, j.index = keys_there.at;
  j.order = order_there.at, j.parts = parts.at, j.largest = largest.at;
  if (each == 8)
    launch<8, S>(j, pieces);
  else
    launch<1, S>(j, pieces);
  out = out_there.read();
  for (size_t i = 0; i < out.size(); ++i)
    CHECK(out[i].bits == brief_of((float)sums[i]).bits,
          "keys %d, %d rows, %d columns, %d each, pieces of %d: value %d is %g, not %g", kind, n,
          width, each, piece, (int)i, to_float(out[i]), sums[i]);
}

template <class T, class K, int WIDTH, bool FIXED>
static __global__ void add(job j) {
  add_rows<T, K, WIDTH, FIXED, runs_of<T, K, WIDTH, FIXED>>(j);
}

/* From `mixed` on keys are in no order; each warp takes so many chunks of 32 rows. stride: of out. */
template <class T, class K, class Index, int WIDTH, bool FIXED>
static void check_rows(int kind, int n, int mixed, int chunks, int stride) {
  typedef std::conditional_t<FIXED, long long, T> sum;
  std::vector<long long> drawn = draw_keys(kind, n);
  for (int i = mixed; i < n; ++i) std::swap(drawn[i], drawn[mixed + draw(i + 1 - mixed)]);
  const long long rows = *std::max_element(drawn.begin(), drawn.end()) + (kind == ONE); /* drops */
  std::vector<T> values(n * WIDTH);
  const int before = chunks % 2; /* then out is aligned to a value alone */
  std::vector<sum> wanted(rows * stride + 2);
  const unsigned bits[] = {0x40a00000u}; /* of 5, the largest */
  const double unit = FIXED ? ldexp(1.0, 62 - 3 - (32 - __builtin_clz((unsigned)n))) : 1.0;
  for (T &x : values) x = (T)(draw(24) - 4) / 4;
  for (int i = 0; i < n * WIDTH; ++i)
    if (drawn[i / WIDTH] < rows)
      wanted[before + drawn[i / WIDTH] * stride + i % WIDTH] += (sum)(values[i] * unit);
  const test_memory<T> values_there(values);
  const test_memory<Index> keys_there(std::vector<Index>(drawn.begin(), drawn.end()));
  const test_memory<sum> out_there(wanted.size());
  const test_memory<unsigned> largest(bits);
  job j = {};
  j.n = n, j.rows = rows, j.chunks = chunks, j.has_wide_index = sizeof(Index) == 8;
  j.width = j.columns = j.values_stride = WIDTH, j.out_stride = stride;
  j.values = values_there.at, j.index = keys_there.at, j.largest = largest.at;
  j.out = out_there.at + before;
  if constexpr (FIXED) j.sums = out_there.at + before;
  const int warps = (n + 32 * chunks - 1) / (32 * chunks);
  SIMT_LAUNCH((add<T, K, WIDTH, FIXED>), (warps * 32 + THREADS - 1) / THREADS, THREADS, 0, 0, j);
  const std::vector<sum> out = out_there.read();
  for (size_t i = 0; i < out.size(); ++i)
    CHECK(out[i] == wanted[i], "keys %d, %d rows, %d columns, mixed from %d: sum %d is %g, not %g",
          kind, n, WIDTH, mixed, (int)i, (double)out[i], (double)wanted[i]);
}

template <class T, class K, class Index, int WIDTH, bool FIXED>
static void check_runs() {
  for (int kind = RANDOM; kind <= RUNS; ++kind)
    for (int n : {5, 128, 3000})
      for (int mixed : {0, n / 2, n})
        for (int chunks : {4, 13}) {
          check_rows<T, K, Index, WIDTH, FIXED>(kind, n, mixed, chunks, WIDTH);
          if (!FIXED) check_rows<T, K, Index, WIDTH, FIXED>(kind, n, mixed, chunks, WIDTH + 1);
        }
}

template <class S>
static void check_all() {
  for (int kind = RANDOM; kind <= RUNS; ++kind)
    for (int n : {1, 7, 8, 9, 64, 333})
      for (int piece : {8, 13, 64}) {
        check<S>(kind, n, 16, 8, piece, 0);
        check<S>(kind, n, 24, 8, piece, 8);
        check<S>(kind, n, 1, 1, piece, 0);
        check<S>(kind, n, 5, 1, piece, MARGIN);
      }
  check<S>(ONE, 3000, 8, 8, 8, 0); /* through many pieces */
  check<S>(HALF_ON_ONE, 3000, 264, 8, 100, 8);
}

int main() {
  if (!test_has_device("test_segments")) return TEST_SKIPPED;
  check_all<float>();
  check_all<long long>();
  check_runs<float, int, int, 1, false>();
  check_runs<float, int, long long, 3, false>();
  check_runs<double, long long, long long, 2, false>();
  check_runs<int, int, int, 4, false>();
  check_runs<float, int, int, 3, true>();
  check_runs<float, int, int, 16, false>();
  check_runs<int, long long, long long, 8, false>();
  check_runs<float, int, int, 8, true>();
  return test_end("test_segments");
}
