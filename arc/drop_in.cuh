/* drop_in.cuh - atomicAdd by arc, without a changed line. C++11. EXPERIMENTAL.
   SPDX-License-Identifier: Apache-2.0

       nvcc -include arc/drop_in.cuh ...        or one #include above a file's own code
   From there on, the lanes of a warp that arrive together at an atomicAdd(p, v) with the same p may
   sum their values first. One of them then adds the sum. This flag serves a call if its result is
   not used and p points to global memory. On sm_70 and newer the types are float, double, int,
   unsigned and unsigned long long; on sm_90 and newer also float2 and float4. All else adds as
   before: results that are used, shared memory, other types, atomicAdd_block, ::cub.
   With ARC_DROP_IN_LEARNS each statement learns from samples whether summing is faster. If it is
   not, the statement tests a word that the kernel has already read, and makes the plain add. With
   ARC_DROP_IN_SUMS each call decides anew: it executes 40 instructions or more of about 400.
   docs/try.md says what to do next: a call of arc sees all values of a lane, so it gains more.

   On sm_80 and newer, floats are summed in fixed point if all lanes that arrive together have the
   same p. The largest value has 26 bits. The error is at most the sum of three terms: 2^-21 of the
   largest |value|, 2^-24 of the sum, and 2^-122. Otherwise floats are added in pairs. NaN and
   infinity act as if added one by one. A sum of lanes beyond float's range is infinite or NaN. The
   lane adds at the end of the full expression; what it reads after that includes the addition.
   Lanes that arrive together wait for each other, so code may hang if one of them waits for a later
   addition of another. A function that returns atomicAdd's result gains nothing, nor does a pointer
   to atomicAdd. Set arc's macros with -D. On the CPU warp, include this file after simt/simt.cuh.
   With -DARC_PROFILE=1, arc/profile.cuh counts instead.

   Code that compiles without the flag also compiles with it and does the same. The cases below are
   the exceptions; all but the first are errors. If your code deduces the type of a result, name the
   type: the cast (float)atomicAdd(p, v) repairs the cases up to the cluster's.
       atomicAdd(p, v), __threadfence(), *flag = 1    atomicAdd(p, v); __threadfence(); *flag = 1
           it adds last
       auto old, const auto old, decltype(atomicAdd(p, v)) old    float old = atomicAdd(p, v)
           if such an `old` is unused, it adds when it is destroyed
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
       atomicAdd(cluster.map_shared_rank(p, rank), v)  (int)atomicAdd(..)
           only with ARC_DROP_IN_SUMS: nvcc 13.0 ends with "Broken function found"
       an object that converts to another pointer than a served one, such as a __half2 *
                                                      atomicAdd((__half2 *)object, v)
       ({ atomicAdd(p, v); }), only with ARC_PROFILE  do { atomicAdd(p, v); } while (0)
       an atomicAdd of a namespace, of a class, or of three arguments above this file
                                                      put it below this file
       your own #define atomicAdd above this file      put it below: it replaces arc's (a warning)
   */
#if !defined(ARC_DROP_IN_CUH) && (defined(__CUDACC__) || defined(SIMT_ON_CPU))
#define ARC_DROP_IN_CUH
#if !defined(ARC_WORDS_CUH) || !defined(__CUDACC_RTC__) /* NVRTC includes both under other names */
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
/* The fewest lanes that are summed: at one address, and at several. */
enum { ARC__FEWEST = 12, ARC__FEWEST_OF_SEVERAL = 17 };
/* What the profile and the flag that learns share. */
#define ARC__OUT_OF_LINE static __device__ inline __attribute__((noinline))
ARC__FN unsigned arc__multiprocessor(void) {
#if defined(__CUDA_ARCH__)
  unsigned x;
  asm("mov.u32 %0, %%smid;" : "=r"(x));
  return x & 0xffu;
#else
  return blockIdx.x & 0xffu;
#endif
}
/* Returns the sum over `lanes` of x, which has so many bits. */
ARC__FN unsigned arc__sum_over(unsigned lanes, unsigned x, int bits) {
  unsigned sum = 0;
  x <<= 32 - bits;
  ARC__NO_UNROLL
  for (int bit = bits; bit > 0; --bit, x *= 2)
    sum = sum * 2 + (unsigned)__popc(__ballot_sync(lanes, x >> 31));
  return sum;
}
#if ARC_PROFILE
#include "profile.cuh"
#else
struct arc__code_line {
  int line;
};
#define ARC__HERE \
  { __builtin_LINE() }
#define arc__count_add(p, at, width) ((void)(at))

/* Returns the group's sum in its leader, by pointer jumping as in arc__reduce_jumping. */
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
/* Sums `lanes`, if their values are finite; returns whether they are. The largest value is below
   2^26 units, so the sum of 32 values fits an int. */
ARC__FN bool arc__drop_in_one(unsigned lanes, float *v) {
  const unsigned largest = __reduce_max_sync(lanes, __float_as_uint(*v) & 0x7fffffffu);
  if (largest >= 0x7f800000u) return false;
  const unsigned exponent = largest >> 23 > 26u ? largest >> 23 : 26u;
  const float unit = __uint_as_float((exponent - 25u) << 23);
  const float units = *v * __uint_as_float((279u - exponent) << 23); /* v / unit */
  *v = (float)(int)arc__redux(lanes, (unsigned)__float2int_rn(units)) * unit;
  return true;
}
ARC__FN unsigned arc__drop_in_total(unsigned lanes, unsigned group, int lane, unsigned v) {
  if (group == lanes) return arc__redux(lanes, v);
  return arc__drop_in_total<unsigned>(lanes, group, lane, v);
}
ARC__FN float arc__drop_in_total(unsigned lanes, unsigned group, int lane, float v) {
  if (group == lanes && arc__drop_in_one(lanes, &v)) return v;
  return arc__drop_in_total<float>(lanes, group, lane, v);
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
/* Adds the sum of each group, or each value if there is no group. All `lanes` call it together. */
template <class T>
ARC__FN void arc__drop_in_sums(unsigned lanes, unsigned group, int lane, T *p, T v) {
  if (group == 0u) return (void)atomicAdd(p, v);
  __syncwarp(lanes); /* earlier writes of these lanes come before the add, */
  v = arc__drop_in_total(lanes, group, lane, v);
  if (arc__leads(group, lane)) atomicAdd(p, v);
  __syncwarp(lanes); /* and their later reads come after it */
}

#if ARC_DROP_IN == ARC_DROP_IN_LEARNS
/* What the statements of a line have learnt is in the entry of that line. A few warps are drawn to
   take samples. They neither lock an entry nor wait for it: only speed depends on what it says. */
enum { ARC__LINES = 27, ARC__WORDS = 8, ARC__ENTRIES = 32 * ARC__WORDS };
enum { ARC__SAMPLES = 32, ARC__CLEAR = 40 }; /* how many, and what score, decide */
/* In clocks: a load from the L2 cache takes 300 to 500 while no atomics queue. */
enum { ARC__WAIT = 800 };
#define ARC__DRAWN 0x80000000u
#define ARC__KNOWN 0xf000u   /* of a word in the table: the line of the last sample has learnt */
#define ARC__SLOW ARC__DRAWN /* of a sample's line: memory is slow */
struct arc__statement {
  int line;
  unsigned taken; /* samples */
  int score;      /* what sums would have gained in the last 128 samples */
  int rest;       /* of a drawn warp, one call in 2^(4 + rest) takes a sample */
  unsigned sample[ARC__SAMPLES], seen[ARC__SAMPLES]; /* the last; addresses, multiprocessors */
};
struct arc__learnt {
  unsigned sums[ARC__WORDS];       /* a bit per line: set if the line sums; ARC__KNOWN */
  arc__statement of[ARC__ENTRIES]; /* only samplers read it */
};
static __device__ __attribute__((aligned(16), unused)) arc__learnt arc__learnt_here;

/* Which word a line has, and which entry. A word has 32, one per bit: ARC__KNOWN and the highest
   bit are no line's. */
#define ARC__WORD_OF(line) ((line) / ARC__LINES % ARC__WORDS)
static __host__ __device__ inline unsigned arc__entry_of(int line) {
  const int bit = line % ARC__LINES;
  return (unsigned)(ARC__WORD_OF(line) * 32 + (bit < 12 ? bit : bit + 4));
}

/* A sample has five bit fields, each a sum over the lanes. From the lowest: adds to an address that
   another multiprocessor also adds to, addresses, passes that sums would save, sectors, lanes. The
   highest bit: the values are vectors. */
static __host__ __device__ inline int arc__field(unsigned sample, int field) {
  return (int)(field == 0 ? sample & 127u : sample >> (1 + 6 * field) & 63u);
}
/* Returns what sums would gain, in passes. Atomics take a pass per add to the fullest word of each
   sector of 32 bytes; a sample takes that of the sector's highest lane for it. An add to an address
   to which another multiprocessor adds counts as 100 more. Sums of one address cost 8 passes. Sums
   of several cost 5, and 1 for each sector less than 13: so many passes are hidden by other work.
   For vectors it is 24 and 35. A gain is -10 to 40, so that a change shows soon. */
static __host__ __device__ inline int arc__gain(unsigned sample) {
  const int sectors = arc__field(sample, 3);
  const bool one = arc__field(sample, 1) == 1;
  const int costs = sample >> 31 ? (one ? 24 : 35) : one ? 8 : sectors < 13 ? 18 - sectors : 5;
  const int gain = arc__field(sample, 2) + 100 * arc__field(sample, 0) - costs;
  if (arc__field(sample, 4) < ARC__FEWEST) return -2;
  return gain < -10 ? -10 : gain < 40 ? gain : 40;
}

#if ARC__ARCH >= 700
/* Returns `lanes`, which are together. nvcc guards no vote of lanes that it knows to be so, and
   keeps no register for them. */
ARC__FN unsigned arc__still(unsigned lanes) {
#if defined(__CUDA_ARCH__) && !ARC_SAFE_MASKS
  return __activemask();
#else
  return lanes;
#endif
}
#if defined(__CUDA_ARCH__)
ARC__FN unsigned arc__clock(void) {
  unsigned x;
  asm("mov.u32 %0, %%clock;" : "=r"(x));
  return x;
}
/* Returns the clock once x has been read; 0 if x is all ones, so that memory counts as slow. */
ARC__FN unsigned arc__clock_after(unsigned x) {
  unsigned clock;
  asm volatile("{.reg .pred p; setp.eq.u32 p, %1, -1; @p mov.u32 %0, 0; @!p mov.u32 %0, %%clock;}"
               : "=r"(clock)
               : "r"(x)
               : "memory");
  return clock;
}
/* Reads memory, which this load does not put into the L1 cache, but may find there, of an earlier
   time. It is neither a volatile or strong load nor an atomic: a function with one begins with
   YIELD, and lanes that wait for it may then go on apart. */
template <class T>
ARC__FN T arc__fresh(const T *p) {
  T x;
  asm volatile("ld.global.L1::no_allocate.b32 %0, [%1];"
               : "=r"(x)
               : "l"(__cvta_generic_to_global(p))
               : "memory");
  return x;
}
#define ARC__CHANGE(what, p, ...) \
  asm volatile(what ::"l"(__cvta_generic_to_global(p)), __VA_ARGS__ : "memory")
/* Writes memory past the L1 cache, so that loads of other multiprocessors find it. */
template <class T>
ARC__FN void arc__store(T *p, T x) {
  ARC__CHANGE("st.global.cg.b32 [%0], %1;", p, "r"(x));
}
/* Sets the bits of `on`, and clears the others of `of`, while others write other bits. */
ARC__FN void arc__set_bits(unsigned *p, unsigned of, unsigned on) {
  ARC__CHANGE("red.global.or.b32 [%0], %1; red.global.and.b32 [%0], %2;", p, "r"(on),
              "r"(on | ~of));
}
/* Adds v to global memory, by `red`: ptxas takes a loop with an atomicAdd and a call for one that
   waits for other lanes, and puts YIELD at its head, behind which lanes may go on apart. */
#define ARC__DROP_IN_RED(T, type, values, ...)                               \
  ARC__FN void arc__drop_in_red(T *p, T v) {                                 \
    ARC__CHANGE("red.global.add" type " [%0], " values ";", p, __VA_ARGS__); \
  }
ARC__DROP_IN_RED(float, ".f32", "%1", "f"(v))
ARC__DROP_IN_RED(double, ".f64", "%1", "d"(v))
ARC__DROP_IN_RED(unsigned, ".u32", "%1", "r"(v))
ARC__DROP_IN_RED(arc__u64, ".u64", "%1", "l"(v))
#if ARC__DROPS_VECTORS
ARC__DROP_IN_RED(float2, ".v2.f32", "{%1, %2}", "f"(v.x), "f"(v.y))
ARC__DROP_IN_RED(float4, ".v4.f32", "{%1, %2, %3, %4}", "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w))
#endif
#else /* the CPU warp */
ARC__FN unsigned arc__clock(void) { return (unsigned)clock64(); }
ARC__FN unsigned arc__clock_after(unsigned) { return arc__clock(); }
template <class T>
ARC__FN T arc__fresh(const T *p) {
  return *p;
}
template <class T>
ARC__FN void arc__store(T *p, T x) {
  *p = x;
}
ARC__FN void arc__set_bits(unsigned *p, unsigned of, unsigned on) { *p = (*p & ~of) | on; }
template <class T>
ARC__FN void arc__drop_in_red(T *p, T v) {
  atomicAdd(p, v);
}
#endif
/* Returns a word, with ARC__DRAWN if the warp is drawn: 1 of 256 is while a line of the word has
   still to learn, else 1 of 4096. A word may be old, so one question serves all its statements.
   nvcc asks above a loop because the assembly is not volatile, and once for statements in a row
   because the function is const, if no argument is a call. The assembly also marks the word, which
   nvcc would else mark anew in each statement. If nvcc keeps the table's name, the load needs no
   register for its address. */
#if defined(__CUDACC__)
#define ARC__ASKED_ONCE __attribute__((const))
#else
#define ARC__ASKED_ONCE
#endif
/* A warp is drawn while bits 4 to 11 of the clock are 0; if ARC__KNOWN is set, its bits, too. */
#define ARC__ASK(load, ...)                                            \
  asm("{.reg .pred drawn; .reg .u32 clock, t; mov.u32 clock, %%clock;" \
      " and.b32 clock, clock, 0xfff0; " load "}"                       \
      : __VA_ARGS__)
#define ARC__MARK(word)                                    \
  "or.b32 t, " word                                        \
  ", 0xff0; and.b32 t, t, clock; setp.eq.u32 drawn, t, 0;" \
  "@drawn or.b32 " word ", " word ", 0x80000000;"
#define ARC__ASK_4(table, w)                                                                 \
  ARC__ASK("ld.global.v4.u32 {%0, %1, %2, %3}, [" table "];" ARC__MARK("%0") ARC__MARK("%1") \
               ARC__MARK("%2") ARC__MARK("%3"),                                              \
           "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]))
ARC__FN ARC__ASKED_ONCE unsigned arc__ask(int word) {
#if !defined(__CUDA_ARCH__)
  const unsigned says = arc__learnt_here.sums[word];
  return says | (arc__clock() & (0xff0u | (says & ARC__KNOWN)) ? 0u : ARC__DRAWN);
#elif defined(__clang__) || defined(__CUDACC_RTC__) || defined(__CUDACC_RDC__) || \
    defined(__CUDACC_EWP__) || __CUDACC_VER_MAJOR__ < 13
  unsigned says;
  ARC__ASK("ld.u32 %0, [%1];" ARC__MARK("%0"), "=r"(says) : "l"(&arc__learnt_here.sums[word]));
  return says;
#else
  unsigned w[4];
  if (word < 4)
    ARC__ASK_4("arc__learnt_here", w);
  else
    ARC__ASK_4("arc__learnt_here+16", w);
  return w[word % 4];
#endif
}

/* A kernel has all registers that a sample needs, even if its warps seldom take one. So a sample
   holds few: ptxas moves nothing across a branch, and no lane takes this one. The assembly hides
   the entry's address, of which nvcc would keep several. */
#define ARC__STEP(lanes) \
  if (arc__still(lanes) == 0u) return
ARC__FN arc__statement *arc__statement_of(unsigned line) {
  arc__statement *s = &arc__learnt_here.of[line & 0xffu];
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(s));
  ARC__ASSUME_GLOBAL(s);
#endif
  return s;
}
/* One lane learns from a sample, while others may. */
ARC__FN void arc__learn(unsigned sample, unsigned line) {
  int gain = arc__gain(sample);
  arc__statement *s = arc__statement_of(line);
  const unsigned taken = arc__fresh(&s->taken);
  arc__store(&s->sample[taken % ARC__SAMPLES], sample);
  ARC__STEP(1u);
  arc__store(&s->line, (int)(line >> 8 & 0x7fffffu));
  const int before = arc__fresh(&s->score);
  const bool summed = before > ARC__CLEAR && taken >= ARC__SAMPLES;
  /* While memory is fast, sums gain nothing; but they may be what makes it fast. */
  if (gain > 0 && !(line & ARC__SLOW)) gain = summed ? 0 : -5;
  const int change = gain - before / 128, score = before + change;
  const bool sums = score > ARC__CLEAR, turns = sums != summed && taken >= ARC__SAMPLES;
  arc__drop_in_red((unsigned *)&s->score, (unsigned)change);
  arc__drop_in_red(&s->taken, 1u);
  if (turns) arc__store(&s->taken, (unsigned)ARC__SAMPLES);
  /* More samples: rarer ones, more so while they agree. */
  const int rest = 31 - __clz((int)taken) - ((gain > 0) != sums ? 7 : 2);
  arc__store(&s->rest, taken < ARC__SAMPLES || rest < 0 ? 0 : rest < 5 ? rest : 5);
  /* Until a line's first decision, or so clear a no that samples may become rare, more warps are
     drawn for its word. */
  const bool known = taken >= ARC__SAMPLES - 1 || score <= -ARC__CLEAR;
  const unsigned of = (known ? 1u << line % 32u : 0u) | ARC__KNOWN;
  const unsigned on = !known ? 0u : sums ? of : (unsigned)ARC__KNOWN;
  arc__set_bits(&arc__learnt_here.sums[(line & 0xffu) / 32u], of, on);
}
/* Returns 1 if another multiprocessor was the last to add to the address, else 0. */
ARC__FN unsigned arc__elsewhere(unsigned word, unsigned line) {
  unsigned *const seen = &arc__statement_of(line)->seen[word % ARC__SAMPLES];
  const unsigned old = arc__fresh(seen), now = word << 8 | arc__multiprocessor();
  arc__store(seen, now);
  return (old ^ now) - 1u < 255u ? 1u : 0u;
}
/* Takes a sample; `lanes` call it together. No guarded vote follows arc__learn: nvcc would then
   guard the end of each statement, too. */
ARC__FN void arc__sample(unsigned lanes, unsigned word, unsigned line, bool vector) {
  unsigned sample = arc__elsewhere(word, line), same = __match_any_sync(arc__still(lanes), word);
  if (arc__leads(same, arc__lane())) sample = 1u << 7; /* sums save the other adds */
  same = (unsigned)(__popc(same) - 1) << 13 | 1u << 19;
  ARC__STEP(lanes);
  if (arc__leads(__match_any_sync(arc__still(lanes), word / 8u), arc__lane())) sample += same;
  sample = arc__sum_over(arc__still(lanes), sample | 1u << 25, 32) & 0x7fffffffu;
  if (arc__leads(arc__still(lanes), arc__lane())) arc__learn(sample | (unsigned)vector << 31, line);
}
/* line: of the statement, above its entry in the low byte. ARC__DRAWN stays as ARC__SLOW if a load
   from p takes long; lanes whose word is older than that of the drawn ones lack it. Most calls take
   no sample and load nothing: the high bits of the clock's product are as good as random. */
ARC__FN void arc__drawn(unsigned lanes, const unsigned *p, unsigned line, bool vector) {
  const unsigned chance = arc__clock() * 2654435761u >> 20, word = (unsigned)((arc__u64)p >> 2);
  bool takes = chance < 256u;
  if (takes) takes = chance < 256u >> arc__fresh(&arc__statement_of(line)->rest);
  if (!__any_sync(arc__still(lanes), takes)) return;
  const unsigned before = arc__clock_after(word);
  const bool slow = arc__clock_after(arc__fresh(p)) - before >= ARC__WAIT;
  if (!__any_sync(arc__still(lanes), slow)) line &= ~ARC__SLOW;
  arc__sample(lanes, word, line, vector);
}

/* Adds the values of the lanes that are here, which take a sample if one of them is drawn. Else it
   adds the sums of those that share an address, if many do. It stands out of line, the additions
   too, so that a statement is a test, an addition and a call. */
template <class T>
ARC__OUT_OF_LINE void arc__drop_in_learns(T *p, T v, unsigned line) {
  const unsigned lanes = arc__still(arc__lanes_here());
  bool adds = true;
  __syncwarp(lanes); /* earlier writes of these lanes come before the add, */
  if (__any_sync(lanes, line & ARC__DRAWN)) {
    arc__drawn(lanes, (const unsigned *)p, line, __is_class(T));
  } else {
    int same = 0;
    if (__popc(lanes) >= ARC__FEWEST) (void)__match_all_sync(lanes, (arc__u64)p, &same);
    if (same || __popc(lanes) >= ARC__FEWEST_OF_SEVERAL) {
      const unsigned group = same ? lanes : __match_any_sync(lanes, (arc__u64)p);
      v = arc__drop_in_total(lanes, group, arc__lane(), v);
      adds = arc__leads(group, arc__lane());
    }
  }
  if (adds) arc__drop_in_red(p, v);
  __syncwarp(arc__still(lanes)); /* and their later reads come after it */
}
#endif
#endif

/* Whether p points to shared memory, of this block or another, or to a local variable. __isGlobal
   also compares with the addresses of constants, which takes four instructions more; in the code of
   ARC_DROP_IN_SUMS nvcc unrolls more with it. */
ARC__FN bool arc__is_apart(const void *p) {
#if !defined(__CUDA_ARCH__) || ARC_DROP_IN == ARC_DROP_IN_SUMS
  return !__isGlobal(p);
#elif ARC__ARCH >= 900
  return __isClusterShared(p) || __isLocal(p);
#else
  return __isShared(p) || __isLocal(p);
#endif
}
template <class T>
ARC__FN void arc__drop_in_add(T *p, T v, arc__code_line at) {
#if ARC__ARCH >= 700 && ARC_DROP_IN == ARC_DROP_IN_LEARNS
  const unsigned says = arc__ask(ARC__WORD_OF(at.line)); /* first, so that it may go above a loop */
#endif
  /* Such a lane is none that the others wait for. Vectors add to global memory alone. */
  if (!__is_class(T) && arc__is_apart(p)) return (void)atomicAdd(p, v);
#if ARC__ARCH >= 700 && ARC_DROP_IN == ARC_DROP_IN_LEARNS
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(p)); /* nvcc would compute the address again in the other branch */
#endif
  const unsigned entry = arc__entry_of(at.line);
  if (says & (ARC__DRAWN | 1u << entry % 32u))
    return arc__drop_in_learns(p, v, (says & ARC__DRAWN) | (unsigned)at.line << 9 >> 1 | entry);
  arc__drop_in_red(p, v);
#else
  ARC__ASSUME_GLOBAL(p); /* nvcc does not find it out for vectors, and would wait for each add */
  const int lane = arc__lane();
  const unsigned lanes = arc__lanes_here();
  const unsigned group = arc__sharers(lanes, lane, p, ARC__FEWEST, ARC__FEWEST_OF_SEVERAL);
  arc__drop_in_sums(lanes, group, lane, p, v);
  (void)at;
#endif
}
ARC__FN void arc__drop_in_add(int *p, int v, arc__code_line at) {
  arc__drop_in_add((unsigned *)p, (unsigned)v, at);
}
#endif

/* Says whether `c ? atomicAdd(..) : u` must not compile. If U is a number, the expression is a U
   with the flag, but a Both without it. If U is not a number, compilers do the same with and
   without the flag, except that nvcc makes floats double. */
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

/* What atomicAdd returns. Converted to a value, it adds plainly; else its destructor adds. */
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
    arc__count_add(p, at, 0);
    return atomicAdd(p, v);
  }
  template <class U, int = 1 / __is_enum(U)>
  __device__ __forceinline__ explicit operator U() && {
    return (U)(T)(arc__drop_in_result &&) * this;
  }
  __device__ operator T() const volatile & { /* only results with a name */
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
/* Functions, not templates, so they accept what CUDA's accept, such as {1}, a result, an object.
   The template serves pointers to atomicAdd. It is of one type: if nvcc 13.0 had to find T for a
   call that is served, it would take the template's line for the caller's. */
#define ARC__DROP_IN_AS(T, RESULT, ...)                                         \
  template <>                                                                   \
  struct arc__drop_in_other<T> {};                                              \
  ARC_EXPERIMENTAL ARC__FN RESULT arc__drop_in(T *p, T v ARC__CALLER,           \
                                               arc__code_line at = ARC__HERE) { \
    return __VA_ARGS__;                                                         \
  }                                                                             \
  template <int = 0>                                                            \
  ARC__FN T arc__drop_in(T *p, T v) {                                           \
    return atomicAdd(p, v);                                                     \
  }
#define ARC__DROP_IN(T) ARC__DROP_IN_AS(T, arc__drop_in_result<T>, {p, v, at})
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
#if defined(ARC__OTHERS) /* of the profile */
#define ARC__OTHER(T) ARC__DROP_IN_AS(T, T, arc__count_add(p, at, -2), atomicAdd(p, v))
ARC__OTHERS(ARC__OTHER)
#endif
#if defined(__CUDACC__)
/* Serves what adds as without the flag: other types, and your overloads above this file (#define
   renames those below, and their calls). */
template <class T, class U = T, int = arc__drop_in_other<T>::is>
ARC__FN auto arc__drop_in(T *p, U v) -> decltype(atomicAdd(p, v)) {
  return atomicAdd(p, v);
}
namespace cub { /* CUB's adds stay as they are: its sort has no registers for a call */
template <class T, class U>
ARC__FN auto arc__drop_in(T *p, U v) -> decltype(atomicAdd(p, v)) {
  return atomicAdd(p, v);
}
}  // namespace cub
#if !defined(__clang__)
#pragma nv_diag_error 1290 /* printf */
#endif
#endif
#if defined(atomicAdd) && defined(__CUDACC__)
#error "arc/drop_in.cuh: your macro atomicAdd stands above: define it below, in place of arc's"
#endif
#undef atomicAdd /* of the CPU warp */
#define atomicAdd arc__drop_in
#elif !defined(ARC_DROP_IN_CUH) /* host code; if simt.cuh follows, it stops at this name */
#undef ARC__SKIPPED
#define ARC__SKIPPED "simt.cuh must come before arc/drop_in.cuh"
#endif /* ARC_DROP_IN_CUH */
