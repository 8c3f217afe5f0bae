/* drop_in.cuh - atomicAdd by arc, without a changed line. C++11. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh ...        or one #include above a file's own code
   From there on lanes of a warp that arrive together at an atomicAdd(p, v) with one p may sum their
   values first; then one of them adds the sum. This holds if the result is not used, in global
   memory, on sm_70 and newer, for float, double, int, unsigned and unsigned long long, and on sm_90
   and newer for float2 and float4. All else keeps its machine code: results that are used, shared
   memory, other types, atomicAdd_block, CUB.
   With ARC_DROP_IN_SUMS each call decides anew; that takes about 40 instructions per statement.
   With ARC_DROP_IN_LEARNS each statement learns from samples whether summing is faster; if not, it
   is a load, a compare and the plain add. docs/try.md says what to do next: a call of arc sees all
   values of a lane, and gains more.

   Floats with one p are summed in fixed point on sm_80 and newer, with 26 bits for the largest
   value. Error: at most 2^-21 of the largest |value|, 2^-24 of the sum, 2^-122; NaN and infinity
   act as if added one by one. The addition happens at the end of the full expression; after that
   the lane finds it in memory. Lanes that arrive together wait for each other: code in which one of
   them waits for another's later addition may hang. A function that returns atomicAdd's result
   gains nothing, nor does a pointer to atomicAdd. Set arc's macros with -D. On the CPU warp include
   this file after simt/simt.cuh. With ARC_PROFILE 1 arc/profile.cuh counts instead.

   What compiles without the flag compiles with it and does the same, except for the cases below,
   which are errors. If the type of a result is deduced, name it: a cast, (float)atomicAdd(p, v),
   repairs all but the last three.
       auto old, const auto old, decltype(atomicAdd(p, v)) old    float old = atomicAdd(p, v)
           unused, such an `old` adds when it dies
       printf("%f", atomicAdd(p, v))                  printf("%f", (float)atomicAdd(p, v))
       put(q, atomicAdd(p, v)), std::max(..), of a template that deduces the type
                                                      put(q, (float)atomicAdd(p, v))
       c ? atomicAdd(p, 1.f) : 0, : -1, : 'a', of another type than the whole expression, and two
           results of which one is a float            c ? (float)atomicAdd(p, 1.f) : 0
       pair x = atomicAdd(p, 1), std::optional<int> x, of a class made from a number
                                                      pair x = (int)atomicAdd(p, 1)
       cg::invoke_one(g, [&] { return atomicAdd(p, 1); }), and others that deduce the result of a
           function                                   [&]() -> int { return atomicAdd(p, 1); }
       atomicAdd(p, v).x, of a float2 or float4       ((float2)atomicAdd(p, v)).x
       an object that converts to another pointer than a served one, such as a __half2 *
                                                      atomicAdd((__half2 *)object, v)
       your own #define atomicAdd above this file      put it below: it replaces arc's (a warning)
   */
#if !defined(ARC_DROP_IN_CUH) && (defined(__CUDACC__) || defined(SIMT_ON_CPU))
#define ARC_DROP_IN_CUH
#if !defined(ARC_WORDS_CUH) || !defined(__CUDACC_RTC__) /* NVRTC has them by other names */
#include "../arc_policy.cuh"
#include "words.cuh"
#endif
/* CUDA 12.1 adds float2 and float4. */
#define ARC__DROPS_VECTORS 0
#if defined(__CUDACC_VER_MAJOR__) && (ARC__ARCH == 0 || ARC__ARCH >= 900)
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201
#undef ARC__DROPS_VECTORS
#define ARC__DROPS_VECTORS 1
#endif
#endif
#if ARC_PROFILE
#include "profile.cuh"
#else
struct arc__code_line {
  int line;
  unsigned file;
};
/* By functions of their own, up to 128 characters: the stack of a recursion has no known size in a
   debug build, and a loop leaves other machine code where a result is used. */
template <int most>
__device__ constexpr unsigned arc__name_hash(const char *name, unsigned hash);
template <>
__device__ constexpr unsigned arc__name_hash<0>(const char *, unsigned hash) {
  return hash;
}
template <int most>
__device__ constexpr unsigned arc__name_hash(const char *name, unsigned hash) {
  return *name ? arc__name_hash<most - 1>(name + 1, hash * 33u + (unsigned char)*name) : hash;
}
#define ARC__HERE \
  { __builtin_LINE(), arc__name_hash<128>(__builtin_FILE(), 0u) }
#define arc__count_used(p, at) ((void)(at))

/* A group's sum, in its leader: by pointer jumping, as in arc__reduce_jumping. */
template <class T>
ARC__FN T arc__drop_in_total(unsigned lanes, unsigned group, int lane, T v) {
  unsigned lower = group & arc__lanes_below(lane);
  unsigned next = lower ? (unsigned)arc__highest(lower) : 32u | (unsigned)lane;
  ARC__UNROLL
  for (int round = 0; round < 5; ++round) {
    const bool adds = next < 32u;
    if (round > 0 && !__any_sync(lanes, adds)) break;
    const T other = __shfl_sync(lanes, v, (int)next);
    if (adds) v += other;
    next = __shfl_sync(lanes, next, (int)next);
  }
  return v;
}
#if ARC__ARCH >= 800
ARC__FN unsigned arc__drop_in_total(unsigned lanes, unsigned group, int lane, unsigned v) {
  if (group == lanes) return arc__redux(lanes, v);
  return arc__drop_in_total<unsigned>(lanes, group, lane, v);
}
/* The largest value is below 2^26 units, so that no sum of 32 leaves an int. */
ARC__FN float arc__drop_in_total(unsigned lanes, unsigned group, int lane, float v) {
  unsigned largest = ~0u;
  if (group == lanes) largest = __reduce_max_sync(lanes, __float_as_uint(v) & 0x7fffffffu);
  if (largest >= 0x7f800000u) return arc__drop_in_total<float>(lanes, group, lane, v);
  const unsigned exponent = largest >> 23 > 26u ? largest >> 23 : 26u;
  const float unit = __uint_as_float((exponent - 25u) << 23);
  const float units = v * __uint_as_float((279u - exponent) << 23); /* v / unit */
  return (float)(int)arc__redux(lanes, (unsigned)__float2int_rn(units)) * unit;
}
#endif
#if ARC__DROPS_VECTORS
ARC__FN float2 arc__drop_in_total(unsigned lanes, unsigned group, int lane, float2 v) {
  return make_float2(arc__drop_in_total(lanes, group, lane, v.x),
                     arc__drop_in_total(lanes, group, lane, v.y));
}
ARC__FN float4 arc__drop_in_total(unsigned lanes, unsigned group, int lane, float4 v) {
  const float2 low = arc__drop_in_total(lanes, group, lane, make_float2(v.x, v.y));
  const float2 high = arc__drop_in_total(lanes, group, lane, make_float2(v.z, v.w));
  return make_float4(low.x, low.y, high.x, high.y);
}
#endif
/* By lanes that come together: adds the sums of groups, or of none. */
template <class T>
ARC__FN void arc__drop_in_sums(unsigned lanes, unsigned group, int lane, T *p, T v) {
  if (group == 0u) return (void)atomicAdd(p, v);
  __syncwarp(lanes); /* what a lane wrote before comes first, */
  v = arc__drop_in_total(lanes, group, lane, v);
  if (arc__leads(group, lane)) atomicAdd(p, v);
  __syncwarp(lanes); /* and what it reads next, behind */
}

#if ARC_DROP_IN == ARC_DROP_IN_LEARNS
/* What the statements of a line, by its entry, have learnt. A few warps are drawn for
   samples; one at a time adds to an entry: nobody waits for it, nothing but speed depends on it. */
enum { ARC__PLAIN, ARC__ONE, ARC__SEVERAL, ARC__DRAWN };
enum { ARC__ENTRIES = 256, ARC__SAMPLES = 32, ARC__SEEN = 4 };
struct arc__statement {
  int line, samples; /* at 2 SAMPLES, this and the sums below are halved */
  int one, several;  /* tenths of passes that sums would have saved, of one address or of any */
  int lanes, addresses, passes, again;
  int seen[ARC__SEEN]; /* addresses of the last samples, and their multiprocessors */
};
struct arc__learnt {
  int says[ARC__ENTRIES]; /* ARC__PLAIN to ARC__SEVERAL, and 4 times what halves how often
                                       a drawn warp is a sample */
  arc__statement of[ARC__ENTRIES];
};
static __device__ arc__learnt arc__learnt_here __attribute__((unused));

/* The line, and above it its entry: by line and file. */
ARC__FN unsigned arc__place(arc__code_line at) {
  return (at.file + (unsigned)at.line) << 24 | ((unsigned)at.line & 0xffffffu);
}
#if ARC__ARCH >= 700
#define ARC__OUT_OF_LINE static __device__ inline __attribute__((noinline))
/* What the entry says; the state is ARC__DRAWN if this warp is drawn, here or, as compilers like it,
   above a loop. */
ARC__FN unsigned arc__ask(unsigned place) {
  const int *at = &arc__learnt_here.says[place >> 24];
#if defined(__CUDA_ARCH__)
  unsigned says, clock; /* not volatile */
  asm("ld.global.u32 %0, [%1];" : "=r"(says) : "l"(__cvta_generic_to_global(at)));
  asm("mov.u32 %0, %%clock;" : "=r"(clock));
#else
  const unsigned says = (unsigned)*at, clock = (unsigned)clock64();
#endif
  return clock & 0x3fcu ? says : says | 3u;
}

/* What lies in memory now, past the cache of a multiprocessor. Not volatile, nor by an atomic: a
   function with either begins with YIELD, which lets lanes that wait for these go on apart. */
ARC__FN int arc__fresh(const int *p) {
#if defined(__CUDA_ARCH__)
  int x;
  asm("ld.global.L1::no_allocate.s32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_global(p)));
  return x;
#else
  return *p;
#endif
}
/* What atomics cost are passes: in each sector of 32 bytes, the adds to its fullest word; where
   other multiprocessors add to an address, a hundred times that. Sums cost as much as 10 passes
   for one address, 25 for several, and 3 to 10 where nothing is shared. */
ARC__OUT_OF_LINE void arc__sample(unsigned lanes, arc__u64 address, unsigned place) {
  const unsigned entry = place >> 24, word = (unsigned)(address >> 2);
  arc__statement *s = &arc__learnt_here.of[entry];
  const int lane = arc__lane();
  unsigned here = blockIdx.x, most = 0, hits = 0, sum = 0;
#if defined(__CUDA_ARCH__)
  asm("mov.u32 %0, %%smid;" : "=r"(here));
#endif
  const unsigned id = word << 8 | (here & 0xffu);
  ARC__UNROLL
  for (int i = 0; i < ARC__SEEN; ++i) hits += ((unsigned)arc__fresh(&s->seen[i]) ^ id) - 1u < 255u;
  const unsigned same = __match_any_sync(lanes, word), sector = __match_any_sync(lanes, word / 8u);
  ARC__NO_UNROLL
  for (unsigned step = 16; step > 0; step /= 2)
    if (__ballot_sync(lanes, (unsigned)__popc(same) > most + step) & sector) most += step;
  const bool is_first = arc__leads(same, lane), is_sector = arc__leads(sector, lane);
  hits = (is_sector ? most : 0u) + (is_first ? 0u : hits << 8);
  ARC__NO_UNROLL
  for (unsigned bit = 1; bit < 1u << 11; bit *= 2)
    sum += (unsigned)__popc(__ballot_sync(lanes, hits & bit)) * bit;
  const int addresses = __popc(__ballot_sync(lanes, is_first));
  const int sectors = __popc(__ballot_sync(lanes, is_sector));
  if (arc__leads(lanes, lane)) {
    const int samples = arc__fresh(&s->samples) + 1, half = samples >= 2 * ARC__SAMPLES;
    const int says = arc__fresh(&arc__learnt_here.says[entry]), said = says & 3, rest = says >> 2;
    const int saved = (int)(sum & 0xffu), again = (int)(sum >> 8), count = __popc(lanes);
    const int gain = 10 * saved + 1000 / ARC__SEEN * again;
    const int one = count < 12 ? -30 : addresses == 1 ? gain - 100 : -50;
    const int several = addresses == 1 || count < 12 ? one : addresses < count ? gain - 250 : -100;
    const bool pays = (said == ARC__ONE || one > several ? one : several) > 0;
    /* at most 1000: changes are seen soon */
    const int ones = arc__fresh(&s->one) + (one < 1000 ? one : 1000);
    const int severals = arc__fresh(&s->several) + (several < 1000 ? several : 1000);
    s->lanes = (arc__fresh(&s->lanes) + count) >> half;
    s->addresses = (arc__fresh(&s->addresses) + addresses) >> half;
    s->passes = (arc__fresh(&s->passes) + saved + sectors) >> half;
    s->again = (arc__fresh(&s->again) + again) >> half;
    s->seen[here % ARC__SEEN] = (int)id;
    s->line = (int)(place & 0xffffffu);
    s->samples = samples >> half;
    s->one = ones / (1 + half);
    s->several = severals / (1 + half);
    /* far fewer samples while they agree */
    const int next = pays != (said != ARC__PLAIN) ? rest - (rest > 0) : rest < 10 ? rest + 2 : 11;
    if (samples >= ARC__SAMPLES)
      arc__learnt_here.says[entry] =
          4 * next + (severals > 0 && severals > ones + 10 * samples ? ARC__SEVERAL
                      : ones > 0                                     ? ARC__ONE
                                                                     : ARC__PLAIN);
  }
  __syncwarp(lanes); /* or they went on apart */
}

template <class T>
struct arc__drop_in_group {
  T v;
  unsigned group, lanes; /* group 0: each lane adds what it has; else its leader adds v, the sum,
                            and all lanes that came meet behind it */
};
/* Where sums pay, or a warp is drawn. Its caller adds. */
template <class T>
ARC__OUT_OF_LINE arc__drop_in_group<T> arc__drop_in_learns(T *p, T v, unsigned place,
                                                           unsigned says) {
  arc__drop_in_group<T> g = {v, 0u, 0u};
  if ((says & 3u) == ARC__DRAWN) {
    if (((unsigned)(clock64() >> 10) & ((1u << (says >> 2)) - 1u)) == 0u)
      arc__sample(arc__lanes_here(), (arc__u64)p, place);
    return g;
  }
  const int lane = arc__lane();
  int same = 0;
  if (sizeof(T) == 4 && __activemask() == ~0u) { /* by a literal mask, for a third less */
    (void)__match_all_sync(~0u, (arc__u64)p, &same);
    if (same) {
      __syncwarp(~0u); /* what a lane wrote before comes first */
      g.group = g.lanes = ~0u;
      g.v = arc__drop_in_total(~0u, ~0u, lane, v);
      return g;
    }
  }
  g.lanes = arc__lanes_here();
  if (__popc(g.lanes) < 12) return g;
  if (__any_sync(g.lanes, (says & 3u) == ARC__SEVERAL)) {
    g.group = __match_any_sync(g.lanes, (arc__u64)p);
    if (!__any_sync(g.lanes, (g.group & (g.group - 1u)) != 0u)) g.group = 0u;
  } else {
    (void)__match_all_sync(g.lanes, (arc__u64)p, &same);
    if (same) g.group = g.lanes;
  }
  if (g.group == 0u) return g;
  __syncwarp(g.lanes);
  g.v = arc__drop_in_total(g.lanes, g.group, lane, v);
  return g;
}
#endif
#endif

template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
  if (__isShared(p)) return (void)atomicAdd(p, v); /* no lane that the others wait for */
#if ARC__ARCH >= 700 && ARC_DROP_IN == ARC_DROP_IN_LEARNS
  const unsigned place = arc__place(at), says = arc__ask(place);
  if ((says & 3u) == ARC__PLAIN) return (void)atomicAdd(p, v);
  const arc__drop_in_group<T> g = arc__drop_in_learns(p, v, place, says);
  if (g.group == 0u || arc__leads(g.group, arc__lane())) atomicAdd(p, g.v);
  if (g.lanes == ~0u) return __syncwarp(~0u); /* what it reads next, behind */
  if (g.group != 0u) __syncwarp(g.lanes);
#else
  const int lane = arc__lane();
  const unsigned lanes = arc__lanes_here();
  arc__drop_in_sums(lanes, arc__sharers(lanes, lane, p, 12, 17), lane, p, v);
  (void)at;
#endif
}
ARC__FN void arc__drop_in_add(int *p, int v, arc__code_line at) {
  arc__drop_in_add((unsigned *)p, (unsigned)v, at);
}
#endif

/* Whether `c ? atomicAdd(..) : u` must not compile: with the flag it is a U, if that is a number,
   without a Both. Compilers take what is no number as without, but nvcc makes floats double. */
template <class Both, class U, bool = __is_class(U) || __is_enum(U)>
struct arc__drop_in_refused {
  enum { yes = 1 };
};
template <class U>
struct arc__drop_in_refused<U, U, false> {};
template <class Both, class U>
struct arc__drop_in_refused<Both, U, true> {};
template <class U>
struct arc__drop_in_refused<float, U, true> {
  enum { yes = 1 };
};
template <class U>
__device__ U arc__drop_in_any(void);

/* What an atomicAdd returns: plain where it is converted to a value, else it adds when it dies. */
template <class T>
class arc__drop_in_result {
  T *p, v;
  arc__code_line at;
  bool used;

 public:
  __device__ __forceinline__ arc__drop_in_result(T *p_, T v_, arc__code_line at_)
      : p(p_), v(v_), at(at_), used(false) {}
  __device__ __forceinline__ arc__drop_in_result(arc__drop_in_result &&from)
      : p(from.p), v(from.v), at(from.at), used(from.used) {
    from.used = true;
  }
  template <class U,
            int = arc__drop_in_refused<decltype(true ? T() : arc__drop_in_any<U>()), U>::yes>
  __device__ arc__drop_in_result(U) { /* else ambiguous */
    static_assert(sizeof(U) == 0, "arc/drop_in.cuh: name the type, as in (float)atomicAdd()");
  }
  __device__ __forceinline__ operator T() && {
    used = true;
    arc__count_used(p, at);
    return atomicAdd(p, v);
  }
  template <class U, int = 1 / __is_enum(U)>
  __device__ __forceinline__ explicit operator U() && {
    return (U)(T)(arc__drop_in_result &&) * this;
  }
  __device__ operator T() const volatile & { /* not of a result without a name */
    static_assert(sizeof(T) == 0, "arc/drop_in.cuh: name the type, as in float old = atomicAdd()");
    return v;
  }
  __device__ __forceinline__ ~arc__drop_in_result() {
    if (!used) arc__drop_in_add(p, v, at);
  }
};
template <class T>
struct arc__drop_in_other {
  enum { is = 1 };
};
/* No templates: they take what CUDA's own take, such as {1}, a result, an object. */
#define ARC__DROP_IN(T)                                                                         \
  template <>                                                                                   \
  struct arc__drop_in_other<T> {};                                                              \
  ARC_EXPERIMENTAL ARC__FN arc__drop_in_result<T> arc__drop_in(T *p, T v ARC__CALLER,           \
                                                               arc__code_line at = ARC__HERE) { \
    return {p, v, at};                                                                          \
  }
ARC__DROP_IN(float)
ARC__DROP_IN(int)
ARC__DROP_IN(unsigned)
ARC__DROP_IN(arc__u64)
#if ARC__ARCH == 0 || ARC__ARCH >= 600
ARC__DROP_IN(double)
#endif
#if ARC__DROPS_VECTORS
ARC__DROP_IN(float2)
ARC__DROP_IN(float4)
#endif
#if defined(__CUDACC__)
/* Pointers to atomicAdd, which add as without, and other types, overloads that stand above (those
   below are renamed with their calls). Of a served type, nothing may be evaluated: nvcc 13.0 takes
   its line for the caller's. */
template <class T>
ARC__FN T arc__drop_in(T *p, T v) {
  return atomicAdd(p, v);
}
template <class T, class U, int = arc__drop_in_other<T>::is>
ARC__FN auto arc__drop_in(T *p, U v) -> decltype(atomicAdd(p, v)) {
  return atomicAdd(p, v);
}
#if !defined(__clang__)
#pragma nv_diag_error 1290 /* printf */
#endif
#endif
#if defined(atomicAdd) && defined(__CUDACC__)
#error "arc/drop_in.cuh: your macro atomicAdd stands above: define it below, in place of arc's"
#endif
#undef atomicAdd /* of the CPU warp */
#define atomicAdd arc__drop_in
#endif /* ARC_DROP_IN_CUH */
