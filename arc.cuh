/* arc.cuh - makes "many lanes add to the same few addresses" cheap on any NVIDIA GPU.
   Copyright 2026 the arc authors. SPDX-License-Identifier: Apache-2.0

   before
       for (int i = 0; i < 9; ++i)
         if (hit) atomicAdd(&grad[9 * id + i], g[i]);

   after
       #include "arc.cuh"
       arc_target_f32 t = arc_target_f32_rows(grad, 9, 9);             // once, above the loop
       arc_add_f32(t, id, g, hit, ARC_BALANCE_THRESHOLD);              // the whole warp calls

   Each call counts the active lanes and how many of them share a key. Few: plain (vector) atomics.
   Many: the values are summed in registers and each sum leaves the warp once.

   Words. A lane adds n values (n: the width) to the parameters of the primitive that its key names;
   the target says where in memory they lie. A group is the active lanes of a warp that hold one
   key. The owner of a sum is the lane that ends up with it.

   Contents (search for the mark)
       >>api          targets, adds, options
       >>platform     architecture, lane masks, checks
       >>values       the only code that knows the type of a value
       >>target       where parameters lie, which lane owns which, the default decision
       >>emit         sums and values leave for memory
       >>serialized   >>butterfly   >>transposed   >>tree      the reductions
       >>check        what ARC_CHECK 2 reports
       >>paths        which reduction for which lanes
       >>entries      the public names
       >>moved        names of version 0.1

   What one call costs a warp, n values, S(n) = shuffles of the transposed reduction
   (n = 1: 5, 3: 6, 4: 6, 8: 9, 9: 12, 10: 12, 12: 13, 16: 16, 32: 31)
       path         shuffles                         requests
       atomic       0                                n from every lane (*)
       serialized   n x (largest group - 1)          n from one lane a group
       butterfly    5 n                              n from one lane
       transposed   S(n) a group                     1 a group, coalesced
       two groups   n + S16(n) (***)                 1, coalesced (auto only)
       tree         n a round, n + 1 mixed (**)      n from one lane a group (*)
       (*) n/4 with vector reductions. (**) ceil(log2(largest group)) rounds; n + 1 where the lanes
       of a group are not neighbours. (***) S of 16 lanes: 8 for n = 8, 11 for n = 9 and 10.
       An empty warp costs one vote, on the atomic path nothing.

   Contract of every add. Each active lane's values are added to its key's parameters exactly
   once. The caller's values are not modified. An inactive lane's key, values and pointers are
   never read, except where a promise allows it. NaN or infinity in one value reaches that
   parameter of that key and no other. The order of additions is unspecified, so float results may
   differ in the last bits from run to run and with the threshold. Additions are relaxed and return
   nothing.

   Width. A literal width up to 128 compiles to registers only: no stack frame, no spill but of the
   caller's own values. A width known at run time only costs a few uniform branches for each four
   values; the values are then indexed at run time, so they should lie in memory, or the call
   should state a literal bound (options.max_width), which keeps a local array in registers.

   JIT users: NVRTC takes arc.cuh and arc_policy.cuh as two named strings, CuPy and other Python
   packages an include path (examples/python); nothing else is included. */
#if !defined(ARC_CUH) && !defined(__CUDACC__) && !defined(SIMT_ON_CPU)
#define ARC_CUH /* leaves out all that follows, which would be a wall of errors */
#error \
    "arc.cuh: compile this file as CUDA (nvcc: name it .cu or pass -x cu), or include simt/simt.cuh first to run on the CPU"
#endif
#ifndef ARC_CUH
#define ARC_CUH

#include "arc_policy.cuh"

/* ---- >>api ------------------------------------------------------------------------------- */

#define ARC_MAX_PIECES 8
#define ARC_LANES_ALL 0xffffffffu
#define ARC_LANES_HERE 0u /* whichever lanes get here together; a literal */

/* T is the type of a value, S its suffix: float, f32. >>entries defines all this for each type.

       typedef struct arc_piece_S { T *base; int stride, width; } arc_piece_S;
   One array of rows that holds some of a primitive's parameters: parameter i of key k lies at
   base[k * stride + i], 0 <= i < width. stride and width in values; |stride| < 2^29; keys may be
   negative and k * stride may exceed 2^31. base: aligned to one value.
   Alignment is read from base and stride: rows aligned to 16 bytes by both get 16-byte reductions
   on sm_90 and newer, to 8 bytes 8-byte ones. So the stride must be the true distance of two rows:
   rows(p, 2, 2) with key k adds in one request what rows(p, 1, 2) with key 2 k adds in two.

       arc_target_S arc_target_S_rows(T *base, int stride, int width);
       arc_target_S arc_target_S_pieces(const arc_piece_S *pieces, int count);
   A target of one array of rows, or of 1 to 8: piece 0 holds a primitive's first parameters, and so
   on. The target's width is the sum of theirs.
   Who calls: any lane, in any control flow; it belongs above the loop, once a thread. A target is
   bound to the calling lane: do not pass it to another one. Passing it to a function that is not
   inlined makes its pieces run-time values: correct, slow, and longer to compile.
   Cost: about 20 instructions with a literal width, 4 more for each further piece. ARC_CHECK 1
   reports a wrong count or width, and a stride below the width (0, one row for all keys, is legal).

   Adds. `values` holds as many values as the target is wide. On every path a group of at least
   `threshold` lanes is reduced in registers, a smaller one goes to plain atomics: 0..33, or
   ARC_THRESHOLD_AUTO, by which arc decides, or ARC_THRESHOLD_CONTENDED, for rows that the whole
   grid adds to at once; ARC_BALANCE_THRESHOLD is the compile-time default to pass. Path and
   promises are those of the macros in arc_policy.cuh. Source: ARC paper, sections 4.4 and 5.5.

       void arc_add_S(arc_target_S target, int key, const T *values, bool active, int threshold);
   Keys may differ from lane to lane.
   Who calls: all 32 lanes of the warp, converged or not, with the same target and threshold.
   active: whether this lane takes part; nothing else is read from a lane that does not.

       void arc_add_uniform_S(target, key, values, active, threshold);
   One key a warp: all active lanes hold the same key, so that no match is paid.
   Who calls: all 32 lanes of the warp. ARC_CHECK 2 reports keys that differ.

       void arc_add_masked_S(target, key, values, active, unsigned lane_mask, threshold);
   For a partial warp: a block whose size is not a multiple of 32, lanes that have returned.
   Who calls: exactly the lanes named in lane_mask, with the same mask; keys may differ.
   A full mask is as fast as arc_add_S; any other one is correct and reduces with the tree.

       void arc_add_divergent_S(target, key, values, threshold);
   From divergent code: whichever lanes get here, in any subset and interleaving; each is active.
   Lanes that happen to arrive together are reduced together, the others are correct all the same.
   Below sm_70 this is plain atomics.

       void arc_add_with_S(target, key, values, active, arc_options options);
   The general form of the four above:
       arc_options o = arc_options_default();
       o.path = ARC_PATH_TREE;
       o.promises |= ARC_PROMISE_ONE_KEY;
       arc_add_with_f32(t, id, g, hit, o);
   Where a path cannot serve (butterfly: several keys or a partial warp; transposed: a partial
   warp), the papers' fallback does: plain atomics for butterfly, the tree for transposed.

       void arc_add_pointers_S(T *const *pointers, int width, key, values, active, threshold);
       ..._masked_S, ..._divergent_S, ..._with_S: pointers and width in place of the target
   The papers' form: value i goes to *pointers[i], and all lanes of one key hold the same pointers.
   Only the papers' paths: atomic, serialized, butterfly; any other one, auto too, is butterfly
   where the active lanes of a full warp hold one key, else serialized. No vector reductions.
   Who calls: as the adds of the same names. Prefer a target.

       void arc_atomic_add_S(T *address, T value);
   Adds value to *address without a result: the scalar drop-in for atomicAdd.
   Who calls: any lane. address: global or shared memory, aligned to one value. */

/* What one call does; arc_options arc_options_default(void) returns what the macros say, for all
   lanes of a warp. Path and promises must be literals; a literal field costs nothing. A path chosen
   at run time is a switch in the caller: examples/tuned.cu. */
typedef struct arc_options {
  int path;           /* ARC_PATH_... */
  int promises;       /* ARC_PROMISE_..., joined by | */
  int threshold;      /* 0..33, ARC_THRESHOLD_AUTO; may be known at run time only */
  unsigned lane_mask; /* who calls: ARC_LANES_ALL, a mask as above, or ARC_LANES_HERE */
  int max_width;      /* a literal bound of a width known at run time only; 0: none */
} arc_options;

/* ---- >>platform -------------------------------------------------------------------------- */

#if defined(__CUDA_ARCH__)
#define ARC__ARCH __CUDA_ARCH__
#elif defined(SIMT_ARCH)
#define ARC__ARCH SIMT_ARCH
#else
#define ARC__ARCH 0 /* nvcc's host pass: parsed, never run */
#endif

/* On the CPU warp nothing is forced inline, and arc__add never: it compiles in a 60th of the time,
   and gcc does not warn of what an array shorter than a chunk would suffer if it were walked. */
#if defined(__CUDACC__)
#define ARC__FN static __device__ __forceinline__
#define ARC__ADD_FN ARC__FN
#define ARC__UNROLL _Pragma("unroll")
#else
#define ARC__FN static __device__ inline
#define ARC__ADD_FN ARC__FN __attribute__((noinline))
#define ARC__UNROLL
#endif

/* On the CPU warp, a last parameter that callers leave out holds the line of the call. */
#if defined(SIMT_CALLER)
#define ARC__CALLER , SIMT_CALLER
#else
#define ARC__CALLER
#endif

/* Set to 0: words that a run-time width leaves out would otherwise stay live from call to call. */
#define ARC__WORDS(w, count) arc__word w[count] = {{0u, 0u}}

/* for i in [0, count), count <= most. The literal `most` lets compilers unroll before they know
   count, so that arrays indexed by i are registers; a run-time count skips four at a time. */
#define ARC__EACH(i, count, most)                                                              \
  ARC__UNROLL for (int i##_four = 0; i##_four < (most); i##_four += 4) if (i##_four < (count)) \
      ARC__UNROLL for (int i = i##_four; i < i##_four + 4 && i < (most); ++i) if (i < (count))

/* The statements for each piece i of a target. Written out, not a loop: an index that is a literal
   in the source lets the compiler see the widths before it unrolls the loops over values. */
#define ARC__PIECE(i, number, count, ...) \
  {                                       \
    const int i = number;                 \
    if (i < (count)) __VA_ARGS__          \
  }
#define ARC__EACH_PIECE(i, count, ...) \
  ARC__PIECE(i, 0, count, __VA_ARGS__) \
  ARC__PIECE(i, 1, count, __VA_ARGS__) \
  ARC__PIECE(i, 2, count, __VA_ARGS__) \
  ARC__PIECE(i, 3, count, __VA_ARGS__) \
  ARC__PIECE(i, 4, count, __VA_ARGS__) \
  ARC__PIECE(i, 5, count, __VA_ARGS__) \
  ARC__PIECE(i, 6, count, __VA_ARGS__) ARC__PIECE(i, 7, count, __VA_ARGS__)

#define ARC__WARP 32

/* for first = 0, most, ... below the width: the one place where chunks are walked. Unrolled where
   the width, or a bound of it, is a literal. */
#define ARC__CHUNKS(c, first, most)                                                       \
  ARC__UNROLL for (int first = 0; first < ((c)->max_width ? (c)->max_width : (c)->width); \
                   first += (most)) if (first < (c)->width)

/* A failed check ends the way a device assert() does: message, file and line reach stderr when the
   host next synchronises, and the launch fails. __assertfail is what the CUDA driver provides for
   it; NVRTC declares it by itself. */
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

ARC__FN int arc__lane(void) {
#if defined(__CUDA_ARCH__)
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u);
#endif
}

ARC__FN unsigned arc__lanes_below(int lane) { return (1u << lane) - 1u; }

/* x, 0 to 63, out of a population count: compilers compute what is cheaper anew in every call. */
ARC__FN int arc__kept(int x) { return __popcll((1ull << x) - 1u); }

/* mask must not be empty. The highest lane is one instruction cheaper to find than the lowest. */
ARC__FN int arc__lowest(unsigned mask) { return __ffs((int)mask) - 1; }
ARC__FN int arc__highest(unsigned mask) { return 31 - __clz((int)mask); }

ARC__FN bool arc__leads(unsigned group, int lane) { return group >> lane == 1u; }

/* base + key * stride, 64 bits wide: one multiply-add on the device, where a compiler left to
   itself shares the sign extension of key between its uses and pays three instructions for each. */
ARC__FN char *arc__offset(char *base, int key, int stride_bytes) {
#if defined(__CUDA_ARCH__)
  long long offset;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(key), "r"(stride_bytes));
  return base + offset;
#else
  return base + (long long)key * stride_bytes;
#endif
}

typedef struct arc__piece {
  char *base;
  int stride_bytes;
  int width;
  int vector_log2; /* bytes one reduction instruction may add: 4 (16), 3 (8) or 2 (4) */
} arc__piece;

/* Where the sum goes that a transposed reduction leaves in this lane. */
typedef struct arc__slot {
  char *base;
  int stride_bytes;
  int owned;
} arc__slot;

typedef struct arc__target {
  arc__piece piece[ARC_MAX_PIECES];
  int kind; /* a literal */
  int pieces;
  int width;
  /* The default decision, by the strides: bases are aligned as these allow. */
  int min_lanes_to_reduce;          /* the smallest group that a reduction pays for; */
  int min_lanes_to_reduce_promised; /* the same where the caller makes every promise */
  int min_lanes_to_match;           /* the fewest lanes for which matching keys pays */
  arc__slot warp_slot;              /* after a reduction over the warp */
  arc__slot half_warp_slot;         /* after one over each half-warp */
  int builder;                      /* the lane that built it; ARC_CHECK 2 */
} arc__target;

/* One warp's call, the same in every helper. kind, path and promises are literals. lanes: who
   calls; present: the active ones among them. */
typedef struct arc__call {
  const arc__target *target;   /* null in the papers' form, */
  const void *const *pointers; /* which has one pointer a value */
  const void *values;
  int width, max_width;
  int kind, path, promises;
  int key, threshold, lane;
  bool active;
  unsigned lanes, present;
  unsigned group;   /* the lanes that hold this lane's key; 0 for an inactive lane */
  unsigned leaders; /* the highest lane of each group */
} arc__call;

ARC__FN bool arc__promised(const arc__call *c, int promises) {
  return (c->promises & promises) == promises;
}

ARC__FN bool arc__is_transposed(const arc__call *c) {
  bool path = c->path == ARC_PATH_AUTO || c->path == ARC_PATH_TRANSPOSED;
  return path && c->lanes == ARC_LANES_ALL && c->target;
}

/* The papers' pointer form has one key butterfly and several serialized, but for named paths. */
ARC__FN bool arc__is_butterfly(const arc__call *c) {
  return c->path == ARC_PATH_BUTTERFLY || (!c->target && c->path != ARC_PATH_SERIALIZED);
}

/* The papers' paths add value by value: each is a request, and costs five shuffles at most. */
ARC__FN bool arc__adds_by_value(const arc__call *c) {
  return !c->target || c->path == ARC_PATH_SERIALIZED || c->path == ARC_PATH_BUTTERFLY;
}

ARC__FN bool arc__is_auto_keyed(const arc__call *c) {
  return c->path == ARC_PATH_AUTO && !arc__promised(c, ARC_PROMISE_ONE_KEY) && c->target;
}

/* Whether this lane's values may be read. */
ARC__FN bool arc__is_source(const arc__call *c) {
  return c->active || arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
}

/* c->group. All of c->lanes call. */
ARC__FN unsigned arc__match(const arc__call *c) {
  if (arc__promised(c, ARC_PROMISE_ONE_KEY)) return c->active ? c->present : 0u;
#if ARC__ARCH >= 700
  unsigned group = __match_any_sync(c->lanes, c->active ? c->key : 0) & c->present;
  return c->active ? group : 0u;
#else
  unsigned group = 0u;
  for (unsigned rest = c->present; rest != 0u;) {
    int first = __shfl_sync(c->lanes, c->key, arc__highest(rest));
    unsigned same = __ballot_sync(c->lanes, c->active && c->key == first);
    if (c->active && c->key == first) group = same;
    rest &= ~same;
  }
  return group;
#endif
}

/* ---- >>values ---------------------------------------------------------------------------- */
/* Every type adds as words of 32 or 64 bits, so that the paths are written once: they move words, and
   only the functions of this section know what a word means. Integers wrap, so that the sums of
   signed ones are those of unsigned ones. */

typedef struct arc__word {
  unsigned lo, hi; /* hi: of 64 bits, else 0 */
} arc__word;

#define ARC__KIND_F32 1
#define ARC__KIND_F64 2
#define ARC__KIND_I32 3
#define ARC__KIND_I64 4

ARC__FN int arc__bytes(int kind) { return kind == ARC__KIND_F64 || kind == ARC__KIND_I64 ? 8 : 4; }

/* The most that one reduction instruction may add: 16 bytes of floats, else one value. */
ARC__FN int arc__most_log2(int kind) {
  if (kind != ARC__KIND_F32) return 2;
  return ARC__ARCH >= 900 && ARC_VECTOR_ATOMICS ? 4 : 2;
}

ARC__FN arc__word arc__word_of(unsigned long long bits) {
  arc__word w = {(unsigned)bits, (unsigned)(bits >> 32)};
  return w;
}

ARC__FN unsigned long long arc__bits(arc__word w) { return (unsigned long long)w.hi << 32 | w.lo; }

/* x + neutral is x, bit for bit: negative zero, since -0 + 0 would be +0. */
ARC__FN arc__word arc__neutral(int kind) {
  arc__word w = {kind == ARC__KIND_F32 ? 0x80000000u : 0u,
                 kind == ARC__KIND_F64 ? 0x80000000u : 0u};
  return w;
}

ARC__FN arc__word arc__sum(int kind, arc__word a, arc__word b) {
  if (kind == ARC__KIND_F64)
    return arc__word_of(
        (unsigned long long)__double_as_longlong(__longlong_as_double((long long)arc__bits(a)) +
                                                 __longlong_as_double((long long)arc__bits(b))));
  if (kind == ARC__KIND_I64) return arc__word_of(arc__bits(a) + arc__bits(b));
  a.lo = kind == ARC__KIND_F32 ? __float_as_uint(__uint_as_float(a.lo) + __uint_as_float(b.lo))
                               : a.lo + b.lo;
  return a;
}

ARC__FN arc__word arc__read(int kind, const void *values, int i) {
  arc__word w = {0u, 0u};
  if (kind == ARC__KIND_F64)
    return arc__word_of((unsigned long long)__double_as_longlong(((const double *)values)[i]));
  if (kind == ARC__KIND_I64) return arc__word_of(((const unsigned long long *)values)[i]);
  w.lo = kind == ARC__KIND_F32 ? __float_as_uint(((const float *)values)[i])
                               : ((const unsigned *)values)[i];
  return w;
}

ARC__FN arc__word arc__load(const arc__call *c, int i) { return arc__read(c->kind, c->values, i); }

/* A zero of either sign. */
ARC__FN bool arc__is_zero(int kind, arc__word w) {
  unsigned sign = 0x80000000u;
  return (w.lo & ~(kind == ARC__KIND_F32 ? sign : 0u)) == 0u &&
         (w.hi & ~(kind == ARC__KIND_F64 ? sign : 0u)) == 0u;
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

/* Of two words a lane keeps one, in *low, and sends the other, which is returned: the lower lane
   (upper is 0) keeps *low, the upper one high. SEL throughput limits the reduction, so on the
   device the kept word moves by a predicated addition of -0. That needs `may_clobber`: ptxas copies
   a word that another branch reads too before it is written, and then a select is cheaper. Both in
   PTX: there all of a lane's predicates come from one instruction, R2P. `sent` keeps send from being
   written before all is read; CUDA 11 has no early clobber, "=&f". */
ARC__FN unsigned arc__keep_and_send(int kind, bool may_clobber, int upper, unsigned *low,
                                    unsigned high) {
#if defined(__CUDA_ARCH__)
  float keep = __uint_as_float(*low), send;
  if (kind == ARC__KIND_F32 && may_clobber)
    asm("{\n\t.reg .pred upper;\n\t.reg .f32 sent;\n\t"
        "setp.ne.s32 upper, %3, 0;\n\t"
        "selp.f32 sent, %0, %2, upper;\n\t"
        "@upper add.f32 %0, %2, 0f80000000;\n\t"
        "mov.f32 %1, sent;\n\t}"
        : "+f"(keep), "=f"(send)
        : "f"(__uint_as_float(high)), "r"(upper));
  else
    asm("{\n\t.reg .pred upper;\n\t.reg .f32 sent;\n\t"
        "setp.ne.s32 upper, %3, 0;\n\t"
        "selp.f32 sent, %0, %2, upper;\n\t"
        "selp.f32 %0, %2, %0, upper;\n\t"
        "mov.f32 %1, sent;\n\t}"
        : "+f"(keep), "=f"(send)
        : "f"(__uint_as_float(high)), "r"(upper));
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
   The whole warp calls. On the device the shuffle itself tells whether it is. */
ARC__FN arc__word arc__sum_from_below(const arc__call *c, arc__word w, int distance, int start) {
#if defined(__CUDA_ARCH__)
  if (c->kind == ARC__KIND_F32) {
    float sum = __uint_as_float(w.lo);
    asm volatile(
        "{\n\t.reg .pred inside;\n\t.reg .f32 other;\n\t"
        "shfl.sync.up.b32 other|inside, %0, %1, %2, 0xffffffff;\n\t"
        "@inside add.f32 %0, %0, other;\n\t}"
        : "+f"(sum)
        : "r"(distance), "r"(start));
    w.lo = __float_as_uint(sum);
    return w;
  }
#endif
  arc__word other = arc__shfl_up(c->kind, ARC_LANES_ALL, w, distance);
  return c->lane - distance >= start ? arc__sum(c->kind, w, other) : w;
}

#if ARC_SCOPE == ARC_SCOPE_SYSTEM && ARC__ARCH >= 600 && defined(__CUDA_ARCH__)
#define ARC__ATOMIC_ADD atomicAdd_system
#define ARC__RED "red.relaxed.sys.global.add"
#else
#define ARC__ATOMIC_ADD atomicAdd
#define ARC__RED "red.relaxed.gpu.global.add"
#endif

#if ARC__ARCH >= 600 || !defined(__CUDA_ARCH__)
#define ARC__ATOMIC_ADD_F64(address, value) ARC__ATOMIC_ADD(address, value)
#else
#define ARC__ATOMIC_ADD_F64(address, value) arc__cas_add_f64(address, value)
ARC__FN void arc__cas_add_f64(double *address, double value) {
  unsigned long long *at = (unsigned long long *)address, seen = *at, expected;
  do {
    expected = seen;
    seen = atomicCAS(at, expected,
                     (unsigned long long)__double_as_longlong(
                         __longlong_as_double((long long)expected) + value));
  } while (seen != expected);
}
#endif

ARC__FN void arc__atomic_add(int kind, char *address, arc__word w) {
  if (kind == ARC__KIND_F32) ARC__ATOMIC_ADD((float *)address, __uint_as_float(w.lo));
  if (kind == ARC__KIND_I32) ARC__ATOMIC_ADD((unsigned *)address, w.lo);
  if (kind == ARC__KIND_I64) ARC__ATOMIC_ADD((unsigned long long *)address, arc__bits(w));
  if (kind == ARC__KIND_F64)
    ARC__ATOMIC_ADD_F64((double *)address, __longlong_as_double((long long)arc__bits(w)));
}

/* Two or four floats at once; address in global memory, aligned to all of them; sm_90 and newer. */
ARC__FN void arc__atomic_add_vector(const arc__word *w, int count, char *address) {
  float a = __uint_as_float(w[0].lo), b = __uint_as_float(w[1].lo);
  float c = count == 4 ? __uint_as_float(w[2].lo) : 0;
  float d = count == 4 ? __uint_as_float(w[3].lo) : 0;
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 900
  unsigned long long at = __cvta_generic_to_global(address);
  if (count == 2)
    asm volatile(ARC__RED ".v2.f32 [%0], {%1, %2};" ::"l"(at), "f"(a), "f"(b) : "memory");
  else
    asm volatile(ARC__RED ".v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(a), "f"(b), "f"(c),
                 "f"(d)
                 : "memory");
#elif ARC__ARCH >= 900
  if (count == 2)
    simt_red_add_v2_f32((float *)address, a, b);
  else
    simt_red_add_v4_f32((float *)address, a, b, c, d);
#else
  (void)a, (void)b, (void)c, (void)d, (void)address; /* no row is wider than 4 bytes there */
#endif
}

/* Adds min(count, 4) words to consecutive values, 2^vector_log2 bytes (a literal) at most a
   request; count may be below 1. */
ARC__FN void arc__atomic_add_four(int kind, char *address, const arc__word *w, int count,
                                  int vector_log2) {
  if (vector_log2 >= 4 && count >= 4) {
    arc__atomic_add_vector(w, 4, address);
    return;
  }
  ARC__UNROLL
  for (int i = 0; i < 4; i += 2) {
    char *at = address + arc__bytes(kind) * i;
    if (vector_log2 >= 3 && count >= i + 2) {
      arc__atomic_add_vector(w + i, 2, at);
      continue;
    }
    if (count >= i + 1) arc__atomic_add(kind, at, w[i]);
    if (count >= i + 2) arc__atomic_add(kind, at + arc__bytes(kind), w[i + 1]);
  }
}

/* ---- >>target ---------------------------------------------------------------------------- */

/* How many bytes one instruction may add to rows of this base and stride, as a power of two: the
   largest up to 16 that divides both. Via __popc, so that ptxas keeps the result: it computes a
   plain minimum anew in every call. */
ARC__FN int arc__vector_log2(int kind, const char *base, int stride_bytes) {
  if (arc__most_log2(kind) == 2 || stride_bytes % 8 != 0) return 2; /* a literal decides at once */
  unsigned bits = (unsigned)(unsigned long long)base | (unsigned)stride_bytes | 16u;
  return __isGlobal(base) ? __popc((bits & (0u - bits)) - 1u) : 2;
}

/* The same if the base is aligned to 16 bytes. */
ARC__FN int arc__largest_log2(int kind, int stride_bytes) {
  if (arc__most_log2(kind) == 2 || stride_bytes % 8 != 0) return 2;
  return stride_bytes % 16 == 0 ? 4 : 3;
}

ARC__FN void arc__target_begin(arc__target *t, int kind, int pieces) {
  ARC__CHECK(1, pieces >= 1 && pieces <= ARC_MAX_PIECES, "a target has 1 to 8 pieces");
  t->kind = kind;
  t->pieces = pieces;
  t->width = 0;
}

ARC__FN void arc__target_piece(arc__target *t, int i, void *base, int stride, int width) {
  ARC__CHECK(1, width >= 1, "the width of a piece must be at least 1");
  ARC__CHECK(1, stride > -(1 << 29) && stride < (1 << 29),
             "the stride of a piece must lie between -2^29 and 2^29");
  ARC__CHECK(1, stride == 0 || stride >= width || -stride >= width,
             "the stride of a piece is below its width: rows overlap");
  arc__piece *p = &t->piece[i];
  p->base = (char *)base;
  p->stride_bytes = stride * arc__bytes(t->kind);
  p->width = width;
  p->vector_log2 = arc__vector_log2(t->kind, p->base, p->stride_bytes);
  t->width += width;
}

/* Where the given value of key 0 lies, and the stride of its piece: the last that begins at or below
   it. Compilers keep what a branch on `owned` has chosen; they compute a plain sum in each call. */
ARC__FN arc__slot arc__slot_of(const arc__target *t, int value) {
  arc__slot slot = {t->piece[0].base, t->piece[0].stride_bytes, value < t->width};
  int begin = 0;
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    if (slot.owned && value >= begin) {
      slot.base = p->base + (long long)arc__bytes(t->kind) * (value - begin);
      slot.stride_bytes = p->stride_bytes;
    }
    begin += p->width;
  })
  return slot;
}

/* Reduction instructions with which one lane adds `width` values of a row. */
ARC__FN int arc__requests(int width, int vector_log2) {
  return vector_log2 == 4   ? width / 4 + width % 4 / 2 + width % 2
         : vector_log2 == 3 ? width / 2 + width % 2
                            : width;
}

/* S(n): shuffles of the transposed reduction of n values. */
ARC__FN int arc__shuffles(int n) {
  return n / 32 * 31 + (n % 32 + 1) / 2 + (n % 32 + 3) / 4 + (n % 32 + 7) / 8 + (n % 32 + 15) / 16 +
         (n % 32 + 31) / 32;
}

/* By a formula of arc_policy.cuh: for one piece a choice among constants, where it would divide. */
#define ARC__DECIDE(FORMULA)                                     \
  (t->pieces > 1 ? FORMULA(shuffles, requests)                   \
   : log2 == 2   ? FORMULA(shuffles, t->width)                   \
   : log2 == 3   ? FORMULA(shuffles, arc__requests(t->width, 3)) \
                 : FORMULA(shuffles, arc__requests(t->width, 4)))

ARC__FN void arc__target_end(arc__target *t) {
  int requests = 0, lane = arc__lane();
  int shuffles = arc__shuffles(t->width) * (arc__bytes(t->kind) / 4);
  ARC__EACH_PIECE(i, t->pieces, {
    requests +=
        arc__requests(t->piece[i].width, arc__largest_log2(t->kind, t->piece[i].stride_bytes));
  })
  int log2 = arc__largest_log2(t->kind, t->piece[0].stride_bytes);
  t->min_lanes_to_reduce = ARC__DECIDE(ARC_MIN_LANES_TO_REDUCE);
  t->min_lanes_to_reduce_promised = ARC__DECIDE(ARC_MIN_LANES_TO_REDUCE_PROMISED);
  t->min_lanes_to_match = ARC__DECIDE(ARC_MIN_LANES_TO_MATCH);
  t->builder = lane;
  lane = arc__kept(lane);
  t->warp_slot = arc__slot_of(t, lane);
  t->half_warp_slot = arc__slot_of(t, lane % (ARC__WARP / 2));
#if defined(__CUDA_ARCH__)
  if (t->pieces > 1) asm("" : "+r"(t->warp_slot.stride_bytes)); /* or each call selects it */
#endif
}

/* ---- >>emit ------------------------------------------------------------------------------ */

ARC__FN int arc__chunk_width(const arc__call *c, int first, int most) {
  return c->width - first < most ? c->width - first : most;
}

/* `count` values of one row, at `address`: `sums` or, where those are null, the lane's own from
   value `first` on. The bound of the loop is a literal for sums, which are registers. */
ARC__FN void arc__emit_run(const arc__call *c, char *address, const arc__word *sums, int first,
                           int count, int vector_log2) {
  int bound = sums ? ARC__WARP : c->max_width ? c->max_width : count;
  ARC__UNROLL
  for (int i = 0; i < bound; i += 4) {
    if (i >= count) continue;
    ARC__WORDS(w, 4);
    ARC__UNROLL
    for (int k = 0; k < 4; ++k)
      if (i + k < count) w[k] = sums ? sums[i + k] : arc__load(c, first + i + k);
    arc__atomic_add_four(c->kind, address + arc__bytes(c->kind) * i, w, count - i, vector_log2);
  }
}

/* The same, to value `offset` of the piece's row of this lane's key. */
ARC__FN void arc__emit_piece(const arc__call *c, const arc__piece *p, int offset,
                             const arc__word *sums, int first, int count) {
  char *row = arc__offset(p->base, c->key, p->stride_bytes);
  char *address = row + (long long)arc__bytes(c->kind) * offset;
  int vector_log2 =
      arc__promised(c, ARC_PROMISE_ALIGNED_16) ? arc__most_log2(c->kind) : p->vector_log2;
  if (offset % 4 != 0 || arc__adds_by_value(c)) vector_log2 = 2;
  if (vector_log2 >= 4 && count >= 4)
    arc__emit_run(c, address, sums, first, count, 4);
  else if (vector_log2 >= 3 && count >= 2)
    arc__emit_run(c, address, sums, first, count, 3);
  else
    arc__emit_run(c, address, sums, first, count, 2);
}

/* Adds the values [first, first + count) of this lane's key: sums or, where those are null, the
   lane's own values. */
ARC__FN void arc__emit(const arc__call *c, const arc__word *sums, int first, int count) {
  if (!c->target) {
    ARC__EACH(i, count, ARC__WARP)
      arc__atomic_add(c->kind, (char *)c->pointers[first + i],
                      sums ? sums[i] : arc__load(c, first + i));
    return;
  }
  int begin = 0; /* the piece's first value, counted in the whole target */
  ARC__EACH_PIECE(i, c->target->pieces, {
    const arc__piece *p = &c->target->piece[i];
    int skip = i > 0 && begin > first ? begin - first : 0, end = begin + p->width;
    int run = (end < first + count ? end : first + count) - first - skip;
    if (run > 0)
      arc__emit_piece(c, p, first + skip - begin, sums ? sums + skip : 0, first + skip, run);
    begin = end;
  })
}

ARC__FN void arc__add_plain(const arc__call *c) {
  if (c->target) arc__emit(c, 0, 0, c->width);
  ARC__CHUNKS(c, first, ARC__WARP)
  if (!c->target) arc__emit(c, 0, first, arc__chunk_width(c, first, ARC__WARP));
}

/* ---- >>serialized ------------------------------------------------------------------------ */
/* SW-S (ARC paper, 5.5.1): the leader of each group walks its other lanes, all groups at once. The
   leader ends with the sums. */
ARC__FN void arc__reduce_serialized(const arc__call *c, arc__word *w, int count) {
  bool leader = arc__leads(c->group, c->lane);
  unsigned rest = c->group != 0u ? c->group & ~(1u << arc__highest(c->group)) : 0u;
  for (; __any_sync(c->lanes, rest != 0u); rest &= rest - 1u) {
    int source = rest != 0u ? arc__lowest(rest) : c->lane;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->kind, c->lanes, w[i], source);
      if (leader && rest != 0u) w[i] = arc__sum(c->kind, w[i], other);
    }
  }
}

/* ---- >>butterfly ------------------------------------------------------------------------- */
/* SW-B (ARC paper, 5.5.2): five shuffles a value, and every lane ends with every sum. All 32
   lanes take part, inactive ones with neutral words. */
ARC__FN void arc__reduce_butterfly(const arc__call *c, arc__word *w, int count) {
  ARC__EACH(i, count, ARC__WARP) {
    ARC__UNROLL
    for (int distance = ARC__WARP / 2; distance >= 1; distance /= 2)
      w[i] = arc__sum(c->kind, w[i], arc__shfl_xor(c->kind, ARC_LANES_ALL, w[i], distance));
  }
}

/* ---- >>transposed ------------------------------------------------------------------------ */
/* A reduce-scatter: exchanges with partners 1, 2, 4, 8 and 16 lanes apart. Each halves the words:
   of two neighbouring words the lower lane keeps the first and sends the second, the upper lane the
   other way round, and both add what they receive. S(n) shuffles instead of 5 n, and lane l ends
   with the sum of value l. Four lanes and three values, "a 01" being a summed over lanes 0, 1:

             words         exchange 1 apart              exchange 2 apart
     lane 0  a0 b0 c0  ->  a 01  c 01    keeps a, c  ->  a 0123    keeps a
     lane 1  a1 b1 c1  ->  b 01  c 01    keeps b, c  ->  b 0123    keeps b
     lane 2  a2 b2 c2  ->  a 23  c 23    keeps a, c  ->  c 0123    keeps c
     lane 3  a3 b3 c3  ->  b 23  c 23    keeps b, c  ->  c 0123    keeps c: a copy, not owned

   c has no neighbour in the first exchange: both partners sum it, which takes no select. */
ARC__FN arc__word arc__exchange(const arc__call *c, arc__word low, arc__word high, bool paired,
                                int distance, bool may_clobber) {
  arc__word send = low;
  int upper = c->lane & distance;
  if (paired) send.lo = arc__keep_and_send(c->kind, may_clobber, upper, &low.lo, high.lo);
  if (paired && arc__bytes(c->kind) == 8)
    send.hi = arc__keep_and_send(c->kind, may_clobber, upper, &low.hi, high.hi);
  return arc__sum(c->kind, low, arc__shfl_xor(c->kind, ARC_LANES_ALL, send, distance));
}

/* The chunk at `first` of up to `lanes` (32 or 16) values; lane l ends with the sum of value l of
   them, l modulo `lanes`. A lane's values belong to its sums if it `stays`; with 16 lanes, to those
   of lane ^ 16 if it `leaves`. may_clobber: no other branch of the caller reads the values. */
ARC__FN arc__word arc__reduce_chunk(const arc__call *c, int first, int lanes, bool stays,
                                    bool leaves, bool may_clobber) {
  int count = arc__chunk_width(c, first, lanes);
  ARC__WORDS(w, ARC__WARP);
  ARC__EACH(i, count, ARC__WARP) {
    w[i] = stays ? arc__load(c, first + i) : arc__neutral(c->kind);
    if (lanes == ARC__WARP) continue;
    arc__word other = leaves ? arc__load(c, first + i) : arc__neutral(c->kind);
    other = arc__shfl_xor(c->kind, ARC_LANES_ALL, other, ARC__WARP / 2);
    w[i] = arc__sum(c->kind, w[i], other);
  }
  ARC__UNROLL
  for (int distance = 1; distance < lanes; distance *= 2) {
    bool copied = may_clobber || distance > 1 || lanes < ARC__WARP;
    ARC__EACH(i, (count + 1) / 2, lanes / (2 * distance))
      w[i] = arc__exchange(c, w[2 * i], w[2 * i + 1], 2 * i + 1 < count, distance, copied);
    count = (count + 1) / 2;
  }
  return w[0];
}

/* Adds the sum that a reduction of the chunk at `first` left in this lane. group: of a whole warp's
   reduction; every lane has the sum of a single value, so the leader adds it, which has the key. */
ARC__FN void arc__emit_owned(const arc__call *c, unsigned group, int key, arc__word sum, int first,
                             int lanes) {
  arc__slot slot = lanes == ARC__WARP ? c->target->warp_slot : c->target->half_warp_slot;
  if (first > 0) slot = arc__slot_of(c->target, first + c->lane % lanes);
  if (c->width == 1 && lanes == ARC__WARP) {
    slot = arc__slot_of(c->target, 0);
    slot.owned = arc__leads(group, c->lane);
  }
  if (slot.owned) arc__atomic_add(c->kind, arc__offset(slot.base, key, slot.stride_bytes), sum);
}

/* The key of a group, in every lane that will own a sum. */
ARC__FN int arc__group_key(const arc__call *c, unsigned group, bool known) {
  if (known || c->width == 1) return c->key;
  return __shfl_sync(ARC_LANES_ALL, c->key, arc__highest(group));
}

/* One group of a full warp. is_source: this lane's values belong to the sums; a constant where the
   lanes outside the group hold zeros. */
ARC__FN void arc__add_group(const arc__call *c, unsigned group, int key, bool is_source,
                            bool may_clobber) {
  ARC__CHUNKS(c, first, ARC__WARP) {
    const bool leaves = false;
    arc__word sum = arc__reduce_chunk(c, first, ARC__WARP, is_source, leaves, may_clobber);
    arc__emit_owned(c, group, key, sum, first, ARC__WARP);
  }
}

/* One key a full warp. Where every lane is active, or holds zeros, nothing is masked: one code for
   both. may_clobber: as above; masked words are copies. */
ARC__FN void arc__add_one_group(const arc__call *c, bool may_clobber) {
  bool full = c->present == ARC_LANES_ALL, zeros = arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool has_key = arc__promised(c, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_HAS_KEY);
  const bool every_lane = true, masked = true;
  if (c->width > 1 && (full || zeros)) {
    int key = arc__group_key(c, c->present, has_key || full);
    arc__add_group(c, c->present, key, every_lane, may_clobber);
  } else {
    int key = arc__group_key(c, c->present, has_key);
    arc__add_group(c, c->present, key, arc__is_source(c), masked);
  }
}

/* Two groups at once. In the first exchange, lane and lane ^ 16 trade so that the lower half-warp
   keeps the group of the highest leader and the upper one the other; then each half reduces 16
   lanes. About the shuffles of one and a half reductions, and one request. */
ARC__FN void arc__add_two_groups(const arc__call *c) {
  const int half = ARC__WARP / 2;
  const bool masked = true;
  bool upper = (c->lane & half) != 0;
  bool in_highest = c->group > (c->present ^ c->group); /* in the group of the highest leader */
  bool stays = c->active && in_highest != upper, leaves = c->active && in_highest == upper;
  unsigned low = c->leaders & (0u - c->leaders);
  int key = __shfl_sync(ARC_LANES_ALL, c->key, arc__highest(upper ? low : c->leaders ^ low));
  ARC__CHUNKS(c, first, half) {
    arc__word sum = arc__reduce_chunk(c, first, half, stays, leaves, masked);
    arc__emit_owned(c, c->group, key, sum, first, half);
  }
}

/* One group after the other. Returns whether this lane's group is below the threshold. */
ARC__FN bool arc__add_each_group(const arc__call *c, int threshold) {
  bool plain = false;
  const bool masked = true;
  for (unsigned rest = c->present; rest != 0u;) {
    int key = __shfl_sync(ARC_LANES_ALL, c->key, arc__highest(rest));
    bool member = c->active && c->key == key;
    unsigned group = __ballot_sync(ARC_LANES_ALL, member);
    if (__popc(group) < threshold)
      plain = plain || member;
    else
      arc__add_group(c, group, key, member, masked);
    rest &= ~group;
  }
  return plain;
}

/* ---- >>tree ------------------------------------------------------------------------------ */
/* All groups at once; the leader of each ends with its sums. If every present lane leads, all keys
   differ and there is nothing to reduce.

   In runs: where the lanes of each group are neighbours, a lane adds what the lane 1, 2, 4, 8 and
   16 below holds, unless that is below the group's first lane `start`. */
#define ARC__ROUNDS 5

ARC__FN void arc__reduce_runs(const arc__call *c, arc__word *w, int count, int start) {
  int reach = arc__leads(c->group, c->lane) ? c->lane - start : 0;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    int distance = 1 << round;
    bool votes = round > 0 && count > 2; /* a round of two values costs no more than the vote */
    if (votes && !__any_sync(ARC_LANES_ALL, reach >= distance)) break;
    ARC__EACH(i, count, ARC__WARP) w[i] = arc__sum_from_below(c, w[i], distance, start);
  }
}

/* By pointer jumping, on any subset of lanes: each lane knows the next lower one of its group, adds
   what it holds, and then points where that one pointed: after r rounds a lane holds the sum of 2^r
   lanes of its group. No loop: with one, the compiler loads a kernel's constants anew around it. */
#define ARC__NO_LANE 32u /* there is no lower lane; a shuffle then reads the lane itself */

ARC__FN void arc__reduce_jumping(const arc__call *c, arc__word *w, int count) {
  unsigned lower = c->group & arc__lanes_below(c->lane);
  unsigned next = lower != 0u ? (unsigned)arc__highest(lower) : ARC__NO_LANE | (unsigned)c->lane;
  ARC__UNROLL
  for (int round = 0; round < ARC__ROUNDS; ++round) {
    bool adds = next < ARC__NO_LANE;
    if (round > 0 && !__any_sync(c->lanes, adds)) break;
    ARC__EACH(i, count, ARC__WARP) {
      arc__word other = arc__shfl(c->kind, c->lanes, w[i], (int)next);
      if (adds) w[i] = arc__sum(c->kind, w[i], other);
    }
    next = __shfl_sync(c->lanes, next, (int)next);
  }
}

ARC__FN void arc__reduce_tree(const arc__call *c, arc__word *w, int count) {
  if (c->leaders == c->present) return;
  if (c->lanes == ARC_LANES_ALL) {
    unsigned below =
        c->leaders & arc__lanes_below(c->lane);         /* leaders of lower groups, if in runs */
    unsigned below_group = ~c->group & (c->group - 1u); /* lanes below the group's lowest */
    if (__all_sync(c->lanes, below <= below_group)) {
      arc__reduce_runs(c, w, count, arc__highest(2u * below + 1u));
      return;
    }
  }
  arc__reduce_jumping(c, w, count);
}

/* Reduces all groups by the papers' paths or the tree; the leader of each emits its sums. */
ARC__FN void arc__add_all_groups(const arc__call *c) {
  ARC__CHUNKS(c, first, ARC__WARP) {
    int count = arc__chunk_width(c, first, ARC__WARP);
    ARC__WORDS(w, ARC__WARP);
    ARC__EACH(i, count, ARC__WARP)
      w[i] = arc__is_source(c) ? arc__load(c, first + i) : arc__neutral(c->kind);
    if (c->path == ARC_PATH_BUTTERFLY || (arc__is_butterfly(c) && c->leaders != 0u)) /* one key */
      arc__reduce_butterfly(c, w, count);
    else if (c->path == ARC_PATH_SERIALIZED || !c->target)
      arc__reduce_serialized(c, w, count);
    else
      arc__reduce_tree(c, w, count);
    if (arc__leads(c->group, c->lane)) arc__emit(c, w, first, count);
  }
}

/* ---- >>check ----------------------------------------------------------------------------- */

#if ARC_CHECK >= 2
ARC__FN unsigned long long arc__digest(unsigned long long digest, unsigned long long x) {
  return (digest ^ x) * 0x100000001b3ull;
}

/* That all lanes that must call are here, and agree on what a warp has in common. */
ARC__FN void arc__check_warp(const arc__call *c) {
  unsigned long long digest = arc__digest((unsigned)c->width, (unsigned)c->threshold);
  for (int i = 0; c->target && i < c->target->pieces; ++i) {
    const arc__piece *p = &c->target->piece[i];
    digest = arc__digest(digest, (unsigned long long)p->base);
    digest = arc__digest(digest, (unsigned)p->stride_bytes);
    digest = arc__digest(digest, (unsigned)p->width);
  }
  unsigned long long first = __shfl_sync(c->lanes, digest, arc__lowest(c->lanes));
  ARC__CHECK(2, digest == first, "the lanes of a warp differ in target, width or threshold");
  ARC__CHECK(2, !c->target || c->target->builder == c->lane,
             "the target was built in another lane");
}

/* What the call promises, where a lane is active; and the pointers of each key. */
ARC__FN void arc__check_promises(const arc__call *c) {
  bool has_key = c->active || arc__promised(c, ARC_PROMISE_INACTIVE_HAS_KEY);
  bool zeros = !c->active && arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool aligned = arc__most_log2(c->kind) > 2 && arc__promised(c, ARC_PROMISE_ALIGNED_16);
  int first = __shfl_sync(c->lanes, c->active ? c->key : 0, arc__lowest(c->present));
  ARC__CHECK(2, !arc__promised(c, ARC_PROMISE_ONE_KEY) || !has_key || c->key == first,
             "the keys of a uniform add differ");
  for (int i = 0; zeros && i < c->width; ++i)
    ARC__CHECK(2, arc__is_zero(c->kind, arc__load(c, i)),
               "an inactive lane holds a value that is not zero");
  for (int i = 0; aligned && c->target && i < c->target->pieces; ++i)
    ARC__CHECK(2, c->target->piece[i].vector_log2 == 4,
               "a row is not aligned to 16 bytes of global memory");
  if (c->target) return;
  unsigned long long digest = 0u;
  for (int i = 0; c->active && i < c->width; ++i)
    digest = arc__digest(digest, (unsigned long long)c->pointers[i]);
  unsigned group = arc__match(c);
  unsigned long long leaders = __shfl_sync(c->lanes, digest, group ? arc__highest(group) : c->lane);
  ARC__CHECK(2, digest == leaders, "lanes with one key hold different pointers");
}
#endif

ARC__FN void arc__check_call(arc__call c) {
  ARC__CHECK(1, c.width >= 1, "the width must be at least 1");
  ARC__CHECK(1, c.max_width == 0 || c.max_width >= c.width, "the width is above options.max_width");
  ARC__CHECK(1, c.threshold >= 0 && c.threshold <= ARC_THRESHOLD_AUTO,
             "the threshold must be 0..33 or ARC_THRESHOLD_AUTO");
  ARC__CHECK(1, (c.lanes >> c.lane & 1u) != 0u, "the lane mask must name every lane that calls");
  ARC__CHECK(1, __ballot_sync(c.lanes, true) == c.lanes,
             "not all lanes that must call are here: they have returned, or are elsewhere");
#if ARC_CHECK >= 2
  arc__check_warp(&c);
  c.present = __ballot_sync(c.lanes, c.active);
  ARC__CHECK(2, !arc__promised(&c, ARC_PROMISE_WARP_IS_ACTIVE) || c.present != 0u,
             "no lane of the warp is active");
  if (c.present != 0u) arc__check_promises(&c);
#endif
}

/* ---- >>paths ----------------------------------------------------------------------------- */
/* First: too few lanes? Then: which reduction? Plain atomics and each reduction stand in one place,
   since the compiler inlines every branch before it knows the path. */

/* The balancing threshold. */
ARC__FN int arc__threshold(const arc__call *c) {
  int lanes = c->threshold;
  bool all = arc__promised(c, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO |
                                  ARC_PROMISE_INACTIVE_HAS_KEY | ARC_PROMISE_WARP_IS_ACTIVE);
  if (lanes == ARC_THRESHOLD_AUTO) {
    lanes = arc__adds_by_value(c)   ? ARC_MIN_LANES_TO_REDUCE(5 * c->width, c->width)
            : arc__is_auto_keyed(c) ? c->target->min_lanes_to_match
            : all                   ? c->target->min_lanes_to_reduce_promised
                                    : c->target->min_lanes_to_reduce;
    lanes = lanes < 1 ? 1 : lanes > 31 ? 31 : lanes;
  }
  return arc__kept(lanes);
}

/* Whether every active lane adds by itself. */
ARC__FN bool arc__too_few(arc__call *c, int threshold) {
  bool few = __popc(c->present) < threshold;
  if (arc__is_auto_keyed(c)) return few || c->present == 0u;
  if (arc__is_transposed(c)) return few && arc__promised(c, ARC_PROMISE_ONE_KEY);
  if (!arc__is_butterfly(c)) return false;
  c->group = arc__match(c);
  bool one_key = c->lanes == ARC_LANES_ALL;
  if (one_key && !arc__promised(c, ARC_PROMISE_ONE_KEY))
    one_key = __all_sync(c->lanes, !c->active || c->group == c->present);
  c->leaders = one_key ? c->present : 0u;
  if (c->path == ARC_PATH_BUTTERFLY) c->group = c->present; /* of a reduction, if there is one */
  return one_key ? few : c->path == ARC_PATH_BUTTERFLY;
}

ARC__FN void arc__find_leaders(arc__call *c) {
  c->leaders = __ballot_sync(c->lanes, arc__leads(c->group, c->lane));
}

/* Auto, keys may differ: one group or two get a transposed reduction. If the threshold is arc's to
   choose, a reduction must pay for all lanes together. */
ARC__FN bool arc__reduce_few_groups(arc__call *c) {
  bool all_large = c->threshold == ARC_THRESHOLD_AUTO;
  const bool may_clobber = false;
  arc__find_leaders(c);
  if (c->lanes != ARC_LANES_ALL || __popc(c->leaders) > 2) return false;
  if ((c->leaders & (c->leaders - 1u)) == 0u) {
    arc__add_one_group(c, may_clobber);
    return true;
  }
  if (!all_large) all_large = __all_sync(c->lanes, !c->active || __popc(c->group) >= c->threshold);
  if (all_large) arc__add_two_groups(c);
  return all_large;
}

ARC__FN void arc__reduce(arc__call *c, int threshold) {
  if (arc__is_transposed(c) && arc__promised(c, ARC_PROMISE_ONE_KEY)) {
    /* auto's branch for few lanes reads the values too */
    arc__add_one_group(c, c->path == ARC_PATH_TRANSPOSED);
    return;
  }
  if (arc__is_transposed(c) && c->path == ARC_PATH_TRANSPOSED) {
    if (arc__add_each_group(c, threshold)) arc__add_plain(c);
    return;
  }
  if (!arc__is_butterfly(c)) c->group = arc__match(c);
  if (arc__is_auto_keyed(c) && arc__reduce_few_groups(c)) return;
  bool splits = !arc__is_auto_keyed(c) || c->threshold != ARC_THRESHOLD_AUTO;
  if (splits && c->path != ARC_PATH_BUTTERFLY) { /* which has one key here */
    /* the lanes of a group below the threshold become groups of one, which no reduction touches */
    if (c->active && __popc(c->group) < threshold) c->group = 1u << c->lane;
    if (!arc__is_butterfly(c) && c->path != ARC_PATH_SERIALIZED) arc__find_leaders(c);
  }
  arc__add_all_groups(c);
}

/* Every add comes through here. */
ARC__ADD_FN void arc__add(arc__call c) {
  int threshold = c.threshold;
  arc__check_call(c);
#if defined(SIMT_MEET)
  if (c.path == ARC_PATH_ATOMIC) SIMT_MEET(c.lanes); /* no vote would show that lanes are absent */
#endif
  if (c.path != ARC_PATH_ATOMIC) {
    bool votes = !arc__is_auto_keyed(&c) && !arc__promised(&c, ARC_PROMISE_WARP_IS_ACTIVE);
    if (votes && !__any_sync(c.lanes, c.active)) return;
    c.present = __ballot_sync(c.lanes, c.active);
    threshold = arc__threshold(&c);
  }
  if (c.path != ARC_PATH_ATOMIC && !arc__too_few(&c, threshold))
    arc__reduce(&c, threshold);
  else if (c.active)
    arc__add_plain(&c);
}

/* ---- >>entries --------------------------------------------------------------------------- */

ARC__FN arc_options arc__options(int threshold, int promises, unsigned lane_mask) {
  arc_options o = {ARC_PATH, ARC__PROMISES | promises, threshold, lane_mask, 0};
  return o;
}

ARC__FN arc_options arc_options_default(void) {
  return arc__options(ARC_BALANCE_THRESHOLD, 0, ARC_LANES_ALL);
}

/* The call, but for where its values go. */
ARC__FN arc__call arc__call_of(int kind, int key, const void *values, bool active,
                               const arc_options *o) {
  bool here = o->lane_mask == ARC_LANES_HERE;
  int path = here && ARC__ARCH < 700 ? ARC_PATH_ATOMIC : o->path;
  /* Lanes that execute this instruction together get the same mask and meet again at the first vote
     of arc__add; it claims nothing about lanes that come later. */
  unsigned lanes = here ? __activemask() : o->lane_mask;
  arc__call c = {0,           0,   values,       0,           o->max_width, kind,  path,
                 o->promises, key, o->threshold, arc__lane(), active,       lanes, 0u,
                 0u,          0u};
  return c;
}

/* What every add takes. S: the type's suffix, T: the type, KIND: its literal. */
#define ARC__TO_TARGET(S, T) arc_target_##S target, int key, const T *values
#define ARC__TO_POINTERS(T) T *const *pointers, int width, int key, const T *values

#define ARC__TYPE(S, T, KIND)                                                                      \
  typedef struct arc_piece_##S {                                                                   \
    T *base;                                                                                       \
    int stride, width;                                                                             \
  } arc_piece_##S;                                                                                 \
  typedef struct arc_target_##S {                                                                  \
    arc__target any;                                                                               \
  } arc_target_##S;                                                                                \
  ARC__FN arc_target_##S arc_target_##S##_pieces(const arc_piece_##S *pieces, int count) {         \
    arc_target_##S t;                                                                              \
    arc__target_begin(&t.any, KIND, count);                                                        \
    ARC__EACH_PIECE(i, count, {                                                                    \
      arc__target_piece(&t.any, i, pieces[i].base, pieces[i].stride, pieces[i].width);             \
    })                                                                                             \
    arc__target_end(&t.any);                                                                       \
    return t;                                                                                      \
  }                                                                                                \
  ARC__FN arc_target_##S arc_target_##S##_rows(T *base, int stride, int width) {                   \
    const arc_piece_##S piece = {base, stride, width};                                             \
    return arc_target_##S##_pieces(&piece, 1);                                                     \
  }                                                                                                \
  ARC__FN void arc_add_with_##S(ARC__TO_TARGET(S, T), bool active,                                 \
                                arc_options options ARC__CALLER) {                                 \
    arc__call c = arc__call_of(KIND, key, values, active, &options);                               \
    c.target = &target.any;                                                                        \
    c.width = target.any.width;                                                                    \
    arc__add(c);                                                                                   \
  }                                                                                                \
  ARC__FN void arc_add_##S(ARC__TO_TARGET(S, T), bool active, int threshold ARC__CALLER) {         \
    arc_add_with_##S(target, key, values, active, arc__options(threshold, 0, ARC_LANES_ALL));      \
  }                                                                                                \
  ARC__FN void arc_add_uniform_##S(ARC__TO_TARGET(S, T), bool active, int threshold ARC__CALLER) { \
    arc_options o = arc__options(threshold, ARC_PROMISE_ONE_KEY, ARC_LANES_ALL);                   \
    arc_add_with_##S(target, key, values, active, o);                                              \
  }                                                                                                \
  ARC__FN void arc_add_masked_##S(ARC__TO_TARGET(S, T), bool active, unsigned lane_mask,           \
                                  int threshold ARC__CALLER) {                                     \
    arc_add_with_##S(target, key, values, active, arc__options(threshold, 0, lane_mask));          \
  }                                                                                                \
  ARC__FN void arc_add_divergent_##S(ARC__TO_TARGET(S, T), int threshold ARC__CALLER) {            \
    const bool active = true;                                                                      \
    arc_add_with_##S(target, key, values, active, arc__options(threshold, 0, ARC_LANES_HERE));     \
  }                                                                                                \
  ARC__FN void arc_add_pointers_with_##S(ARC__TO_POINTERS(T), bool active,                         \
                                         arc_options options ARC__CALLER) {                        \
    arc__call c = arc__call_of(KIND, key, values, active, &options);                               \
    c.pointers = (const void *const *)pointers;                                                    \
    c.width = width;                                                                               \
    arc__add(c);                                                                                   \
  }                                                                                                \
  ARC__FN void arc_add_pointers_masked_##S(ARC__TO_POINTERS(T), bool active, unsigned lane_mask,   \
                                           int threshold ARC__CALLER) {                            \
    arc_options o = arc__options(threshold, 0, lane_mask);                                         \
    arc_add_pointers_with_##S(pointers, width, key, values, active, o);                            \
  }                                                                                                \
  ARC__FN void arc_add_pointers_##S(ARC__TO_POINTERS(T), bool active, int threshold ARC__CALLER) { \
    arc_add_pointers_masked_##S(pointers, width, key, values, active, ARC_LANES_ALL, threshold);   \
  }                                                                                                \
  ARC__FN void arc_add_pointers_divergent_##S(ARC__TO_POINTERS(T), int threshold ARC__CALLER) {    \
    const bool active = true;                                                                      \
    arc_add_pointers_masked_##S(pointers, width, key, values, active, ARC_LANES_HERE, threshold);  \
  }                                                                                                \
  ARC__FN void arc_atomic_add_##S(T *address, T value) {                                           \
    arc__atomic_add(KIND, (char *)address, arc__read(KIND, &value, 0));                            \
  }

ARC__TYPE(f32, float, ARC__KIND_F32)
ARC__TYPE(f64, double, ARC__KIND_F64)
ARC__TYPE(i32, int, ARC__KIND_I32)
ARC__TYPE(u32, unsigned, ARC__KIND_I32)
ARC__TYPE(i64, long long, ARC__KIND_I64)
ARC__TYPE(u64, unsigned long long, ARC__KIND_I64)

/* ---- >>moved ----------------------------------------------------------------------------- */
/* The names by path of version 0.1: a compiler that meets one says what to write. */

#define ARC__MOVED(name, now, PATH, promises, lanes, arguments, ...)                        \
  __attribute__((deprecated("arc 0.2: call " #now " with options.path = ARC_PATH_" #PATH))) \
  ARC__FN void arc_add_##name##_f32(__VA_ARGS__, int threshold) {                           \
    arc_options o = arc__options(threshold, promises, lanes);                               \
    o.path = ARC_PATH_##PATH;                                                               \
    now arguments;                                                                          \
  }
#define ARC__MOVED_ADDS(name, PATH)                                                            \
  ARC__MOVED(name, arc_add_with_f32, PATH, 0, ARC_LANES_ALL, (target, key, values, active, o), \
             ARC__TO_TARGET(f32, float), bool active)                                          \
  ARC__MOVED(uniform_##name, arc_add_with_f32, PATH, ARC_PROMISE_ONE_KEY, ARC_LANES_ALL,       \
             (target, key, values, active, o), ARC__TO_TARGET(f32, float), bool active)        \
  ARC__MOVED(masked_##name, arc_add_with_f32, PATH, 0, mask, (target, key, values, active, o), \
             ARC__TO_TARGET(f32, float), bool active, unsigned mask)                           \
  ARC__MOVED(divergent_##name, arc_add_with_f32, PATH, 0, ARC_LANES_HERE,                      \
             (target, key, values, true, o), ARC__TO_TARGET(f32, float))                       \
  ARC__MOVED(pointers_##name, arc_add_pointers_with_f32, PATH, 0, ARC_LANES_ALL,               \
             (pointers, width, key, values, active, o), ARC__TO_POINTERS(float), bool active)

ARC__MOVED_ADDS(atomic, ATOMIC)
ARC__MOVED_ADDS(serialized, SERIALIZED)
ARC__MOVED_ADDS(butterfly, BUTTERFLY)
ARC__MOVED_ADDS(transposed, TRANSPOSED)
ARC__MOVED_ADDS(tree, TREE)
ARC__MOVED_ADDS(auto, AUTO)

#endif /* ARC_CUH */
