/* words.cuh - what a word is: in a register, on its way between lanes, in memory.
   SPDX-License-Identifier: Apache-2.0

   The lowest layer: it uses no calls, targets or paths. Every type adds as words of 32 or 64 bits,
   so that the reductions are written once: they move words, and only this file defines what a word
   means.

       >>machine  architecture, lanes, checks        >>values  words in registers
       >>lanes    who shares an address; redux.sync  >>memory  a sum in memory, and what adds it */
#ifndef ARC_WORDS_CUH
#define ARC_WORDS_CUH

/* ---- >>machine --------------------------------------------------------------------------- */

#if defined(__CUDA_ARCH__)
#define ARC__ARCH __CUDA_ARCH__
#elif defined(SIMT_ARCH)
#define ARC__ARCH SIMT_ARCH
#else
#define ARC__ARCH 0 /* nvcc's host pass: parsed, never run */
#endif

/* On the CPU warp nothing is forced inline, and arc__add is never inlined: it compiles in a 60th of
   the time, and gcc does not warn about reads beyond an array that is shorter than a chunk. */
#if defined(__CUDACC__)
#if defined(__CUDACC_DEBUG__) || (defined(__clang__) && defined(__CUDA__) && !defined(__OPTIMIZE__))
/* Inlined without optimisation, each call would take the assembler minutes. */
#define ARC__FN static __device__ inline
#else
#define ARC__FN static __device__ __forceinline__
#endif
#define ARC__ADD_FN ARC__FN
#else
#define ARC__FN static __device__ inline
#define ARC__ADD_FN ARC__FN __attribute__((noinline))
#endif
/* The names of structs tell layouts apart, so that units with other macros do not link by them: the
   pieces of a target, and whether a form records what it must end (ARC_CHECK 2). */
#if ARC_MAX_PIECES == 1
#define ARC__PIECES 1
#elif ARC_MAX_PIECES <= 4
#define ARC__PIECES 4
#else
#define ARC__PIECES 8
#endif
#define ARC__OF_PIECES(name, pieces) name##_of_##pieces
#define ARC__OF(name, pieces) ARC__OF_PIECES(name, pieces)
#define ARC__TARGET_TAG(name) ARC__OF(name, ARC__PIECES)
#if ARC_CHECK >= 2
#define ARC__FORM_TAG(name) ARC__OF(name##_checked, ARC__PIECES)
#else
#define ARC__FORM_TAG(name) ARC__OF(name, ARC__PIECES)
#endif

#if defined(__CUDA_ARCH__)
#define ARC__UNROLL _Pragma("unroll")
#define ARC__NO_UNROLL _Pragma("unroll 1")
#else
#define ARC__UNROLL
#define ARC__NO_UNROLL
#endif

/* On the CPU warp, a last parameter with a default value holds the line of the call: in the first
   declaration, and in a definition after it. */
#if defined(SIMT_CALLER)
#define ARC__CALLER ARC__LINE, SIMT_CALLER
#define ARC__CALLED ARC__LINE_OF, SIMT_CALLED
#else
#define ARC__CALLER ARC__LINE
#define ARC__CALLED ARC__LINE_OF
#endif
/* With arc/profile.cuh they count calls by line: such a parameter, what a form passes on for
   it, and the call on its way to arc__add. */
#if ARC_PROFILE && defined(ARC_DROP_IN_CUH)
#define ARC__LINE_OF , arc__code_line arc__at __attribute__((unused))
#define ARC__LINE ARC__LINE_OF = ARC__HERE
#define ARC__PASSED(name) \
  , arc__code_line { arc__at.file, arc__at.line, name }
#define ARC__COUNTED(call) arc__count_call(call, arc__at)
#else
#define ARC__LINE
#define ARC__LINE_OF
#define ARC__PASSED(name)
#define ARC__COUNTED(call) call
#endif

/* Set to 0: words beyond a run-time width would otherwise stay live from call to call. */
#define ARC__WORDS(w, count) arc__word w[count] = {{0u, 0u}}

/* A loop over i from 0 to count - 1; count is at most `most`, a literal. Compilers unroll it to
   `most` steps before they know count, each behind `if (i < count)`, so that an array indexed by i
   is registers. Four steps stand behind one more test, by which a run-time count skips them. */
#define ARC__EACH(i, count, most)                                                              \
  ARC__UNROLL for (int i##_four = 0; i##_four < (most); i##_four += 4) if (i##_four < (count)) \
      ARC__UNROLL for (int i = i##_four; i < i##_four + 4 && i < (most); ++i) if (i < (count))

/* The statements for each i in [0, count), up to 4. No loop: with literal indices in the source,
   compilers see widths before they unroll the loops over values. */
#define ARC__ONE_OF(i, number, count, ...) \
  {                                        \
    const int i = number;                  \
    if (i < (count)) __VA_ARGS__           \
  }
#define ARC__EACH_OF_4(i, count, ...)   \
  ARC__ONE_OF(i, 0, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 1, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 2, count, __VA_ARGS__) ARC__ONE_OF(i, 3, count, __VA_ARGS__)
#define ARC__WARP 32

/* A failed check ends like a device assert(), by __assertfail, which NVRTC declares itself:
   message, file and line reach stderr when the host next synchronises, and the launch fails. */
#if defined(__CUDACC__)
#if !defined(__CUDACC_RTC__)
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line,
                                        const char *function, size_t char_bytes);
#endif
#define ARC__FAIL(message) __assertfail(message, __FILE__, __LINE__, __func__, 1)
#else
#define ARC__FAIL(message) SIMT_CHECK_FAILED(message)
#endif
#define ARC__CHECK(level, condition, message)                             \
  do {                                                                    \
    if (ARC_CHECK >= (level) && !(condition)) ARC__FAIL("arc: " message); \
  } while (0)

#if defined(SIMT_ON_CPU) && SIMT_ON_CPU
#define ARC__WIDTH_CHECK 0 /* always: widths divide, which a CPU does not survive */
#else
#define ARC__WIDTH_CHECK 1
#endif

ARC__FN int arc__thread(void) {
  return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

ARC__FN int arc__lane(void) {
#if defined(__CUDA_ARCH__)
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return arc__thread() & (ARC__WARP - 1);
#endif
}

/* The lanes that are here, as a mask of each lane (arc__make_mask_of_lane). */
ARC__FN unsigned arc__lanes_here(void) { return __activemask() | 1u << arc__lane(); }

ARC__FN unsigned arc__lanes_below(int lane) { return (1u << lane) - 1u; }
ARC__FN bool arc__leads(unsigned group, int lane) { return group >> lane == 1u; }

/* x, 0 to 63, from a population count: compilers recompute anything cheaper in every call. */
ARC__FN int arc__opaque(int x) {
#if !defined(__CUDA_ARCH__) /* where shifts stop at 64, and x & 63 would be one instruction more */
  x &= 63;
#endif
  return __popcll((1ull << x) - 1u);
}

/* mask must not be empty. The highest lane is one instruction cheaper to find than the lowest. */
ARC__FN int arc__lowest(unsigned mask) { return __ffs((int)mask) - 1; }
ARC__FN int arc__highest(unsigned mask) { return 31 - __clz((int)mask); }

typedef unsigned long long arc__u64;

/* ---- >>lanes ----------------------------------------------------------------------------- */

/* Of lanes that arrived together, those that have this lane's address. 0 in every lane if sums
   would not pay: with fewer lanes than `one` or, if addresses differ, than `several`; if addresses
   fall at most three times from lane to lane (in coalesced rows all differ, and what a few rows
   share the hardware adds at once); or if no lane has the address of one of the three lanes below
   it. All of `lanes` call, each with its own bit set. */
ARC__FN unsigned arc__sharers(unsigned lanes, int lane, const void *address, int one, int several) {
#if ARC__ARCH >= 700
  const unsigned low = (unsigned)(arc__u64)address, high = (unsigned)((arc__u64)address >> 32);
  unsigned below = lanes & arc__lanes_below(lane);
  int count = __popc(lanes), same;
  if (count < one) return 0u;
  (void)__match_all_sync(lanes, (arc__u64)address, &same);
  if (same) return lanes;
  if (count < several) return 0u;
  unsigned next = __shfl_sync(lanes, low, below ? arc__highest(below) : lane);
  if (__popc(__ballot_sync(lanes, below && low <= next)) <= 3) return 0u;
  bool shares = below && low == next;
  ARC__UNROLL
  for (int i = 0; i < 2; ++i) {
    below &= ~(1u << (below ? arc__highest(below) : 0));
    next = __shfl_sync(lanes, low, below ? arc__highest(below) : lane);
    shares = shares || (below && low == next);
  }
  if (!__any_sync(lanes, shares)) return 0u;
  unsigned group = __match_any_sync(lanes, low);
  return __any_sync(lanes, high != __shfl_sync(lanes, high, arc__highest(group))) ? 0u : group;
#else
  (void)lanes, (void)lane, (void)address, (void)one, (void)several;
  return 0u;
#endif
}

/* The sum of the words of all `lanes`, which call; only for sm_80 and newer. */
ARC__FN unsigned arc__redux(unsigned lanes, unsigned word) {
#if ARC__ARCH >= 800
  return __reduce_add_sync(lanes, word);
#else
  return (void)lanes, word;
#endif
}

/* ---- >>values ---------------------------------------------------------------------------- */

typedef struct arc__word {
  unsigned lo, hi; /* hi: of 64 bits, else 0 */
} arc__word;

/* Kinds of words in registers and of values in memory. A kind has a number in bits 0 to 7, the
   bytes of a value in bits 8 to 14, and the bit ARC__FLOAT if words are added as floats. Signed
   integers are added as unsigned ones, so that they wrap. */
#define ARC__FLOAT 0x8000
#define ARC__F32 (ARC__FLOAT | 0x401)
#define ARC__F64 0x802
#define ARC__I32 0x403
#define ARC__I64 0x804
#define ARC__FIXED 0x807                  /* 64-bit fixed point */
#define ARC__WINDOWS 0x809                /* in memory only: a word of a sum that has several */
#define ARC__F16 0x205                    /* in memory only */
#define ARC__BF16 0x206                   /* the same */
#define ARC__ORDERED (ARC__FLOAT | 0x408) /* in registers: sums that no compiler may contract */
#define ARC__OWN 0x10000    /* with a kind in registers: in shared memory, a warp's own */
#define ARC__SHARED 0x20000 /* with ARC__WINDOWS: in shared memory */

ARC__FN int arc__bytes(int kind) { return kind >> 8 & 15; }
ARC__FN bool arc__is_half(int kind) { return arc__bytes(kind) == 2; }
ARC__FN bool arc__is_float(int kind) { return (kind & ARC__FLOAT) != 0; }
ARC__FN bool arc__is_i64(int kind) { return arc__bytes(kind) == 8 && kind != ARC__F64; }
ARC__FN bool arc__has_windows(int kind) { return (kind & 0xffff) == ARC__WINDOWS; }

ARC__FN arc__word arc__word_of(arc__u64 bits) {
  arc__word w = {(unsigned)bits, (unsigned)(bits >> 32)};
  return w;
}

ARC__FN arc__word arc__word_of_f64(double x) {
  return arc__word_of((arc__u64)__double_as_longlong(x));
}

ARC__FN arc__u64 arc__bits(arc__word w) { return (arc__u64)w.hi << 32 | w.lo; }
ARC__FN double arc__f64(arc__word w) { return __longlong_as_double((long long)arc__bits(w)); }

/* x + neutral is x, bit for bit: negative zero, since -0 + 0 would be +0. */
ARC__FN arc__word arc__neutral(int kind) {
  unsigned sign = 0x80000000u;
  arc__word w = {arc__is_float(kind) ? sign : 0u, kind == ARC__F64 ? sign : 0u};
  return w;
}

ARC__FN unsigned arc__sum_f32(int kind, unsigned a, unsigned b) {
  float x = __uint_as_float(a), y = __uint_as_float(b);
  return __float_as_uint(kind == ARC__F32 ? x + y : __fadd_rn(x, y));
}

ARC__FN arc__word arc__sum_i64(int kind, arc__word a, arc__word b) {
  arc__u64 x = arc__bits(a), y = arc__bits(b), sum = x + y;
  ARC__CHECK(2, kind != ARC__FIXED || ((x ^ sum) & (y ^ sum)) >> 63 == 0u,
             "a sum in a fixed target overflows");
  ARC__CHECK(2, !arc__has_windows(kind) || sum + (1ull << 62) < 1ull << 63,
             "a word of a sum is beyond half its range: normalise its row");
  return arc__word_of(sum);
}

ARC__FN arc__word arc__sum(int kind, arc__word a, arc__word b) {
  if (kind == ARC__F64) return arc__word_of_f64(arc__f64(a) + arc__f64(b));
  if (arc__is_i64(kind)) return arc__sum_i64(kind, a, b);
  a.lo = kind == ARC__I32 ? a.lo + b.lo : arc__sum_f32(kind, a.lo, b.lo);
  return a;
}

/* A zero of either sign. */
ARC__FN bool arc__is_zero(int kind, arc__word w) {
  arc__word sign = arc__neutral(kind);
  return (w.lo & ~sign.lo) == 0u && (w.hi & ~sign.hi) == 0u;
}

/* Shuffles of whole words. */
#define ARC__SHUFFLE(name)                                                         \
  ARC__FN arc__word arc__##name(int kind, unsigned lanes, arc__word w, int lane) { \
    w.lo = __##name##_sync(lanes, w.lo, lane);                                     \
    if (arc__bytes(kind) == 8) w.hi = __##name##_sync(lanes, w.hi, lane);          \
    return w;                                                                      \
  }
ARC__SHUFFLE(shfl)
ARC__SHUFFLE(shfl_xor)
ARC__SHUFFLE(shfl_up)
ARC__SHUFFLE(shfl_down)

/* A lane keeps one of two words, in *low, and sends the other, which is returned: the lower lane
   (upper is 0) keeps *low, the upper one high. SEL throughput limits the reduction, so on the
   device the kept word moves by a predicated addition of -0. That needs `may_clobber`: if another
   branch reads the word too, ptxas copies it before the write, and then a select is cheaper. Both
   are PTX, so that all of a lane's predicates come from one instruction, R2P. `sent` keeps send
   from being written before all is read; CUDA 11 has no early clobber, "=&f". */
#define ARC__KEEP_AND_SEND(keep_high)                                        \
  asm("{\n\t.reg .pred upper;\n\t.reg .f32 sent;\n\t"                        \
      "setp.ne.s32 upper, %3, 0;\n\t"                                        \
      "selp.f32 sent, %0, %2, upper;\n\t" keep_high "mov.f32 %1, sent;\n\t}" \
      : "+f"(keep), "=f"(send)                                               \
      : "f"(__uint_as_float(high)), "r"(upper))
ARC__FN unsigned arc__keep_and_send(int kind, bool may_clobber, int upper, unsigned *low,
                                    unsigned high) {
#if defined(__CUDA_ARCH__)
  float keep = __uint_as_float(*low), send;
  if (arc__is_float(kind) && may_clobber)
    ARC__KEEP_AND_SEND("@upper add.f32 %0, %2, 0f80000000;\n\t");
  else
    ARC__KEEP_AND_SEND("selp.f32 %0, %2, %0, upper;\n\t");
  *low = __float_as_uint(keep);
  return __float_as_uint(send);
#else
  (void)kind, (void)may_clobber;
  unsigned send = upper ? *low : high;
  *low = upper ? high : *low;
  return send;
#endif
}

/* w plus the word of the lane `distance` below, if that is lane `start` or a higher one; else w.
   The whole warp calls. On the device the shuffle's predicate says which. */
ARC__FN arc__word arc__sum_from_below(int kind, arc__word w, int distance, int start) {
#if defined(__CUDA_ARCH__)
  if (arc__is_float(kind) && arc__bytes(kind) == 4) {
    float sum = __uint_as_float(w.lo);
    asm volatile(
        "{\n\t.reg .pred inside;\n\t.reg .f32 other;\n\t"
        "shfl.sync.up.b32 other|inside, %0, %1, %2, 0xffffffff;\n\t"
        "@inside add.rn.f32 %0, %0, other;\n\t}"
        : "+f"(sum)
        : "r"(distance), "r"(start));
    w.lo = __float_as_uint(sum);
    return w;
  }
#endif
  arc__word other = arc__shfl_up(kind, ARC_LANES_ALL, w, distance);
  return arc__lane() - distance >= start ? arc__sum(kind, w, other) : w;
}

/* ---- >>memory ---------------------------------------------------------------------------- */

#if ARC__ARCH >= 700
#define ARC__RELAXED "relaxed."
#else
#define ARC__RELAXED "" /* PTX has no such qualifier there; red and atom are relaxed anyway */
#endif

/* An addition or exchange on memory; its scope is a literal. */
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 600
#define ARC__IN_SCOPE(scope, operation, ...) \
  ((scope) == ARC_SCOPE_SYSTEM ? operation##_system(__VA_ARGS__) : operation(__VA_ARGS__))
#else
#define ARC__IN_SCOPE(scope, operation, ...) ((void)(scope), operation(__VA_ARGS__))
#endif

/* The most that one reduction instruction may add: 16 bytes, or one word. */
ARC__FN int arc__most_log2(int memory) {
  bool has_vectors = memory == ARC__F32 || arc__is_half(memory);
  return has_vectors && ARC__ARCH >= 900 && ARC_VECTOR_ATOMICS ? 4 : 2;
}

/* A half of 16 bits from a float, rounded to nearest even, and back from the lower bits. */
ARC__FN unsigned arc__half(int memory, float x) {
  unsigned bits = __float_as_uint(x);
#if defined(__CUDACC__)
  unsigned short half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
#else
  unsigned short half = simt_cvt_rn_f16_f32(x);
#endif
  if (memory == ARC__F16) return half;
  return x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

ARC__FN float arc__half_value(int memory, unsigned half) {
  if (memory == ARC__BF16) return __uint_as_float(half << 16);
#if defined(__CUDACC__)
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)half));
  return x;
#else
  return simt_cvt_f32_f16((unsigned short)half);
#endif
}

/* Value i of an array of them in memory, as a word of a register. */
ARC__FN arc__word arc__read(int kind, const void *values, int i) {
  arc__word w = {0u, 0u};
  if (kind == ARC__F64) w = arc__word_of_f64(((const double *)values)[i]);
  if (arc__is_i64(kind)) w = arc__word_of(((const arc__u64 *)values)[i]);
  if (kind == ARC__I32) w.lo = ((const unsigned *)values)[i];
  if (kind == ARC__F32) w.lo = __float_as_uint(((const float *)values)[i]);
  if (arc__is_half(kind))
    w.lo = __float_as_uint(arc__half_value(kind, ((const unsigned short *)values)[i]));
  return w;
}

/* The reverse; not of halves. */
ARC__FN void arc__write(int kind, void *values, int i, arc__word w) {
  if (kind == ARC__F64) ((double *)values)[i] = arc__f64(w);
  if (arc__is_i64(kind)) ((arc__u64 *)values)[i] = arc__bits(w);
  if (kind == ARC__I32) ((unsigned *)values)[i] = w.lo;
  if (kind == ARC__F32) ((float *)values)[i] = __uint_as_float(w.lo);
}

/* A word of two halves; `low` lies at the lower address. */
ARC__FN arc__word arc__pack(int memory, float low, float high) {
  arc__word w = {0u, 0u};
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 800
  if (memory == ARC__F16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w.lo) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w.lo) : "f"(high), "f"(low));
#else
  w.lo = arc__half(memory, low) | arc__half(memory, high) << 16;
#endif
  return w;
}

/* 64-bit fixed point. */
ARC__FN arc__word arc__fixed(float x) {
  ARC__CHECK(2, x > -9223372036854775808.0f && x < 9223372036854775808.0f,
             "a value or sum is not below 2^(63 - scale_log2), the range of a fixed target");
  return arc__word_of((arc__u64)__float2ll_rn(x));
}

/* What is added to memory for a word of a register, or for two that share a word of memory. */
ARC__FN arc__word arc__stored(int kind, int memory, arc__word w, arc__word next, float scale) {
  float x = __uint_as_float(w.lo);
  if (memory == ARC__FIXED && kind == ARC__ORDERED) return arc__fixed(x * scale);
  if (arc__is_half(memory)) return arc__pack(memory, x, __uint_as_float(next.lo));
  return kind == ARC__F32 && memory == ARC__F64 ? arc__word_of_f64(x) : w;
}

/* A word of memory and what is added to it. */
ARC__FN arc__word arc__sum_stored(int memory, arc__word a, arc__word b) {
  if (!arc__is_half(memory)) return arc__sum(memory, a, b);
  return arc__pack(memory, arc__half_value(memory, a.lo) + arc__half_value(memory, b.lo),
                   arc__half_value(memory, a.lo >> 16) + arc__half_value(memory, b.lo >> 16));
}

/* By compare-and-swap, on a word of memory, if no instruction adds the type. */
ARC__FN void arc__swap(int memory, int scope, char *address, arc__word w) {
  arc__word seen = {0u, 0u}, old; /* a wrong guess costs one more round */
  do {
    old = seen;
    arc__word sum = arc__sum_stored(memory, old, w);
    if (memory == ARC__F64)
      seen = arc__word_of(
          ARC__IN_SCOPE(scope, atomicCAS, (arc__u64 *)address, arc__bits(old), arc__bits(sum)));
    else
      seen.lo = ARC__IN_SCOPE(scope, atomicCAS, (unsigned *)address, old.lo, sum.lo);
  } while (seen.lo != old.lo || seen.hi != old.hi);
}

/* Tells compilers that an address is global, if they cannot find it out. */
#if defined(__CUDA_ARCH__)
#define ARC__ASSUME_GLOBAL(address)          \
  do {                                       \
    const bool global = __isGlobal(address); \
    __builtin_assume(global);                \
  } while (0)
#else
#define ARC__ASSUME_GLOBAL(address) ((void)(address))
#endif

/* Puts w into a word of shared memory, and returns what was there. */
ARC__FN arc__word arc__atomic_exchange(int kind, char *address, arc__word w) {
  if (arc__bytes(kind) == 8) return arc__word_of(atomicExch((arc__u64 *)address, arc__bits(w)));
  w.lo = atomicExch((unsigned *)address, w.lo);
  return w;
}

/* The instruction `red` adds floats or pairs of halves to global memory. The asm converts the
   address to a global one: as a separate operand it is computed twice. */
#define ARC__RED(type, operands, ...)                                                       \
  if (scope == ARC_SCOPE_SYSTEM)                                                            \
    asm volatile(ARC__RED_AT("sys", type, operands)::"l"(address), __VA_ARGS__ : "memory"); \
  else                                                                                      \
    asm volatile(ARC__RED_AT("gpu", type, operands)::"l"(address), __VA_ARGS__ : "memory")
#define ARC__RED_AT(scope, type, operands)                                               \
  "{.reg .u64 at; cvta.to.global.u64 at, %0; red." ARC__RELAXED scope ".global.add" type \
  " [at], " operands ";}"
#define ARC__RED_VECTOR(ftz, type)                                                           \
  {                                                                                          \
    if (count == 2) {                                                                        \
      ARC__RED(ftz ".v2" type, "{%1, %2}", "r"(w[0].lo), "r"(w[1].lo));                      \
    } else {                                                                                 \
      ARC__RED(ftz ".v4" type, "{%1, %2, %3, %4}", "r"(w[0].lo), "r"(w[1].lo), "r"(w[2].lo), \
               "r"(w[3].lo));                                                                \
    }                                                                                        \
  }

#if !defined(__CUDACC__) && ARC__ARCH >= 900 /* the CPU warp; as an older GPU it has no `red` */
ARC__FN void arc__red(int memory, int, char *address, const arc__word *w, int count) {
  unsigned words[4] = {0u};
  for (int i = 0; i < count; ++i) words[i] = w[i].lo;
  if (memory == ARC__F32) simt_red_add_f32(address, words, count);
  if (memory == ARC__F16) simt_red_add_f16x2(address, words, count);
  if (memory == ARC__BF16) simt_red_add_bf16x2(address, words, count);
}
#define arc__red_halves(memory, scope, address, w) arc__red(memory, scope, address, w, 1)
#elif defined(__CUDA_ARCH__) && ARC__ARCH >= 900
ARC__FN void arc__red(int memory, int scope, char *address, const arc__word *w, int count) {
  if (memory == ARC__F32) ARC__RED_VECTOR("", ".f32")
  if (memory == ARC__F16) ARC__RED_VECTOR(".noftz", ".f16x2")
  if (memory == ARC__BF16) ARC__RED_VECTOR(".noftz", ".bf16x2")
}
ARC__FN void arc__red_halves(int memory, int scope, char *address, const arc__word *w) {
  if (memory == ARC__F16) {
    ARC__RED(".noftz.f16x2", "%1", "r"(w->lo));
  } else {
    ARC__RED(".noftz.bf16x2", "%1", "r"(w->lo));
  }
}
#else
#define arc__red(memory, scope, address, w, count) ((void)0)
ARC__FN void arc__red_halves(int memory, int scope, char *address, const arc__word *w) {
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 600
  if (memory == ARC__F16) {
    ARC__RED(".noftz.f16x2", "%1", "r"(w->lo));
    return;
  }
#endif
  arc__swap(memory, scope, address, *w);
}
#endif

/* Adds one word or, in global memory, aligned to all of them, 2 or 4 words of floats or halves. */
ARC__FN void arc__request(int memory, int scope, char *address, const arc__word *w, int count) {
  if (count > 1) {
    arc__red(memory, scope, address, w, count);
    return;
  }
  if (arc__is_half(memory)) arc__red_halves(memory, scope, address, w);
  if ((memory & ARC__OWN) != 0) { /* nobody else adds there */
    const int kind = memory & ~ARC__OWN;
    arc__write(kind, address, 0, arc__sum(kind, arc__read(kind, address, 0), w[0]));
  }
  if (memory == ARC__F32) {
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 600
    if (__isGlobal(address)) { /* clang 23 makes a loop of atomicAdd: llvm issue 225030 */
      ARC__RED(".f32", "%1", "f"(__uint_as_float(w[0].lo)));
    } else
#endif
      ARC__IN_SCOPE(scope, atomicAdd, (float *)address, __uint_as_float(w[0].lo));
  }
  if (memory == ARC__I32) ARC__IN_SCOPE(scope, atomicAdd, (unsigned *)address, w[0].lo);
  if (arc__is_i64(memory) && (memory & ARC__OWN) == 0) {
    arc__u64 old = ARC__IN_SCOPE(scope, atomicAdd, (arc__u64 *)address, arc__bits(w[0]));
    (void)arc__sum(memory, arc__word_of(old), w[0]); /* ARC_CHECK 2 */
  }
#if ARC__ARCH >= 900 || (defined(__CUDACC__) && ARC__ARCH >= 600)
  if (memory == ARC__F64) ARC__IN_SCOPE(scope, atomicAdd, (double *)address, arc__f64(w[0]));
#else
  if (memory == ARC__F64) arc__swap(memory, scope, address, w[0]);
#endif
}

ARC__FN void arc__atomic_add(int memory, int scope, char *address, arc__word w) {
  arc__request(memory, scope, address, &w, 1);
}

#endif /* ARC_WORDS_CUH */
