/* wide.cuh - sums of floats that repeat to the last bit and need no scale.
   SPDX-License-Identifier: Apache-2.0

   Include this file before arc.cuh and the other forms, or in place of arc.cuh: their calls then
   have code for wide targets too. The layout of a row may change in a minor version until 1.0, so
   do not keep saved rows; ARC_WIDE_ROW(width) is a row's length in every version.

   A sum consists of ARC_WIDE_WORDS words of 64 bits (W, default 6), its windows. Each window holds
   multiples of its own unit, which is 2^16 times that of the window before. A call adds the float
   sum of a group to the window that fits its exponent. It adds exactly, so the order of additions
   does not matter. With 6 words, group sums from 2^-63 to below 2^33 in magnitude are exact.
   Smaller ones are rounded to multiples of the lowest unit, 2^-86. Larger ones count as infinity of
   their sign. By W, group sums are exact
       W    1      2      3      4      5      6      7      8      9 ...    12 ...    16
       from 2^-15  2^-31  2^-31  2^-47  2^-47  2^-63  2^-63  2^-79  2^-79    2^-111    all of float
       to   2      2      2^17   2^17   2^33   2^33   2^49   2^49   2^65     2^81
   A row of n parameters has ARC_WIDE_ROW(n) words of global memory; clear them to 0 first. They are
   n words of the first window, n of the second, and so on, then two bytes per parameter. The first
   byte is not 0 once +infinity was added, the second once -infinity was, both after a NaN. What
   repeats: sums of the same launch with the same policy, on any GPU, as with fixed targets.
   Divergent calls and ARC_PATH_ATOMIC add each lane's values one by one; their sums do not even
   depend on which lanes share a warp. Subnormal values count as 0 with -ftz=true. How many: 2^24
   sums of groups per parameter; then call arc_wide_normalise, and 2^24 more fit. A sum must stay
   within 2^24 times the range; ARC_CHECK 2 reports a word beyond half its range. To sum over GPUs
   or streams, add rows as integers (ncclInt64), up to 255 rows and 2^24 sums in all, and read the
   result.

   Returns a target for wide rows, as arc_target_f32_rows does for floats; _dynamic and _pieces
   exist too. All adds and forms of arc have the suffix wide; they take floats as values.
   Who calls: any lane, in any control flow.
     base    global memory, aligned to 8 bytes, cleared to 0
     stride  long longs from row to row, ARC_WIDE_ROW(width) or more
     width   number of parameters, a literal
   Cost: about 20 instructions. In adds, each sum costs as much as three words.
   Reported: ARC_CHECK 1 as for arc_target_f32_rows, rows in shared memory; 2 a word beyond half its
   range. options.exact, ARC_EXACT and planes do not compile.
       arc_target_wide arc_target_wide_rows(long long *base, int stride, int width); */
#if defined(ARC_CUH) && !defined(ARC__HAS_WINDOWS)
#error "arc/wide.cuh: include it in front of arc.cuh and of the other forms"
#define ARC_WIDE_CUH /* skips the rest */
#elif !defined(ARC__HAS_WINDOWS)
#define ARC__HAS_WINDOWS
#define ARC__FORM_SUFFIX(X) X(_wide, float, long long, ARC__F32, ARC__WINDOWS)
#endif
#if defined(__CUDACC_RTC__) /* which has it by that name */
#include "arc.cuh"
#else
#include "../arc.cuh"
#endif
#if ARC_EXACT + 0 == 1
#error \
    "sums in wide targets are not exact: set options.exact in calls of fixed targets, not ARC_EXACT"
#endif
#if defined(ARC_CORE_CUH) && !defined(ARC_WIDE_CUH)
#define ARC_WIDE_CUH

#define ARC__ANYWHERE static __host__ __device__ inline

/* Returns the sum of parameter i of a row: its words, added exactly and rounded once, to the
   nearest, ties to even.
   Who calls: host and device, any thread, while nobody adds to the row.
     row    the row's first word
     width  parameters of the row, or of the piece
   Cost: ARC_WIDE_WORDS loads, and the two bytes. Reported: nothing. */
ARC__ANYWHERE float arc_wide_to_f32(const long long *row, int width, int i);
ARC__ANYWHERE double arc_wide_to_f64(const long long *row, int width, int i);

/* Returns the sum of parameter i as above, and clears it.
   Who calls: as above.
   Cost: as above, and a store per word that is not 0. Reported: nothing. */
ARC__ANYWHERE float arc_wide_take_f32(long long *row, int width, int i);
ARC__ANYWHERE double arc_wide_take_f64(long long *row, int width, int i);

/* Carries from each window of parameter i into the next one, so that 2^24 more sums fit. The sum
   stays the same.
   Who calls: as above.
   Cost: a load and a store per word. Reported: nothing. */
ARC__ANYWHERE void arc_wide_normalise(long long *row, int width, int i);

/* Exponent fields of floats, 0 to 255: the first of the first window; the first of a number that is
   added without rounding, and the one behind the last. */
#define ARC__WIDE_FIRST (16 * ((15 - ARC_WIDE_WORDS) / 2))
#define ARC__WIDE_EXACT (ARC__WIDE_FIRST > 0 ? ARC__WIDE_FIRST : 1)
#define ARC__WIDE_END (ARC_WIDE_WORDS < 16 ? ARC__WIDE_FIRST + 16 * ARC_WIDE_WORDS : 255)
#define ARC__WIDE_UNIT (ARC__WIDE_FIRST - 150) /* log2 of the first window's */

#if defined(__CUDA_ARCH__)
#define ARC__HIDE(number) asm("" : number) /* compilers no longer know where it comes from */
#else
#define ARC__HIDE(number) ((void)0)
#endif

/* ---- adds -------------------------------------------------------------------------------- */

/* Where a sum goes: its first word lies `bytes` behind `from`, that of parameter i of `width`. */
typedef struct arc__wide_at {
  char *from;
  int bytes, i, width;
} arc__wide_at;

ARC__FN bool arc__fits_window(unsigned bits) {
  const unsigned exact = ARC__WIDE_EXACT, end = ARC__WIDE_END;
  return 2u * bits - (exact << 24) < (end - exact) << 24;
}

ARC__FN void arc__add_wide_word(const arc__call *c, char *address, arc__word w) {
  if (c->literal.memory == ARC__WINDOWS)
    ARC__ASSUME_GLOBAL(address); /* which arc__row has hidden */
  arc__request(c->literal.memory & ~ARC__SHARED, c->literal.scope, address, &w, 1);
}

/* Adds a sum that fits a window there, else 0: the lower four bits of its exponent become those of
   a float of 24 to 39 bits before the point, whose conversion is exact. */
ARC__FN void arc__add_to_window(const arc__call *c, arc__wide_at at, unsigned bits, bool fits) {
  unsigned window = fits ? (2u * bits - ((unsigned)ARC__WIDE_FIRST << 24)) >> 28 : 0u;
  unsigned shifted = fits ? (bits & 0x87ffffffu) + (150u << 23) : 0u;
  arc__word w = arc__word_of((arc__u64)__float2ll_rn(__uint_as_float(shifted)));
  char *word = arc__offset(at.from, arc__key_from(window, 32), 8 * at.width);
  arc__add_wide_word(c, word + at.bytes, w);
}

/* Any other: zeros, small, large, infinite, NaN. */
ARC__FN void arc__add_rare(const arc__call *c, arc__wide_at at, unsigned bits) {
  const float half = (float)arc__power(-ARC__WIDE_UNIT / 2);
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude == 0u) return;
  ARC__HIDE("+r"(at.i)); /* or what follows from it is computed in front of the caller's loop */
  if (magnitude < (unsigned)ARC__WIDE_EXACT << 23) {
    arc__u64 sum = (arc__u64)__float2ll_rn(__uint_as_float(bits) * half * half);
    arc__add_wide_word(c, at.from + at.bytes, arc__word_of(sum));
    return;
  }
  unsigned infinities = magnitude > 0x7f800000u ? 0x101u : bits == magnitude ? 1u : 0x100u;
  char *behind = at.from + at.bytes + 8 * (ARC_WIDE_WORDS * at.width - at.i);
  if (c->literal.memory == ARC__WINDOWS) ARC__ASSUME_GLOBAL(behind);
  ARC__IN_SCOPE(c->literal.scope, atomicOr, (unsigned *)behind + (unsigned)at.i / 2u,
                infinities << 16 * (at.i & 1));
}

/* arc__offset, which compilers would compute anew for each value. */
ARC__FN char *arc__row(char *base, arc__key key, int stride_bytes) {
  char *row = arc__offset(base, key, stride_bytes);
  ARC__HIDE("+l"(row));
  return row;
}

/* Adds the sum of a slot, which its owner has. */
ARC__FN void arc__emit_windows_sum(const arc__call *c, arc__slot slot, arc__key key,
                                   arc__word sum) {
  arc__wide_at at = {arc__row(slot.base, key, slot.stride_bytes), 0, slot.place, slot.width};
  if (!slot.owned) return;
  if (arc__fits_window(sum.lo))
    arc__add_to_window(c, at, sum.lo, true);
  else
    arc__add_rare(c, at, sum.lo);
}

/* Value i of the row of this lane's key; whether there is memory for it. */
ARC__FN bool arc__find_place(const arc__call *c, int value, arc__wide_at *at) {
  arc__location l = arc__location_of(c->target, value);
  if (!l.is_there) return false;
  at->from = arc__row(l.piece.base, c->key, l.piece.stride_bytes);
  at->bytes = 8 * l.offset;
  at->i = l.offset;
  at->width = l.piece.width;
  return true;
}

/* Adds the words of a chunk to the row of this lane's key: first those that fit, without a branch
   for each, then the others, but for zeros, by code that is there once. */
ARC__FN void arc__emit_windows(const arc__call *c, const arc__word *w, int first, int count) {
  arc__wide_at at;
  unsigned rest = 0u;
  ARC__EACH(i, count, ARC__WARP) {
    if (i >= c->chunk) continue; /* never; tells the compiler the largest count */
    if (!arc__find_place(c, first + i, &at)) continue;
    const bool fits = arc__fits_window(w[i].lo);
    arc__add_to_window(c, at, w[i].lo, fits);
    rest |= fits ? 0u : 1u << i;
  }
  if (rest == 0u) return;
  ARC__EACH(i, count, ARC__WARP)
    if (w[i].lo << 1 == 0u) rest &= ~(1u << i);
  for (; rest != 0u; rest &= rest - 1u) {
    const int which = arc__lowest(rest);
    unsigned bits = 0u;
    ARC__EACH(i, count, ARC__WARP) bits = i == which ? w[i].lo : bits;
    if (arc__find_place(c, first + which, &at)) arc__add_rare(c, at, bits);
  }
}

ARC__FN int arc__windows_row(int width) { return ARC_WIDE_ROW(width); }

/* The words of a row of all pieces, as hot rows have them in shared memory. */
ARC__FN int arc__windows_words(const arc__target *t) {
  int words = 0;
  ARC__EACH_PIECE(i, t->pieces, { words += ARC_WIDE_ROW(t->piece[i].width); })
  return words;
}

/* Adds to word number `word` of a row what a block has summed there. Where infinities are told,
   each of its warps, at most 32, has added 1. */
ARC__FN void arc__add_windows_row(const arc__call *c, arc__key key, int word, arc__word sum) {
  arc__u64 told = arc__bits(sum);
  told = (told | told >> 1 | told >> 2 | told >> 3 | told >> 4 | told >> 5) & 0x101010101010101ull;
  if (arc__bits(sum) == 0u) return;
  ARC__EACH_PIECE(i, c->target->pieces, {
    const arc__piece *p = &c->target->piece[i];
    bool here = word >= 0 && word < ARC_WIDE_ROW(p->width) && arc__is_there(c->target, i);
    char *address = here ? arc__offset(p->base, key, p->stride_bytes) + 8ll * word : p->base;
    if (here && word < ARC_WIDE_WORDS * p->width)
      arc__add_wide_word(c, address, sum);
    else if (here)
      ARC__IN_SCOPE(c->literal.scope, atomicOr, (arc__u64 *)address, told);
    word -= ARC_WIDE_ROW(p->width);
  })
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Two bytes: how often an infinity of each sign was added. */
ARC__ANYWHERE unsigned char *arc__infinities(const long long *row, int width, int i) {
  return (unsigned char *)(row + ARC_WIDE_WORDS * width) + 2 * i;
}

/* 64 bits of a sum's magnitude, one of the highest eight 1, the lowest one also where bits below
   are not 0; the power of two of their unit; whether the sum is negative. */
ARC__ANYWHERE arc__u64 arc__wide_read(const long long *row, int width, int i, int *log2,
                                      bool *is_negative) {
  arc__u64 limb[(ARC_WIDE_WORDS + 3) / 4 + 1], bits = 0u, next = 0u; /* four windows a limb */
  const int limbs = (int)(sizeof(limb) / sizeof(*limb));
  long long high = 0;
  ARC__UNROLL
  for (int l = 0; l < limbs; ++l) {
    limb[l] = (arc__u64)high;
    high >>= 63;
    ARC__UNROLL
    for (int w = 4 * l; w < 4 * l + 4 && w < ARC_WIDE_WORDS; ++w) {
      const long long word = row[w * width + i];
      const arc__u64 part = (arc__u64)word << 16 * (w % 4);
      limb[l] += part;
      high += (w % 4 == 0 ? word >> 63 : word >> (64 - 16 * (w % 4))) + (limb[l] < part ? 1 : 0);
    }
  }
  *is_negative = high < 0;
  *log2 = 0;
  arc__u64 one = high < 0 ? 1u : 0u; /* -x is its complement plus one */
  bool is_below = false, was_below = false;
  ARC__UNROLL
  for (int l = 0; l < limbs; ++l) {
    limb[l] = (high < 0 ? ~limb[l] : limb[l]) + one;
    one = limb[l] < one ? 1u : 0u;
    is_below = is_below || (l > 1 && limb[l > 1 ? l - 2 : 0] != 0u);
    if (limb[l] == 0u) continue;
    bits = limb[l];
    next = l > 0 ? limb[l > 0 ? l - 1 : 0] : 0u;
    *log2 = 64 * l + ARC__WIDE_UNIT;
    was_below = is_below;
  }
  ARC__UNROLL
  for (int shift = 32; shift >= 8; shift /= 2) {
    if (bits >> (64 - shift) != 0u) continue;
    bits = bits << shift | next >> (64 - shift);
    next <<= shift;
    *log2 -= shift;
  }
  return next != 0u || was_below ? bits | 1u : bits;
}

ARC__ANYWHERE double arc__wide_power(bool is_negative, int log2) { /* infinity is 2^1024 */
  union {
    arc__u64 bits;
    double value;
  } power = {(arc__u64)(1023 + log2) << 52 | (arc__u64)is_negative << 63};
  return power.value;
}

/* The bits are rounded to T; the rest is exact, since sums are multiples of the least float. */
#define ARC__WIDE_READS(S, T)                                                    \
  ARC__ANYWHERE T arc_wide_to##S(const long long *row, int width, int i) {       \
    const unsigned char *infinities = arc__infinities(row, width, i);            \
    int log2;                                                                    \
    bool is_negative;                                                            \
    const T bits = (T)arc__wide_read(row, width, i, &log2, &is_negative);        \
    double sum = (double)bits * arc__wide_power(is_negative, log2);              \
    if (infinities[0] != 0) sum += arc__wide_power(false, 1024);                 \
    if (infinities[1] != 0) sum += arc__wide_power(true, 1024);                  \
    return (T)sum;                                                               \
  }                                                                              \
  ARC__ANYWHERE T arc_wide_take##S(long long *row, int width, int i) {           \
    unsigned char *infinities = arc__infinities(row, width, i);                  \
    const T sum = arc_wide_to##S(row, width, i);                                 \
    ARC__UNROLL                                                                  \
    for (int w = 0; w < ARC_WIDE_WORDS; ++w)                                     \
      if (row[w * width + i] != 0) row[w * width + i] = 0;                       \
    if ((infinities[0] | infinities[1]) != 0) infinities[0] = infinities[1] = 0; \
    return sum;                                                                  \
  }
ARC__WIDE_READS(_f32, float)
ARC__WIDE_READS(_f64, double)

ARC__ANYWHERE void arc_wide_normalise(long long *row, int width, int i) {
  unsigned char *infinities = arc__infinities(row, width, i);
  long long carry = 0;
  for (int w = 0; w < ARC_WIDE_WORDS; ++w) {
    long long *word = row + w * width + i, old = *word;
    const arc__u64 sum = (arc__u64)old + (arc__u64)carry;
    *word = (long long)(w < ARC_WIDE_WORDS - 1 ? sum & 0xffffu : sum);
    carry = (old >> 16) + (((old & 0xffff) + carry) >> 16); /* old + carry may overflow */
  }
  infinities[0] = infinities[0] != 0, infinities[1] = infinities[1] != 0;
}

#endif /* ARC_WIDE_CUH */
