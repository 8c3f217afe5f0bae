/* add_runs.cuh - index_add of rows whose keys come in runs, as sorted ones do.
   SPDX-License-Identifier: Apache-2.0

   A lane takes EACH rows that lie one after the other, by whole vectors, and keeps the sum of its
   key until the key changes: in the middle of its rows it adds the sum by atomics, behind them the
   warp adds the sums of all lanes by one call. So one request serves up to ROWS rows of a key, and
   more if all lanes go on with their keys. Wide rows are shared by LANES lanes, to each of which
   its COLUMNS of a row are a row. */
#include <type_traits>

#include "add_rows.cuh"

namespace {

enum { NARROW = 4 }; /* most columns of a lane */

template <class T, int COUNT>
struct alignas(16) together {
  T at[COUNT];
};

template <class T, class K, int WIDTH, bool FIXED>
struct runs {
  typedef std::conditional_t<FIXED, long long, T> sum_type;
  enum {
    COLUMNS = WIDTH < NARROW ? WIDTH : NARROW,
    LANES = WIDTH / COLUMNS,
    EACH = LANES > 1 ? 8 : 4,
    ROWS = 32 / LANES * EACH,
    MOST = LANES > 1 ? 24 : 8, /* lanes in whose rows a key may change */
    PIECE = LANES > 1 ? COLUMNS : EACH * COLUMNS /* values that a lane finds side by side */
  };

  sum_type *out, sum[COLUMNS];
  K key;       /* of sum; below 0 if there is none */
  float power; /* of fixed point */
  bool are_vectors;

  __device__ __forceinline__ runs(const job &j) : key(-1), power(0.0f) {
    if constexpr (FIXED) {
      out = j.sums;
      power = ldexpf(1.0f, scale_log2(j.largest, j.n));
    } else {
      out = (T *)j.out;
    }
    unsigned long long addresses = (unsigned long long)j.values | (unsigned long long)j.index;
    if (LANES > 1) addresses |= (unsigned long long)out;
    are_vectors = addresses % 16 == 0 && j.values_stride == WIDTH &&
                  (FIXED || j.out_stride == WIDTH) &&
                  (LANES == 1 || j.rows <= 0x7fffffff / LANES);
    clear();
  }

  __device__ __forceinline__ void clear() {
    for (int i = 0; i < COLUMNS; ++i) sum[i] = 0;
  }

  __device__ __forceinline__ sum_type summand(T x) const {
    if constexpr (FIXED) {
      return bits_of(x) < NOT_FINITE ? __float2ll_rn(x * power) : 0;
    } else {
      return x;
    }
  }

  /* The lanes of the options call. The target here, not a member: its width stays a literal. */
  __device__ __forceinline__ void add_sum(arc_options o) {
    o.key_bits = 8 * (int)sizeof(K);
    if (LANES > 1 && !FIXED) o.promises = ARC_PROMISE_ALIGNED_16;
    arc_add_with(arc_target_rows(out, COLUMNS, COLUMNS), key, sum, key >= 0, o);
    clear();
  }

  /* Any lane may call: in requests as wide as a lane's columns of a shared row. */
  __device__ __forceinline__ void add_alone() {
    if constexpr (LANES > 1) {
      arc_options o = arc_options_default();
      o.path = ARC_PATH_ATOMIC;
      o.lane_mask = 1u << (threadIdx.x & 31);
      add_sum(o);
    } else {
      for (int c = 0; c < COLUMNS; ++c)
        if (key >= 0) arc_atomic_add(out + (long long)key * COLUMNS + c, sum[c]);
      clear();
    }
  }

  template <class Index>
  __device__ __forceinline__ void read(const job &j, long long row, int part, K *keys) const {
    const auto read = ((const together<Index, EACH> *)j.index)[row / EACH];
    for (int i = 0; i < EACH; ++i) {
      long long it = read.at[i];
      keys[i] = has_row(j, &it) ? (K)it * LANES + part : -1;
    }
  }

  /* Adds the ROWS rows from `first` on, or returns false. */
  __device__ __forceinline__ bool take(const job &j, long long first) {
    if (!are_vectors) return false;
    const int lane = threadIdx.x & 31, part = lane % LANES;
    const long long mine = first + EACH * (lane / LANES);
    together<T, PIECE> values[EACH * COLUMNS / PIECE];
    for (int i = 0; i < EACH * COLUMNS / PIECE; ++i)
      values[i] = ((const together<T, PIECE> *)
                       j.values)[LANES > 1 ? (mine + i) * LANES + part : mine / EACH];
    K keys[EACH];
    if (j.has_wide_index)
      read<long long>(j, mine, part, keys);
    else
      read<int>(j, mine, part, keys);
    bool changes = false;
    for (int i = 1; i < EACH; ++i) changes |= keys[i] != keys[i - 1];
    if (__popc(__ballot_sync(~0u, changes)) > MOST) return false;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < EACH; ++i) {
      if (LANES == 1 && i == 0 && __any_sync(~0u, keys[i] != key))
        add_sum(arc_options_default());
      else if (keys[i] != key)
        add_alone();
      key = keys[i];
      for (int c = 0; c < COLUMNS; ++c)
        sum[c] += summand(values[(i * COLUMNS + c) / PIECE].at[(i * COLUMNS + c) % PIECE]);
    }
    return true;
  }

  __device__ __forceinline__ void end() {
    if (__any_sync(~0u, key >= 0)) add_sum(arc_options_default());
  }
};

/* Not of halves, of which a sum is a float: no atomic adds that. */
template <class T, class K, int WIDTH, bool FIXED>
using runs_of =
    std::conditional_t<((WIDTH > 0 && WIDTH <= NARROW) || WIDTH == 8 || WIDTH == 16) &&
                           std::is_arithmetic_v<T>,
                       runs<T, K, WIDTH, FIXED>, no_runs>;

}  // namespace
