/* sum_segments.cuh - index_add of sorted keys: each sum is formed in float or in fixed point, and
   rounded once. SPDX-License-Identifier: Apache-2.0

   The rows of one key are a segment of the order. The order is cut into pieces of as many rows each,
   whatever the keys are: a key that most rows have goes through many pieces. A thread walks one
   piece, for a few of the columns. It adds the sum of a segment that lies within the piece to out.
   Of a segment that is cut it stores its part; join_pieces adds these parts up.

     keys    2 2 2 5 | 5 5 5 5 | 5 7 7 9     sum_pieces adds to out[2], out[7] and out[9],
     parts         5 | 5       | 5           join_pieces to out[5]

   Keys and the length of a piece fix the order of all additions; in fixed point it does not
   matter. */
#include "job.cuh"

enum { BLOCKS = 2 }; /* of a multiprocessor, at once */

namespace {

/* Of a thread: one access, where they are aligned to their size. */
template <class T, int EACH>
struct alignas(EACH * sizeof(T)) columns {
  T at[EACH];
};

__device__ void add_to(float *sum, float x, float) { *sum += x; }
__device__ void add_to(long long *sum, float x, float power) {
  if (bits_of(x) < NOT_FINITE) *sum += __float2ll_rn(x * power);
}
__device__ float total_of(float old, float sum, int) { return old + sum; }
__device__ float total_of(float old, long long sum, int scale) {
  return sum == 0 ? old : (float)((double)old + ldexp((double)sum, -scale));
}

/* S: of sums, float or long long, which is fixed point. */
template <class T, int EACH, class S>
struct walk {
  typedef columns<T, EACH> values;
  typedef columns<S, EACH> sums;
  enum { AHEAD = EACH > 1 ? 4 : 8 }; /* rows that are read before they are summed */
  struct batch {
    int rows[AHEAD];
    long long keys[AHEAD + 1];
  };

  const job &j;
  long long piece, begin, end; /* of this thread; none where begin >= end */
  int column, scale;           /* of fixed point, */
  float power;                 /* and two to its power */

  __device__ walk(const job &j) : j(j), scale(sizeof(S) > 4 ? scale_log2(j.largest, j.n) : 0) {
    power = ldexpf(1.0f, scale);
    const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const int threads = j.width / EACH; /* of a piece */
    piece = thread / threads;
    column = (int)(thread - piece * threads) * EACH;
    begin = piece * j.piece;
    end = min(begin + j.piece, j.n);
  }

  __device__ long long key(long long at) const { return ((const long long *)j.index)[at]; }

  /* Whether a segment has its first row here, or its last. */
  __device__ bool begins(long long at) const { return at == 0 || key(at - 1) != key(at); }
  __device__ bool ends(long long at) const { return at + 1 == j.n || begins(at + 1); }

  __device__ const values &row(int row) const {
    return *(const values *)((const T *)j.values + (long long)row * j.values_stride + column);
  }
  __device__ values &out(long long key) const {
    return *(values *)((T *)j.out + key * j.out_stride + column);
  }

  /* What a piece leaves of a segment that began before it, or that begins in it and goes on. */
  __device__ sums &part(long long piece, bool goes_on) const {
    return *(sums *)((S *)j.parts + (2 * piece + goes_on) * j.width + column);
  }

  __device__ batch read(long long first) const {
    batch b;
    for (int k = 0; k <= AHEAD; ++k) {
      const long long at = min(first + k, j.n - 1);
      b.keys[k] = key(at);
      if (k < AHEAD) b.rows[k] = j.order[at];
    }
    return b;
  }

  __device__ void round_once(values &out, const values &old, const sums &sum) const {
    values rounded;
    for (int i = 0; i < EACH; ++i)
      store(&rounded.at[i], total_of(to_float(old.at[i]), sum.at[i], scale));
    out = rounded;
  }

  __device__ void sum_piece() const {
    if (begin >= end) return;
    bool has_begin = begins(begin);
    sums sum = {};
    batch next = read(begin);
    for (long long first = begin; first < end; first += AHEAD) {
      const batch now = next;
      next = read(first + AHEAD);
      values x[AHEAD], old[AHEAD];
      bool is_there[AHEAD], is_end[AHEAD], is_key = true;
      for (int k = 0; k < AHEAD; ++k) {
        x[k] = row(now.rows[k]);
        is_there[k] = first + k < end;
        is_end[k] = is_there[k] && (first + k + 1 == j.n || now.keys[k] != now.keys[k + 1]);
        is_key = is_key && (unsigned long long)now.keys[k] < (unsigned long long)j.rows;
      }
      REQUIRE(is_key);
      for (int k = 0; k < AHEAD; ++k)
        if (is_end[k]) old[k] = out(now.keys[k]);
      for (int k = 0; k < AHEAD; ++k) {
        if (!is_there[k]) continue;
        for (int i = 0; i < EACH; ++i) add_to(&sum.at[i], to_float(x[k].at[i]), power);
        if (!is_end[k] && first + k + 1 < end) continue;
        if (is_end[k] && has_begin)
          round_once(out(now.keys[k]), old[k], sum);
        else
          part(piece, has_begin) = sum;
        has_begin = true;
        sum = sums();
      }
    }
  }

  /* Adds the parts of the segment that begins in this piece and goes on. */
  __device__ void join() const {
    if (begin >= end || ends(end - 1)) return;
    const long long mine = key(end - 1);
    if (key(begin) == mine && !begins(begin)) return;
    sums sum = part(piece, true);
    const long long last = (j.n - 1) / j.piece;
    bool goes_on = true;
    for (long long next = piece + 1; goes_on; next += AHEAD) {
      sums x[AHEAD];
      bool is_mine[AHEAD];
      for (int k = 0; k < AHEAD; ++k) { /* parts do not wait for keys */
        const long long other = min(next + k, last);
        x[k] = part(other, false);
        is_mine[k] = next + k <= last && key(other * j.piece) == mine;
      }
      for (int k = 0; k < AHEAD; ++k)
        for (int i = 0; i < EACH; ++i)
          if (is_mine[k]) sum.at[i] += x[k].at[i];
      goes_on = is_mine[AHEAD - 1];
    }
    const values old = out(mine);
    round_once(out(mine), old, sum);
  }
};

template <class T, int EACH, class S>
__global__ void __launch_bounds__(THREADS, BLOCKS) sum_pieces(job j) {
  walk<T, EACH, S>(j).sum_piece();
}

template <class T, int EACH, class S>
__global__ void __launch_bounds__(THREADS, BLOCKS) join_pieces(job j) {
  walk<T, EACH, S>(j).join();
}

}  // namespace
