/* add_runs.cuh - index_add of narrow rows whose keys come in runs, as sorted ones do.
   SPDX-License-Identifier: Apache-2.0

   A lane takes EACH rows that lie one after the other, by whole vectors, and keeps the sum of its
   key until the key changes: in the middle of its rows it adds the sum by atomics, behind them the
   warp adds the sums of all lanes by one call. So one request serves up to ROWS rows of a key, and
   more if all lanes go on with their keys. */
#include <type_traits>

#include "add_rows.cuh"

namespace {

enum { NARROW = 4 }; /* most columns: a lane keeps all */

template <class T, int COUNT>
struct alignas(16) together {
  T at[COUNT];
};

template <class T, class K, int WIDTH, bool FIXED>
struct runs {
  typedef std::conditional_t<FIXED, long long, T> sum_type;
  enum { EACH = 4, ROWS = 32 * EACH, MOST = 8 /* lanes in whose rows a key may change */ };

  sum_type *out, sum[WIDTH];
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
    const bool are_aligned = ((unsigned long long)j.values | (unsigned long long)j.index) % 16 == 0;
    are_vectors = are_aligned && j.values_stride == WIDTH && (FIXED || j.out_stride == WIDTH);
    clear();
  }

  __device__ __forceinline__ void clear() {
    for (int i = 0; i < WIDTH; ++i) sum[i] = 0;
  }

  __device__ __forceinline__ sum_type summand(T x) const {
    if constexpr (FIXED) {
      return bits_of(x) < NOT_FINITE ? __float2ll_rn(x * power) : 0;
    } else {
      return x;
    }
  }

  /* The whole warp calls. The target here, not a member: its width stays a literal. */
  __device__ __forceinline__ void add_all() {
    arc_options o = arc_options_default();
    o.key_bits = 8 * (int)sizeof(K);
    arc_add_with(arc_target_rows(out, WIDTH, WIDTH), key, sum, key >= 0, o);
    clear();
  }

  template <class Index>
  __device__ __forceinline__ void read(const job &j, long long row, K *keys) const {
    const auto read = ((const together<Index, EACH> *)j.index)[row / EACH];
    for (int i = 0; i < EACH; ++i) {
      long long it = read.at[i];
      keys[i] = has_row(j, &it) ? (K)it : -1;
    }
  }

  /* Adds the ROWS rows from `first` on, or returns false. */
  __device__ __forceinline__ bool take(const job &j, long long first) {
    if (!are_vectors) return false;
    const long long mine = first + EACH * (threadIdx.x & 31);
    const auto values = ((const together<T, EACH * WIDTH> *)j.values)[mine / EACH];
    K keys[EACH];
    if (j.has_wide_index)
      read<long long>(j, mine, keys);
    else
      read<int>(j, mine, keys);
    bool changes = false;
    for (int i = 1; i < EACH; ++i) changes |= keys[i] != keys[i - 1];
    if (__popc(__ballot_sync(~0u, changes)) > MOST) return false;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < EACH; ++i) {
      if (i == 0 && __any_sync(~0u, keys[i] != key)) {
        add_all();
        key = keys[i];
      } else if (keys[i] != key) {
        for (int c = 0; c < WIDTH; ++c)
          if (key >= 0) arc_atomic_add(out + (long long)key * WIDTH + c, sum[c]);
        clear();
        key = keys[i];
      }
      for (int c = 0; c < WIDTH; ++c) sum[c] += summand(values.at[i * WIDTH + c]);
    }
    return true;
  }

  __device__ __forceinline__ void end() {
    if (__any_sync(~0u, key >= 0)) add_all();
  }
};

/* Not of halves, of which a sum is a float: no atomic adds that. */
template <class T, class K, int WIDTH, bool FIXED>
using runs_of = std::conditional_t<(WIDTH > 0 && WIDTH <= NARROW && std::is_arithmetic_v<T>),
                                   runs<T, K, WIDTH, FIXED>, no_runs>;

}  // namespace
