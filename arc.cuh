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

   Files. This one is the core. It includes arc/words.cuh, on which it stands, and
   arc/reductions.cuh, how a warp sums. A form that few users need has a file of its own with its
   own API text, to be included behind arc.cuh:
       arc/gather.cuh   rows of values that lie in memory, as in index_add
       arc/hot.cuh      rows to which the whole grid adds
       arc/table.cuh    skewed keys: a warp keeps the rows that come most
       arc/sums.cuh     an add in two halves: the caller sees each sum before it is added
       arc/papers.cuh   the papers' forms: arrays of pointers, atomred
       arc/overloads.cuh  arc_add(target, ...) for all types, by overloading

   Contents (search for the mark)
       >>api         targets, adds, options        >>call        keys, targets, calls; who has a key
       >>target      where parameters lie          >>emit        words leave for memory
       >>paths       which reduction for which lanes
       >>entries     the public names              >>seam        what a form may use

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
   where a promise allows it (one key is such a promise). NaN or infinity in one value reaches that
   parameter of that key and no other. Integers wrap. The order of additions is unspecified, so that
   floats may differ in the last bits from run to run and with the threshold; sums in fixed targets
   do not. Additions are relaxed and return nothing.

   Width. A literal width up to 128 words, or 64 of 64 bits, compiles to registers only: no stack
   frame, no spill but of the caller's own values. A width known at run time only is for
   arc_target_f32_dynamic, which is walked four values at a time; an array of the caller's is then
   indexed at run time, and lies in memory. Or the caller loops over literal chunks himself:
   examples/patterns.cu.

   JIT users: NVRTC takes arc.cuh, arc_policy.cuh, arc/words.cuh, arc/reductions.cuh and the forms in
   use as named strings, CuPy and other Python packages an include path (examples/python). */
#if !defined(ARC_CUH) && !defined(__CUDACC__) && !defined(SIMT_ON_CPU)
#define ARC_CUH /* leaves out all that follows, which would be a wall of errors */
#error "arc.cuh: compile this file as CUDA (.cu, or nvcc -x cu), or include simt/simt.cuh first"
#endif
#ifndef ARC_CUH
#define ARC_CUH

#include "arc_policy.cuh"

/* ---- >>api ------------------------------------------------------------------------------- */

#define ARC_LANES_ALL 0xffffffffu
#define ARC_LANES_HERE 0x100000000ull /* whichever lanes get here together; a literal */

/* A name's suffix says what the values are and what they become in memory. What follows is written
   for f32; the others have the same names, with their types:
       suffix       values               memory
       f32          float                float
       f64          double               double
       i32, u32     int, unsigned        the same
       i64, u64     long long, unsigned long long  the same
       f16, bf16    float                16-bit numbers, by any pointer (void)
       fixed        float                long long: 64-bit fixed point
       f32_to_f64   float                double
   Values that become another type are summed as f32 in registers and converted once a sum.

       arc_target_f32 arc_target_f32_rows(float *base, int stride, int width);
       arc_target_f32 arc_target_f32_dynamic(float *base, int stride, int width);
   One array of rows: parameter i of key k lies at base[k * stride + i], 0 <= i < width. stride and
   width in values; a stride is below 2^31 bytes; keys may be negative and k * stride may exceed
   2^31. base: aligned to one value. _rows is for a literal width; any other one is right too, but
   slow to compile and to run. _dynamic is for a width known at run time only; build it above
   loops, since it divides.
   Alignment is read from base and stride: rows aligned to 16 bytes by both get 16-byte reductions
   on sm_90 and newer, to 8 bytes 8-byte ones. So the stride must be the true distance of two rows:
   rows(p, 2, 2) with key k adds in one request what rows(p, 1, 2) with key 2 k adds in two.

       typedef struct arc_piece_f32 { float *base; int stride, width; } arc_piece_f32;
       arc_target_f32 arc_target_f32_pieces(const arc_piece_f32 *pieces, int count);
   Several arrays of rows, after #define ARC_MAX_PIECES (2 to 8) above the include: piece 0 holds a
   primitive's first parameters, and so on. The target's width is the sum of theirs. All bases but
   the first may be null: the values of such a piece are summed all the same (7 % of a renderer's
   kernel for 2 of 11) and nothing is added for them; a literal count that ends before the piece
   saves that, so that the host should choose between kernels of different literal counts.

   Who calls: any lane, in any control flow; it belongs above the loop, once a thread. A target is
   bound to the calling lane: do not pass it to another one.
   A function that takes a target must be inlined (__forceinline__), and so must a lambda that
   captures one (__attribute__((always_inline))), or build the target inside. nvcc does not always
   inline by itself what calls arc. The target then lies in memory and its literals are lost: the
   lambda of examples/patterns.cu would take 200 bytes of stack and 92 registers, not 0 and 23.
   Cost: about 20 instructions with a literal width, 4 more for each further piece. ARC_CHECK 1
   reports a wrong count or width, and a stride below the width (0, one row for all keys, is legal).

   f16, bf16: rows in global memory; two neighbours are added by one 32-bit instruction (a scalar
   one is a loop everywhere), f16 natively from sm_60 on, bf16 from sm_90, else by compare-and-swap.
   So -0 is added to a foreign half that shares a word with a row: it keeps its value, but the bits
   of a NaN may become 7fff. Rows of even width at even places share no word.
   fixed: constructors and arc_piece_fixed end with int scale_log2, -126..126, and x is added as
   x * 2^scale_log2, rounded to nearest. Clear rows to 0; arc_fixed_to_f32 and _f64 read them, on
   host and device, with the scale that was added with. The bits do not depend on the order in which
   warps add. Two levels:
       as it is   the same launch with the same policy gives the same bits on any GPU.
       exact      (options.exact, ARC_EXACT, and always in divergent calls) the same bits whatever
                  path, threshold, block or grid, at twice the cost: each value is rounded, no sum.
   A row holds sums below 2^(63 - scale_log2). Beyond, and for NaN or infinity, what is added means
   nothing (a NaN may add 0), and only ARC_CHECK 2 tells. arc_fixed_scale_log2(X, k), on host and
   device, is the largest scale with which k additions of at most X fit; -127: none does, or X or k
   is negative or NaN. With -ftz=true subnormal values count as zero.

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

       void arc_add_f32(arc_target_f32 target, long long key, const float *values, bool active,
                        int threshold);
   Keys may differ from lane to lane. Who calls: all 32 lanes.

       void arc_add_uniform_f32(arc_target_f32 target, long long key, const float *values,
                                bool active, int threshold);
   One key a warp: all 32 lanes hold the same key, inactive ones too, as where a warp walks over one
   list; neither a match nor a shuffle is paid. Who calls: all 32 lanes. ARC_CHECK 2 reports keys
   that differ.

       void arc_add_masked_f32(arc_target_f32 target, long long key, const float *values,
                               bool active, unsigned lane_mask, int threshold);
   For a partial warp: a block whose size is not a multiple of 32, lanes that have returned.
   Who calls: exactly the lanes named in lane_mask, with the same mask; keys may differ.
   A full mask is as fast as arc_add_f32; any other one is correct and reduces with the tree.

       void arc_add_divergent_f32(arc_target_f32 target, long long key, const float *values,
                                  int threshold);
   Who calls: whichever lanes get here, in any subset and interleaving; each is active. Each value
   is added exactly once, whatever loops, branches and atomics of the caller's stand around the
   call. Lanes that arrive together are reduced together; which do, the hardware decides. Below
   sm_70 this is plain atomics.

       void arc_add_with_f32(arc_target_f32 target, long long key, const float *values,
                             bool active, arc_options options);
   The general form of the four above; who calls: the lanes of options.lane_mask.
       arc_options o = arc_options_default();
       o.path = ARC_PATH_TREE;
       o.promises |= ARC_PROMISE_ONE_KEY;
       arc_add_with_f32(t, id, g, hit, o);
   Where a path cannot serve (butterfly: several keys or a partial warp; transposed: a partial
   warp), the papers' fallback does: plain atomics for butterfly, the tree for transposed.

       void arc_atomic_add_f32(float *address, float value);   not of f16, bf16, fixed, f32_to_f64
   The scalar drop-in for an atomicAdd without a result. Who calls: any lane, in any control flow.
   address: global or shared memory, aligned to one value. */

/* What one call does; arc_options arc_options_default(void) returns what the macros say, for all
   lanes of a warp. All but the threshold and a mask must be literals, which cost nothing. A path
   chosen at run time is a switch in the caller: examples/tuned.cu. */
typedef struct arc_options {
  int path;                     /* ARC_PATH_... */
  int promises;                 /* ARC_PROMISE_..., joined by | */
  int threshold;                /* 0..33, ARC_THRESHOLD_AUTO; may be known at run time only */
  unsigned long long lane_mask; /* who calls: ARC_LANES_ALL, a mask, or ARC_LANES_HERE */
  int key_bits;                 /* 32 or 64: keys beyond an int */
  int scope;                    /* ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM */
  bool exact;                   /* sums in a fixed target are the same bits on every path */
} arc_options;

#include "arc/words.cuh"

/* ---- >>call ------------------------------------------------------------------------------ */

/* The statements for each piece i of a target. */
#if ARC_MAX_PIECES == 1
#define ARC__EACH_PIECE(i, count, ...) ARC__ONE_OF(i, 0, count, __VA_ARGS__)
#define ARC__PIECES 1
#elif ARC_MAX_PIECES <= 4
#define ARC__EACH_PIECE ARC__EACH_OF_4
#define ARC__PIECES 4
#else
#define ARC__EACH_PIECE(i, count, ...)  \
  ARC__EACH_OF_4(i, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 4, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 5, count, __VA_ARGS__) \
  ARC__ONE_OF(i, 6, count, __VA_ARGS__) ARC__ONE_OF(i, 7, count, __VA_ARGS__)
#define ARC__PIECES 8
#endif

/* for first = 0, most, ... below the width: the one place where chunks are walked. Unrolled where
   the width is a literal. */
#define ARC__CHUNKS(c, first, most) \
  ARC__UNROLL for (int first = 0; first < (c)->width; first += (most))
#define ARC__DYNAMIC 4 /* values of a chunk, where the width is known at run time only */

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
  arc__piece piece[ARC__PIECES];
  int kind, memory; /* literals */
  int pieces, width;
  int chunk; /* values that are reduced at once: 32 or, of a width known at run time only, 4 */
  /* The default decision, by the strides: bases are aligned as these allow. */
  int min_lanes_to_reduce;  /* the smallest group that a reduction pays for; */
  int min_lanes_to_match;   /* the fewest lanes for which matching keys pays */
  arc__slot warp_slot;      /* after a reduction over the warp */
  arc__slot half_warp_slot; /* after one over each half-warp */
  int builder;              /* the lane that built it; ARC_CHECK 2 */
} arc__target;

/* One warp's call, the same in every helper. Kinds, path, promises and scope are literals. */
typedef struct arc__call {
  const arc__target *target;
  const void *values;
  int width, chunk;         /* the target's */
  int source, kind, memory; /* of the values, of a word in registers, of the sums in memory */
  int path, promises, scope;
  arc__key key;
  int threshold, lane;
  bool active;
  unsigned lanes, present; /* who calls; the active ones among them */
  unsigned group;          /* the lanes that hold this lane's key; 0 for an inactive lane */
  unsigned leaders;        /* the highest lane of each group */
  bool in_table;           /* a literal: groups are known, keys are addresses, some of `table` */
  char *table;             /* shared memory, arc/table.cuh */
  int table_bytes;
} arc__call;

ARC__FN bool arc__promised(const arc__call *c, int promises) {
  return (c->promises & promises) == promises;
}

ARC__FN bool arc__is_transposed(const arc__call *c) {
  bool path = c->path == ARC_PATH_AUTO || c->path == ARC_PATH_TRANSPOSED;
  return path && c->lanes == ARC_LANES_ALL;
}

/* The papers' paths add value by value: each is a request, and costs five shuffles at most. */
ARC__FN bool arc__adds_by_value(const arc__call *c) {
  return c->path == ARC_PATH_SERIALIZED || c->path == ARC_PATH_BUTTERFLY;
}

ARC__FN bool arc__is_auto_keyed(const arc__call *c) {
  return c->path == ARC_PATH_AUTO && !arc__promised(c, ARC_PROMISE_ONE_KEY);
}

/* Whether sums of f32 values are those of the values in fixed point: exact, in any order. */
ARC__FN bool arc__is_exact(const arc__call *c) { return c->kind == ARC__FIXED; }

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
  ARC__CHECK(1, pieces >= 1 && pieces <= ARC_MAX_PIECES, "a target has 1 to ARC_MAX_PIECES pieces");
  t->kind = kind;
  t->memory = memory;
  t->pieces = pieces;
  t->width = 0;
  t->chunk = ARC__WARP;
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

/* By a formula of arc_policy.cuh: for one piece of a literal width a choice among constants, not one
   division by what is chosen. Compilers would make that of it before they know the width, but for
   the types. */
#define ARC__DECIDE(FORMULA, parts)                                                 \
  (t->pieces > 1 || t->chunk == ARC__DYNAMIC ? FORMULA(parts, requests)             \
   : log2 <= 2                               ? FORMULA(parts, words)                \
   : log2 == 3 ? (int)FORMULA((unsigned)(parts), (unsigned)arc__requests(words, 3)) \
               : (int)FORMULA((long long)(parts), (long long)arc__requests(words, 4)))

ARC__FN void arc__target_end(arc__target *t) {
  int requests = 0, lane = arc__lane(), each = arc__bytes(t->kind) / 4;
  ARC__EACH_PIECE(i, t->pieces, {
    const arc__piece *p = &t->piece[i];
    requests += arc__requests(arc__words(t->memory, p->width),
                              arc__largest_log2(t->memory, p->stride_bytes));
  })
  int log2 = arc__largest_log2(t->memory, t->piece[0].stride_bytes);
  int words = arc__words(t->memory, t->width);
  t->min_lanes_to_reduce = ARC__DECIDE(ARC_MIN_LANES_TO_REDUCE, t->width * each);
  t->min_lanes_to_match = ARC__DECIDE(ARC_MIN_LANES_TO_MATCH, arc__shuffles(t->width) * each);
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

/* Adds words to a row: of memory or, in the call of a table, of the table, where nobody else adds. */
ARC__FN void arc__leave(const arc__call *c, char *address, const arc__word *w, int count) {
#if ARC_TABLES
  const int kind = arc__is_half(c->memory) ? ARC__I32 : c->memory, bytes = arc__bytes(kind);
  const arc__u64 offset = (arc__u64)address - (arc__u64)c->table;
  if (c->in_table && offset < (arc__u64)c->table_bytes) {
    char *row = c->table + (int)(unsigned)offset; /* as compilers see, in shared memory */
    ARC__EACH_OF_4(i, count, {
      arc__word old = arc__read(kind, row + i * bytes, 0);
      arc__write(kind, row + i * bytes, 0, arc__sum_stored(c->memory, old, w[i]));
    })
    return;
  }
  if (c->in_table) ARC__ASSUME_GLOBAL(address);
#endif
  arc__request(c->memory, c->scope, address, w, count);
}

/* The values of a chunk at most. */
ARC__FN int arc__chunk_of(const arc__call *c, int lanes) {
  return c->chunk < lanes ? c->chunk : lanes;
}

/* Those of the chunk at `first`. */
ARC__FN int arc__chunk_width(const arc__call *c, int first, int most) {
  return c->width - first < most ? c->width - first : most;
}

/* The words that are reduced for them: a literal number. Where the width is known at run time only,
   those behind the last value are neutral. */
ARC__FN int arc__chunk_words(const arc__call *c, int first, int most) {
  return c->chunk == ARC__DYNAMIC ? ARC__DYNAMIC : arc__chunk_width(c, first, most);
}

/* The value of a target: its piece, and its place there. */
typedef struct arc__place {
  arc__piece piece;
  int offset;
  bool is_there;
} arc__place;

ARC__FN arc__place arc__place_of(const arc__target *t, int value) {
  arc__place at = {t->piece[0], value, true};
  int begin = 0;
  ARC__EACH_PIECE(i, t->pieces, {
    if (i > 0 && value >= begin) {
      at.piece = t->piece[i];
      at.offset = value - begin;
      at.is_there = arc__is_there(t, i);
    }
    begin += t->piece[i].width;
  })
  return at;
}

/* Bytes that one request may add to the piece, as a power of two. */
ARC__FN int arc__request_log2(const arc__call *c, const arc__piece *p) {
  if (arc__adds_by_value(c)) return 2;
  return arc__promised(c, ARC_PROMISE_ALIGNED_16) ? arc__most_log2(c->memory) : p->vector_log2;
}

/* Adds the words of the values [first, first + count) to the row of this lane's key, as many a
   request as alignment allows: by vector_log2 or, if that is 0, as each piece has it. Two halves
   share a word; a foreign one gets -0. */
ARC__FN void arc__emit_values(const arc__call *c, const arc__word *w, int first, int count,
                              int vector_log2) {
  const int each = arc__is_half(c->memory) ? 2 : 1, bytes = arc__bytes(c->memory); /* of a word */
  ARC__EACH(i, count, ARC__WARP) {
    if (i >= c->chunk) continue; /* as compilers do not know */
    arc__place at = arc__place_of(c->target, first + i);
    int log2 = vector_log2 ? vector_log2 : arc__request_log2(c, &at.piece);
    int left = at.piece.width - at.offset < count - i ? at.piece.width - at.offset : count - i;
    char *address = arc__offset(at.piece.base, c->key, at.piece.stride_bytes) + bytes * at.offset;
    int in_four = at.offset % (4 * each), in_two = at.offset % (2 * each);
    bool four = log2 >= 4 && i >= in_four && left + in_four >= 4 * each;
    bool two = log2 >= 3 && i >= in_two && left + in_two >= 2 * each;
    bool odd = each == 2 && (log2 <= 2 ? arc__is_odd(address) : at.offset % 2 != 0);
    bool goes_before = odd && i > 0 && at.offset > 0;
    if (!at.is_there || (four ? in_four > 0 : two ? in_two > 0 : goes_before)) continue;
    arc__word words[4];
    ARC__UNROLL
    for (int k = 0; k < 4; ++k) {
      const int low = i + each * k, high = low + 1;
      words[k] = arc__neutral(ARC__F32);
      if (low >= ARC__WARP || low >= i + left) continue;
      arc__word none = arc__neutral(ARC__F32), next = none;
      if (each == 2 && high < ARC__WARP && high < i + left) next = w[high];
      words[k] =
          arc__stored(c->kind, c->memory, odd ? none : w[low], odd ? w[low] : next, at.piece.scale);
    }
    arc__leave(c, odd ? address - bytes : address, words, four ? 4 : two ? 2 : 1);
  }
}

/* Adds the words of a chunk of this lane's key. One array of rows: each alignment has a loop of its
   own; else four values choose by a branch. */
ARC__FN void arc__emit(const arc__call *c, const arc__word *w, int first, int count) {
  const int log2 = arc__request_log2(c, &c->target->piece[0]);
  const int bytes = arc__bytes(c->memory) * count;
  if (c->target->pieces > 1 || c->chunk == ARC__DYNAMIC)
    arc__emit_values(c, w, first, count, 0);
  else if (log2 >= 4 && bytes >= 16)
    arc__emit_values(c, w, first, count, 4);
  else if (log2 >= 3 && bytes >= 8)
    arc__emit_values(c, w, first, count, 3);
  else
    arc__emit_values(c, w, first, count, 2);
}

#include "arc/reductions.cuh"

/* ---- >>paths ----------------------------------------------------------------------------- */
/* First: too few lanes? Then: which reduction? Plain atomics and each reduction stand in one place,
   since the compiler inlines every branch before it knows the path. */

/* What each lane adds by itself, if it `adds`: its values or, where the call `reduces`, the sums of
   the group that it leads, by the papers' paths or the tree. */
ARC__FN void arc__add_chunks(const arc__call *c, bool reduces, bool adds) {
  ARC__CHUNKS(c, first, c->chunk) {
    int count = arc__chunk_words(c, first, c->chunk);
    ARC__WORDS(w, ARC__WARP);
    ARC__EACH(i, count, ARC__WARP) {
      bool is_value = (adds && !reduces) || arc__is_source(c);
      w[i] = is_value && first + i < c->width ? arc__load(c, first + i, arc__scale_of(c, first + i))
                                              : arc__neutral(c->kind);
    }
    if (reduces && c->path == ARC_PATH_BUTTERFLY)
      arc__reduce_butterfly(c, w, count);
    else if (reduces && c->path == ARC_PATH_SERIALIZED)
      arc__reduce_serialized(c, w, count);
    else if (reduces)
      arc__reduce_tree(c, w, count);
    if (adds) arc__emit(c, w, first, arc__chunk_width(c, first, c->chunk));
  }
}

/* Whether what is not reduced leaves in a loop over values. Of halves, as their sums do. */
ARC__FN bool arc__adds_in_a_loop(const arc__call *c) {
  return c->chunk == ARC__DYNAMIC && !arc__is_half(c->memory);
}

/* Value i of this lane as memory gets it. */
ARC__FN arc__word arc__stored_value(const arc__call *c, int i) {
  const float scale = c->target->piece[0].scale;
  arc__word w = arc__load(c, i, scale);
  return arc__stored(c->kind, c->memory, w, w, scale);
}

/* This lane's values to one array, in a loop of requests as large as alignment allows. Two places
   that add, no more: a lambda that holds twice as many is too large for compilers to inline. */
ARC__FN void arc__add_in_a_loop(const arc__call *c) {
  const arc__piece *p = &c->target->piece[0];
  const int log2 = arc__request_log2(c, p), each = log2 >= 4 ? 4 : log2 == 3 ? 2 : 1;
  const int bytes = arc__bytes(c->memory);
  char *address = arc__offset(p->base, c->key, p->stride_bytes);
  int first = 0;
  for (; each > 1 && first + each <= c->width; first += each, address += each * bytes) {
    arc__word w[4];
    ARC__EACH_OF_4(i, each, { w[i] = arc__stored_value(c, first + i); })
    arc__leave(c, address, w, each);
  }
  for (; first < c->width; ++first, address += bytes) {
    arc__word w = arc__stored_value(c, first);
    arc__leave(c, address, &w, 1);
  }
}

#if ARC_CHECK >= 2
#include "arc/check.cuh"
#else
#define arc__check_agreement(c) ((void)0)
#define ARC__STATE_BYTES 0
#define ARC__DUTY
#define ARC__OWES(form, what) ((void)0)
#define ARC__ADDS_ONCE(form) ((void)0)
#define ARC__CHECK_MEMORY(form) ((void)0)
#define ARC__KEEP_DIGEST(sum, call) ((void)0)
#define ARC__CHECK_DIGEST(sum, call) ((void)0)
#endif

ARC__FN void arc__check_lanes(unsigned lanes) {
  ARC__CHECK(1, __ballot_sync(lanes, true) == lanes,
             "not all lanes that must call are here: they have returned, or are elsewhere");
}

ARC__FN void arc__check_call(const arc__call *c) {
  ARC__CHECK(ARC__WIDTH_CHECK, c->width >= 1, "the width must be at least 1");
  ARC__CHECK(1, c->threshold >= 0 && c->threshold <= ARC_THRESHOLD_AUTO,
             "the threshold must be 0..33 or ARC_THRESHOLD_AUTO");
  ARC__CHECK(1, c->path >= ARC_PATH_ATOMIC && c->path <= ARC_PATH_AUTO,
             "the path must be one of ARC_PATH_ATOMIC to ARC_PATH_AUTO");
  ARC__CHECK(1, (c->lanes >> c->lane & 1u) != 0u, "the lane mask must name every lane that calls");
  arc__check_lanes(c->lanes);
  arc__check_agreement(c);
}

/* Votes must know their lanes even if these have parted since the mask was taken: when one chunk has
   left, which some lanes add and others do not, and the next one votes. To ptxas, a mask that comes
   out of __activemask or a vote is one for all lanes that run together, and is taken from one of them
   (bench/NOTES.md). The lane's own bit, which is set already, makes it a value of each lane. */
ARC__FN void arc__expect_parting(arc__call *c) {
  if (c->width > c->chunk) c->lanes |= 1u << c->lane;
}

/* The balancing threshold: of promises, only that of one key counts. */
ARC__FN int arc__threshold(const arc__call *c) {
  int lanes = c->threshold;
  if (lanes == ARC_THRESHOLD_AUTO) {
    lanes = arc__adds_by_value(c)   ? ARC_MIN_LANES_TO_REDUCE(5 * c->width, c->width)
            : arc__is_auto_keyed(c) ? c->target->min_lanes_to_match
                                    : c->target->min_lanes_to_reduce;
    lanes = lanes < 1 ? 1 : lanes > 31 ? 31 : lanes;
  }
  return arc__kept(lanes);
}

/* Whether the active lanes of a full warp hold one key. All of c->lanes call. */
ARC__FN bool arc__has_one_key(const arc__call *c) {
  if (c->lanes != ARC_LANES_ALL || arc__promised(c, ARC_PROMISE_ONE_KEY))
    return c->lanes == ARC_LANES_ALL;
  unsigned group = arc__match(c);
  return __all_sync(c->lanes, !c->active || group == c->present);
}

/* Whether every active lane adds by itself, as far as their number and the path tell. */
ARC__FN bool arc__adds_plainly(const arc__call *c, int threshold) {
  bool few = __popc(c->present) < threshold;
  if (arc__is_auto_keyed(c)) return few || c->present == 0u;
  if (arc__is_transposed(c)) return few && arc__promised(c, ARC_PROMISE_ONE_KEY);
  if (c->path != ARC_PATH_BUTTERFLY) return false;
  bool one_key = arc__has_one_key(c);
  return few || !one_key;
}

ARC__FN void arc__find_leaders(arc__call *c) {
  c->leaders = __ballot_sync(c->lanes, arc__leads(c->group, c->lane));
}

/* Auto, keys may differ: one group or two get a transposed reduction, and true is returned. If the
   threshold is arc's to choose, a reduction must pay for all lanes together. */
ARC__FN bool arc__add_few_groups(const arc__call *c) {
  bool all_large = c->threshold == ARC_THRESHOLD_AUTO;
  if (c->lanes != ARC_LANES_ALL || __popc(c->leaders) > 2) return false;
  if ((c->leaders & (c->leaders - 1u)) == 0u) {
    arc__add_one_group(c, false);
    return true;
  }
  if (!all_large) all_large = __all_sync(c->lanes, !c->active || __popc(c->group) >= c->threshold);
  if (all_large) arc__add_two_groups(c);
  return all_large;
}

/* The lanes of a group below the threshold become groups of one, which no reduction touches. */
ARC__FN void arc__split_small_groups(arc__call *c, int threshold) {
  if (c->active && __popc(c->group) < threshold) c->group = 1u << c->lane;
}

/* What has enough lanes. Returns whether this lane's values are still to be added. */
ARC__FN bool arc__reduce(arc__call *c, int threshold) {
  bool one_key = arc__promised(c, ARC_PROMISE_ONE_KEY), named = c->path == ARC_PATH_TRANSPOSED;
  if (arc__is_transposed(c) && one_key) {
    arc__add_one_group(c, named); /* auto's branch for few lanes reads the values too */
    return false;
  }
  if (arc__is_transposed(c) && named) return arc__add_each_group(c, threshold);
  if (c->path == ARC_PATH_BUTTERFLY) {
    c->group = c->present;
  } else {
    if (!c->in_table) c->group = arc__match(c);
    if (arc__is_auto_keyed(c)) arc__find_leaders(c);
    if (arc__is_auto_keyed(c) && arc__adds_in_a_loop(c) && c->leaders == c->present)
      return c->active;
    if (arc__is_auto_keyed(c) && arc__add_few_groups(c)) return false;
    if (!arc__is_auto_keyed(c) || c->threshold != ARC_THRESHOLD_AUTO) {
      arc__split_small_groups(c, threshold);
      if (c->path != ARC_PATH_SERIALIZED) arc__find_leaders(c);
    }
  }
  arc__add_chunks(c, true, arc__leads(c->group, c->lane));
  return false;
}

/* Every add comes through here. */
ARC__ADD_FN void arc__add(arc__call c) {
  bool reduces = c.path != ARC_PATH_ATOMIC;
  arc__check_call(&c);
#if defined(SIMT_MEET)
  if (!reduces) SIMT_MEET(c.lanes); /* no vote would show that lanes are absent */
#endif
  int threshold = 0;
  arc__expect_parting(&c);
  if (reduces) {
    bool votes = !arc__is_auto_keyed(&c) && !arc__promised(&c, ARC_PROMISE_WARP_IS_ACTIVE);
    if (votes && !__any_sync(c.lanes, c.active)) return;
    c.present = __ballot_sync(c.lanes, c.active);
    threshold = arc__threshold(&c);
  }
  if (reduces && !arc__adds_plainly(&c, threshold)) {
    if (!arc__reduce(&c, threshold)) return;
  } else if (!c.active) {
    return;
  }
  if (arc__adds_in_a_loop(&c))
    arc__add_in_a_loop(&c);
  else
    arc__add_chunks(&c, false, true);
}

/* ---- >>entries --------------------------------------------------------------------------- */

ARC__FN arc_options arc__options(int threshold, int promises, unsigned long long lane_mask) {
  arc_options o;
  o.path = ARC_PATH;
  o.promises = ARC__PROMISES | promises;
  o.threshold = threshold;
  o.lane_mask = lane_mask;
  o.key_bits = ARC_KEY_BITS;
  o.scope = ARC_SCOPE;
  o.exact = ARC_EXACT;
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

ARC__FN arc__call arc__call_of(const arc__target *target, long long id, const void *values,
                               bool active, arc_options o) {
  arc__call c;
  bool here = o.lane_mask == ARC_LANES_HERE;
  c.target = target;
  c.values = values;
  c.width = target->width;
  c.chunk = target->chunk;
  c.source = c.kind = target->kind;
  c.memory = target->memory;
  if (c.memory == ARC__FIXED) c.kind = o.exact || here ? ARC__FIXED : ARC__ORDERED;
  c.path = here && ARC__ARCH < 700 ? ARC_PATH_ATOMIC : o.path;
  c.promises = o.promises;
  c.scope = o.scope;
  if (o.key_bits == 32 && active) arc__check_key(id);
  c.key = arc__key_from(id, o.key_bits);
  c.threshold = o.threshold;
  c.lane = arc__lane();
  c.active = active;
  c.lanes = here ? __activemask() : (unsigned)o.lane_mask;
  c.present = c.group = c.leaders = 0u;
  c.in_table = false;
  c.table = 0;
  c.table_bytes = 0;
  return c;
}

/* In all that follows, S is a suffix, T the type of a value, M that of a sum in memory, KIND and
   MEMORY their literals. What X needs to know of each suffix: */
#define ARC__EACH_SUFFIX(X) \
  ARC__EACH_PLAIN_SUFFIX(X) \
  X(fixed, float, long long, ARC__F32, ARC__FIXED)
#define ARC__EACH_PLAIN_SUFFIX(X)           \
  ARC__EACH_OWN_SUFFIX(X)                   \
  X(f16, float, void, ARC__F32, ARC__F16)   \
  X(bf16, float, void, ARC__F32, ARC__BF16) \
  X(f32_to_f64, float, double, ARC__F32, ARC__F64)
#define ARC__EACH_OWN_SUFFIX(X) /* sums have the type of the values */ \
  X(f32, float, float, ARC__F32, ARC__F32)                             \
  X(f64, double, double, ARC__F64, ARC__F64)                           \
  X(i32, int, int, ARC__I32, ARC__I32)                                 \
  X(u32, unsigned, unsigned, ARC__I32, ARC__I32)                       \
  X(i64, long long, long long, ARC__I64, ARC__I64)                     \
  X(u64, unsigned long long, unsigned long long, ARC__I64, ARC__I64)

/* A target is told what its type says, which compilers may not find out. */
#define ARC__TYPED(target, KIND, MEMORY) ((target)->kind = (KIND), (target)->memory = (MEMORY))

/* A form of the add NAME, in short for its general form. WHERE, an argument of that name. */
#define ARC__FORM(RETURN, NAME, FORM, S, T, WHERE, where, ACTIVE, PROMISES, LANES, ...)           \
  ARC__FN RETURN NAME##FORM##_##S(WHERE where, long long key, const T *values,                    \
                                  __VA_ARGS__ ARC__CALLER) {                                      \
    return NAME##_with_##S(where, key, values, ACTIVE, arc__options(threshold, PROMISES, LANES)); \
  }
#define ARC__FORM_OF_WARP(RETURN, NAME, FORM, S, T, WHERE, where, PROMISES)                       \
  ARC__FORM(RETURN, NAME, FORM, S, T, WHERE, where, active, PROMISES, ARC_LANES_ALL, bool active, \
            int threshold)

#define ARC__ADDS(S, T, M, KIND, MEMORY)                                                        \
  ARC__FN void arc_add_with_##S(arc_target_##S target, long long key, const T *values,          \
                                bool active, arc_options options ARC__CALLER) {                 \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                      \
    arc__add(arc__call_of(&target.any, key, values, active, options));                          \
  }                                                                                             \
  ARC__FORM_OF_WARP(void, arc_add, , S, T, arc_target_##S, target, 0)                           \
  ARC__FORM_OF_WARP(void, arc_add, _uniform, S, T, arc_target_##S, target, ARC_PROMISE_ONE_KEY) \
  ARC__FORM(void, arc_add, _masked, S, T, arc_target_##S, target, active, 0, lane_mask,         \
            bool active, unsigned lane_mask, int threshold)                                     \
  ARC__FORM(void, arc_add, _divergent, S, T, arc_target_##S, target, true, 0, ARC_LANES_HERE,   \
            int threshold)

/* Several pieces, or what says what to do for them. */
#if ARC_MAX_PIECES > 1
#define ARC__PIECES_OF(S, KIND, MEMORY, SCALE)                                                \
  ARC__FN arc_target_##S arc_target_##S##_pieces(const arc_piece_##S *pieces, int count) {    \
    arc_target_##S t;                                                                         \
    arc__target_begin(&t.any, KIND, MEMORY, count);                                           \
    ARC__EACH_PIECE(i, count, {                                                               \
      arc__target_piece(&t.any, i, pieces[i].base, pieces[i].stride, pieces[i].width, SCALE); \
    })                                                                                        \
    arc__target_end(&t.any);                                                                  \
    return t;                                                                                 \
  }
#else
struct arc_set_ARC_MAX_PIECES_to_their_number;
#define ARC__PIECES_OF(S, KIND, MEMORY, SCALE)       \
  __device__ arc_target_##S arc_target_##S##_pieces( \
      struct arc_set_ARC_MAX_PIECES_to_their_number *, int);
#endif

#define ARC__TARGET(S, M, KIND, MEMORY, AND_SCALE, AND_INT_SCALE, SCALE, SCALE_OF_PIECE)          \
  typedef struct arc_piece_##S {                                                                  \
    M *base;                                                                                      \
    int stride, width AND_SCALE;                                                                  \
  } arc_piece_##S;                                                                                \
  typedef struct arc_target_##S {                                                                 \
    arc__target any;                                                                              \
  } arc_target_##S;                                                                               \
  ARC__PIECES_OF(S, KIND, MEMORY, SCALE_OF_PIECE)                                                 \
  ARC__FN arc_target_##S arc_target_##S##_rows(M *base, int stride, int width AND_INT_SCALE) {    \
    arc_target_##S t;                                                                             \
    arc__target_begin(&t.any, KIND, MEMORY, 1);                                                   \
    arc__target_piece(&t.any, 0, base, stride, width, SCALE);                                     \
    arc__target_end(&t.any);                                                                      \
    return t;                                                                                     \
  }                                                                                               \
  ARC__FN arc_target_##S arc_target_##S##_dynamic(M *base, int stride, int width AND_INT_SCALE) { \
    arc_target_##S t = arc_target_##S##_rows(base, stride, width AND_SCALE);                      \
    t.any.chunk = ARC__DYNAMIC;                                                                   \
    arc__target_end(&t.any);                                                                      \
    return t;                                                                                     \
  }
#define ARC__PLAIN_TARGET(S, T, M, KIND, MEMORY) ARC__TARGET(S, M, KIND, MEMORY, , , 0, 0)
#define ARC__SCALE , scale_log2
#define ARC__INT_SCALE , int scale_log2
ARC__EACH_PLAIN_SUFFIX(ARC__PLAIN_TARGET)
ARC__TARGET(fixed, long long, ARC__F32, ARC__FIXED, ARC__SCALE, ARC__INT_SCALE, scale_log2,
            pieces[i].scale_log2)
ARC__EACH_SUFFIX(ARC__ADDS)

#define ARC__ATOMIC_ADD(S, T, M, KIND, MEMORY)                                     \
  ARC__FN void arc_atomic_add_##S(T *address, T value) {                           \
    arc__atomic_add(KIND, ARC_SCOPE, (char *)address, arc__read(KIND, &value, 0)); \
  }
ARC__EACH_OWN_SUFFIX(ARC__ATOMIC_ADD)

static __host__ __device__ inline float arc_fixed_to_f32(long long sum, int scale_log2) {
  return (float)sum * (float)arc__power(-scale_log2);
}
static __host__ __device__ inline double arc_fixed_to_f64(long long sum, int scale_log2) {
  return (double)sum * arc__power(-scale_log2);
}
/* Sums of 32 floats may be rounded up by 2^-19 of them, then each to an integer by a half. */
static __host__ __device__ inline int arc_fixed_scale_log2(double largest, double additions) {
  const double most = largest * (1.0 + 1.0 / 524288.0), limit = 9223372036854775808.0;
  int log2 = largest >= 0.0 && additions >= 0.0 ? 126 : -127;
  while (log2 > -127 && !(additions * (most * arc__power(log2) + 0.5) < limit)) --log2;
  return log2;
}

/* ---- >>seam ------------------------------------------------------------------------------ */
/* What the forms in arc/ use of all this, beside words.cuh, the entries' macros and arc__options;
   nothing of it holds state or writes to the caller's values:
       arc__call_of       a call on a target; it has no group yet. Any lane.
       arc__check_call    ARC_CHECK, first of all. All lanes of the call.
       arc__match         the lanes with this lane's key. All lanes of the call, c->present set.
       arc__find_leaders  sets c->leaders of c->group. The same.
       arc__key_of        another lane's key; arc__key_at: another key of that lane. The same.
       arc__add           a whole add. All lanes of the call.
       arc__reduce_chunk  the sums of one chunk; arc__chunk_slot: whose this lane's is. Full warp.
       arc__reduce_tree, arc__reduce_serialized, arc__reduce_butterfly, arc__are_runs
                          of words in registers, by c->group and c->leaders. As c->lanes.
       arc__slot_of       where a value of a target goes; arc__emit_sum adds to it. Any lane.
       arc__emit          adds the words of a chunk to this lane's row. Any lane.
       arc__emit_slot     the same for all lanes at once. Full warp.
       arc__leave         how any of them adds words to a row. Any lane.
       arc__target_end    of a target whose pieces were changed. Any lane. */

#endif /* ARC_CUH */
