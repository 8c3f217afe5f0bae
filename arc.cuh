/* arc.cuh - faster additions from many threads to the same few addresses.
   Copyright 2026 the arc authors. SPDX-License-Identifier: Apache-2.0

   before
       for (int i = 0; i < 9; ++i)
         if (hit) atomicAdd(&grad[9 * id + i], g[i]);
   after
       #include "arc.cuh"
       arc_target_f32 t = arc_target_f32_rows(grad, 9, 9);  // once, above the loop
       arc_add_f32(t, id, g, hit);                          // all 32 lanes call, hit or not

   A call finds the lanes of the warp that add to the same row. If many lanes do, they first sum
   their values in registers, and the warp sends each sum to memory once. If few lanes do, each of
   them sends atomics. Either way one atomic adds 2 or 4 neighbouring floats, if GPU and row allow.

   Which call to try first
       one value per lane, and neighbouring lanes            none: atomicAdd is faster
       add to neighbouring addresses
       the lanes of a warp walk over one list together       arc_add_renderer_f32
       any other loop, with any control flow                 arc_add_divergent_f32
       a scatter: a key per lane, many lanes share keys      arc_add_f32
       rows of values that lie in memory                     arc_index_add_rows_f32
       what would arc gain? without a source change          arc/drop_in.cuh

   Words
       lane       a thread of a warp, numbered 0 to 31
       active     a lane is active if it has something to add in this call
       key        the number of the row to which a lane adds
       width, n   the number of values that a lane adds in one call
       parameter  a place in a row: value i of a lane is added to parameter i of the row
       target     describes where the rows lie in memory
       group      the active lanes of a warp that hold the same key
       reduce     to sum the values of a group in registers, before anything is sent to memory
       request    an atomic instruction that lanes of a warp execute together
       threshold  the number of lanes from which a group is reduced
       path       a method of adding: by atomics, or by a reduction, of which there are three: tree,
                  butterfly and transposed. See ARC_PATH_... in arc_policy.cuh
       vote       an instruction that tells all lanes of a warp which of them are active
       match      an instruction that tells each lane which lanes hold its key
       literal    a value that the compiler knows: 9, a constant, a template's argument

   Contents (search for the mark)
       >>targets    where rows lie: one array, several arrays, a width known at run time
       >>adds       the calls
       >>options    what you may choose and promise for one call
       >>types      other types of values and sums; fixed point
       >>entries    the definitions of what is declared here

   Files. arc/core.cuh defines how a call works, on top of arc/words.cuh. Forms for special cases
   have their own files, each with its manual. To use a form, #include its file: alone, or together
   with this file in any order. One file has an order: include arc/wide.cuh before this file.
       arc/index_add.cuh  rows of values that lie in memory, as in PyTorch's index_add
       arc/hot.cuh        a few rows to which all blocks of the grid add
       arc/sums.cuh       an add in two steps: you see each sum before it is added
       arc/papers.cuh     the papers' interfaces: arrays of pointers, atomred
       arc/wide.cuh       sums that repeat to the last bit, without a scale that you choose
       arc/overloads.cuh  arc_add(target, ...) for all types, by C++ overloading
       arc/drop_in.cuh    makes atomicAdd use arc, without a source change; with ARC_PROFILE 1
                          (arc/profile.cuh) it counts instead. C++, works alone. EXPERIMENTAL
   arc_policy.cuh lists the macros that you may set, with -D or above the include. Names marked
   EXPERIMENTAL may change in any version before 1.0 (docs/stability.md).

   Contract of every add
   - A call adds each active lane's values to the row of its key exactly once. It does not change
     your values, and returns nothing.
   - A call does not read the key, the values or the row of an inactive lane, unless your promises
     allow it.
   - NaN or infinity in one value reaches that parameter of that key and no other. Integers wrap.
   - The order of additions is unspecified. So sums of floats may differ in the last bits from run
     to run, as with atomicAdd; sums in fixed and wide targets do not. If all addends are -0, the
     sum may be +0.
   - Memory order: relaxed, in the scope that options.scope names.
   - With a literal width up to 128 (64 for 64-bit values) values stay in registers. A call adds no
     stack frame. If registers run out, the compiler moves variables of your kernel to local memory.

   Errors. By default a call checks nothing: if a lane is missing or a key is wrong, sums are
   silently wrong. With -DARC_CHECK=1 a kernel stops with a message if an argument is illegal or a
   lane is missing; with -DARC_CHECK=2 also if you break a promise, or if lanes differ where they
   must agree. Below, "Reported" says what each level finds. The CPU warp (simt/) runs kernels
   without a GPU and finds most errors; tests/USER_ERRORS.md lists them.

   JIT. Pass arc.cuh, arc_policy.cuh, arc/words.cuh, arc/core.cuh and the forms that you use to
   NVRTC as named strings. CuPy and other packages take an include path (python/examples). */
#if !defined(ARC_CUH) && !defined(__CUDACC__) && !defined(SIMT_ON_CPU)
#define ARC_CUH /* skips the rest, which would be a wall of errors */
#error "arc.cuh: compile this file as CUDA (.cu, or nvcc -x cu), or include simt/simt.cuh first"
#endif
/* Outside the guard: each include checks the macros that are set by then. */
#include "arc_policy.cuh"
#ifndef ARC_CUH
#define ARC_CUH

#include "arc/words.cuh"

/* The declarations below are those for float, with the suffix f32; >>types lists the other
   suffixes. ARC__FN is `static __device__ __forceinline__`. ARC__CALLER is empty; on the CPU warp
   it passes the line of your call, for reports. */

/* ---- >>targets --------------------------------------------------------------------------- */

/* The number of a row. Keys are 32-bit signed; an unsigned key is reinterpreted as int. With
   ARC_KEY_BITS 64 or options.key_bits 64 keys have 64 bits, as PyTorch's indices do.
   A 64-bit or float argument is an error unless the compiler can prove that it fits an int: an
   optimised build fails with a message that names arc_key_is_no_int__...; a build without
   optimisation stops the kernel instead. The type is long long for this test alone. */
typedef long long arc_key;

/* Describes where rows lie. Build a target once, above the loop. After a reduction each lane sends
   some of a row's sums to memory. Which ones depends on the lane, and the target holds it. So a
   target belongs to the lane that built it: do not pass it to another lane, through memory or by a
   shuffle.
   If a lambda adds, build the target inside the lambda. A target that a lambda captures lies in
   local memory, unless the lambda is inlined: with a captured target radfoam's kernel ran at
   0.09-0.67x the speed that it had with an inlined lambda (one H200, several scenes).
   __attribute__((always_inline)) inlines a lambda (examples/patterns.cu). */
typedef struct ARC__TARGET_TAG(arc_target_f32) arc_target_f32;

/* Returns a target for one array of rows: parameter i of key k lies at base[k * stride + i].
   Who calls: any lane, in any control flow.
     base    global or shared memory, aligned to one value
     stride  values from one row to the next, below 2^31 bytes. 0 is legal: one row for all keys.
             Negative keys are legal, and k * stride may exceed 2^31.
     width   values per row, 1 or more, a literal. Any other expression works, but is slow.
   Pass the true distance between rows, since arc reads the alignment from base and stride. If both
   are multiples of 16 bytes, one request adds up to 4 floats on sm_90 and newer; if both are
   multiples of 8 bytes, 2 floats. For pairs of floats write stride 2, width 2, key k: a pair then
   takes one request. Stride 1, width 2 and key 2 * k name the same addresses, but hide the
   alignment: a pair takes two requests, and ARC_CHECK 1 reports a stride below the width.
   Example: rows(p, 4, 3) with key 2 are p[8], p[9], p[10]; a call never touches p[11].
   Cost: about 20 instructions.
   Reported: ARC_CHECK 1 a width below 1, a stride below the width that is not 0, a base that is not
   aligned to its values. */
ARC__FN arc_target_f32 arc_target_f32_rows(float *base, int stride, int width);

/* Returns the same target for a width that is known only at run time. A call loops over the values,
   four per step. Therefore your array of values lies in local memory, which is slow. To avoid that,
   write a loop over calls of literal widths (examples/patterns.cu).
   Cost: divisions, so build it above loops. */
ARC__FN arc_target_f32 arc_target_f32_dynamic(float *base, int stride, int width);

/* Returns a target for planes, as in tensors with the channels first and in structures of arrays:
   parameter i of key k lies at base[i * plane + k]. The width may be any. If your arrays lie at
   equal distances, use planes rather than pieces: a target has at most 8 pieces, and they compile
   slowly.
   Who calls: any lane, in any control flow.
     base   as above
     plane  values from one plane to the next, not 0; it may be negative. Arrays that were allocated
            one by one have no such distance: use pieces.
     width  number of planes, a literal. Any other expression works, but is slow.
   Each value takes a request of its own, since the values of a lane do not lie side by side. If
   neighbouring lanes have neighbouring keys, the GPU coalesces their additions, as it does with
   plain atomics.
   Example: N pictures with 3 channels of H * W pixels: planes(p, H * W, 3); pixel x of picture n
   has the key 3 * H * W * n + x. Keys may exceed `plane`, as here, if no two of your keys are
   `plane` apart: parameter 0 of key k + plane lies where parameter 1 of key k does. Here none are,
   since x is below H * W.
   Suffixes: all but f16, bf16 and wide, whose parameters share words.
   Reported: ARC_CHECK 1 a plane of 0, or of 1, whose rows overlap; ARC_CHECK 2 the promise
   ARC_PROMISE_ALIGNED_16, which planes cannot keep. */
ARC__FN arc_target_f32 arc_target_f32_planes(float *base, int plane, int width);

/* Returns a target for several arrays of rows. It needs #define ARC_MAX_PIECES (2 to 8) above the
   first include of arc; -include arc/drop_in.cuh is one, so set it with -D there. Piece 0 holds the
   first parameters of a row, piece 1 the next ones; the width of the target is the sum of their
   widths.
   Who calls: any lane, in any control flow.
     pieces  base, stride and width of each array, as above. The base of any piece but the first may
             be null: a call sums its values, but does not add the sums.
     count   number of pieces, a literal
   Example: with pieces {{means, 2, 2}, {colours, 3, 3}} a call adds values 0 and 1 to means[2 *
   key] and the next, values 2 to 4 to colours[3 * key] and the next two.
   Cost: 4 more instructions per further piece.
   Reported: ARC_CHECK 1 a count below 1 or above ARC_MAX_PIECES. */
typedef struct arc_piece_f32 {
  float *base;
  int stride, width;
} arc_piece_f32;
#if ARC_MAX_PIECES > 1
ARC__FN arc_target_f32 arc_target_f32_pieces(const arc_piece_f32 *pieces, int count);

/* Returns `target` restricted to its first `count` pieces; `count` is a literal. The result takes
   no registers beyond those of `target`. The bases of the other pieces must be null. Calls do not
   read or sum the values of these other pieces. In gsplat's kernel a call with the restricted
   target sums 9 of 11 values, and the loop has 149 instructions instead of 158:
       if (absgrad) arc_add_f32(t, id, g, hit);                    // the same for all lanes
       else arc_add_f32(arc_target_f32_first(t, 4), id, g, hit);
   Who calls: any lane, in any control flow.
   Reported: ARC_CHECK 1 a count that leaves out a piece with a base, or exceeds the pieces. */
ARC__FN arc_target_f32 arc_target_f32_first(arc_target_f32 target, int count);
#endif

/* ---- >>adds ------------------------------------------------------------------------------ */
/* All adds have the same first arguments:
     target  the same in all lanes that call
     key     the row's number, arc_key
     values  an array of as many values as the target is wide
     active  whether this lane adds
   By default arc chooses path and threshold for each call, from the width and the active lanes. Set
   the macros ARC_PATH (ARC_PATH_AUTO, ..._ATOMIC, ..._TREE, ..._BUTTERFLY, ..._TRANSPOSED or
   ..._SERIALIZED) and ARC_BALANCE_THRESHOLD (as options.threshold below) to choose them for a file,
   or call arc_add_with_f32 to choose them for one call.
   Cost: the head of arc/core.cuh counts shuffles and requests. If no lane is active, a call costs
   one vote. To choose takes time, too: most in a kernel that only adds, 9 or 10 values from one
   active lane. It ran at 0.88-0.91x the speed that it has with ARC_PATH_ATOMIC (one H200).
   Source: ARC paper, sections 4.4 and 5.5. */

/* Adds the values of active lanes; keys may differ from lane to lane.
   Who calls: all 32 lanes of the warp, converged or not, active or not.
   Example: width 2, and lane l adds {1, l} to key l / 16: row 0 gets {16, 120}, row 1 {16, 376}.
   Cost: a vote, a match and the additions. If all keys differ, vote and match are overhead. Use
   atomicAdd if neighbouring lanes add to neighbouring rows of up to 3 values: with one value per
   lane this call runs at a third of the speed of atomicAdd.
   If the rows of values lie in memory, use arc/index_add.cuh. Do not let each lane load a whole row
   and make this call: such a kernel runs at about 0.6x the speed of one in which each thread adds
   one value by atomicAdd (random keys, rows of 3 and of 32 values, one H200).
   Reported: ARC_CHECK 1 missing lanes; 2 lanes that differ in target or options. */
ARC__FN void arc_add_f32(arc_target_f32 target, arc_key key, const float *values,
                         bool active ARC__CALLER);

/* Adds the values of active lanes; all lanes have one key, as when a warp walks over one list.
   Who calls: all 32 lanes of the warp, all with the same key, inactive ones too.
   Example: lanes 0 to 9 are active and each adds {1}: the row gets 10.
   Cost: a vote and the additions, no match.
   Reported: ARC_CHECK 1 missing lanes; 2 keys that differ. */
ARC__FN void arc_add_uniform_f32(arc_target_f32 target, arc_key key, const float *values,
                                 bool active ARC__CALLER);

/* Adds the values of active lanes, as arc_add_uniform_f32 does, in a renderer whose warps walk over
   a list of primitives. This call is the fastest, since you promise more (ARC_PROMISE_RENDERER):
   inactive lanes hold zeros, and a warp calls only if a lane is active. If few lanes of a warp are
   active, try arc_add_divergent_f32 first: in SoftRas's kernel, with 2.6 active lanes on average,
   arc_add_divergent_f32 ran at 0.96-1.24x the speed of atomicAdd, this call at 0.85-0.94x (H200).
   Who calls: all 32 lanes of the warp, all with the same key, at least one of them active:
       if (__any_sync(0xffffffff, hit)) arc_add_renderer_f32(t, id, g, hit);
   Reported: as above; ARC_CHECK 2 an inactive lane's value that is not 0, no active lane. */
ARC__FN void arc_add_renderer_f32(arc_target_f32 target, arc_key key, const float *values,
                                  bool active ARC__CALLER);

/* Adds from a partial warp, such as the last one of a block whose size is not a multiple of 32.
   Who calls: exactly the lanes that lane_mask names, all with the same mask. Keys may differ.
   Cost: as arc_add_f32; if the mask is not full, the call reduces by the path tree.
   Reported: ARC_CHECK 1 a lane that is not in its mask, named lanes that are missing. */
ARC__FN void arc_add_masked_f32(arc_target_f32 target, arc_key key, const float *values,
                                bool active, unsigned lane_mask ARC__CALLER);

/* Returns the mask of the lanes that execute this call, for arc_add_masked_f32. Use it in divergent
   code if the same lanes then make several adds, such as the parts of a row of more than 16 values
   (examples/divergent.cu).
   Who calls: any lane, in any control flow. sm_70 and newer. */
ARC__FN unsigned arc_lanes_here(void);

/* Adds the values of the lanes that call, in divergent code. Put this call where your atomics are.
   studies/kernels_elsewhere.md lists kernels that became faster, and some that became slower.
   Who calls: any lanes, in any subset and interleaving; each lane that calls is active. Your own
   loops, branches and atomics may surround the call.
   The call sums over the lanes that arrive together. The hardware decides which lanes do.
   Cost: as arc_add_f32, and finding out which lanes have arrived. If a warp walks over one list,
   keep its lanes together (examples/patterns.cu) and use arc_add_renderer_f32, which ran at
   1.65-1.93x the speed of this call in the papers' kernel (one H200, studies/papers).
   On GPUs older than sm_70 this call falls back to plain atomics. */
ARC__FN void arc_add_divergent_f32(arc_target_f32 target, arc_key key,
                                   const float *values ARC__CALLER);

/* Adds the values of active lanes as `options` say: the general form of all calls above.
   Who calls: the lanes of options.lane_mask.
       arc_options o = arc_options_default();
       o.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
       o.threshold = threshold_lanes;                       // from a tuner, for example
       arc_add_with_f32(t, id, g, hit, o); */
typedef struct arc_options arc_options;
ARC__FN void arc_add_with_f32(arc_target_f32 target, arc_key key, const float *values, bool active,
                              arc_options options ARC__CALLER);

/* Adds one value by a plain atomic: atomicAdd(address, value) without a result, in ARC_SCOPE.
   Who calls: any lane, in any control flow.
     address  global or shared memory, aligned to one value
   Suffixes: all but f16, bf16, fixed, wide and f32_to_f64. */
ARC__FN void arc_atomic_add_f32(float *address, float value);

/* ---- >>options --------------------------------------------------------------------------- */

/* What you may promise: ARC_PROMISE_... of arc_policy.cuh, joined by |. A promise saves work. If
   you break a promise, sums are wrong.
     ONE_KEY           All 32 lanes hold one key, inactive ones too. Saves the match.
     INACTIVE_IS_ZERO  `values` of inactive lanes can be read and are 0, such as the gradients of
                       pixels that miss. Saves up to one select per value.
     WARP_IS_ACTIVE    A warp calls only if at least one lane is active, as after a vote in your
                       code. Saves arc's vote.
     ALIGNED_16        Rows lie in global memory; base and stride of every piece are multiples of 16
                       bytes. Saves the code for other rows.
     RENDERER          INACTIVE_IS_ZERO and WARP_IS_ACTIVE. */

/* The options of one call. The threshold and the lane mask may be variables; all other options must
   be literals, and then cost nothing. To choose a path at run time, write a switch
   (examples/tune.cu). The path butterfly cannot serve several keys or a partial warp; such a call
   falls back to plain atomics. The path transposed cannot serve a partial warp; such a call takes
   the path tree. */
struct arc_options {
  int path;                     /* ARC_PATH_... */
  int promises;                 /* ARC_PROMISE_..., joined by | */
  int threshold;                /* lanes, 0..33: arc reduces groups of at least so many lanes;
                                   lanes of smaller groups send atomics.
                                   ARC_THRESHOLD_AUTO: arc decides.
                                   1: arc reduces every group. Take 1 for rows to which all
                                   blocks of the grid add.
                                   0: as 1, but without the vote that skips a call in which
                                   no lane is active.
                                   33: arc never reduces */
  unsigned long long lane_mask; /* who calls: ARC_LANES_ALL, a mask, or ARC_LANES_HERE */
  int key_bits;                 /* 32, or 64 for keys that do not fit an int */
  int scope;  /* ARC_SCOPE_DEVICE, or ARC_SCOPE_SYSTEM: atomic also towards CPU, other GPUs */
  bool exact; /* fixed targets only, >>types */
};

/* Returns the options that the macros of arc_policy.cuh set, for all lanes of a warp, without
   promises. */
ARC__FN arc_options arc_options_default(void);

/* ---- >>types ----------------------------------------------------------------------------- */
/* For each suffix there is every name that f32 has, with these types in place of float:

       suffix      values                the sums in memory
       f32         float                 float
       f64         double                double
       i32         int                   int
       u32         unsigned              unsigned
       i64         long long             long long
       u64         unsigned long long    unsigned long long
       f16, bf16   float                 16-bit floats; the pointer may have any type (void *)
       f32_to_f64  float                 double
       fixed       float                 long long: 64-bit fixed point
       wide        float                 6 long longs per sum (arc/wide.cuh)

   If values and sums differ in type, a call sums the values of a group as floats and converts each
   sum once.

   f16, bf16. Rows lie in global memory. One 32-bit instruction adds two neighbouring values: f16
   natively on sm_60 and newer, bf16 on sm_90 and newer, else by compare-and-swap. If the first or
   last value of a row shares its 32-bit word with a value outside the row, the instruction adds -0
   to that value. It keeps its number; if it is a NaN, it stays one, but its bits may become 7fff.
   Rows of even width that begin at even indices of the array share no word.

   fixed. Constructors take one more argument, and arc_piece_fixed has one more field: int
   scale_log2, -126 to 126. A call adds x as x * 2^scale_log2, rounded to the nearest integer. Clear
   rows to 0 first. A sum holds magnitudes below 2^(63 - scale_log2). After overflow, NaN or
   infinity a sum is meaningless; only ARC_CHECK 2 reports that. With -ftz=true subnormal values
   count as 0. There are two modes:
       default    Sums repeat to the last bit if grid, block, path and threshold are the same, on
                  any GPU. A group is summed as floats, and the sum is rounded to an integer.
       exact      Sums repeat to the last bit even if grid, block, path or threshold differ. Each
                  value is rounded to an integer before it is summed, so a reduction costs twice as
                  much. Set options.exact or ARC_EXACT; divergent calls are always exact.
   docs/reproducible.md has ranges, error bounds and how to choose a scale. If you cannot choose
   one, use wide targets, whose sums repeat as those of fixed targets do by default. */

/* Returns a sum of a fixed target as a float or double. Host and device.
     scale_log2  the scale of the target that added it */
static __host__ __device__ inline float arc_fixed_to_f32(long long sum, int scale_log2);
static __host__ __device__ inline double arc_fixed_to_f64(long long sum, int scale_log2);

/* Returns the largest scale with which a sum of `additions` values fits, each at most `largest` in
   magnitude; -127 if there is none, or if an argument is negative or NaN. Host and device.
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
  const int memory = target->memory;
  const bool windows = arc__has_windows(memory), here = o.lane_mask == ARC_LANES_HERE;
  if (windows && o.exact) arc__refuse_exact();
  c.target = target;
  c.values = values;
  c.width = target->width;
  c.chunk = target->chunk;
  c.literal.source = target->kind;
  c.literal.kind = arc__kind_of(target->kind, memory, o.exact || here);
  c.literal.memory = memory;
  c.literal.path = here && (ARC__ARCH < 700 || windows) ? ARC_PATH_ATOMIC : o.path;
  c.literal.promises = o.promises;
  c.literal.scope = o.scope;
  if (o.key_bits == 32 && active) arc__check_key(id);
  c.key = arc__key_from(id, o.key_bits);
  c.threshold = o.threshold;
  c.lane = arc__lane();
  c.active = active;
  c.lanes = here ? __activemask() : (unsigned)o.lane_mask;
  c.present = c.group = c.leaders = 0u;
  c.decision.what = c.decision.min_present = c.decision.min_group = 0; /* ARC__EACH_LANE */
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
