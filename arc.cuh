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
       >>api       targets, adds, options      >>platform  architecture, lane masks, checks, a call
       >>values    words in registers          >>memory    what a sum becomes there, what adds it
       >>target    where parameters lie        >>emit      sums and values leave for memory
       >>serialized   >>butterfly   >>transposed   >>tree  the reductions
       >>check     what ARC_CHECK reports      >>paths     which reduction for which lanes
       >>sums      an add in two halves        >>hot       rows that a block sums
       >>rows      rows that lie in memory     >>entries   the public names

   What one call costs a warp, n values, S(n) = shuffles of the transposed reduction
   (n = 1: 5, 3: 6, 4: 6, 8: 9, 9: 12, 10: 12, 12: 13, 16: 16, 32: 31)
       path         shuffles                         requests
       atomic       0                                n from every lane (*)
       serialized   n x (largest group - 1)          n from one lane a group
       butterfly    5 n                              n from one lane
       transposed   S(n) a group                     1 a group, coalesced
       two groups   n + S16(n) (***)                 1, coalesced (auto only)
       tree         n a round, n + 1 mixed (**)      n from one lane a group (*)
       (*) n/4 with vector reductions, n/8 of halves. 64-bit types take two shuffles for one.
       (**) ceil(log2(largest group)) rounds; n + 1 where the lanes of a group are not neighbours.
       (***) S of 16 lanes: 8 for n = 8, 11 for n = 9 and 10.
       An empty warp costs one vote, on the atomic path nothing.

   Contract of every add. Each active lane's values are added to its key's parameters exactly once;
   the caller's are not modified. An inactive lane's key, values and pointers are never read, except
   where a promise allows it. NaN or infinity in one value reaches that parameter of that key and no
   other. Integers wrap. The order of additions is unspecified, so float results may differ in the
   last bits from run to run and with the threshold; sums in fixed targets do not. Additions are
   relaxed and return nothing.

   Width. A literal width up to 128 words, or 64 of 64 bits, compiles to registers only: no stack
   frame, no spill but of the caller's own values. A width known at run time only costs a few
   uniform branches for each four values; these should then lie in memory, or the call should state
   a literal bound (options.max_width), which keeps a local array in registers.

   JIT users: NVRTC takes arc.cuh and arc_policy.cuh as two named strings, CuPy and other Python
   packages an include path (examples/python); nothing else is included. */
#if !defined(ARC_CUH) && !defined(__CUDACC__) && !defined(SIMT_ON_CPU)
#define ARC_CUH /* leaves out all that follows, which would be a wall of errors */
#error "arc.cuh: compile this file as CUDA (.cu, or nvcc -x cu), or include simt/simt.cuh first"
#endif
#ifndef ARC_CUH
#define ARC_CUH

#include "arc_policy.cuh"

/* ---- >>api ------------------------------------------------------------------------------- */

#define ARC_MAX_PIECES 8
#define ARC_LANES_ALL 0xffffffffu
#define ARC_LANES_HERE 0x100000000ull /* whichever lanes get here together; a literal */
/* How many sums a block of so many threads keeps of hot rows: sizeof(T) bytes each. */
#define ARC_HOT_SUMS(rows, width, threads) \
  ((rows) * (width) * (((threads) + 31) / 32) + ARC__HOT_STATE_BYTES / 4)
#define ARC__HOT_STATE_BYTES (ARC_CHECK >= 2 ? 16 : 0)

/* T is the type of a value, S its suffix: float f32, double f64, int i32, unsigned u32, long long
   i64, unsigned long long u64. f32 values may go to memory of another type: f64, f16, bf16, fixed.

       typedef struct arc_piece_S { T *base; int stride, width; } arc_piece_S;
   One array of rows that holds some of a primitive's parameters: parameter i of key k lies at
   base[k * stride + i], 0 <= i < width. stride and width in values; a stride is below 2^31 bytes;
   keys may be negative and k * stride may exceed 2^31. base: aligned to one value.
   Alignment is read from base and stride: rows aligned to 16 bytes by both get 16-byte reductions
   on sm_90 and newer, to 8 bytes 8-byte ones. So the stride must be the true distance of two rows:
   rows(p, 2, 2) with key k adds in one request what rows(p, 1, 2) with key 2 k adds in two.

       arc_target_S arc_target_S_rows(T *base, int stride, int width);
       arc_target_S arc_target_S_pieces(const arc_piece_S *pieces, int count);
   A target of one array of rows, or of 1 to 8: piece 0 holds a primitive's first parameters, and so
   on. The target's width is the sum of theirs. All bases but the first may be null: the values of
   such a piece are summed all the same (7 % of a renderer's kernel for 2 of 11) and nothing is
   added for them; a literal count that ends before the piece saves that.
   Who calls: any lane, in any control flow; it belongs above the loop, once a thread. A target is
   bound to the calling lane: do not pass it to another one. Passing it to a function that is not
   inlined makes its pieces run-time values: correct, slow, and longer to compile.
   Cost: about 20 instructions with a literal width, 4 more for each further piece. ARC_CHECK 1
   reports a wrong count or width, and a stride below the width (0, one row for all keys, is legal).

       arc_target_f32 arc_target_f32_rows_M(...), arc_target_f32_pieces_M(arc_piece_M ...)
   Targets of f32 values in memory of another type M: f64; f16 and bf16, for which any pointer to
   16-bit numbers will do; fixed. Values are summed as f32 in registers and converted once a sum.
   Halves: global memory; two neighbours are added by one 32-bit instruction (a scalar one is a loop
   on every architecture), f16 natively from sm_60 on, bf16 from sm_90, else by compare-and-swap. So
   -0 is added to a foreign half that shares a word with a row's first or last value: it keeps its
   value, but the bits of a NaN may become 7fff. Rows of even width at even places share no word.
   fixed: rows of long long; rows_fixed and arc_piece_fixed end with scale_log2, -126..126, and x is
   added as x * 2^scale_log2, rounded to nearest. Clear rows to 0; arc_fixed_to_f32 and _f64 read
   them, on host and device, with the scale that was added with. The bits do not depend on the order
   in which warps add. Two levels:
       as it is   the same launch with the same policy gives the same bits on any GPU.
       exact      (options.exact, ARC_EXACT, and always in divergent calls) the same bits whatever
                  path, threshold, block or grid: every value is rounded by itself and no sum is.
                  The reduction costs twice as much.
   A row holds sums below 2^(63 - scale_log2): k additions of at most X fit if k X is below. Beyond,
   and for NaN or infinity, what is added means nothing (a NaN may add 0), and only ARC_CHECK 2
   tells. Not for f64 values; with -ftz=true subnormal ones count as zero.

   Adds. `values` holds as many values as the target is wide. On every path a group of at least
   `threshold` lanes is reduced in registers, a smaller one goes to plain atomics: 0..33, or
   ARC_THRESHOLD_AUTO, by which arc decides, or ARC_THRESHOLD_CONTENDED, for rows that the whole
   grid adds to at once; ARC_BALANCE_THRESHOLD is the compile-time default to pass. active: whether
   this lane takes part; nothing else is read from a lane that does not. Path and promises are those
   of the macros in arc_policy.cuh. Source: ARC paper, sections 4.4 and 5.5.
   Keys are ints; an unsigned key counts as the int of its bits. For 64-bit keys, such as PyTorch's,
   set ARC_KEY_BITS or options.key_bits to 64. Else an optimised build refuses a key that may be no
   int: the assembler names arc_key_is_no_int__...; an unoptimised one (-G, -Ofc=max, clang -O0)
   and the CPU warp look at each key and stop the kernel.
   Who calls, if nothing else is said: all 32 lanes of the warp, converged or not, with the same
   target and threshold. ARC_CHECK 1 reports lanes that are missing, 2 those that differ.

       void arc_add_S(arc_target_S target, long long key, const T *values, bool active,
                      int threshold);
   Keys may differ from lane to lane. Who calls: all 32 lanes.

       void arc_add_uniform_S(target, key, values, active, threshold);
   One key a warp: all active lanes hold the same key, so that no match is paid. Who calls: all 32
   lanes. ARC_CHECK 2 reports keys that differ.

       void arc_add_masked_S(target, key, values, active, unsigned lane_mask, threshold);
   For a partial warp: a block whose size is not a multiple of 32, lanes that have returned.
   Who calls: exactly the lanes named in lane_mask, with the same mask; keys may differ.
   A full mask is as fast as arc_add_S; any other one is correct and reduces with the tree.

       void arc_add_divergent_S(target, key, values, threshold);
   Who calls: whichever lanes get here, in any subset and interleaving; each is active. Each value
   is added exactly once, whatever loops, branches and atomics of the caller's stand around the
   call. Lanes that arrive together are reduced together; which do, the hardware decides. Below
   sm_70 this is plain atomics.

       void arc_add_with_S(target, key, values, active, arc_options options);
   The general form of the four above; who calls: the lanes of options.lane_mask.
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

       arc_rows_S arc_rows_S_from(arc_target_S target, const T *values, int stride);
       arc_rows_f32 arc_rows_f32_from_f16(...), arc_rows_f32_from_bf16(...): of 16-bit numbers
       void arc_add_rows_S(arc_rows_S *rows, long long key, long long row, bool active);
       void arc_add_rows_with_S(rows, key, row, active, arc_options options);
       void arc_end_rows_S(arc_rows_S *rows);
   Rows that lie in memory, as in index_add or a graph network: each active lane names one of up to
   32 rows a call, whose values, as many as the target is wide, are values[row * stride] and on. Any
   rows in any order, less than 2^31 apart in one call. Lanes read along the columns, and each key's
   rows leave in one coalesced request. The sum of a key that many rows have stays in registers from
   call to call: only after arc_end_rows are all sums in memory.
   Who calls: all 32 lanes of the warp, each of them. As a target, `rows` is bound to its lane.
   values: global or shared memory, aligned to one value; stride below 2^31 bytes. Where base,
   stride and target are aligned to four values and the width is a multiple of 4, four at a time.
   options: key_bits; path and threshold where one request adds a row (1 column, or 2 or 4 that are
   aligned), so that each lane takes one by itself. No promises. Sums in fixed targets are exact.
   Cost: a match, 8 to 18 votes, 2 shuffles for every 1 to 32 rows that lie side by side.

       arc_sum_S arc_sum_begin_S(target, key, values, active, threshold);
       arc_sum_S arc_sum_begin_with_S(target, key, values, active, arc_options options);
       bool arc_sum_next_S(arc_sum_S *sum);
       void arc_sum_add_S(const arc_sum_S *sum);
   An add in two halves, for a caller that clamps, scales, counts or drops sums in between:
       arc_sum_f32 sum = arc_sum_begin_f32(t, id, g, hit, 0);
       while (arc_sum_next_f32(&sum)) {
         sum.value = fminf(sum.value, 1);       // where sum.owned: else no sum of this lane
         arc_sum_add_f32(&sum);                 // to sum.key's parameter sum.parameter, or not
       }
   Each step gives a lane at most one sum. A group makes one step for each 32 values; each lane of a
   group below the threshold is a group of its own, so what is not linear in a sum depends on the
   threshold: 0 gives one sum a group and warp. One key (ARC_PROMISE_ONE_KEY), a literal threshold 0
   and a literal width up to 32 make one step, so that `if` will do for `while`. owned = false drops
   a sum; key and parameter are for reading, and `values` must not change before the last step. Sums
   are transposed, whatever options.path; floats for fixed targets, never exact.
   Who calls: all 32 lanes of the warp, all three in each step. Cost: S(n) and one request a step;
   with many keys a warp up to 4 times an add's.

       arc_hot_S arc_hot_begin_S(target, void *shared, long long first_key, int rows);
       void arc_hot_add_S(const arc_hot_S *hot, key, values, active, threshold);
       void arc_hot_add_with_S(hot, key, values, active, arc_options options);
       void arc_hot_end_S(const arc_hot_S *hot, bool all_threads);
   Rows to which the whole grid adds: a camera, a background, biases. The block keeps the sums of
   the keys first_key to first_key + rows - 1 in `shared`, where each warp has its own and needs no
   atomics, until end; other keys are added as by arc_add_S. A few dozen rows at most.
   shared: ARC_HOT_SUMS(rows, width, threads of the block) sums of type T, or long long for a fixed
   target, whose sums are exact. It serves one set of hot rows at a time: another one after all have
   ended this one and a __syncthreads.
   Who calls: begin: all threads of the block, above any return; it is a __syncthreads. add: as
   arc_add_S; with options.lane_mask whoever it names, ARC_LANES_HERE in divergent code. end: with
   all_threads, a literal, all threads of the block, as a __syncthreads; else whoever is left, each
   warp for itself. Each lane that adds, or a later one of its warp, must end.
   Cost: an add reduces always, and adds to shared memory: by loads and stores where all lanes call,
   else by atomics; end, a request for each 32 sums.

       void arc_atomred_S(T *address, T value);
   The papers' instruction in software: adds value to *address, relaxed and without a result, and
   lanes that get here together with one address are summed first. Source: ARC paper, section 5.1.
   Who calls: any lane, in any control flow. address: global or shared memory, aligned to one value.
   Cost: two matches and up to 5 rounds of 2 shuffles, from about 17 lanes on; else none.

       void arc_atomic_add_S(T *address, T value);
   The scalar drop-in for an atomicAdd without a result, each type its own; callers and address as
   for arc_atomred_S. */

/* What one call does; arc_options arc_options_default(void) returns what the macros say, for all
   lanes of a warp. Path and promises must be literals; a literal field costs nothing. A path chosen
   at run time is a switch in the caller: examples/tuned.cu. */
typedef struct arc_options {
  int path;                     /* ARC_PATH_... */
  int promises;                 /* ARC_PROMISE_..., joined by | */
  int threshold;                /* 0..33, ARC_THRESHOLD_AUTO; may be known at run time only */
  unsigned long long lane_mask; /* who calls: ARC_LANES_ALL, a mask, or ARC_LANES_HERE */
  int max_width;                /* a literal bound of a width known at run time only; 0: none */
  int key_bits;                 /* 32 or 64, a literal: keys beyond an int */
  bool exact; /* a literal: sums in a fixed target are the same bits on every path */
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
#if defined(__CUDACC_DEBUG__) || (defined(__clang__) && defined(__CUDA__) && !defined(__OPTIMIZE__))
/* Unoptimised, all of it in every call would take the assembler minutes. */
#define ARC__FN static __device__ inline
#else
#define ARC__FN static __device__ __forceinline__
#endif
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

/* The statements for each i in [0, count), up to 4; for each piece i of a target. No loop: with
   literal indices in the source, compilers see widths before they unroll the loops over values. */
#define ARC__PIECE(i, number, count, ...) \
  {                                       \
    const int i = number;                 \
    if (i < (count)) __VA_ARGS__          \
  }
#define ARC__EACH_OF_4(i, count, ...)  \
  ARC__PIECE(i, 0, count, __VA_ARGS__) \
  ARC__PIECE(i, 1, count, __VA_ARGS__) \
  ARC__PIECE(i, 2, count, __VA_ARGS__) ARC__PIECE(i, 3, count, __VA_ARGS__)
#define ARC__EACH_PIECE(i, count, ...)  \
  ARC__EACH_OF_4(i, count, __VA_ARGS__) \
  ARC__PIECE(i, 4, count, __VA_ARGS__)  \
  ARC__PIECE(i, 5, count, __VA_ARGS__)  \
  ARC__PIECE(i, 6, count, __VA_ARGS__) ARC__PIECE(i, 7, count, __VA_ARGS__)

#define ARC__WARP 32

/* for first = 0, most, ... below the width: the one place where chunks are walked. Unrolled where
   the width, or a bound of it, is a literal. */
#define ARC__CHUNKS(c, first, most)                                                       \
  ARC__UNROLL for (int first = 0; first < ((c)->max_width ? (c)->max_width : (c)->width); \
                   first += (most)) if (first < (c)->width)

/* A failed check ends the way a device assert() does, by __assertfail, which NVRTC declares itself:
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

#if defined(SIMT_ON_CPU)
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

/* The lanes that are here together. They get the same mask and meet again at the next vote; other
   lanes may pass here at any time, with a mask of their own. To ptxas, a mask that comes out of
   __activemask alone is one for all lanes that run together: votes and shuffles would take it from
   one of them, and miss or mix lanes that came with another mask. The lane's own bit, which is set
   already, makes it a value of each lane. A macro, since the CPU warp tells uses apart by place. */
#define ARC__LANES_HERE() (__activemask() | 1u << arc__lane())

ARC__FN unsigned arc__lanes_below(int lane) { return (1u << lane) - 1u; }
ARC__FN bool arc__leads(unsigned group, int lane) { return group >> lane == 1u; }

/* x, 0 to 63, out of a population count: compilers compute what is cheaper anew in every call. */
ARC__FN int arc__kept(int x) {
#if !defined(__CUDA_ARCH__) /* where shifts stop at 64, and x & 63 would be one instruction more */
  x &= 63;
#endif
  return __popcll((1ull << x) - 1u);
}

/* mask must not be empty. The highest lane is one instruction cheaper to find than the lowest. */
ARC__FN int arc__lowest(unsigned mask) { return __ffs((int)mask) - 1; }
ARC__FN int arc__highest(unsigned mask) { return 31 - __clz((int)mask); }

typedef unsigned long long arc__u64;

/* low is the whole key where it fits an int, and carry 0: key = low + 2^32 carry. */
typedef struct arc__key {
  int low, carry;
  int bits; /* 32 or 64, a literal */
} arc__key;

ARC__FN arc__key arc__key_from(long long id, int bits) {
  unsigned carry = (unsigned)((arc__u64)id >> 32) + ((unsigned)id >> 31);
  arc__key key = {(int)id, bits == 64 ? (int)carry : 0, bits};
  return key;
}

ARC__FN long long arc__key_id(arc__key key) {
  return (long long)((arc__u64)(long long)key.low + ((arc__u64)(unsigned)key.carry << 32));
}

/* base + key * stride, 64 bits wide: one multiply-add on the device, where a compiler left to
   itself shares the sign extension of key between its uses and pays three instructions for each. */
ARC__FN char *arc__offset(char *base, arc__key key, int stride_bytes) {
#if defined(__CUDA_ARCH__)
  long long offset;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(key.low), "r"(stride_bytes));
  if (key.bits == 64) offset += (long long)((arc__u64)key.carry * (arc__u64)stride_bytes << 32);
  return base + offset;
#else
  return base + (long long)((arc__u64)arc__key_id(key) * (arc__u64)stride_bytes);
#endif
}

typedef struct arc__piece {
  char *base;
  int stride_bytes, width;
  int vector_log2; /* bytes one reduction instruction may add: 4 (16), 3 (8), 2 (a word) or 1 (2) */
  float scale;     /* of a fixed target */
} arc__piece;

/* Where the sum goes that a transposed reduction leaves in this lane. */
typedef struct arc__slot {
  char *base;
  int stride_bytes;
  int owned;
  float scale;
  /* Of halves, two share a word: the owner of the lower one adds both. */
  bool is_value, follows, precedes; /* in one row, the lane below, above has the value next to it */
  bool odd;                         /* this value is the upper half of its word */
  unsigned halves;                  /* what __byte_perm makes of this sum and the next one */
} arc__slot;

typedef struct arc__target {
  arc__piece piece[ARC_MAX_PIECES];
  int kind, memory; /* literals */
  int pieces, width;
  /* The default decision, by the strides: bases are aligned as these allow. */
  int min_lanes_to_reduce;          /* the smallest group that a reduction pays for; */
  int min_lanes_to_reduce_promised; /* the same where the caller makes every promise */
  int min_lanes_to_match;           /* the fewest lanes for which matching keys pays */
  arc__slot warp_slot;              /* after a reduction over the warp */
  arc__slot half_warp_slot;         /* after one over each half-warp */
  int builder;                      /* the lane that built it; ARC_CHECK 2 */
} arc__target;

/* One warp's call, the same in every helper. The kinds, path and promises are literals. lanes: who
   calls; present: the active ones among them. */
typedef struct arc__call {
  const arc__target *target;   /* null in the papers' form, */
  const void *const *pointers; /* which has one pointer a value */
  const void *values;
  int width, max_width;
  int source, kind, memory; /* of the values, of a word in registers, of the sums in memory */
  int path, promises;
  arc__key key;
  int threshold, lane;
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

/* `key` of another lane, or c's own key. All of c->lanes call. */
ARC__FN arc__key arc__key_at(const arc__call *c, arc__key key, int lane) {
  key.low = __shfl_sync(c->lanes, key.low, lane);
  if (key.bits == 64) key.carry = __shfl_sync(c->lanes, key.carry, lane);
  return key;
}

ARC__FN arc__key arc__key_of(const arc__call *c, int lane) { return arc__key_at(c, c->key, lane); }
ARC__FN bool arc__same_key(arc__key a, arc__key b) { return a.low == b.low && a.carry == b.carry; }

/* Takes the group of the highest lane of *rest, which tells its key. All of c->lanes call. */
ARC__FN unsigned arc__take_group(const arc__call *c, unsigned *rest, arc__key *key) {
  *key = arc__key_of(c, arc__highest(*rest));
  bool member = c->active && arc__same_key(c->key, *key);
  unsigned group = __ballot_sync(c->lanes, member);
  *rest &= ~group;
  return group;
}

/* c->group. All of c->lanes call. */
ARC__FN unsigned arc__match(const arc__call *c) {
  if (arc__promised(c, ARC_PROMISE_ONE_KEY)) return c->active ? c->present : 0u;
#if ARC__ARCH >= 700
  unsigned group = __match_any_sync(c->lanes, c->active ? c->key.low : 0) & c->present;
  if (c->key.bits == 64) group &= __match_any_sync(c->lanes, c->active ? c->key.carry : 0);
  return c->active ? group : 0u;
#else
  unsigned group = 0u;
  for (unsigned rest = c->present; rest != 0u;) {
    arc__key key;
    unsigned lanes = arc__take_group(c, &rest, &key);
    if (c->active && arc__same_key(c->key, key)) group = lanes;
  }
  return group;
#endif
}

/* ---- >>values ---------------------------------------------------------------------------- */
/* Every type adds as words of 32 or 64 bits, so that the paths are written once: they move words,
   and only this section and the next know what a word means. */

typedef struct arc__word {
  unsigned lo, hi; /* hi: of 64 bits, else 0 */
} arc__word;

/* Kinds of words in registers and of values in memory: a number, 256 times the bytes, and
   ARC__FLOAT where words are floats. Integers wrap: signed sums are unsigned. */
#define ARC__FLOAT 0x8000
#define ARC__F32 (ARC__FLOAT | 0x401)
#define ARC__F64 0x802
#define ARC__I32 0x403
#define ARC__I64 0x804
#define ARC__F16 0x205                    /* in memory only */
#define ARC__BF16 0x206                   /* the same */
#define ARC__FIXED 0x807                  /* the same: 64-bit fixed point */
#define ARC__ORDERED (ARC__FLOAT | 0x408) /* in registers: sums that no compiler may contract */
#define ARC__OWN 0x10000 /* with a kind in registers: in shared memory, a warp's own */

ARC__FN int arc__bytes(int kind) { return kind >> 8 & 15; }
ARC__FN bool arc__is_half(int kind) { return arc__bytes(kind) == 2; }
ARC__FN bool arc__is_f32(int kind) { return (kind & ARC__FLOAT) != 0; }

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
  arc__word w = {arc__is_f32(kind) ? sign : 0u, kind == ARC__F64 ? sign : 0u};
  return w;
}

ARC__FN unsigned arc__sum_f32(int kind, unsigned a, unsigned b) {
  float x = __uint_as_float(a), y = __uint_as_float(b);
  return __float_as_uint(kind == ARC__F32 ? x + y : __fadd_rn(x, y));
}

ARC__FN arc__word arc__sum(int kind, arc__word a, arc__word b) {
  if (kind == ARC__F64) return arc__word_of_f64(arc__f64(a) + arc__f64(b));
  if (kind == ARC__I64) return arc__word_of(arc__bits(a) + arc__bits(b));
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

/* Of two words a lane keeps one, in *low, and sends the other, which is returned: the lower lane
   (upper is 0) keeps *low, the upper one high. SEL throughput limits the reduction, so on the
   device the kept word moves by a predicated addition of -0. That needs `may_clobber`: ptxas copies
   a word that another branch reads too before it is written, and then a select is cheaper. Both in
   PTX: there all of a lane's predicates come from one instruction, R2P. `sent` keeps send from
   being written before all is read; CUDA 11 has no early clobber, "=&f". */
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
  if (arc__is_f32(kind) && may_clobber)
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
   The whole warp calls. On the device the shuffle itself tells whether it is. */
ARC__FN arc__word arc__sum_from_below(const arc__call *c, arc__word w, int distance, int start) {
#if defined(__CUDA_ARCH__)
  if (arc__is_f32(c->kind) && arc__bytes(c->kind) == 4) {
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
  arc__word other = arc__shfl_up(c->kind, ARC_LANES_ALL, w, distance);
  return c->lane - distance >= start ? arc__sum(c->kind, w, other) : w;
}

/* ---- >>memory ---------------------------------------------------------------------------- */

#if ARC__ARCH >= 700
#define ARC__RELAXED "relaxed."
#else
#define ARC__RELAXED "" /* what it does, without a word for it */
#endif
#if ARC_SCOPE == ARC_SCOPE_SYSTEM && ARC__ARCH >= 600 && defined(__CUDA_ARCH__)
#define ARC__ATOMIC_ADD atomicAdd_system
#define ARC__ATOMIC_CAS atomicCAS_system
#define ARC__RED "red." ARC__RELAXED "sys.global.add"
#else
#define ARC__ATOMIC_ADD atomicAdd
#define ARC__ATOMIC_CAS atomicCAS
#define ARC__RED "red." ARC__RELAXED "gpu.global.add"
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
  if (kind == ARC__I64) w = arc__word_of(((const arc__u64 *)values)[i]);
  if (kind == ARC__I32) w.lo = ((const unsigned *)values)[i];
  if (kind == ARC__F32) w.lo = __float_as_uint(((const float *)values)[i]);
  if (arc__is_half(kind))
    w.lo = __float_as_uint(arc__half_value(kind, ((const unsigned short *)values)[i]));
  return w;
}

/* The reverse, for types of values. */
ARC__FN void arc__write(int kind, void *values, int i, arc__word w) {
  if (kind == ARC__F64) ((double *)values)[i] = arc__f64(w);
  if (kind == ARC__I64) ((arc__u64 *)values)[i] = arc__bits(w);
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

/* Whether sums of f32 values are those of the values in fixed point: exact, in any order. */
ARC__FN bool arc__is_exact(const arc__call *c) {
  return c->kind == ARC__I64 && c->source != ARC__I64;
}

/* What is added to memory for a word of a register, or for two that share a word of memory. */
ARC__FN arc__word arc__stored(const arc__call *c, arc__word w, arc__word next, float scale) {
  float x = __uint_as_float(w.lo);
  if (c->memory == ARC__FIXED && c->kind == ARC__ORDERED) return arc__fixed(x * scale);
  if (arc__is_half(c->memory)) return arc__pack(c->memory, x, __uint_as_float(next.lo));
  return c->kind == ARC__F32 && c->memory == ARC__F64 ? arc__word_of_f64(x) : w;
}

/* By compare-and-swap, on a word of memory: where no instruction adds. */
ARC__FN void arc__swap(int memory, char *address, arc__word w) {
  arc__word seen = {0u, 0u}, old; /* a wrong guess costs one more round */
  do {
    old = seen;
    if (memory == ARC__F64) {
      arc__u64 sum = arc__bits(arc__sum(ARC__F64, old, w));
      seen = arc__word_of(ARC__ATOMIC_CAS((arc__u64 *)address, arc__bits(old), sum));
    } else {
      float low = arc__half_value(memory, old.lo) + arc__half_value(memory, w.lo);
      float high = arc__half_value(memory, old.lo >> 16) + arc__half_value(memory, w.lo >> 16);
      seen.lo = ARC__ATOMIC_CAS((unsigned *)address, old.lo, arc__pack(memory, low, high).lo);
    }
  } while (seen.lo != old.lo || seen.hi != old.hi);
}

/* Puts w into a word of shared memory, and returns what was there. */
ARC__FN arc__word arc__put(int kind, char *address, arc__word w) {
  if (arc__bytes(kind) == 8) return arc__word_of(atomicExch((arc__u64 *)address, arc__bits(w)));
  w.lo = atomicExch((unsigned *)address, w.lo);
  return w;
}

/* Adds one word or, in global memory, aligned to all of them, 2 or 4 words of floats or halves. */
#define ARC__RED_AS(type, operands, ...) \
  asm volatile(ARC__RED type " [%0], " operands ";" ::"l"(at), __VA_ARGS__ : "memory")
#define ARC__RED_VECTOR(ftz, type)                                                              \
  {                                                                                             \
    if (count == 2)                                                                             \
      ARC__RED_AS(ftz ".v2" type, "{%1, %2}", "r"(w[0].lo), "r"(w[1].lo));                      \
    else                                                                                        \
      ARC__RED_AS(ftz ".v4" type, "{%1, %2, %3, %4}", "r"(w[0].lo), "r"(w[1].lo), "r"(w[2].lo), \
                  "r"(w[3].lo));                                                                \
  }
ARC__FN void arc__request(int memory, char *address, const arc__word *w, int count) {
#if !defined(__CUDACC__) && ARC__ARCH >= 900
  unsigned words[4] = {0u};
  for (int i = 0; i < count; ++i) words[i] = w[i].lo;
  if (memory == ARC__F32 && count > 1) simt_red_add_f32(address, words, count);
  if (memory == ARC__F16) simt_red_add_f16x2(address, words, count);
  if (memory == ARC__BF16) simt_red_add_bf16x2(address, words, count);
#elif defined(__CUDA_ARCH__) && ARC__ARCH >= 600
  arc__u64 at = __cvta_generic_to_global(address);
#endif
  if (count > 1) {
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 900
    if (memory == ARC__F32) ARC__RED_VECTOR("", ".f32")
    if (memory == ARC__F16) ARC__RED_VECTOR(".noftz", ".f16x2")
    if (memory == ARC__BF16) ARC__RED_VECTOR(".noftz", ".bf16x2")
#endif
    return;
  }
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 600
  if (memory == ARC__F16) ARC__RED_AS(".noftz.f16x2", "%1", "r"(w[0].lo));
#elif ARC__ARCH < 900
  if (memory == ARC__F16) arc__swap(memory, address, w[0]);
#endif
#if defined(__CUDA_ARCH__) && ARC__ARCH >= 900
  if (memory == ARC__BF16) ARC__RED_AS(".noftz.bf16x2", "%1", "r"(w[0].lo));
#elif ARC__ARCH < 900
  if (memory == ARC__BF16) arc__swap(memory, address, w[0]);
#endif
  if ((memory & ARC__OWN) != 0) { /* nobody else adds there */
    int kind = memory & ~ARC__OWN;
    arc__write(kind, address, 0, arc__sum(kind, arc__read(kind, address, 0), w[0]));
  }
  if (memory == ARC__F32) ARC__ATOMIC_ADD((float *)address, __uint_as_float(w[0].lo));
  if (memory == ARC__I32) ARC__ATOMIC_ADD((unsigned *)address, w[0].lo);
  if (memory == ARC__I64 || memory == ARC__FIXED) {
    arc__u64 bits = arc__bits(w[0]);
    arc__u64 old = ARC__ATOMIC_ADD((arc__u64 *)address, bits);
    ARC__CHECK(2, memory == ARC__I64 || ((old ^ (old + bits)) & (bits ^ (old + bits))) >> 63 == 0u,
               "a sum in a fixed target overflows");
  }
#if ARC__ARCH >= 900 || (defined(__CUDACC__) && ARC__ARCH >= 600)
  if (memory == ARC__F64) ARC__ATOMIC_ADD((double *)address, arc__f64(w[0]));
#else
  if (memory == ARC__F64) arc__swap(memory, address, w[0]);
#endif
}

ARC__FN void arc__atomic_add(int memory, char *address, arc__word w) {
  arc__request(memory, address, &w, 1);
}

/* Adds min(count, 4) words, if any, to consecutive ones, 2^vector_log2 bytes at most a request. */
ARC__FN void arc__atomic_add_four(int memory, char *address, const arc__word *w, int count,
                                  int vector_log2) {
  int bytes = arc__bytes(memory) == 8 ? 8 : 4;
  ARC__UNROLL
  for (int i = 0; i < 4; ++i) {
    bool four = vector_log2 >= 4 && count >= 4, two = vector_log2 >= 3 && count >= i / 2 * 2 + 2;
    if (i >= count || (four && i > 0) || (two && i % 2 > 0)) continue;
    arc__request(memory, address + bytes * i, w + i, four ? 4 : two ? 2 : 1);
  }
}

/* ---- >>target ---------------------------------------------------------------------------- */

/* How many bytes one instruction may add to rows of this stride, as a power of two, if the base is
   aligned to 16 bytes; 2 for a word of any type, 1 for one half. */
ARC__FN int arc__largest_log2(int memory, int stride_bytes) {
  if (arc__is_half(memory) && stride_bytes % 4 != 0) return 1;
  if (arc__most_log2(memory) == 2 || stride_bytes % 8 != 0) return 2;
  return stride_bytes % 16 == 0 ? 4 : 3;
}

/* The same for this base. By __popc: ptxas computes a plain minimum anew in every call. */
ARC__FN int arc__vector_log2(int memory, const char *base, int stride_bytes) {
  bool half = arc__is_half(memory);
  int largest = arc__largest_log2(memory, stride_bytes);
  if (largest <= (half ? 1 : 2)) return largest; /* a literal decides at once */
  unsigned bits = (unsigned)(arc__u64)base | 1u << largest;
  return half || __isGlobal(base) ? __popc((bits & (0u - bits)) - 1u) : 2;
}

/* 2^log2, for |log2| < 128. */
static __host__ __device__ inline double arc__power(int log2) {
  int n = log2 < 0 ? -log2 : log2;
  double power = (double)(1ull << n % 64) * (n < 64 ? 1.0 : 18446744073709551616.0);
  return log2 < 0 ? 1.0 / power : power;
}

ARC__FN void arc__target_begin(arc__target *t, int kind, int memory, int pieces) {
  ARC__CHECK(1, pieces >= 1 && pieces <= ARC_MAX_PIECES, "a target has 1 to 8 pieces");
  t->kind = kind;
  t->memory = memory;
  t->pieces = pieces;
  t->width = 0;
}

ARC__FN void arc__target_piece(arc__target *t, int i, void *base, int stride, int width,
                               int scale_log2) {
  ARC__CHECK(ARC__WIDTH_CHECK, width >= 1, "the width of a piece must be at least 1");
  long long bytes = (long long)stride * arc__bytes(t->memory), most = 1ll << 31;
  ARC__CHECK(1, bytes > -most && bytes < most, "the stride of a piece must be below 2^31 bytes");
  ARC__CHECK(1, stride == 0 || stride >= width || -stride >= width,
             "the stride of a piece is below its width: rows overlap");
  ARC__CHECK(1, scale_log2 >= -126 && scale_log2 <= 126, "scale_log2 must be -126..126");
  ARC__CHECK(1, !arc__is_half(t->memory) || __isGlobal(base),
             "rows of halves must lie in global memory");
  arc__piece *p = &t->piece[i];
  p->base = (char *)base;
  p->stride_bytes = (int)bytes;
  p->width = width;
  p->vector_log2 = arc__vector_log2(t->memory, p->base, p->stride_bytes);
  p->scale = (float)arc__power(scale_log2);
  t->width += width;
}

/* The slot of a half that is the upper one of its word or, if not odd, the lower. */
ARC__FN void arc__set_odd(arc__slot *slot, bool odd) {
  slot->base += (slot->odd ? 2 : 0) - (odd ? 2 : 0);
  slot->odd = odd;
  slot->owned = slot->is_value && !(odd && slot->follows);
  slot->halves = odd ? 0x1054u : slot->precedes ? 0x3210u : 0x5410u; /* 54: -0 */
}

ARC__FN bool arc__is_odd(const char *base) { return ((arc__u64)base & 2u) != 0u; }

/* Whether sums of a piece go anywhere: all but the first may have no base. */
ARC__FN bool arc__is_there(const arc__target *t, int piece) {
  return piece == 0 || t->piece[piece].base != 0;
}

/* Where the given value of key 0 lies, in the last piece that begins at or below it. Compilers keep
   what a branch on `owned` has chosen; they compute a plain sum in each call. */
ARC__FN arc__slot arc__slot_of(const arc__target *t, int value, int lanes) {
  const arc__piece *first = &t->piece[0];
  const bool inside = value < t->width;
  arc__slot slot = {
      first->base, first->stride_bytes, inside, first->scale, inside, false, false, false, 0u};
  int begin = 0;
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    if (inside && value >= begin) {
      slot.owned = slot.is_value = arc__is_there(t, i);
      if (slot.owned) slot.base = p->base + (long long)arc__bytes(t->memory) * (value - begin);
      slot.stride_bytes = p->stride_bytes;
      slot.scale = p->scale;
      slot.follows = value > begin && value % lanes != 0;
      slot.precedes = value + 1 < begin + p->width && (value + 1) % lanes != 0;
    }
    begin += p->width;
  })
  if (arc__is_half(t->memory)) arc__set_odd(&slot, arc__is_odd(slot.base));
  return slot;
}

/* What a reduction sums for a value; scale: of its piece. */
ARC__FN arc__word arc__summand(const arc__call *c, arc__word value, float scale) {
  return arc__is_exact(c) ? arc__fixed(__uint_as_float(value.lo) * scale) : value;
}

/* The same for value i of this lane. */
ARC__FN arc__word arc__load(const arc__call *c, int i, float scale) {
  return arc__summand(c, arc__read(c->source, c->values, i), scale);
}

/* The scale of a fixed target's value; else any number. */
ARC__FN float arc__scale_of(const arc__call *c, int value) {
  return arc__is_exact(c) ? arc__slot_of(c->target, value, ARC__WARP).scale : 0;
}

/* Words of memory that `width` values of a row take. */
ARC__FN int arc__words(int memory, int width) {
  return arc__is_half(memory) ? (width + 1) / 2 : width;
}

/* Reduction instructions with which one lane adds that many words. */
ARC__FN int arc__requests(int words, int vector_log2) {
  return vector_log2 == 4   ? words / 4 + words % 4 / 2 + words % 2
         : vector_log2 == 3 ? words / 2 + words % 2
                            : words;
}

/* S(n): shuffles of the transposed reduction of n values. */
ARC__FN int arc__shuffles(int n) {
  return n / 32 * 31 + (n % 32 + 1) / 2 + (n % 32 + 3) / 4 + (n % 32 + 7) / 8 + (n % 32 + 15) / 16 +
         (n % 32 + 31) / 32;
}

/* By a formula of arc_policy.cuh: for one piece a choice among constants, where it would divide. */
#define ARC__DECIDE(FORMULA)                                  \
  (t->pieces > 1 ? FORMULA(shuffles, requests)                \
   : log2 <= 2   ? FORMULA(shuffles, words)                   \
   : log2 == 3   ? FORMULA(shuffles, arc__requests(words, 3)) \
                 : FORMULA(shuffles, arc__requests(words, 4)))

ARC__FN void arc__target_end(arc__target *t) {
  int requests = 0, lane = arc__lane();
  int shuffles = arc__shuffles(t->width) * (arc__bytes(t->kind) / 4);
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    requests += arc__requests(arc__words(t->memory, p->width),
                              arc__largest_log2(t->memory, p->stride_bytes));
  })
  int log2 = arc__largest_log2(t->memory, t->piece[0].stride_bytes);
  int words = arc__words(t->memory, t->width);
  t->min_lanes_to_reduce = ARC__DECIDE(ARC_MIN_LANES_TO_REDUCE);
  t->min_lanes_to_reduce_promised = ARC__DECIDE(ARC_MIN_LANES_TO_REDUCE_PROMISED);
  t->min_lanes_to_match = ARC__DECIDE(ARC_MIN_LANES_TO_MATCH);
  t->builder = lane;
  lane = arc__kept(lane);
  t->warp_slot = arc__slot_of(t, lane, ARC__WARP);
  t->half_warp_slot = arc__slot_of(t, lane % (ARC__WARP / 2), ARC__WARP / 2);
#if defined(__CUDA_ARCH__) /* or each call computes them anew */
  if (t->pieces > 1) asm("" : "+r"(t->warp_slot.stride_bytes));
  if (arc__is_half(t->memory)) asm("" : "+l"(t->warp_slot.base));
#endif
}

/* ---- >>emit ------------------------------------------------------------------------------ */

ARC__FN int arc__chunk_width(const arc__call *c, int first, int most) {
  return c->width - first < most ? c->width - first : most;
}

/* `count` values of one row, at `address`: `sums` or, where those are null, the lane's own from
   value `first` on. The bound of the loop is a literal for sums, which are registers. Two halves
   share a word; the first is alone in its own where it is the upper one (odd). */
ARC__FN void arc__emit_run(const arc__call *c, char *address, const arc__word *sums, int first,
                           int count, int vector_log2, float scale) {
  int each = arc__is_half(c->memory) ? 2 : 1; /* values a word */
  int odd = each == 2 && vector_log2 <= 2 && arc__is_odd(address) ? 1 : 0;
  int bound = (sums ? ARC__WARP : c->max_width ? c->max_width : count) + each - 1;
  arc__word before = arc__neutral(ARC__F32);
  ARC__UNROLL
  for (int i = 0; i < bound; i += 4 * each) {
    if (i >= count + each - 1) continue;
    ARC__WORDS(w, 4);
    ARC__UNROLL
    for (int k = 0; k < 4; ++k) {
      int at = i + each * k;
      if (at >= count + each - 1) continue;
      arc__word own[2] = {arc__neutral(ARC__F32), arc__neutral(ARC__F32)};
      ARC__UNROLL
      for (int e = 0; e < each; ++e)
        if (at + e < count) own[e] = sums ? sums[at + e] : arc__load(c, first + at + e, scale);
      w[k] = arc__stored(c, odd ? before : own[0], odd ? own[0] : own[1], scale);
      before = own[1];
    }
    arc__atomic_add_four(c->memory, address + arc__bytes(c->memory) * (i - odd), w,
                         (count + odd - i + each - 1) / each, vector_log2);
  }
}

/* The same, to value `offset` of the row of this lane's key in piece i. In the first piece each
   alignment has a loop of its own. In the others, which are short, four values choose by a branch:
   three times the loops would double the time to compile. */
ARC__FN void arc__emit_piece(const arc__call *c, int i, int offset, const arc__word *sums,
                             int first, int count) {
  const arc__piece *p = &c->target->piece[i];
  int bytes = arc__bytes(c->memory);
  char *address = arc__offset(p->base, c->key, p->stride_bytes) + (long long)bytes * offset;
  int log2 = arc__promised(c, ARC_PROMISE_ALIGNED_16) ? arc__most_log2(c->memory) : p->vector_log2;
  if (log2 > 2 && (offset * bytes % 16 != 0 || arc__adds_by_value(c))) log2 = 2;
  if (i == 0 && log2 >= 4 && count * bytes >= 16)
    arc__emit_run(c, address, sums, first, count, 4, p->scale);
  else if (i == 0 && log2 >= 3 && count * bytes >= 8)
    arc__emit_run(c, address, sums, first, count, 3, p->scale);
  else
    arc__emit_run(c, address, sums, first, count, i == 0 ? 2 : log2, p->scale);
}

/* Adds the values [first, first + count) of this lane's key: sums or, if null, the lane's own. */
ARC__FN void arc__emit(const arc__call *c, const arc__word *sums, int first, int count) {
  if (!c->target) {
    ARC__EACH(i, count, ARC__WARP)
      arc__atomic_add(c->memory, (char *)c->pointers[first + i],
                      sums ? sums[i] : arc__load(c, first + i, 0));
    return;
  }
  int begin = 0; /* the piece's first value, counted in the whole target */
  ARC__EACH_PIECE(i, c->target->pieces, {
    const arc__piece *p = &c->target->piece[i];
    int skip = i > 0 && begin > first ? begin - first : 0, end = begin + p->width;
    int run = (end < first + count ? end : first + count) - first - skip;
    if (run > 0 && arc__is_there(c->target, i))
      arc__emit_piece(c, i, first + skip - begin, sums ? sums + skip : 0, first + skip, run);
    begin = end;
  })
}

ARC__FN void arc__add_plain(const arc__call *c) {
  if (c->target) arc__emit(c, 0, 0, c->width);
  ARC__CHUNKS(c, first, ARC__WARP)
  if (!c->target) arc__emit(c, 0, first, arc__chunk_width(c, first, ARC__WARP));
}

/* ---- >>serialized ------------------------------------------------------------------------ */
/* SW-S (ARC paper, 5.5.1): the leader of each group walks its other lanes, and has the sums. */
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
    float scale = arc__scale_of(c, first + i);
    w[i] = stays ? arc__load(c, first + i, scale) : arc__neutral(c->kind);
    if (lanes == ARC__WARP) continue;
    arc__word other = leaves ? arc__load(c, first + i, scale) : arc__neutral(c->kind);
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

/* Adds the sum of a slot, which its owner has; next: that of the next lane. */
ARC__FN void arc__emit_sum(const arc__call *c, arc__slot slot, arc__key key, arc__word sum,
                           arc__word next) {
  bool half = arc__is_half(c->memory);
  arc__word w = arc__stored(c, sum, next, slot.scale);
  if (half && slot.stride_bytes % 4 != 0) /* else the same for every key */
    arc__set_odd(&slot, (((unsigned)key.low * (unsigned)slot.stride_bytes & 2u) != 0u) != slot.odd);
  if (half) w.lo = __byte_perm(w.lo, 0x8000u, slot.halves);
  if (slot.owned) arc__atomic_add(c->memory, arc__offset(slot.base, key, slot.stride_bytes), w);
}

/* The same; the whole warp calls. */
ARC__FN void arc__emit_slot(const arc__call *c, arc__slot slot, arc__key key, arc__word sum) {
  bool half = arc__is_half(c->memory);
  arc__word next = half ? arc__shfl_down(c->kind, ARC_LANES_ALL, sum, 1) : sum;
  arc__emit_sum(c, slot, key, sum, next);
}

/* The slot of the sum that a reduction of the chunk at `first` leaves in this lane. Of a single
   value, each lane has the sum of `group`: its leader owns it, which has the key. */
ARC__FN arc__slot arc__chunk_slot(const arc__call *c, unsigned group, int first, int lanes) {
  bool single = c->width == 1 && lanes == ARC__WARP;
  arc__slot slot = lanes == ARC__WARP ? c->target->warp_slot : c->target->half_warp_slot;
  if (first > 0 || single) {
    slot = arc__slot_of(c->target, single ? 0 : first + c->lane % lanes, lanes);
    if (single) slot.owned = slot.is_value = arc__leads(group, c->lane);
  }
  return slot;
}

/* The key of a group, in every lane that will own a sum. */
ARC__FN arc__key arc__group_key(const arc__call *c, unsigned group, bool known) {
  return known || c->width == 1 ? c->key : arc__key_of(c, arc__highest(group));
}

/* A group, chunk by chunk; the rest as arc__reduce_chunk says. */
ARC__FN void arc__add_group(const arc__call *c, unsigned group, arc__key key, int lanes, bool stays,
                            bool leaves, bool may_clobber) {
  ARC__CHUNKS(c, first, lanes) {
    arc__word sum = arc__reduce_chunk(c, first, lanes, stays, leaves, may_clobber);
    arc__emit_slot(c, arc__chunk_slot(c, group, first, lanes), key, sum);
  }
}

/* One key a full warp. Where every lane is active, or holds zeros, nothing is masked: one code for
   both. may_clobber: as above; masked words are copies. */
ARC__FN void arc__add_one_group(const arc__call *c, bool may_clobber) {
  const bool every_lane = true, leaves = false, masked = true;
  bool full = c->present == ARC_LANES_ALL, zeros = arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool has_key = arc__promised(c, ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_HAS_KEY);
  if (c->width > 1 && (full || zeros)) {
    arc__key key = arc__group_key(c, c->present, has_key || full);
    arc__add_group(c, c->present, key, ARC__WARP, every_lane, leaves, may_clobber);
  } else {
    arc__key key = arc__group_key(c, c->present, has_key);
    arc__add_group(c, c->present, key, ARC__WARP, arc__is_source(c), leaves, masked);
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
  arc__key key = arc__key_of(c, arc__highest(upper ? low : c->leaders ^ low));
  arc__add_group(c, c->group, key, half, stays, leaves, masked);
}

/* One group after the other. Returns whether this lane's group is below the threshold. */
ARC__FN bool arc__add_each_group(const arc__call *c, int threshold) {
  bool plain = false;
  const bool leaves = false, masked = true;
  for (unsigned rest = c->present; rest != 0u;) {
    arc__key key;
    unsigned group = arc__take_group(c, &rest, &key);
    bool member = c->active && arc__same_key(c->key, key);
    if (__popc(group) < threshold)
      plain = plain || member;
    else
      arc__add_group(c, group, key, ARC__WARP, member, leaves, masked);
  }
  return plain;
}

/* ---- >>tree ------------------------------------------------------------------------------ */
/* All groups at once; the leader of each ends with its sums. If every present lane leads, all keys
   differ and there is nothing to reduce.

   In runs: where the lanes of each group are neighbours, a lane adds what the lane 1, 2, 4, 8 and
   16 below holds, unless that is below the group's first lane `start`. */
#define ARC__ROUNDS 5

/* The leaders in lanes below this one: of lower groups, if each group's lanes are neighbours. */
ARC__FN unsigned arc__leaders_below(const arc__call *c) {
  return c->leaders & arc__lanes_below(c->lane);
}

/* Whether they are. The whole warp calls. */
ARC__FN bool arc__are_runs(const arc__call *c) {
  unsigned below_group = ~c->group & (c->group - 1u); /* lanes below the group's lowest */
  return __all_sync(ARC_LANES_ALL, arc__leaders_below(c) <= below_group);
}

ARC__FN void arc__reduce_runs(const arc__call *c, arc__word *w, int count) {
  int start = arc__highest(2u * arc__leaders_below(c) + 1u);
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
  if (c->lanes == ARC_LANES_ALL && arc__are_runs(c))
    arc__reduce_runs(c, w, count);
  else
    arc__reduce_jumping(c, w, count);
}

/* Reduces all groups by the papers' paths or the tree; the leader of each emits its sums. */
ARC__FN void arc__add_all_groups(const arc__call *c) {
  ARC__CHUNKS(c, first, ARC__WARP) {
    int count = arc__chunk_width(c, first, ARC__WARP);
    ARC__WORDS(w, ARC__WARP);
    ARC__EACH(i, count, ARC__WARP)
      w[i] = arc__is_source(c) ? arc__load(c, first + i, arc__scale_of(c, first + i))
                               : arc__neutral(c->kind);
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
ARC__FN arc__u64 arc__digest(arc__u64 digest, arc__u64 x) {
  return (digest ^ x) * 0x100000001b3ull;
}

ARC__FN arc__u64 arc__digest_target(arc__u64 digest, const arc__target *t) {
  ARC__EACH_PIECE(i, t ? t->pieces : 0, {
    const arc__piece *p = &t->piece[i];
    digest = arc__digest(arc__digest(digest, (unsigned)p->stride_bytes), (unsigned)p->width);
    digest = arc__digest(digest, (arc__u64)p->base);
  })
  return digest;
}

/* That all lanes that must call are here, and agree on what a warp has in common. */
ARC__FN void arc__check_warp(const arc__call *c) {
  arc__u64 digest = arc__digest((unsigned)c->width, (unsigned)c->threshold);
  digest = arc__digest_target(digest, c->target);
  arc__u64 first = __shfl_sync(c->lanes, digest, arc__lowest(c->lanes));
  ARC__CHECK(2, digest == first, "the lanes of a warp differ in target, width or threshold");
  bool is_mine = !c->target || c->target->builder == c->lane;
  ARC__CHECK(2, is_mine, "the target was built in another lane");
}

/* What the call promises, where a lane is active; and the pointers of each key. */
ARC__FN void arc__check_promises(const arc__call *c) {
  bool has_key = c->active || arc__promised(c, ARC_PROMISE_INACTIVE_HAS_KEY);
  bool zeros = !c->active && arc__promised(c, ARC_PROMISE_INACTIVE_IS_ZERO);
  bool aligned = arc__most_log2(c->memory) > 2 && arc__promised(c, ARC_PROMISE_ALIGNED_16);
  arc__key first = arc__key_of(c, arc__lowest(c->present));
  ARC__CHECK(2, !arc__promised(c, ARC_PROMISE_ONE_KEY) || !has_key || arc__same_key(c->key, first),
             "the keys of a uniform add differ");
  for (int i = 0; zeros && i < c->width; ++i)
    ARC__CHECK(2, arc__is_zero(c->kind, arc__load(c, i, 1)),
               "an inactive lane holds a value that is not zero");
  ARC__EACH_PIECE(i, aligned && c->target ? c->target->pieces : 0, {
    ARC__CHECK(2, c->target->piece[i].vector_log2 == 4,
               "a row is not aligned to 16 bytes of global memory");
  })
  if (c->target) return;
  arc__u64 digest = 0u;
  for (int i = 0; c->active && i < c->width; ++i)
    digest = arc__digest(digest, (arc__u64)c->pointers[i]);
  unsigned group = arc__match(c);
  arc__u64 leaders = __shfl_sync(c->lanes, digest, group ? arc__highest(group) : c->lane);
  ARC__CHECK(2, digest == leaders, "lanes with one key hold different pointers");
}
#endif

ARC__FN void arc__check_call(arc__call c) {
  ARC__CHECK(ARC__WIDTH_CHECK, c.width >= 1, "the width must be at least 1");
  ARC__CHECK(1, c.max_width == 0 || c.max_width >= c.width, "the width is above options.max_width");
  ARC__CHECK(1, c.threshold >= 0 && c.threshold <= ARC_THRESHOLD_AUTO,
             "the threshold must be 0..33 or ARC_THRESHOLD_AUTO");
  ARC__CHECK(1, c.path >= ARC_PATH_ATOMIC && c.path <= ARC_PATH_AUTO,
             "the path must be one of ARC_PATH_ATOMIC to ARC_PATH_AUTO");
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

/* What a form has begun and not ended: reported by the object when it leaves its scope. */
#if ARC_CHECK >= 2
enum { ARC__NOTHING, ARC__A_SUM, ARC__ROWS_ADDED, ARC__HOT_ADDED, ARC__HOT_ENDED };

struct arc__duty {
  mutable int owed;
  mutable bool is_added; /* the sum of this step */
  bool is_copy;          /* which owes nothing */
  __device__ arc__duty() : owed(ARC__NOTHING), is_added(false), is_copy(false) {}
  __device__ arc__duty(const arc__duty &) : owed(ARC__NOTHING), is_added(false), is_copy(true) {}
  __device__ ~arc__duty() {
    ARC__CHECK(2, owed != ARC__A_SUM,
               "a sum in two halves was left before arc_sum_next returned false");
    ARC__CHECK(2, owed != ARC__ROWS_ADDED, "rows were added and arc_end_rows was not called");
  }
};
#define ARC__DUTY arc__duty duty;
#define ARC__OWES(form, what) \
  ((form)->duty.is_added = false, (form)->duty.owed = (form)->duty.is_copy ? ARC__NOTHING : (what))
#define ARC__ADDS_ONCE(form)                                        \
  do {                                                              \
    ARC__CHECK(2, !(form)->duty.is_added, "a sum was added twice"); \
    (form)->duty.is_added = true;                                   \
  } while (0)
#else
#define ARC__DUTY
#define ARC__OWES(form, what) ((void)0)
#define ARC__ADDS_ONCE(form) ((void)0)
#endif

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

/* Returns whether this lane's values are still to be added. */
ARC__FN bool arc__reduce(arc__call *c, int threshold) {
  bool one_key = arc__promised(c, ARC_PROMISE_ONE_KEY), named = c->path == ARC_PATH_TRANSPOSED;
  if (arc__is_transposed(c) && (one_key || named)) {
    if (!one_key) return arc__add_each_group(c, threshold);
    arc__add_one_group(c, named); /* auto's branch for few lanes reads the values too */
    return false;
  }
  if (!arc__is_butterfly(c)) c->group = arc__match(c);
  if (arc__is_auto_keyed(c) && arc__reduce_few_groups(c)) return false;
  bool splits = !arc__is_auto_keyed(c) || c->threshold != ARC_THRESHOLD_AUTO;
  if (splits && c->path != ARC_PATH_BUTTERFLY) { /* which has one key here */
    /* the lanes of a group below the threshold become groups of one, which no reduction touches */
    if (c->active && __popc(c->group) < threshold) c->group = 1u << c->lane;
    if (!arc__is_butterfly(c) && c->path != ARC_PATH_SERIALIZED) arc__find_leaders(c);
  }
  arc__add_all_groups(c);
  return false;
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
  if (c.path != ARC_PATH_ATOMIC && !arc__too_few(&c, threshold)) {
    if (!arc__reduce(&c, threshold)) return;
  } else if (!c.active) {
    return;
  }
  arc__add_plain(&c);
}

/* atomred (ARC paper, 5.1), of all active lanes, wherever they add. */
ARC__FN void arc__atomred(arc__call *c, char *address, arc__word w) {
  const int shuffles = 5 * (arc__bytes(c->kind) / 4), requests = 1;
  if (ARC__ARCH >= 700 && __popc(c->lanes) >= ARC_MIN_LANES_TO_MATCH(shuffles, requests)) {
    c->present = c->lanes;
    c->group = arc__match(c);
    arc__find_leaders(c);
    arc__reduce_tree(c, &w, 1);
    if (!arc__leads(c->group, c->lane)) return;
  }
  arc__atomic_add(c->kind, address, w);
}

/* ---- >>sums ------------------------------------------------------------------------------ */
/* The reduction alone: one group and chunk of 32 values in each step. */

typedef struct arc__sums {
  arc__target target;
  arc__call call;       /* its pointer to the target is set in every step */
  unsigned rest, group; /* the lanes whose groups are still to come; the group at hand, */
  arc__key key;         /* its key and the chunk of its values to come */
  int first;
  arc__slot slot; /* of the sum of this lane */
  ARC__DUTY
} arc__sums;

ARC__FN void arc__sum_begin(arc__sums *s, arc__call c) {
  arc__check_call(c);
  s->rest = __ballot_sync(ARC_LANES_ALL, c.active);
  s->first = c.width;
  s->slot.is_value = false;
  c.threshold = arc__threshold(&c);
  s->call = c;
}

/* Takes the next group: of the highest lane that is left. */
ARC__FN void arc__sum_next_group(arc__sums *s, const arc__call *c) {
  bool one_key = arc__promised(c, ARC_PROMISE_ONE_KEY);
  const int promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_HAS_KEY;
  s->key = arc__promised(c, promises) ? c->key : arc__key_of(c, arc__highest(s->rest));
  bool member = c->active && arc__same_key(c->key, s->key);
  s->group = one_key ? s->rest : __ballot_sync(ARC_LANES_ALL, member);
  if (__popc(s->group) < c->threshold) s->group = 1u << arc__highest(s->rest);
  s->rest &= ~s->group;
  s->first = 0;
}

/* Returns false at the end; else *sum is that of s->slot, whose parameter is *parameter. */
ARC__FN bool arc__sum_next(arc__sums *s, arc__word *sum, int *parameter) {
  const bool every_lane = true, leaves = false, may_clobber = true;
  arc__call c = s->call;
  c.target = &s->target;
  bool all_fit = c.width <= ARC__WARP; /* known at compile time, where s->first is not */
  if (all_fit || s->first >= c.width) {
    if (s->rest == 0u) return false;
    arc__sum_next_group(s, &c);
  }
  bool one_key = arc__promised(&c, ARC_PROMISE_ONE_KEY), full = s->group == ARC_LANES_ALL;
  bool zeros = arc__promised(&c, ARC_PROMISE_INACTIVE_IS_ZERO) && c.threshold == 0;
  bool member = (s->group >> c.lane & 1u) != 0u;
  ARC__CHUNKS(&c, first, ARC__WARP) {
    if (!all_fit && first != s->first) continue;
    if (one_key && (full || zeros))
      *sum = arc__reduce_chunk(&c, first, ARC__WARP, every_lane, leaves, may_clobber);
    else
      *sum = arc__reduce_chunk(&c, first, ARC__WARP, member, leaves, may_clobber);
    s->slot = arc__chunk_slot(&c, s->group, first, ARC__WARP);
    *parameter = c.width == 1 ? 0 : first + c.lane;
  }
  s->first += ARC__WARP;
  ARC__OWES(s, s->rest != 0u || s->first < c.width ? ARC__A_SUM : ARC__NOTHING);
  return true;
}

/* Adds a sum that the caller has changed, or dropped. The whole warp calls. */
ARC__FN void arc__sum_add(const arc__sums *s, bool owned, arc__word sum) {
  arc__call c = s->call;
  arc__slot slot = s->slot;
  c.target = &s->target;
  ARC__ADDS_ONCE(s);
  if (arc__is_half(c.memory) && !owned) sum = arc__neutral(c.kind);
  if (!arc__is_half(c.memory)) slot.owned = slot.owned && owned;
  arc__emit_slot(&c, slot, s->key, sum);
}

/* ---- >>hot ------------------------------------------------------------------------------- */
/* Rows to which a block adds often. Each warp has sums of its own for them in shared memory: a
   target like any other, to which nobody else adds. */

typedef struct arc__hot {
  arc__target target, own;
  char *shared; /* the sums of all warps */
  long long first;
  int rows;
#if ARC_CHECK >= 2
  arc__duty duty;
  unsigned begun; /* when, which tells one set from the next in the same memory */
  __device__ ~arc__hot();
#endif
} arc__hot;

ARC__FN int arc__threads(void) { return (int)(blockDim.x * blockDim.y * blockDim.z); }
ARC__FN int arc__warps(void) { return (arc__threads() + ARC__WARP - 1) / ARC__WARP; }

/* Whether so many bytes of shared memory are there, as far as can be seen: on a GPU behind the last
   array, on the CPU warp behind a dynamic one; under AddressSanitizer it knows no other. */
ARC__FN bool arc__is_shared_memory(const char *shared, long long bytes) {
#if defined(__CUDA_ARCH__)
  unsigned size, reserved = ARC__ARCH >= 800 ? 1024u : 0u; /* by the system, in front of all */
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(size));
  long long begin = (long long)__cvta_generic_to_shared(shared);
  return !__isGlobal(shared) && begin + bytes <= (long long)size + reserved;
#else
  return __isGlobal(shared) || !__isGlobal(shared + bytes - 1);
#endif
}

#if ARC_CHECK >= 2
/* In front of the sums. */
typedef struct arc__hot_state {
  unsigned begun, digest;
  unsigned lanes; /* of the block that have not ended, nor left */
} arc__hot_state;

ARC__FN arc__hot_state *arc__state_of(const arc__hot *h) {
  return (arc__hot_state *)(h->shared - ARC__HOT_STATE_BYTES);
}

ARC__FN void arc__hot_check_begin(arc__hot *h) {
  arc__hot_state *state = arc__state_of(h);
  arc__u64 digest = arc__digest((arc__u64)h->first, (unsigned)h->rows);
  digest = arc__digest_target(digest, &h->target);
  if (arc__thread() == 0) {
    state->begun = (unsigned)clock64();
    state->digest = (unsigned)digest;
    state->lanes = (unsigned)arc__threads();
  }
  __syncthreads();
  h->begun = state->begun;
  ARC__CHECK(2, state->digest == (unsigned)digest,
             "the threads of a block begin hot rows with another first_key, count or target");
}

ARC__FN void arc__hot_check_memory(const arc__hot *h) {
  ARC__CHECK(2, arc__state_of(h)->begun == h->begun, "two sets of hot rows share one memory");
}

ARC__FN void arc__hot_check_add(const arc__hot *h) {
  arc__hot_check_memory(h);
  if (h->duty.owed == ARC__HOT_ENDED) atomicAdd(&arc__state_of(h)->lanes, 1u);
  ARC__OWES(h, ARC__HOT_ADDED);
}

/* A lane has ended, or leaves. The last one finds whatever nobody has added to memory. */
ARC__FN void arc__hot_check_end(const arc__hot *h) {
  arc__hot_state *state = arc__state_of(h);
  if (h->duty.owed == ARC__HOT_ENDED || h->duty.is_copy || state->begun != h->begun) return;
  ARC__OWES(h, ARC__HOT_ENDED);
  __threadfence_block();
  if (atomicAdd(&state->lanes, 0u - 1u) != 1u) return;
  for (int i = 0; i < h->rows * h->own.width * arc__warps(); ++i)
    ARC__CHECK(2, arc__is_zero(h->own.kind, arc__read(h->own.kind, h->shared, i)),
               "hot rows were added to and no arc_hot_end followed");
}

inline __device__ arc__hot::~arc__hot() {
  if (duty.owed == ARC__HOT_ADDED) arc__hot_check_end(this);
}
#else
#define arc__hot_check_begin(h) ((void)0)
#define arc__hot_check_memory(h) ((void)0)
#define arc__hot_check_add(h) ((void)0)
#define arc__hot_check_end(h) ((void)0)
#endif

ARC__FN void arc__hot_begin(arc__hot *h, void *shared, long long first, int rows) {
  arc__target *own = &h->own;
  int kind = h->target.memory == ARC__FIXED ? ARC__I64 : h->target.kind;
  int bytes = arc__bytes(kind), words = rows * h->target.width, begin = 0;
  ARC__CHECK(1, rows >= 1, "there must be at least 1 hot row");
  h->shared = (char *)shared + ARC__HOT_STATE_BYTES;
  h->first = first;
  h->rows = rows;
  ARC__CHECK(1, arc__is_shared_memory(h->shared, (long long)bytes * words * arc__warps()),
             "the memory of hot rows is not shared memory, or too small for their sums");
  char *sums = h->shared + (long long)bytes * words * (arc__thread() / ARC__WARP);
  *own = h->target;
  own->kind = kind;
  own->memory = kind | ARC__OWN;
  ARC__EACH_PIECE(i, own->pieces, {
    own->piece[i].base = sums + bytes * begin;
    own->piece[i].stride_bytes = bytes * own->width;
    own->piece[i].vector_log2 = 2;
    begin += own->piece[i].width;
  })
  arc__target_end(own);
  for (int i = arc__thread(); i < words * arc__warps(); i += arc__threads())
    arc__write(kind, h->shared, i, arc__neutral(kind));
  __syncthreads();
  arc__hot_check_begin(h);
}

/* Adds all that the block has summed or, if not all its threads are here, this warp. */
ARC__FN void arc__hot_end(const arc__hot *h, arc__call c, bool all_threads) {
  const int alone = 1; /* no two values of a row leave together */
  int bytes = arc__bytes(c.kind), words = h->rows * c.width, warps = 1;
  int word = __popc(c.lanes & arc__lanes_below(c.lane)), step = __popc(c.lanes);
  char *sums = h->own.piece[0].base;
  arc__hot_check_memory(h);
  if (all_threads) {
    word = arc__thread();
    step = arc__threads();
    warps = arc__warps();
    sums = h->shared;
    __syncthreads();
  } else {
    __syncwarp(c.lanes);
  }
  for (; word < words; word += step) {
    arc__word sum = arc__neutral(c.kind);
    for (int i = 0; i < warps; ++i) {
      char *at = sums + bytes * (i * words + word);
      sum = arc__sum(c.kind, sum, arc__put(c.kind, at, arc__neutral(c.kind)));
    }
    arc__slot slot = arc__slot_of(&h->target, word % c.width, alone);
    if (arc__is_zero(c.kind, sum)) continue;
    arc__emit_sum(&c, slot, arc__key_from(h->first + word / c.width, 64), sum,
                  arc__neutral(c.kind));
  }
  arc__hot_check_end(h);
}

/* ---- >>rows ------------------------------------------------------------------------------ */
/* Rows that lie in memory. The 32 rows of a call are put in an order in which those of a key are
   neighbours. Lanes lie along the columns, `vector` of them each; as many rows as then fit stand
   side by side, and each of these parts of the warp sums a stretch of the order: it adds a sum to
   memory where a key ends. Eight rows, two parts:

     keys   7 4 7 9 4 7 7 4
     order  rows 3 | 1 4 7 | 0 2 5 6
     part 0      3 | 1 4 7             adds row 3, then the sum of three
     part 1                  0 2 5 6   adds the sum of four

   A sum that begins in a part below waits for it. A key of many rows comes last and ends nowhere:
   each part keeps its own sum of it from call to call. */
#define ARC__NARROW 4 /* columns that a lane may take by itself */
#define ARC__VECTOR 4 /* columns of a lane at most */
#define ARC__AHEAD 8  /* rows of a part that are read before they are summed, at most */
#define ARC__MANY 4   /* rows of a key that is worth keeping */

typedef struct arc__rows {
  arc__target target;
  const char *base;
  int source, stride_bytes;
  int vector;          /* columns of a lane: 1 or 4 */
  bool is_narrow;      /* one request adds a row: a lane takes one by itself */
  bool keeps, has_sum; /* a key; and a sum of it */
  arc__key key;
  arc__word sum[ARC__VECTOR];
  ARC__DUTY
} arc__rows;

/* How a row of so many columns lies across the lanes; literal where width and vector are. */
typedef struct arc__parts {
  int vector;
  int lanes;       /* of a row */
  int count, rows; /* parts of the warp, and rows of each */
  int mine, lane;  /* this lane's part, and its number there; lanes left over have part `count` */
} arc__parts;

/* The rows of a call, in order. */
typedef struct arc__order {
  arc__key key; /* of the row at this lane's position, */
  int row;      /* which is counted from the row at `first` */
  const char *first;
  unsigned rows, ends; /* positions with a row; with the last of a key that is not kept */
  int kept;            /* the first position of the kept key, or 32 */
} arc__order;

ARC__FN void arc__rows_begin(arc__rows *r, int source, const void *base, int stride) {
  const arc__target *t = &r->target;
  int bytes = arc__bytes(source), most = (1 << t->piece[0].vector_log2) / arc__bytes(t->memory);
  long long stride_bytes = (long long)stride * bytes, limit = 1ll << 31;
  ARC__CHECK(1, stride_bytes > -limit && stride_bytes < limit,
             "the stride of the rows must be below 2^31 bytes");
  r->base = (const char *)base;
  r->source = source;
  r->stride_bytes = (int)stride_bytes;
  arc__u64 aligned = (arc__u64)base | (unsigned)r->stride_bytes;
  bool vectors = t->pieces == 1 && most >= ARC__VECTOR && t->width % ARC__VECTOR == 0;
  r->vector = vectors && aligned % (unsigned)(ARC__VECTOR * bytes) == 0u ? ARC__VECTOR : 1;
  r->is_narrow = t->pieces == 1 &&
                 arc__requests(arc__words(t->memory, t->width), t->piece[0].vector_log2) == 1;
  r->keeps = r->has_sum = false;
  int kind = t->memory == ARC__FIXED ? ARC__I64 : t->kind;
  ARC__EACH_OF_4(i, ARC__VECTOR, { r->sum[i] = arc__neutral(kind); })
}

/* x / y. That y is never 0 lets compilers move it out of a loop. */
ARC__FN int arc__quotient(int x, int y) { return (int)((unsigned)x / (y > 1 ? (unsigned)y : 1u)); }

ARC__FN arc__parts arc__parts_of(int width, int vector) {
  arc__parts p;
  p.vector = vector;
  p.lanes = width / vector < ARC__WARP ? width / vector : ARC__WARP;
  p.count = arc__quotient(ARC__WARP, p.lanes);
  p.rows = arc__quotient(ARC__WARP + p.count - 1, p.count);
  p.mine = arc__quotient(arc__lane(), p.lanes);
  p.lane = arc__lane() - p.mine * p.lanes;
  return p;
}

/* The columns of a lane as they were read: several rows are on their way before one is summed, and
   what types make of them would wait for each. On the CPU warp, where they lie. */
#if defined(__CUDA_ARCH__)
typedef uint4 arc__columns;

ARC__FN arc__columns arc__read_columns(int kind, const char *at, int count) {
  uint4 x; /* zeros here would occupy registers: of rows that are not there, too */
  int bytes = count * arc__bytes(kind);
  if (bytes == 16) return *(const uint4 *)at;
  if (arc__bytes(kind) == 8) {
    arc__word w = arc__read(kind, at, 0);
    x.x = w.lo, x.y = w.hi;
  } else if (bytes == 8) {
    x.x = ((const uint2 *)at)->x, x.y = ((const uint2 *)at)->y;
  } else {
    x.x = bytes == 4 ? *(const unsigned *)at : *(const unsigned short *)at;
  }
  return x;
}

/* Value i of them, as arc__read has it. */
ARC__FN arc__word arc__column(int kind, arc__columns x, int i) {
  unsigned word = arc__is_half(kind) ? i / 2 : i;
  unsigned lo = word == 0 ? x.x : word == 1 ? x.y : word == 2 ? x.z : x.w;
  arc__word w = {lo, arc__bytes(kind) == 8 ? x.y : 0u};
  if (arc__is_half(kind)) w.lo = __float_as_uint(arc__half_value(kind, i % 2 ? lo >> 16 : lo));
  return w;
}
#else
typedef const char *arc__columns;
ARC__FN arc__columns arc__read_columns(int, const char *at, int) { return at; }
ARC__FN arc__word arc__column(int kind, arc__columns x, int i) { return arc__read(kind, x, i); }
#endif

/* Adds the sums of a lane's columns where it `ends` a key. The whole warp calls. */
ARC__FN void arc__emit_columns(const arc__call *c, arc__slot slot, arc__key key,
                               const arc__word *sum, int vector, bool ends) {
  slot.is_value = ends;
  slot.owned = ends && !(vector == 1 && slot.odd && slot.follows);
  if (vector == 1) arc__emit_slot(c, slot, key, sum[0]);
  if (vector == 1 || !slot.owned) return;
  int each = arc__is_half(c->memory) ? 2 : 1;
  arc__word w[ARC__VECTOR];
  ARC__UNROLL
  for (int i = 0; i < vector / each; ++i)
    w[i] = arc__stored(c, sum[each * i], sum[each * i + each - 1], slot.scale);
  arc__request(c->memory, arc__offset(slot.base, key, slot.stride_bytes), w, vector / each);
}

/* The position of this lane's rank (0 to 31), if all lanes' are put in order. */
ARC__FN int arc__position(int rank, int lane) {
  unsigned below = 0u, same = ARC_LANES_ALL;
  ARC__UNROLL
  for (int bit = ARC__WARP / 2; bit > 0; bit /= 2) {
    unsigned ones = __ballot_sync(ARC_LANES_ALL, (rank & bit) != 0);
    if (rank & bit) below |= same & ~ones;
    same &= rank & bit ? ones : ~ones;
  }
  return __popc(below) + __popc(same & arc__lanes_below(lane));
}

/* The lane whose position is this lane's number. */
ARC__FN int arc__lane_at(int position, int lane) {
  unsigned at = ARC_LANES_ALL;
  ARC__UNROLL
  for (int bit = ARC__WARP / 2; bit > 0; bit /= 2) {
    unsigned ones = __ballot_sync(ARC_LANES_ALL, (position & bit) != 0);
    at &= lane & bit ? ones : ~ones;
  }
  return arc__highest(at);
}

/* The slot of this lane's columns in the panel that begins with column `first`. */
ARC__FN arc__slot arc__column_slot(const arc__call *c, const arc__parts *p, int first) {
  int column = p->mine < p->count ? first + p->lane * p->vector : c->width;
  return arc__slot_of(c->target, column, ARC__WARP);
}

/* Adds to the sums those of the parts below, from part `start` on. */
ARC__FN void arc__sum_parts(const arc__call *c, const arc__parts *p, arc__word *sum, int start) {
  ARC__UNROLL
  for (int parts = 1; parts < ARC__WARP; parts *= 2) {
    if (parts >= p->count) continue;
    ARC__EACH_OF_4(i, p->vector, {
      sum[i] = arc__sum_from_below(c, sum[i], parts * p->lanes, start * p->lanes + p->lane);
    })
  }
}

/* The kept words of the panel from column `first` on, `mine` of a lane, i of all: four of a lane
   or, one column a lane, those of four panels. No index into *r: all of it would stay in memory. */
#define ARC__EACH_KEPT(i, mine, vector, first, ...)       \
  ARC__EACH_OF_4(i, ARC__VECTOR, {                        \
    const int mine = vector > 1 ? i : 0;                  \
    if (vector > 1 || ARC__WARP * i == first) __VA_ARGS__ \
  })

ARC__FN void arc__release_panels(arc__rows *r, const arc__call *c, int vector) {
  arc__parts p = arc__parts_of(c->width, vector);
  const int first_part = 0;
  for (int first = 0; first < c->width; first += ARC__WARP * vector) {
    arc__slot slot = arc__column_slot(c, &p, first);
    arc__word sum[ARC__VECTOR];
    ARC__EACH_KEPT(i, mine, vector, first, {
      sum[mine] = r->sum[i];
      r->sum[i] = arc__neutral(c->kind);
    })
    arc__sum_parts(c, &p, sum, first_part);
    arc__emit_columns(c, slot, r->key, sum, vector, slot.is_value && p.mine == p.count - 1);
  }
}

/* The panel of up to 32 * vector columns from `first` on. */
ARC__FN void arc__add_panel(arc__rows *r, const arc__call *c, const arc__parts *p,
                            const arc__order *o, int first) {
  const int vector = p->vector;
  /* Rows that are read before they are summed: as many each time, at most `most`. */
  const int most = vector == ARC__VECTOR ? 4 : ARC__AHEAD;
  int ahead = arc__quotient(p->rows + most - 1, most);
  ahead = arc__quotient(p->rows + ahead - 1, ahead);
  arc__slot slot = arc__column_slot(c, p, first);
  char *columns = (char *)o->first + arc__bytes(c->source) * (first + p->lane * vector);
  /* This part's stretch of the order, as masks whose bit 0 is its first position: a branch that
     some lanes take in the loop would part them there for good. */
  int begin = p->mine * p->rows;
  unsigned stretch = slot.is_value && begin < ARC__WARP ? (2u << (p->rows - 1)) - 1u : 0u;
#if defined(__CUDA_ARCH__)
  asm("" : "+r"(stretch));
#endif
  unsigned rows = o->rows >> (begin & 31) & stretch, ends = o->ends >> (begin & 31) & stretch;
  /* The end of a sum that begins in a part below. */
  bool continues = stretch != 0u && begin > 0 && (o->ends >> (begin - 1) & 1u) == 0u;
  unsigned waits = continues ? ends & (0u - ends) : 0u, emits = ends ^ waits;
  arc__word sum[ARC__VECTOR], waiting[ARC__VECTOR];
  ARC__EACH_OF_4(i, vector, { sum[i] = waiting[i] = arc__neutral(c->kind); })
  for (int step = 0; step < p->rows; step += ahead) {
    arc__columns x[ARC__AHEAD];
    ARC__UNROLL
    for (int k = 0; k < most; ++k) {
      if (k >= ahead) continue;
      int row = __shfl_sync(ARC_LANES_ALL, o->row, begin + step + k);
      const char *at = arc__offset(columns, arc__key_from(row, 32), r->stride_bytes);
      if (rows >> k & 1u) x[k] = arc__read_columns(c->source, at, vector);
    }
    ARC__UNROLL
    for (int k = 0; k < most; ++k) {
      if (k >= ahead) continue;
      const unsigned bit = 1u << k;
      arc__key key = arc__key_at(c, o->key, begin + step + k);
      ARC__EACH_OF_4(i, vector, {
        if (rows & bit)
          sum[i] = arc__sum(c->kind, sum[i],
                            arc__summand(c, arc__column(c->source, x[k], i), slot.scale));
        if (waits & bit) waiting[i] = sum[i];
      })
      arc__emit_columns(c, slot, key, sum, vector, (emits & bit) != 0u);
      ARC__EACH_OF_4(i, vector, {
        if (ends & bit) sum[i] = arc__neutral(c->kind);
      })
    }
    rows >>= ahead, waits >>= ahead, emits >>= ahead, ends >>= ahead;
  }
  if (begin + p->rows > o->kept) { /* what is left is of the kept key */
    ARC__EACH_KEPT(i, mine, vector, first, {
      r->sum[i] = arc__sum(c->kind, r->sum[i], sum[mine]);
      sum[mine] = arc__neutral(c->kind);
    })
  }
  if (!__any_sync(ARC_LANES_ALL, continues)) return;
  /* The last sum of this part begins after the last end that is not beyond the part. */
  int last = begin + p->rows < ARC__WARP ? begin + p->rows : ARC__WARP;
  unsigned below = o->ends & (ARC_LANES_ALL >> (ARC__WARP - last));
  int open = below != 0u ? arc__highest(below) + 1 : 0;
  arc__sum_parts(c, p, sum, arc__quotient(open, p->rows));
  ARC__EACH_OF_4(i, vector, {
    arc__word other = arc__shfl_up(c->kind, ARC_LANES_ALL, sum[i], p->lanes);
    waiting[i] = arc__sum(c->kind, waiting[i], other);
  })
  unsigned wait = continues ? o->ends >> begin & stretch : 0u;
  arc__key key = arc__key_at(c, o->key, begin + __ffs((int)wait) - 1);
  arc__emit_columns(c, slot, key, waiting, vector, wait != 0u);
}

/* Puts the rows of a call in order. */
ARC__FN arc__order arc__order_rows(const arc__rows *r, arc__call *c, long long row) {
  arc__order o;
  arc__find_leaders(c);
  bool has_kept = r->keeps && c->active && arc__same_key(c->key, r->key);
  unsigned kept = __ballot_sync(ARC_LANES_ALL, has_kept);
  int last = kept != 0u ? arc__highest(kept) : ARC__WARP - 1;
  int leader = c->active ? arc__highest(c->group) : c->lane, from = c->lane;
  if (kept != 0u || !arc__are_runs(c))
    from = arc__lane_at(arc__position((leader - last - 1) & 31, c->lane), c->lane);
  long long first = __shfl_sync(ARC_LANES_ALL, row, arc__highest(c->present));
  ARC__CHECK(2, !c->active || row - first == (int)(row - first),
             "the rows of a call are 2^31 or more apart");
  o.first = r->base + first * r->stride_bytes;
  o.row = __shfl_sync(ARC_LANES_ALL, (int)(row - first), from);
  o.key = arc__key_at(c, c->key, from);
  o.rows = __ballot_sync(ARC_LANES_ALL, (c->present >> from & 1u) != 0u);
  o.kept = ARC__WARP - __popc(kept);
  o.ends = __ballot_sync(ARC_LANES_ALL, (c->leaders >> from & 1u) != 0u && c->lane < o.kept);
  return o;
}

/* Adds what is kept to memory. */
ARC__FN void arc__release(arc__rows *r, const arc__call *c) {
  if (!r->has_sum) return;
  if (r->vector == ARC__VECTOR)
    arc__release_panels(r, c, ARC__VECTOR);
  else
    arc__release_panels(r, c, 1);
  r->has_sum = false;
}

/* Where no row of a call has the kept key, one that many have is kept from the next call on. */
ARC__FN void arc__change_kept(arc__rows *r, const arc__call *c) {
  arc__release(r, c);
  bool has_many = arc__leads(c->group, c->lane) && __popc(c->group) >= ARC__MANY;
  unsigned many = __ballot_sync(ARC_LANES_ALL, has_many);
  r->keeps = many != 0u && c->width <= ARC__WARP * ARC__VECTOR;
  if (r->keeps) r->key = arc__key_of(c, arc__highest(many));
}

ARC__FN void arc__add_panels(arc__rows *r, const arc__call *c, const arc__order *o, int vector) {
  arc__parts p = arc__parts_of(c->width, vector);
  for (int first = 0; first < c->width; first += ARC__WARP * vector)
    arc__add_panel(r, c, &p, o, first);
}

/* The whole warp calls, as often as it likes; that it is converged, ptxas would not know in the
   caller's loop, and guard every vote and shuffle. */
ARC__ADD_FN void arc__add_rows(arc__rows *r, arc__call c, long long row) {
  ARC__OWES(r, ARC__ROWS_ADDED);
  if (c.width <= ARC__NARROW && r->is_narrow) {
    c.values = r->base + row * r->stride_bytes;
    c.max_width = ARC__NARROW;
    c.width = c.width < ARC__NARROW ? c.width : ARC__NARROW; /* as compilers do not know */
    arc__add(c);
    return;
  }
  arc__check_call(c);
  __syncwarp(ARC_LANES_ALL);
  c.present = __ballot_sync(ARC_LANES_ALL, c.active);
  if (c.present == 0u) return;
  c.group = arc__match(&c);
  arc__order o = arc__order_rows(r, &c, row);
  if (o.kept == ARC__WARP) arc__change_kept(r, &c);
  r->has_sum = o.kept < ARC__WARP;
  if (r->vector == ARC__VECTOR)
    arc__add_panels(r, &c, &o, ARC__VECTOR);
  else
    arc__add_panels(r, &c, &o, 1);
}

/* ---- >>entries --------------------------------------------------------------------------- */

ARC__FN arc_options arc__options(int threshold, int promises, unsigned long long lane_mask) {
  arc_options o = {ARC_PATH, ARC__PROMISES | promises, threshold, lane_mask, 0, ARC_KEY_BITS,
                   ARC_EXACT};
  return o;
}

ARC__FN arc_options arc_options_default(void) {
  return arc__options(ARC_BALANCE_THRESHOLD, 0, ARC_LANES_ALL);
}

/* A key that may be no int, in a call that takes it for one. Where the optimiser can rule that out,
   nothing is left. Else, in an optimised build, it unrolls the loop, and ptxas refuses the label
   that then stands there twice; in any other build the kernel stops. */
#define ARC__IS_NO_INT "arc_key_is_no_int__cast_it_or_set_ARC_KEY_BITS_to_64"
#if defined(__CUDACC__)
static __device__ __noinline__ inline void arc__refuse_key(void) {
  ARC__UNROLL
  for (int i = 0; i < 2; ++i) asm volatile(ARC__IS_NO_INT ":");
  ARC__FAIL("arc: " ARC__IS_NO_INT);
}
#else
#define arc__refuse_key() ARC__FAIL("arc: " ARC__IS_NO_INT)
#endif

ARC__FN void arc__check_key(long long key) { /* in this form both fold, for int and unsigned */
  if (key + 0x80000000ll >= 0x180000000ll) arc__refuse_key();
  if (key < -0x80000000ll) arc__refuse_key();
}

/* target: null in the papers' form. */
ARC__FN arc__call arc__call_of(int kind, const arc__target *target, long long id,
                               const void *values, bool active, arc_options o) {
  bool here = o.lane_mask == ARC_LANES_HERE;
  int path = here && ARC__ARCH < 700 ? ARC_PATH_ATOMIC : o.path, source = kind;
  int memory = target ? target->memory : kind, width = target ? target->width : 1;
  if (memory == ARC__FIXED) kind = o.exact || here ? ARC__I64 : ARC__ORDERED;
  unsigned lanes = here ? ARC__LANES_HERE() : (unsigned)o.lane_mask;
  if (o.key_bits == 32 && active) arc__check_key(id);
  arc__key key = arc__key_from(id, o.key_bits);
  int lane = arc__lane();
  arc__call c = {target,     0,   values,      width, o.max_width, source, kind, memory, path,
                 o.promises, key, o.threshold, lane,  active,      lanes,  0u,   0u,     0u};
  return c;
}

/* Adds to the warp's own sums. sum_kind: of these, a literal even where the target is not. */
ARC__FN void arc__hot_add_own(const arc__hot *h, int kind, int sum_kind, int row,
                              const void *values, bool active, arc_options options) {
  arc__target own = h->own;
  if (sum_kind == kind) { /* without scales, what lies together is one piece */
    own.pieces = 1;
    own.piece[0].width = own.width;
  }
  own.kind = sum_kind;
  own.memory = options.lane_mask == ARC_LANES_ALL ? sum_kind | ARC__OWN : sum_kind;
  arc__call c = arc__call_of(sum_kind, &own, row, values, active, options);
  c.source = kind;
  arc__add(c);
}

/* Hot keys go to the warp's own sums, where a threshold would gain nothing, the others to memory.
   A lane is active for one of the two: promises of inactive lanes hold where all have one key. */
ARC__FN void arc__hot_add(const arc__hot *h, int kind, long long key, const void *values,
                          bool active, arc_options options) {
  arc__hot_check_add(h);
  long long row = (long long)((arc__u64)key - (arc__u64)h->first);
  bool is_hot = row >= 0 && row < h->rows, all = options.lane_mask == ARC_LANES_ALL;
  bool alone = options.lane_mask == ARC_LANES_HERE && ARC__ARCH < 700;
  if (options.lane_mask == ARC_LANES_HERE) { /* one mask for both adds */
    options.exact = true;
    options.lane_mask = alone ? 1u << arc__lane() : ARC__LANES_HERE();
  }
  if (alone) options.path = ARC_PATH_ATOMIC;
  options.promises &= ~ARC_PROMISE_WARP_IS_ACTIVE;
  if ((options.promises & ARC_PROMISE_ONE_KEY) == 0)
    options.promises &= ~(ARC_PROMISE_INACTIVE_IS_ZERO | ARC_PROMISE_INACTIVE_HAS_KEY);
  arc__add(arc__call_of(kind, &h->target, key, values, active && !is_hot, options));
  options.promises &= ~ARC_PROMISE_ALIGNED_16; /* of memory */
  options.path = alone ? ARC_PATH_ATOMIC : ARC_PATH_AUTO;
  options.threshold = 0;
  options.key_bits = 32;
  if (h->target.memory == ARC__FIXED)
    arc__hot_add_own(h, kind, ARC__I64, (int)row, values, active && is_hot, options);
  else
    arc__hot_add_own(h, kind, kind, (int)row, values, active && is_hot, options);
  if (all) __syncwarp(ARC_LANES_ALL); /* whatever adds next sees these plain stores */
}

ARC__FN arc__call arc__call_of_rows(int kind, const arc__rows *r, long long key, bool active,
                                    arc_options options) {
  options.exact = true;
  options.promises = 0;
  options.lane_mask = ARC_LANES_ALL;
  arc__call c = arc__call_of(kind, &r->target, key, 0, active, options);
  c.source = r->source;
  return c;
}

/* In all that follows, S is a type's suffix, T the type, KIND its literal. */

/* What the adds take, and pass on. */
#define ARC__TO_TARGET(S, T) arc_target_##S target, long long key, const T *values
#define ARC__TO_POINTERS(S, T) T *const *pointers, int width, long long key, const T *values
#define ARC__TO_HOT(S, T) const arc_hot_##S *hot, long long key, const T *values
#define ARC__GIVEN_TARGET target, key, values
#define ARC__GIVEN_POINTERS pointers, width, key, values
#define ARC__GIVEN_HOT hot, key, values

/* A form of the add NAME, in short for its general form; WHERE: TARGET, POINTERS or HOT. */
#define ARC__FORM(RETURN, NAME, FORM, S, T, WHERE, ACTIVE, PROMISES, LANES, ...)                  \
  ARC__FN RETURN NAME##FORM##_##S(ARC__TO_##WHERE(S, T), __VA_ARGS__ ARC__CALLER) {               \
    return NAME##_with_##S(ARC__GIVEN_##WHERE, ACTIVE, arc__options(threshold, PROMISES, LANES)); \
  }
#define ARC__FORM_OF_WARP(RETURN, NAME, FORM, S, T, WHERE, PROMISES)                       \
  ARC__FORM(RETURN, NAME, FORM, S, T, WHERE, active, PROMISES, ARC_LANES_ALL, bool active, \
            int threshold)
#define ARC__FORMS(NAME, S, T, WHERE)                                            \
  ARC__FORM_OF_WARP(void, NAME, , S, T, WHERE, 0)                                \
  ARC__FORM(void, NAME, _masked, S, T, WHERE, active, 0, lane_mask, bool active, \
            unsigned lane_mask, int threshold)                                   \
  ARC__FORM(void, NAME, _divergent, S, T, WHERE, true, 0, ARC_LANES_HERE, int threshold)

/* A public type that holds a private one. */
#define ARC__HOLDS(NAME, S)         \
  typedef struct arc_##NAME##_##S { \
    arc__##NAME any;                \
  } arc_##NAME##_##S;

/* A piece of memory M of type T; a fixed one has a scale. */
#define ARC__PIECE_TYPE(M, T, AND_SCALE) \
  typedef struct arc_piece_##M {         \
    T *base;                             \
    int stride, width AND_SCALE;         \
  } arc_piece_##M;

/* Targets of values S in memory M; INTO: what the names add. */
#define ARC__TARGET(S, KIND, INTO, M, MEMORY, T, SCALE, AND_SCALE, AND_INT_SCALE)                \
  ARC__FN arc_target_##S arc_target_##S##_pieces##INTO(const arc_piece_##M *pieces, int count) { \
    arc_target_##S t;                                                                            \
    arc__target_begin(&t.any, KIND, MEMORY, count);                                              \
    ARC__EACH_PIECE(i, count, {                                                                  \
      arc__target_piece(&t.any, i, pieces[i].base, pieces[i].stride, pieces[i].width, SCALE);    \
    })                                                                                           \
    arc__target_end(&t.any);                                                                     \
    return t;                                                                                    \
  }                                                                                              \
  ARC__FN arc_target_##S arc_target_##S##_rows##INTO(T *base, int stride,                        \
                                                     int width AND_INT_SCALE) {                  \
    const arc_piece_##M piece = {base, stride, width AND_SCALE};                                 \
    return arc_target_##S##_pieces##INTO(&piece, 1);                                             \
  }

#define ARC__ROWS_FROM(S, FROM, SOURCE, T)                                               \
  ARC__FN arc_rows_##S arc_rows_##S##_from##FROM(arc_target_##S target, const T *values, \
                                                 int stride) {                           \
    arc_rows_##S rows;                                                                   \
    rows.any.target = target.any;                                                        \
    arc__rows_begin(&rows.any, SOURCE, values, stride);                                  \
    return rows;                                                                         \
  }
#define ARC__ROWS(S, T, KIND)                                                            \
  ARC__HOLDS(rows, S)                                                                    \
  ARC__ROWS_FROM(S, , KIND, T)                                                           \
  ARC__FN void arc_add_rows_with_##S(arc_rows_##S *rows, long long key, long long row,   \
                                     bool active, arc_options o ARC__CALLER) {           \
    arc__add_rows(&rows->any, arc__call_of_rows(KIND, &rows->any, key, active, o), row); \
  }                                                                                      \
  ARC__FN void arc_add_rows_##S(arc_rows_##S *rows, long long key, long long row,        \
                                bool active ARC__CALLER) {                               \
    arc_add_rows_with_##S(rows, key, row, active, arc_options_default());                \
  }                                                                                      \
  ARC__FN void arc_end_rows_##S(arc_rows_##S *rows ARC__CALLER) {                        \
    arc__call c = arc__call_of_rows(KIND, &rows->any, 0, false, arc_options_default());  \
    arc__release(&rows->any, &c);                                                        \
    rows->any.keeps = false;                                                             \
    ARC__OWES(&rows->any, ARC__NOTHING);                                                 \
  }

#define ARC__SUMS(S, T, KIND)                                                          \
  typedef struct arc_sum_##S {                                                         \
    T value;                                                                           \
    int parameter;                                                                     \
    bool owned;                                                                        \
    long long key;                                                                     \
    arc__sums any;                                                                     \
  } arc_sum_##S;                                                                       \
  ARC__FN arc_sum_##S arc_sum_begin_with_##S(ARC__TO_TARGET(S, T), bool active,        \
                                             arc_options o ARC__CALLER) {              \
    arc_sum_##S sum;                                                                   \
    sum.any.target = target.any;                                                       \
    o.exact = false;                                                                   \
    o.lane_mask = ARC_LANES_ALL;                                                       \
    o.path = ARC_PATH_TRANSPOSED;                                                      \
    arc__sum_begin(&sum.any, arc__call_of(KIND, &target.any, key, values, active, o)); \
    return sum;                                                                        \
  }                                                                                    \
  ARC__FORM_OF_WARP(arc_sum_##S, arc_sum_begin, , S, T, TARGET, 0)                     \
  ARC__FN bool arc_sum_next_##S(arc_sum_##S *sum ARC__CALLER) {                        \
    arc__word w = arc__neutral(KIND);                                                  \
    bool is_there = arc__sum_next(&sum->any, &w, &sum->parameter);                     \
    arc__write(KIND, &sum->value, 0, w);                                               \
    sum->owned = sum->any.slot.is_value;                                               \
    sum->key = arc__key_id(sum->any.key);                                              \
    return is_there;                                                                   \
  }                                                                                    \
  ARC__FN void arc_sum_add_##S(const arc_sum_##S *sum ARC__CALLER) {                   \
    arc__sum_add(&sum->any, sum->owned, arc__read(KIND, &sum->value, 0));              \
  }

#define ARC__HOT(S, T, KIND)                                                                      \
  ARC__HOLDS(hot, S)                                                                              \
  ARC__FN arc_hot_##S arc_hot_begin_##S(arc_target_##S target, void *shared, long long first_key, \
                                        int rows ARC__CALLER) {                                   \
    arc_hot_##S hot;                                                                              \
    hot.any.target = target.any;                                                                  \
    arc__hot_begin(&hot.any, shared, first_key, rows);                                            \
    return hot;                                                                                   \
  }                                                                                               \
  ARC__FN void arc_hot_add_with_##S(ARC__TO_HOT(S, T), bool active, arc_options o ARC__CALLER) {  \
    arc__hot_add(&hot->any, KIND, key, values, active, o);                                        \
  }                                                                                               \
  ARC__FORM_OF_WARP(void, arc_hot_add, , S, T, HOT, 0)                                            \
  ARC__FN void arc_hot_end_##S(const arc_hot_##S *hot, bool all_threads ARC__CALLER) {            \
    arc_options o = arc__options(0, 0, ARC_LANES_HERE);                                           \
    arc__hot_end(&hot->any, arc__call_of(KIND, &hot->any.target, 0, 0, true, o), all_threads);    \
  }

#define ARC__TYPE(S, T, KIND)                                                                   \
  ARC__PIECE_TYPE(S, T, )                                                                       \
  ARC__HOLDS(target, S)                                                                         \
  ARC__TARGET(S, KIND, , S, KIND, T, 0, , )                                                     \
  ARC__FN void arc_add_with_##S(ARC__TO_TARGET(S, T), bool active, arc_options o ARC__CALLER) { \
    arc__add(arc__call_of(KIND, &target.any, key, values, active, o));                          \
  }                                                                                             \
  ARC__FORMS(arc_add, S, T, TARGET)                                                             \
  ARC__FORM_OF_WARP(void, arc_add, _uniform, S, T, TARGET, ARC_PROMISE_ONE_KEY)                 \
  ARC__FN void arc_add_pointers_with_##S(ARC__TO_POINTERS(S, T), bool active,                   \
                                         arc_options o ARC__CALLER) {                           \
    arc__call c = arc__call_of(KIND, 0, key, values, active, o);                                \
    c.pointers = (const void *const *)pointers;                                                 \
    c.width = width;                                                                            \
    arc__add(c);                                                                                \
  }                                                                                             \
  ARC__FORMS(arc_add_pointers, S, T, POINTERS)                                                  \
  ARC__SUMS(S, T, KIND)                                                                         \
  ARC__HOT(S, T, KIND)                                                                          \
  ARC__ROWS(S, T, KIND)                                                                         \
  ARC__FN void arc_atomred_##S(T *address, T value ARC__CALLER) {                               \
    long long key = (long long)((arc__u64)address / sizeof(T));                                 \
    arc_options o = arc__options(0, 0, ARC_LANES_HERE);                                         \
    o.key_bits = 64;                                                                            \
    arc__call c = arc__call_of(KIND, 0, key, 0, true, o);                                       \
    arc__atomred(&c, (char *)address, arc__read(KIND, &value, 0));                              \
  }                                                                                             \
  ARC__FN void arc_atomic_add_##S(T *address, T value) {                                        \
    arc__atomic_add(KIND, (char *)address, arc__read(KIND, &value, 0));                         \
  }

ARC__TYPE(f32, float, ARC__F32)
ARC__TYPE(f64, double, ARC__F64)
ARC__TYPE(i32, int, ARC__I32)
ARC__TYPE(u32, unsigned, ARC__I32)
ARC__TYPE(i64, long long, ARC__I64)
ARC__TYPE(u64, unsigned long long, ARC__I64)

#define ARC__AND_SCALE , scale_log2
#define ARC__AND_INT_SCALE , int scale_log2
ARC__ROWS_FROM(f32, _f16, ARC__F16, void)
ARC__ROWS_FROM(f32, _bf16, ARC__BF16, void)
ARC__PIECE_TYPE(f16, void, )
ARC__PIECE_TYPE(bf16, void, )
ARC__PIECE_TYPE(fixed, long long, ARC__AND_SCALE)
ARC__TARGET(f32, ARC__F32, _f64, f64, ARC__F64, double, 0, , )
ARC__TARGET(f32, ARC__F32, _f16, f16, ARC__F16, void, 0, , )
ARC__TARGET(f32, ARC__F32, _bf16, bf16, ARC__BF16, void, 0, , )
ARC__TARGET(f32, ARC__F32, _fixed, fixed, ARC__FIXED, long long, pieces[i].scale_log2,
            ARC__AND_SCALE, ARC__AND_INT_SCALE)

static __host__ __device__ inline float arc_fixed_to_f32(long long sum, int scale_log2) {
  return (float)sum * (float)arc__power(-scale_log2);
}
static __host__ __device__ inline double arc_fixed_to_f64(long long sum, int scale_log2) {
  return (double)sum * arc__power(-scale_log2);
}

#endif /* ARC_CUH */
