/* exact_sums.cuh - sums of floats that nothing rounds until they are read.
   SPDX-License-Identifier: Apache-2.0

   A sum is a whole number of the least float, 2^-149, in two's complement of 320 bits: of any
   floats, up to 2^41 of them. Most sums need few of these bits. A thread has a window of 64 of them
   in registers, where its values are. A value below it goes to words in memory by itself; one above
   it moves the window, after what this has summed has gone there. */
#ifndef ARC_EXACT_SUMS_CUH
#define ARC_EXACT_SUMS_CUH

#define APART __attribute__((noinline)) /* what happens rarely, and would be there many times */

namespace {

typedef unsigned long long word;

enum {
  WORDS = 5,        /* of a sum, the lowest first */
  UNIT = -149,      /* log2 of what they count */
  TOP = 53,         /* a window takes values below 2^TOP of its units, */
  MOST_ADDED = 1000 /* and so many of them */
};

/* A window takes x of 2^LEAST units or more, which are whole numbers of units. Log2 of the first
   one's unit. */
template <class T>
struct window {
  enum { LEAST = sizeof(T) == sizeof(float) ? 23 : 7, FIRST = -126 }; /* float, bfloat16 */
};

/* Adds n[i] 2^at[i] to the words of EACH columns: the first ones side by side, the next ones `stride`
   words behind. IS_SHARED: others add to them meanwhile. A carry is an addition of its own, so that
   the order of all does not matter. Additions to all columns are on their way at once. */
template <bool IS_SHARED, int EACH>
__device__ APART void add_words(word *to, int stride, const long long *n, const int *at) {
  bool carry[EACH] = {};
  for (int w = 0; w < WORDS; ++w, to += stride) {
    word sum[EACH], old[EACH] = {};
    for (int i = 0; i < EACH; ++i) {
      const int distance = w - at[i] / 64, shift = at[i] % 64;
      const word low = (word)n[i] << shift, high = (word)(n[i] >> 1 >> (63 - shift));
      const word sign = (word)(n[i] >> 63);
      const word part = distance < 0 ? 0u : distance == 0 ? low : distance == 1 ? high : sign;
      sum[i] = part + carry[i];
      carry[i] = sum[i] < part;
    }
    for (int i = 0; i < EACH; ++i) {
      if (sum[i] == 0u) continue;
      old[i] = IS_SHARED ? atomicAdd(to + i, sum[i]) : to[i];
      if (!IS_SHARED) to[i] = old[i] + sum[i];
    }
    for (int i = 0; i < EACH; ++i) carry[i] = carry[i] || old[i] + sum[i] < sum[i];
  }
}

__device__ void add_words(word *to, long long n, int at) { add_words<false, 1>(to, 1, &n, &at); }

/* A finite float. */
__device__ APART void add_float(word *to, float x) {
  const unsigned bits = __float_as_uint(x), exponent = bits >> 23 & 255u;
  const int digits = (int)(bits & 0x7fffffu) | (exponent > 0u ? 1 << 23 : 0);
  add_words(to, (bits >> 31) != 0u ? -digits : digits, max((int)exponent, 1) - 1);
}

/* 2^log2, of a normal double; of a normal float. */
__device__ double power(int log2) { return __longlong_as_double((1023ll + log2) << 52); }
__device__ float float_power(int log2) { return __uint_as_float((unsigned)(127 + log2) << 23); }

/* Rounded to the odd one of its neighbours, if it is none: rounded once more to fewer digits, it is
   as if this had been the only time. |n| < 2^63 - 2^9. */
__device__ double round_to_odd(long long n) {
  const double nearest = (double)n;
  const long long error = n - (long long)nearest, bits = __double_as_longlong(nearest);
  const bool is_larger = error != 0 && (error < 0) == (n > 0); /* in magnitude */
  return __longlong_as_double((bits - is_larger) | (error != 0));
}

/* n 2^log2, where that is at least the least normal float; for a float this is cheap. */
template <class T>
__device__ void store_near(T *at, long long n, int log2) {
  store(at, round_to_odd(n) * power(log2));
}
__device__ void store_near(float *at, long long n, int log2) { *at = (float)n * float_power(log2); }

__device__ APART double read_words(const word *from) {
  const word flip = (word)((long long)from[WORDS - 1] >> 63);
  word one = flip & 1u, before = 0u, below = 0u, top = 0u, next = 0u, rest = 0u;
  int at = 0;
  for (int w = 0; w < WORDS; ++w) {
    const word digit = (from[w] ^ flip) + one;
    one = one && digit == 0u;
    if (digit != 0u) top = digit, next = before, rest = below, at = w;
    below |= before;
    before = digit;
  }
  if (top == 0u) return 0.0;
  const int shift = __clzll((long long)top);
  top = top << shift | next >> 1 >> (63 - shift);
  rest |= next << shift | (top & 3u);
  const long long magnitude = (long long)(top >> 2 | (rest != 0u));
  return round_to_odd(flip != 0u ? -magnitude : magnitude) * power(64 * at - shift + 2 + UNIT);
}

/* The sums of a thread, one for each of EACH columns, of values that are T in memory. */
template <class T, int EACH>
struct exact_sums {
  word *words; /* [EACH][WORDS], where has_words; apart, so that all else can be in registers */
  long long near[EACH] = {};
  float scale[EACH];        /* 1 / unit of the window */
  unsigned infinities = 0u; /* two bits a column: of +, of -; both after a NaN */
  int added = 0;
  bool has_words = false;

  __device__ exact_sums(word *memory) : words(memory) {
    for (int i = 0; i < EACH; ++i) scale[i] = float_power(-window<T>::FIRST);
  }

  __device__ void clear() {
    for (int i = 0; i < EACH; ++i) near[i] = 0;
    added = 0, infinities = 0u, has_words = false;
  }

  __device__ int unit_log2(int i) const { return 127 - (int)(__float_as_uint(scale[i]) >> 23); }

  __device__ void need_words() {
    if (has_words) return;
    for (int i = 0; i < EACH * WORDS; ++i) words[i] = 0u;
    has_words = true;
  }

  __device__ void empty_window(int i) {
    if (near[i] == 0) return;
    need_words();
    add_words(words + i * WORDS, near[i], unit_log2(i) - UNIT);
    near[i] = 0;
  }

  __device__ void empty_windows() {
    for (int i = 0; i < EACH; ++i) empty_window(i);
    added = 0;
  }

  /* Whether x goes into the window, as `scaled`. */
  __device__ bool fits(int i, float x, float *scaled) const {
    enum { LEAST = window<T>::LEAST };
    *scaled = x * scale[i];
    const unsigned bits = 2u * __float_as_uint(*scaled);
    return bits - ((127u + LEAST) << 24) < (unsigned)(TOP - LEAST) << 24 || x == 0.0f;
  }

  __device__ void add_to_column(int i, float x) {
    const float size = fabsf(x);
    if (!(size < INFINITY)) {
      infinities |= (size != size ? 3u : x > 0.0f ? 1u : 2u) << 2 * i;
      return;
    }
    if (!(size * scale[i] < float_power(TOP))) {
      empty_window(i);
      const int exponent = (int)(__float_as_uint(size) >> 23) - 127;
      scale[i] = float_power(min(126, max(-75, TOP - 5 - exponent))); /* 2^4 x still fits */
    }
    float scaled;
    if (fits(i, x, &scaled)) {
      near[i] += __float2ll_rn(scaled);
    } else {
      need_words();
      add_float(words + i * WORDS, x);
    }
  }

  __device__ APART void add_apart(const float *x) {
    if (added > MOST_ADDED) empty_windows();
    for (int i = 0; i < EACH; ++i) add_to_column(i, x[i]);
  }

  __device__ void add(const float *x) {
    float scaled[EACH];
    bool all_fit = added++ < MOST_ADDED;
    for (int i = 0; i < EACH; ++i) all_fit = fits(i, x[i], &scaled[i]) && all_fit;
    if (all_fit) {
      for (int i = 0; i < EACH; ++i) near[i] += __float2ll_rn(scaled[i]);
      return;
    }
    exact_sums other = *this; /* whose address is given away: this one stays in registers */
    float row[EACH];
    for (int i = 0; i < EACH; ++i) row[i] = x[i];
    other.add_apart(row);
    *this = other;
  }

  /* To words that others add to, too, of column i from to + i on, `stride` apart; infinities. */
  __device__ void add_to(word *to, int stride, unsigned *told) {
    int at[EACH];
    for (int i = 0; i < EACH; ++i) at[i] = unit_log2(i) - UNIT;
    add_words<true, EACH>(to, stride, near, at);
    for (int k = 0; has_words && k < 2 * WORDS; ++k) { /* halves, as words have no sign */
      for (int i = 0; i < EACH; ++i) {
        near[i] = (long long)(words[i * WORDS + k / 2] >> k % 2 * 32 & 0xffffffffu);
        at[i] = 32 * k;
      }
      add_words<true, EACH>(to, stride, near, at);
    }
    if (infinities != 0u) atomicOr(told, infinities);
  }

  __device__ void take_from(const word *from, int stride, unsigned told) {
    for (int i = 0; i < EACH * WORDS; ++i) words[i] = from[i / WORDS + i % WORDS * stride];
    has_words = true, infinities = told;
  }

  __device__ APART void round_apart(T *rounded) {
    need_words();
    empty_windows();
    for (int i = 0; i < EACH; ++i) {
      const unsigned its = infinities >> 2 * i & 3u;
      double sum = read_words(words + i * WORDS);
      if (its != 0u) sum = its == 3u ? NAN : its == 1u ? INFINITY : -INFINITY;
      store(&rounded[i], sum);
    }
  }

  __device__ void round(T *rounded) const {
    if (!has_words && infinities == 0u) {
      for (int i = 0; i < EACH; ++i) store_near(&rounded[i], near[i], unit_log2(i));
      return;
    }
    exact_sums other = *this;
    T its[EACH];
    other.round_apart(its);
    for (int i = 0; i < EACH; ++i) rounded[i] = its[i];
  }
};

}  // namespace

#endif
