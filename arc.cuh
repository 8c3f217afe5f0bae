/* arc.cuh - adds from many threads to the same few addresses, at a fraction of atomicAdd's time.
   Copyright 2026 the arc authors. SPDX-License-Identifier: Apache-2.0

   before
       for (int i = 0; i < 9; ++i)
         if (hit) atomicAdd(&grad[9 * id + i], g[i]);
   after
       #include "arc.cuh"
       arc_target_f32 t = arc_target_f32_rows(grad, 9, 9);  // once, above the loop
       arc_add_f32(t, id, g, hit);                          // all 32 lanes call, hit or not

   Each call counts the active lanes of the warp and finds those with the same key. If they are few,
   each sends atomics, several floats at a time if the GPU can. If they are many, they first add
   their values in registers, and the warp sends each sum once.

   Which call to try first
       one value a lane, keys that rise with the lane        none: atomicAdd is faster
       the lanes of a warp walk over one list together       arc_add_renderer_f32
       any other loop, in whatever control flow              arc_add_divergent_f32
       a scatter, a key for each lane                        arc_add_f32
       rows of values that lie in memory                     arc_index_add_rows_f32
       not a line changed: does arc pay?                     arc/drop_in.cuh

   Words
       lane       a thread of a warp, 0 to 31
       active     a lane that has something to add in this call
       key        the number of the row a lane adds to
       width, n   values a lane adds in one call
       parameter  a place of a row: value i of a lane goes to parameter i of its key's row
       target     where the rows lie in memory
       group      the active lanes of a warp that hold one key
       threshold  the smallest group that is added in registers first
       path       a method of adding: ARC_PATH_... of arc_policy.cuh

   Contents (search for the mark)
       >>targets    where rows lie: one array, several arrays, a width known at run time
       >>adds       the calls
       >>options    what you may choose and promise for a call
       >>types      the other types of values and sums, fixed point
       >>entries    the bodies of what is declared here

   Files. arc/core.cuh defines how a call works, on top of arc/words.cuh. Forms for special cases
   have files with their own text. An #include switches one on, in place of this file's, in front of
   it or behind. docs/stability.md says what 1.0 keeps; what is EXPERIMENTAL may change until then:
       arc/index_add.cuh  rows of values that lie in memory, as in PyTorch's index_add
       arc/hot.cuh        rows to which the whole grid adds
       arc/sums.cuh       an add in two steps: you see each sum before it is added
       arc/papers.cuh     the papers' forms: arrays of pointers, atomred
       arc/wide.cuh       sums that repeat without a scale; in front of all others
       arc/overloads.cuh  arc_add(target, ...) for all types, by C++ overloading
       arc/drop_in.cuh    atomicAdd by arc, without a changed line; C++, needs nothing else;
                          with ARC_PROFILE 1 (arc/profile.cuh) it counts instead; EXPERIMENTAL
   arc_policy.cuh lists the macros that you may set, with -D or above the include.

   Contract of every add
   - Each active lane's values are added to the row of its key exactly once. Your values are not
     changed. Nothing is returned.
   - The key, the values and the addresses of an inactive lane are not read, unless the call's
     promises allow it.
   - NaN or infinity in one value reaches that parameter of that key and no other. Integers wrap.
   - The order of additions is unspecified. Sums of floats may differ in the last bits from run to
     run, as with atomicAdd; sums in fixed and wide targets do not. A sum of -0 may read as +0.
   - Additions are relaxed, in the scope of options.scope.
   - A literal width up to 128 (64 of 64-bit values) stays in registers: no stack frame, and no
     spills except of your own values.

   What is reported. Without checks, nothing: if a lane is missing or a key is wrong, sums are
   silently wrong. With ARC_CHECK 1 a kernel stops with a message if arguments are illegal or lanes
   are missing, with ARC_CHECK 2 also if a promise is broken or lanes differ where they must agree.
   The CPU warp (simt/) finds most errors without a GPU; tests/USER_ERRORS.md lists them.

   JIT. NVRTC takes arc.cuh, arc_policy.cuh, arc/words.cuh, arc/core.cuh and the forms in use as
   named strings; CuPy and other packages take an include path (python/examples). */
#if !defined(ARC_CUH) && !defined(__CUDACC__) && !defined(SIMT_ON_CPU)
#define ARC_CUH /* skips the rest, which would be a wall of errors */
#error "arc.cuh: compile this file as CUDA (.cu, or nvcc -x cu), or include simt/simt.cuh first"
#endif
/* Outside the guard: macros may have been set since. */
#include "arc_policy.cuh"
#ifndef ARC_CUH
#define ARC_CUH

#include "arc/words.cuh"

/* What follows is declared for float, suffix f32; >>types lists the other suffixes. ARC__FN is
   `static __device__ __forceinline__`. ARC__CALLER is empty except on the CPU warp, whose reports
   name the line of your call. */

/* ---- >>targets --------------------------------------------------------------------------- */

/* The number of a row. Keys are 32-bit signed; an unsigned key is reinterpreted as int. With
   ARC_KEY_BITS 64 or options.key_bits 64 keys have 64 bits, as PyTorch's indices do. The type is
   long long only so that a wider argument can be rejected: if a key may not fit an int, an optimised
   build fails (the assembler names arc_key_is_no_int__...); any other build stops the kernel. */
typedef long long arc_key;

/* Where rows lie. A target also holds which parameter its lane adds after a reduction, and the
   default decision, so that a loop does not recompute them.
   Build it once, above the loop; in a lambda, inside it. It belongs to the lane that built it: do
   not pass it to another lane, through memory or by a shuffle. If a lambda that is not inlined
   captures a target, the target lies in local memory, and radfoam's kernel is 1.5 to 11 times as
   slow; __attribute__((always_inline)) inlines the lambda (examples/patterns.cu). */
typedef struct ARC__TARGET_TAG(arc_target_f32) arc_target_f32;

/* One array of rows of a literal width: parameter i of key k lies at base[k * stride + i].
   Who calls: any lane, in any control flow.
     base    aligned to one value, in global or shared memory
     stride  values from one row to the next, below 2^31 bytes. 0 is legal: one row for all keys.
             Negative keys are legal, and k * stride may exceed 2^31.
     width   values of a row, 1 or more, a literal. Any other expression works, but is slow.
   arc reads the alignment from base and stride. If both are multiples of 16 bytes, one request adds
   up to 4 floats on sm_90 and newer; of 8 bytes, 2 floats. So pass the true distance of two rows:
   rows(p, 2, 2) with key k needs one request, rows(p, 1, 2) with key 2 * k needs two.
   Example: rows(p, 4, 3) and key 2 are p[8], p[9], p[10]; p[11] is never touched.
   Cost: about 20 instructions.
   Reported: ARC_CHECK 1 a width below 1, a stride below the width. */
ARC__FN arc_target_f32 arc_target_f32_rows(float *base, int stride, int width);

/* The same for a width that is known only at run time. Calls add four values at a time. The array
   that you pass as `values` is indexed at run time, so it lies in local memory; your own loop over
   calls of literal widths avoids that (examples/patterns.cu).
   Cost: it divides, so build it above loops. */
ARC__FN arc_target_f32 arc_target_f32_dynamic(float *base, int stride, int width);

/* Planes, as in tensors with the channels first and in structures of arrays: parameter i of key k
   lies at base[i * plane + k]. One target of any width in place of a piece for each array; pieces
   end at 8 and compile slowly.
   Who calls: any lane, in any control flow.
     base   as above
     plane  values from one plane to the next, not 0; it may be negative. Arrays with an allocation
            each have no such distance: they are pieces.
     width  planes, a literal. Any other expression works, but is slow.
   No request adds two values of a lane, since they do not lie side by side. The requests of lanes
   whose keys are neighbours fill their sectors, as those of plain atomics do.
   Example: N pictures of 3 channels of H * W pixels: planes(p, H * W, 3), and pixel x of picture n
   has the key 3 * H * W * n + x.
   Keys from `plane` on are legal, as there: key k + plane has parameter 0 where key k has 1.
   Suffixes: all but f16, bf16 and wide, whose parameters share words.
   Reported: ARC_CHECK 1 a plane of 0, or of 1, whose rows overlap; ARC_CHECK 2 the promise
   ARC_PROMISE_ALIGNED_16, which planes cannot keep. */
ARC__FN arc_target_f32 arc_target_f32_planes(float *base, int plane, int width);

/* Several arrays of rows, after #define ARC_MAX_PIECES (2 to 8) above the include of arc.cuh. Piece
   0 holds the first parameters of a row, piece 1 the next ones; widths add up.
   Who calls: any lane, in any control flow.
     pieces  base, stride and width as above. The base of any piece but the first may be null: its
             values are summed and not added.
     count   a literal
   Example: pieces {{means, 2, 2}, {colours, 3, 3}}: values 0, 1 of key k go to means[2 * k] and
   on, values 2, 3, 4 to colours[3 * k] and on.
   Cost: 4 more instructions for each further piece.
   Reported: ARC_CHECK 1 a count below 1 or above ARC_MAX_PIECES. */
typedef struct arc_piece_f32 {
  float *base;
  int stride, width;
} arc_piece_f32;
#if ARC_MAX_PIECES > 1
ARC__FN arc_target_f32 arc_target_f32_pieces(const arc_piece_f32 *pieces, int count);

/* Returns `target` restricted to its first `count` pieces (a literal), in the same registers. The
   remaining bases must be null. Calls neither read nor sum their values, which saves 9 of 158
   instructions of a step in gsplat's kernel for 2 of 11 values:
       if (absgrad) arc_add_f32(t, id, g, hit);                    // the same for all lanes
       else arc_add_f32(arc_target_f32_first(t, 4), id, g, hit);
   Who calls: any lane, in any control flow.
   Reported: ARC_CHECK 1 a count that leaves out a piece with a base, or of more pieces. */
ARC__FN arc_target_f32 arc_target_f32_first(arc_target_f32 target, int count);
#endif

/* ---- >>adds ------------------------------------------------------------------------------ */
/* All adds share their first arguments:
     target  the same in all lanes that call
     key     the row's number, arc_key
     values  as many as the target is wide
     active  whether this lane adds
   The policy macros choose the path (ARC_PATH) and the threshold (ARC_BALANCE_THRESHOLD); by
   default arc decides. arc_add_with_f32 chooses for one call.
   Cost of a call: see the head of arc/core.cuh. A warp without an active lane costs one vote. With
   one active lane of up to 10 values the decision costs 10 to 17 % of the sweep's kernel.
   Source: ARC paper, sections 4.4 and 5.5. */

/* Adds; keys may differ from lane to lane.
   Who calls: all 32 lanes of the warp, converged or not, active or not.
   Example: width 2, lane l adds {1, l} to key l / 16: row 0 gets {16, 120}, row 1 {16, 376}.
   Cost: the adds, a vote and a match. If all keys differ, the match is overhead. With up to three
   values and keys that rise from lane to lane the call takes longer than the adds, with one value 3
   times as long: use atomicAdd. For rows of values that lie in memory use arc/index_add.cuh: with
   one row per lane this call runs at about 0.6 times the speed of one atomic per thread and value,
   at 3 and 32 columns of random keys.
   Reported: ARC_CHECK 1 missing lanes; 2 lanes that differ in target. */
ARC__FN void arc_add_f32(arc_target_f32 target, arc_key key, const float *values,
                         bool active ARC__CALLER);

/* Adds; the warp has one key, as when it walks over one list. The call neither matches nor shuffles
   keys.
   Who calls: all 32 lanes, all with the same key, inactive ones too.
   Example: lanes 0 to 9 active, each adds {1}: the row gets 10.
   Reported: ARC_CHECK 2 keys that differ. */
ARC__FN void arc_add_uniform_f32(arc_target_f32 target, arc_key key, const float *values,
                                 bool active ARC__CALLER);

/* The same for a renderer that walks over a list of primitives. It is the fastest call. You promise
   more (ARC_PROMISE_RENDERER): inactive lanes hold zeros, and a warp calls only if a lane is
   active. If few lanes of a warp are active, try arc_add_divergent_f32 first: with 2.6 lanes on
   average (SoftRas) it had 0.99 of the speed of atomics, this call 0.85 to 0.94.
   Who calls: all 32 lanes, all with the same key, at least one of them active:
       if (__any_sync(0xffffffff, hit)) arc_add_renderer_f32(t, id, g, hit);
   Reported: ARC_CHECK 2 an inactive lane's value that is not 0, a warp without an active lane. */
ARC__FN void arc_add_renderer_f32(arc_target_f32 target, arc_key key, const float *values,
                                  bool active ARC__CALLER);

/* Adds from a partial warp, such as the last one of a block whose size is not a multiple of 32.
   Who calls: exactly the lanes that lane_mask names, all with the same mask. Keys may differ.
   Cost: a full mask is as fast as arc_add_f32; any other one reduces by the tree.
   Reported: ARC_CHECK 1 a lane that is not in its mask, named lanes that are missing. */
ARC__FN void arc_add_masked_f32(arc_target_f32 target, arc_key key, const float *values,
                                bool active, unsigned lane_mask ARC__CALLER);

/* Returns the mask of the lanes that execute this call. Use it in divergent code if the same lanes
   then make several masked adds: a row of more than 16 values in parts (examples/cells.cu).
   Who calls: any lane, in any control flow. sm_70 and newer. */
ARC__FN unsigned arc_lanes_here(void);

/* Adds in divergent code, in place of the atomics. studies/kernels_elsewhere.md says what it gained,
   and where it did not.
   Who calls: any lanes, in any subset and interleaving; each is active. Your own loops, branches
   and atomics may surround the call.
   Lanes that arrive together are reduced together; which do is up to the hardware.
   Cost: where a warp walks one list, keep its lanes together (examples/patterns.cu) and use
   arc_add_renderer_f32: in the papers' kernel that is 1.8 to 2.0 times as fast (studies/papers).
   On GPUs older than sm_70 this call falls back to plain atomics. */
ARC__FN void arc_add_divergent_f32(arc_target_f32 target, arc_key key,
                                   const float *values ARC__CALLER);

/* Adds by the given options: the general form of all of the above.
   Who calls: the lanes of options.lane_mask.
       arc_options o = arc_options_default();
       o.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
       o.threshold = threshold_lanes;                       // from a tuner, for example
       arc_add_with_f32(t, id, g, hit, o); */
typedef struct arc_options arc_options;
ARC__FN void arc_add_with_f32(arc_target_f32 target, arc_key key, const float *values, bool active,
                              arc_options options ARC__CALLER);

/* atomicAdd(address, value) without a result.
   Who calls: any lane, in any control flow. address: global or shared memory, aligned to one value.
   Not of f16, bf16, fixed, f32_to_f64. */
ARC__FN void arc_atomic_add_f32(float *address, float value);

/* ---- >>options --------------------------------------------------------------------------- */

/* Promises, ARC_PROMISE_... of arc_policy.cuh, joined by |. A promise saves work and never makes a
   call slower. A broken promise gives wrong sums.
     ONE_KEY           all 32 lanes hold one key, inactive ones too. Saves the match of the keys.
     INACTIVE_IS_ZERO  inactive lanes hold readable zeros, such as the gradients of pixels that
                       miss. Saves up to a select a value.
     WARP_IS_ACTIVE    a warp calls only if a lane is active, as after your own vote. Saves arc's
                       vote.
     ALIGNED_16        base and stride of every piece are multiples of 16 bytes of global memory.
                       Saves the code for other rows.
     RENDERER          INACTIVE_IS_ZERO and WARP_IS_ACTIVE. */

/* What one call does. All but the threshold and a mask must be literals, which cost nothing. To
   choose a path at run time, write a switch (examples/tuned.cu). If a path does not fit (butterfly:
   several keys, or a partial warp; transposed: a partial warp), the call takes the papers'
   fallback: plain atomics for butterfly, the tree for transposed. */
struct arc_options {
  int path;                     /* ARC_PATH_... */
  int promises;                 /* ARC_PROMISE_..., joined by | */
  int threshold;                /* lanes, 0..33: a smaller group sends atomics; 0 always reduces, 33
                                   never; 1 for rows that the whole grid adds to. Or
                                   ARC_THRESHOLD_AUTO: arc decides */
  unsigned long long lane_mask; /* who calls: ARC_LANES_ALL, a mask, or ARC_LANES_HERE */
  int key_bits;                 /* 32, or 64: keys beyond an int */
  int scope;  /* ARC_SCOPE_DEVICE, or ARC_SCOPE_SYSTEM: atomic towards other GPUs */
  bool exact; /* of fixed targets, >>types */
};

/* The macros' values, for all lanes of a warp, without promises. */
ARC__FN arc_options arc_options_default(void);

/* ---- >>types ----------------------------------------------------------------------------- */
/* Every name with the suffix f32 exists for each suffix, with its types in place of float:

       suffix      values               sums in memory
       f32         float                float
       f64         double               double
       i32, u32    int, unsigned        the same
       i64, u64    long long, unsigned long long   the same
       f16, bf16   float                16-bit floats, by a pointer of any type (void *)
       f32_to_f64  float                double
       fixed       float                long long: 64-bit fixed point
       wide        float                6 long longs: whole numbers by exponent (arc/wide.cuh)

   If values and sums differ in type, lanes are summed as f32, and each sum is converted once.

   f16, bf16. Rows lie in global memory. Two neighbours are added by one 32-bit instruction: f16
   natively from sm_60 on, bf16 from sm_90 on, else by compare-and-swap. If another value of yours
   shares a 32-bit word with a row, -0 is added to it: it keeps its value, but the bits of a NaN may
   become 7fff. Rows of even width at even places share no word.

   fixed. Constructors take one more argument, and arc_piece_fixed one more field: int scale_log2,
   -126 to 126. x is added as x * 2^scale_log2, rounded to the nearest integer. Clear rows to 0.
   A row holds sums below 2^(63 - scale_log2). Overflow, NaN and infinity give meaningless sums;
   only ARC_CHECK 2 reports them. Subnormal values count as 0 under -ftz=true.
   What repeats to the last bit:
       default    the same launch with the same policy, on any GPU
       exact      (options.exact, ARC_EXACT, and every divergent call) any path, threshold, block
                  and grid; each value is rounded, no sum, at twice the cost
   docs/reproducible.md has ranges, errors and how to choose a scale. If you cannot choose one, wide
   targets repeat as fixed ones do by default. */

/* Reads a sum of a fixed target, with the scale that it was added with. Host and device. */
static __host__ __device__ inline float arc_fixed_to_f32(long long sum, int scale_log2);
static __host__ __device__ inline double arc_fixed_to_f64(long long sum, int scale_log2);

/* The largest scale with which `additions` values of at most `largest` in magnitude fit; -127 if
   there is none, or if an argument is negative or NaN. Host and device.
   Example: arc_fixed_scale_log2(1.0, 1 << 20) is 42. */
static __host__ __device__ inline int arc_fixed_scale_log2(double largest, double additions);

#include "arc/core.cuh"

/* ---- >>entries --------------------------------------------------------------------------- */

ARC__FN arc_options arc__options(int promises, unsigned long long lane_mask) {
  arc_options o;
  o.path = ARC_PATH;
  o.promises = promises;
  o.threshold = ARC_BALANCE_THRESHOLD;
  o.lane_mask = lane_mask;
  o.key_bits = ARC_KEY_BITS;
  o.scope = ARC_SCOPE;
  o.exact = ARC_EXACT;
  return o;
}

ARC__FN arc_options arc_options_default(void) { return arc__options(0, ARC_LANES_ALL); }

/* Fails an optimised build by design, if a key may not fit the int that the call takes: the loop is
   unrolled, and ptxas refuses the label, which then stands there twice. Any other build stops the
   kernel. If the optimiser can rule such keys out, no code is left. */
#if defined(__CUDACC__)
#define ARC__REFUSAL(name, label)                         \
  static __device__ __noinline__ inline void name(void) { \
    ARC__UNROLL                                           \
    for (int i = 0; i < 2; ++i) asm volatile(label ":");  \
    ARC__FAIL("arc: " label);                             \
  }
#else
#define ARC__REFUSAL(name, label) \
  ARC__FN void name(void) { ARC__FAIL("arc: " label); }
#endif
ARC__REFUSAL(arc__refuse_key, "arc_key_is_no_int__cast_it_or_set_ARC_KEY_BITS_to_64")
#if defined(ARC__HAS_WINDOWS)
ARC__REFUSAL(arc__refuse_exact, "arc_exact_is_for_fixed_targets")
#else
#define arc__refuse_exact() ((void)0)
#endif

/* Two comparisons, not one range: compilers remove both if the key was an int or an unsigned. */
ARC__FN void arc__check_key(arc_key key) {
  if (key > 0xffffffffll) arc__refuse_key();
  if (key < -0x80000000ll) arc__refuse_key();
}

ARC__FN unsigned arc_lanes_here(void) { return arc__lanes_here(); }
#if defined(SIMT_CALL_OF) /* as ARC__CALLER: the CPU warp distinguishes masks by that line */
#define arc_lanes_here() SIMT_CALL_OF(arc_lanes_here())
#endif

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
  if (arc__has_windows(c.memory)) c.kind = ARC__ORDERED;
  if (arc__has_windows(c.memory) && o.exact) arc__refuse_exact();
  c.path = here && (ARC__ARCH < 700 || arc__has_windows(c.memory)) ? ARC_PATH_ATOMIC : o.path;
  c.promises = o.promises;
  c.scope = o.scope;
  if (o.key_bits == 32 && active) arc__check_key(id);
  c.key = arc__key_from(id, o.key_bits);
  c.threshold = o.threshold;
  c.lane = arc__lane();
  c.active = active;
  c.lanes = here ? __activemask() : (unsigned)o.lane_mask;
  c.present = c.group = c.leaders = 0u;
  return c;
}

/* Below, S is a suffix, T the type of a value, M that of a sum in memory, KIND and MEMORY their
   literals. X gets these of each suffix: */
#define ARC__F32_SUFFIX(X) X(_f32, float, float, ARC__F32, ARC__F32)
#define ARC__EACH_OTHER_NUMBER(X) /* sums have the type of the values */ \
  X(_f64, double, double, ARC__F64, ARC__F64)                            \
  X(_i32, int, int, ARC__I32, ARC__I32)                                  \
  X(_u32, unsigned, unsigned, ARC__I32, ARC__I32)                        \
  X(_i64, long long, long long, ARC__I64, ARC__I64)                      \
  X(_u64, unsigned long long, unsigned long long, ARC__I64, ARC__I64)
#define ARC__EACH_CONVERTED(X)               \
  X(_f16, float, void, ARC__F32, ARC__F16)   \
  X(_bf16, float, void, ARC__F32, ARC__BF16) \
  X(_f32_to_f64, float, double, ARC__F32, ARC__F64)
#define ARC__FIXED_SUFFIX(X) X(_fixed, float, long long, ARC__F32, ARC__FIXED)
#ifndef ARC__FORM_SUFFIX /* that of a form which adds a type of sums */
#define ARC__FORM_SUFFIX(X)
#endif
#define ARC__EACH_OTHER_SUFFIX(X) \
  ARC__EACH_OTHER_NUMBER(X)       \
  ARC__EACH_CONVERTED(X)          \
  ARC__FIXED_SUFFIX(X)            \
  ARC__FORM_SUFFIX(X)
#define ARC__EACH_FLOAT_SUFFIX(X) /* values are floats */ \
  ARC__F32_SUFFIX(X) ARC__EACH_CONVERTED(X) ARC__FIXED_SUFFIX(X) ARC__FORM_SUFFIX(X)
#define ARC__EACH_NUMBER(X) ARC__F32_SUFFIX(X) ARC__EACH_OTHER_NUMBER(X)
#define ARC__EACH_SUFFIX(X) ARC__F32_SUFFIX(X) ARC__EACH_OTHER_SUFFIX(X)

/* Sets what the target's type implies, since compilers may not find it out. */
#define ARC__TYPED(target, KIND, MEMORY) ((target)->kind = (KIND), (target)->memory = (MEMORY))

/* Several pieces, or a declaration whose error says what to do for them. */
#if ARC_MAX_PIECES > 1
#define ARC__PIECES_OF(S, KIND, MEMORY, SCALE)                                                \
  ARC__FN arc_target##S arc_target##S##_pieces(const arc_piece##S *pieces, int count) {       \
    arc_target##S t;                                                                          \
    arc__target_begin(&t.any, KIND, MEMORY, count);                                           \
    ARC__EACH_PIECE(i, count, {                                                               \
      arc__target_piece(&t.any, i, pieces[i].base, pieces[i].stride, pieces[i].width, SCALE); \
    })                                                                                        \
    arc__target_end(&t.any);                                                                  \
    return t;                                                                                 \
  }                                                                                           \
  ARC__FN arc_target##S arc_target##S##_first(arc_target##S target, int count) {              \
    arc__keep_first(&target.any, count);                                                      \
    return target;                                                                            \
  }
#else
struct arc_set_ARC_MAX_PIECES_to_their_number;
#define ARC__PIECES_OF(S, KIND, MEMORY, SCALE)                                                     \
  __device__ arc_target##S arc_target##S##_pieces(struct arc_set_ARC_MAX_PIECES_to_their_number *, \
                                                  int);
#endif

#define ARC__PIECE(S, M, AND_INT_SCALE) \
  typedef struct arc_piece##S {         \
    M *base;                            \
    int stride, width AND_INT_SCALE;    \
  } arc_piece##S;                       \
  typedef struct ARC__TARGET_TAG(arc_target##S) arc_target##S;
#define ARC__TARGET(S, M, KIND, MEMORY, AND_SCALE, AND_INT_SCALE, SCALE, SCALE_OF_PIECE)        \
  struct ARC__TARGET_TAG(arc_target##S) {                                                       \
    arc__target any;                                                                            \
  };                                                                                            \
  ARC__PIECES_OF(S, KIND, MEMORY, SCALE_OF_PIECE)                                               \
  ARC__FN arc_target##S arc_target##S##_rows(M *base, int stride, int width AND_INT_SCALE) {    \
    arc_target##S t;                                                                            \
    arc__target_begin(&t.any, KIND, MEMORY, 1);                                                 \
    arc__target_piece(&t.any, 0, base, stride, width, SCALE);                                   \
    arc__target_end(&t.any);                                                                    \
    return t;                                                                                   \
  }                                                                                             \
  ARC__FN arc_target##S arc_target##S##_dynamic(M *base, int stride, int width AND_INT_SCALE) { \
    arc_target##S t = arc_target##S##_rows(base, stride, width AND_SCALE);                      \
    t.any.chunk = ARC__DYNAMIC;                                                                 \
    arc__target_end(&t.any);                                                                    \
    return t;                                                                                   \
  }
#define ARC__PLANES(S, M, KIND, MEMORY, AND_INT_SCALE, SCALE)                                 \
  ARC__FN arc_target##S arc_target##S##_planes(M *base, int plane, int width AND_INT_SCALE) { \
    arc_target##S t;                                                                          \
    arc__target_begin(&t.any, KIND, MEMORY, 1);                                               \
    arc__target_planes(&t.any, plane);                                                        \
    arc__target_piece(&t.any, 0, base, 1, width, SCALE);                                      \
    arc__target_end(&t.any);                                                                  \
    return t;                                                                                 \
  }
#define ARC__PLAIN_PIECE(S, T, M, KIND, MEMORY) ARC__PIECE(S, M, )
#define ARC__PLAIN_TARGET(S, T, M, KIND, MEMORY) ARC__TARGET(S, M, KIND, MEMORY, , , 0, 0)
#define ARC__PLAIN_PLANES(S, T, M, KIND, MEMORY) ARC__PLANES(S, M, KIND, MEMORY, , 0)
#define ARC__SCALE , scale_log2
#define ARC__INT_SCALE , int scale_log2
ARC__EACH_OTHER_NUMBER(ARC__PLAIN_PIECE)
ARC__EACH_CONVERTED(ARC__PLAIN_PIECE)
ARC__FORM_SUFFIX(ARC__PLAIN_PIECE)
ARC__PIECE(_fixed, long long, ARC__SCALE)
ARC__EACH_NUMBER(ARC__PLAIN_TARGET)
ARC__EACH_CONVERTED(ARC__PLAIN_TARGET)
ARC__FORM_SUFFIX(ARC__PLAIN_TARGET)
ARC__TARGET(_fixed, long long, ARC__F32, ARC__FIXED, ARC__SCALE, ARC__INT_SCALE, scale_log2,
            pieces[i].scale_log2)
ARC__EACH_NUMBER(ARC__PLAIN_PLANES)
ARC__PLANES(_fixed, long long, ARC__F32, ARC__FIXED, ARC__INT_SCALE, scale_log2)
ARC__PLANES(_f32_to_f64, double, ARC__F32, ARC__F64, , 0)
struct arc_halves_and_sums_of_several_words_have_no_planes__use_pieces;
#define ARC__NO_PLANES(S, T, M, KIND, MEMORY) \
  ARC__FN void arc_target##S##_planes(        \
      struct arc_halves_and_sums_of_several_words_have_no_planes__use_pieces *, int, int) {}
ARC__NO_PLANES(_f16, , , , )
ARC__NO_PLANES(_bf16, , , , )
ARC__FORM_SUFFIX(ARC__NO_PLANES)

/* Declares for the other suffixes what >>adds declares for f32, and defines all. ARGUMENTS are
   those after the values; a form calls arc_add_with with what it takes for `active` and options. */
#define ARC__ACTIVE , bool active
#define ARC__ACTIVE_AND_MASK , bool active, unsigned lane_mask
#define ARC__ACTIVE_AND_OPTIONS , bool active, arc_options options
#define ARC__DECLARE(NAME, S, T, ARGUMENTS) \
  ARC__FN void NAME##S(arc_target##S target, arc_key key, const T *values ARGUMENTS ARC__CALLER);
#define ARC__DEFINE(NAME, S, T, ARGUMENTS, ACTIVE, OPTIONS)                                        \
  ARC__FN void NAME##S(arc_target##S target, arc_key key, const T *values ARGUMENTS ARC__CALLED) { \
    arc_add_with##S(target, key, values, ACTIVE, OPTIONS ARC__PASSED(#NAME));                      \
  }

#define ARC__DECLARE_ADDS(S, T, M, KIND, MEMORY)           \
  ARC__DECLARE(arc_add, S, T, ARC__ACTIVE)                 \
  ARC__DECLARE(arc_add_uniform, S, T, ARC__ACTIVE)         \
  ARC__DECLARE(arc_add_renderer, S, T, ARC__ACTIVE)        \
  ARC__DECLARE(arc_add_masked, S, T, ARC__ACTIVE_AND_MASK) \
  ARC__DECLARE(arc_add_divergent, S, T, )                  \
  ARC__DECLARE(arc_add_with, S, T, ARC__ACTIVE_AND_OPTIONS)
#define ARC__ADDS(S, T, M, KIND, MEMORY)                                                        \
  ARC__FN void arc_add_with##S(arc_target##S target, arc_key key, const T *values, bool active, \
                               arc_options options ARC__CALLED) {                               \
    ARC__TYPED(&target.any, KIND, MEMORY);                                                      \
    arc__add(ARC__COUNTED(arc__call_of(&target.any, key, values, active, options)));            \
  }                                                                                             \
  ARC__DEFINE(arc_add, S, T, ARC__ACTIVE, active, arc_options_default())                        \
  ARC__DEFINE(arc_add_uniform, S, T, ARC__ACTIVE, active,                                       \
              arc__options(ARC_PROMISE_ONE_KEY, ARC_LANES_ALL))                                 \
  ARC__DEFINE(arc_add_renderer, S, T, ARC__ACTIVE, active,                                      \
              arc__options(ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER, ARC_LANES_ALL))          \
  ARC__DEFINE(arc_add_masked, S, T, ARC__ACTIVE_AND_MASK, active, arc__options(0, lane_mask))   \
  ARC__DEFINE(arc_add_divergent, S, T, , true, arc__options(0, ARC_LANES_HERE))
ARC__EACH_OTHER_SUFFIX(ARC__DECLARE_ADDS)
ARC__EACH_SUFFIX(ARC__ADDS)

#define ARC__ATOMIC_ADD(S, T, M, KIND, MEMORY)                                     \
  ARC__FN void arc_atomic_add##S(T *address, T value) {                            \
    arc__atomic_add(KIND, ARC_SCOPE, (char *)address, arc__read(KIND, &value, 0)); \
  }
ARC__EACH_NUMBER(ARC__ATOMIC_ADD)

static __host__ __device__ inline float arc_fixed_to_f32(long long sum, int scale_log2) {
  return (float)sum * (float)arc__power(-scale_log2);
}
static __host__ __device__ inline double arc_fixed_to_f64(long long sum, int scale_log2) {
  return (double)sum * arc__power(-scale_log2);
}
/* Rounding may raise a sum of 32 floats by 2^-19 of it and, to an integer, by a half. */
static __host__ __device__ inline int arc_fixed_scale_log2(double largest, double additions) {
  const double most = largest * (1.0 + 1.0 / 524288.0), limit = 9223372036854775808.0;
  int log2 = largest >= 0.0 && additions >= 0.0 ? 126 : -127;
  while (log2 > -127 && !(additions * (most * arc__power(log2) + 0.5) < limit)) --log2;
  return log2;
}

#endif /* ARC_CUH */
