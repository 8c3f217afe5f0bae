/* arc_policy.cuh - every macro a user of arc may set: documented, defaulted, checked.
   SPDX-License-Identifier: Apache-2.0

   Plain C99 preprocessor, no CUDA needed. Set a macro with -D, or above the include of arc.cuh. If
   a value is illegal, misspelt or empty, an #error lists the legal ones.

   Each entry names a macro and its values, the default first. Then it says what the macro does,
   what that costs, and when to change it. The brackets hold for the files of one program: [any]
   each file may set its own value; [alike: x] files that share x must set the same value.

   ARC_PATH  ARC_PATH_AUTO, ..._ATOMIC, ..._SERIALIZED, ..._BUTTERFLY, ..._TRANSPOSED, ..._TREE
       [any]
       The path of the short names (arc_add_f32, ...). Set it to compare paths, or if auto is not
       the fastest in your own sweep. arc_options sets the path of a single call.
   ARC_BALANCE_THRESHOLD  ARC_THRESHOLD_AUTO, 0..33  [any]
       The number of lanes from which a group is reduced in registers; 0 always reduces, 33 never.
       AUTO decides by architecture, width and keys; the end of this file has the formulas. If one
       key is promised, AUTO reduces in half of the blocks only from two thirds more lanes on; so
       the number of a block decides how its sums are rounded. A literal costs nothing, a threshold
       known at run time one compare. Set 1 for rows to which the whole grid adds at once: a
       camera's gradient, a background colour, a small table. A lane cannot detect such rows.
       Atomics to one row run one after the other (0.57 instead of 40 billion per second on an
       H200), so it is faster to send even one lane's values in one request. If a block adds to such
       rows more than once, use arc_hot_add_f32: it is ten times as fast.
   ARC_VECTOR_ATOMICS  1, 0; with CUDA older than 12.1 the default is 0  [any]
       1: uses reduction instructions of 8 and 16 bytes if architecture (sm_90), alignment and
       address space allow them. 0: one float per request.
   ARC_SCOPE  ARC_SCOPE_DEVICE, ARC_SCOPE_SYSTEM  [alike: rows of several GPUs]
       SYSTEM: additions are atomic towards other GPUs and the CPU too.
   ARC_CHECK  0, 1, 2  [alike: objects of forms]
       1: checks arguments (width, stride, pieces, threshold, path, lane mask, memory of hot rows),
       and that all named lanes call. It costs a few instructions and a vote per call.
       2: also checks promises, what all lanes must agree on, and that forms are ended. It costs
       some votes and shuffles per call and a compare per value. A failure stops the kernel and
       reports file, line and error.
   ARC_KEY_BITS  32, 64  [any]
       64: keys that do not fit an int, such as PyTorch's indices. It costs a match and a shuffle
       unless one key is promised. 32: wider keys do not compile. options.key_bits sets it per call.
   ARC_EXACT  0, 1  [any]
       1: sums in fixed targets are the same bits for any path, threshold, block size and grid; a
       reduction costs twice as much. 0: they are the same bits while these stay the same.
       options.exact sets it per call.
   ARC_MAX_PIECES  1..8  [alike: targets]
       The most arrays of a target in this file. Each one above 1 costs time to compile. Set it
       above the first header of arc.
   ARC_WIDE_WORDS  6, 1..16  [alike: wide rows]
       64-bit words per sum of a wide target. More words: a larger range, more memory.
   ARC_DROP_IN  ARC_DROP_IN_LEARNS, ARC_DROP_IN_SUMS  [any]
       The mode of arc/drop_in.cuh. LEARNS: samples of a few warps decide whether summing is
       faster; where it is not, the statement is the plain add. SUMS: each statement decides anew
       in each call.
   ARC_PROFILE  0, 1  [any]
       1: arc/drop_in.cuh counts lanes and addresses by source line (arc/profile.cuh), instead of
       summing.
   ARC_SAFE_MASKS  0, 1; with NVRTC, clang and CUDA newer than 13.5 the default is 1  [any]
       1: each lane that adds in divergent code sets its own bit in the mask, as it always does in
       adds of more than 32 words. Then sums are right whatever an assembler does to the mask. A
       divergent add runs at 0.81 times its speed at worst. 0: sums are right in machine code of
       CUDA up to 13.5 (bench/NOTES.md, "Diverged lanes"). Set 1 if GPUs will run nvcc's PTX: then
       the driver assembles it, and no macro tells arc so.
   ARC_COST_...  1 or more; the defaults are at the end of this file  [any]
       The constants of the default decision. The sweep prints those of your GPU. */
#ifndef ARC_POLICY_CUH
#define ARC_POLICY_CUH

/* Marks a declaration that may change in any minor version until 1.0 (docs/stability.md). */
#define ARC_EXPERIMENTAL

#define ARC_VERSION_MAJOR 0
#define ARC_VERSION_MINOR 9
#define ARC_VERSION_PATCH 0
#define ARC_VERSION (10000 * ARC_VERSION_MAJOR + 100 * ARC_VERSION_MINOR + ARC_VERSION_PATCH)

/* Enumerators start at 1, so that a misspelt name (0 to the preprocessor) is never a legal one. */
#define ARC_PATH_ATOMIC 1
#define ARC_PATH_SERIALIZED 2
#define ARC_PATH_BUTTERFLY 3
#define ARC_PATH_TRANSPOSED 4
#define ARC_PATH_TREE 5
#define ARC_PATH_AUTO 6

/* Promises of a call (arc_options.promises); arc.cuh, >>options, says what each one saves. */
#define ARC_PROMISE_ONE_KEY 1 /* all lanes that call hold one key, inactive ones too */
#define ARC_PROMISE_INACTIVE_IS_ZERO 2
#define ARC_PROMISE_WARP_IS_ACTIVE 8
#define ARC_PROMISE_ALIGNED_16 16
/* A renderer: lanes that miss hold zeros, and a warp calls only if a lane hits. */
#define ARC_PROMISE_RENDERER (ARC_PROMISE_INACTIVE_IS_ZERO | ARC_PROMISE_WARP_IS_ACTIVE)

/* Who calls (arc_options.lane_mask): a mask of lanes, or one of these literals: all lanes, or the
   lanes that arrive together. */
#define ARC_LANES_ALL 0xffffffffu
#define ARC_LANES_HERE 0x100000000ull

#define ARC_SCOPE_DEVICE 1
#define ARC_SCOPE_SYSTEM 2
#define ARC_DROP_IN_SUMS 1
#define ARC_DROP_IN_LEARNS 2

#define ARC_THRESHOLD_NEVER 33 /* a warp has 32 lanes: no group ever reaches it */
#define ARC_THRESHOLD_AUTO 34

#endif /* ARC_POLICY_CUH */

/* Outside the guard: a program may set a macro after its first include, so each include checks them
   anew. */
#ifndef ARC_PATH
#define ARC_PATH ARC_PATH_AUTO
#endif
#ifndef ARC_BALANCE_THRESHOLD
#define ARC_BALANCE_THRESHOLD ARC_THRESHOLD_AUTO
#endif
#ifndef ARC_VECTOR_ATOMICS
#if defined(__CUDACC_VER_MAJOR__) && 100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__ < 1201
#define ARC_VECTOR_ATOMICS 0
#else
#define ARC_VECTOR_ATOMICS 1
#endif
#endif
#ifndef ARC_SCOPE
#define ARC_SCOPE ARC_SCOPE_DEVICE
#endif
#ifndef ARC_CHECK
#define ARC_CHECK 0
#endif
#ifndef ARC_KEY_BITS
#define ARC_KEY_BITS 32
#endif
#ifndef ARC_EXACT
#define ARC_EXACT 0
#endif
#ifndef ARC_WIDE_WORDS
#define ARC_WIDE_WORDS 6
#endif
#ifndef ARC_MAX_PIECES
#define ARC_MAX_PIECES 1
#endif
#ifndef ARC_DROP_IN
#define ARC_DROP_IN ARC_DROP_IN_LEARNS
#endif
#ifndef ARC_PROFILE
#define ARC_PROFILE 0
#endif
#define ARC__CHECKED_CUDA 1305
#ifndef ARC_SAFE_MASKS
#if defined(__CUDACC__) && (defined(__CUDACC_RTC__) || !defined(__CUDACC_VER_MAJOR__) || \
    100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__ > ARC__CHECKED_CUDA)
#define ARC_SAFE_MASKS 1
#else
#define ARC_SAFE_MASKS 0
#endif
#endif

/* If 0 is legal, a misspelt or empty value must not count as 0: ARC__IS_ZERO(x) is 1 only when x is
   spelt 0 or (0). An x in parentheses calls ARC__PROBE, and cannot be joined to a name. */
#define ARC__JOIN(a, b) a##b
#define ARC__SECOND(a, b, ...) b
#define ARC__SECOND_OF(list) ARC__SECOND list
#define ARC__PROBE(x) 0, 1
#define ARC__IN_PARENTHESES(x) ARC__SECOND_OF((ARC__PROBE x, 0, 0))
#define ARC__IS_ZERO(x) ARC__IS_ZERO_IF(ARC__IN_PARENTHESES(x))(x)
#define ARC__IS_ZERO_IF(in_parentheses) ARC__JOIN(ARC__IS_ZERO_IF_, in_parentheses)
#define ARC__IS_ZERO_IF_0(x) ARC__JOIN(ARC__ZERO_, x)
#define ARC__IS_ZERO_IF_1(x) ARC__IS_ZERO_IF_0 x
#define ARC__ZERO_0 1
#define ARC__ZERO_ 0

#if ARC_PATH + 0 < ARC_PATH_ATOMIC || ARC_PATH + 0 > ARC_PATH_AUTO
#error \
    "ARC_PATH must be ARC_PATH_ATOMIC, ARC_PATH_SERIALIZED, ARC_PATH_BUTTERFLY, ARC_PATH_TRANSPOSED, ARC_PATH_TREE or ARC_PATH_AUTO"
#endif

#if ARC_BALANCE_THRESHOLD + 0 < 0 || ARC_BALANCE_THRESHOLD + 0 > ARC_THRESHOLD_AUTO
#error "ARC_BALANCE_THRESHOLD must be 0..33 or ARC_THRESHOLD_AUTO"
#elif ARC_BALANCE_THRESHOLD + 0 == 0
#if !ARC__IS_ZERO(ARC_BALANCE_THRESHOLD)
#error "ARC_BALANCE_THRESHOLD must be 0..33 or ARC_THRESHOLD_AUTO"
#elif ARC_PATH + 0 == ARC_PATH_ATOMIC
#error \
    "ARC_BALANCE_THRESHOLD 0 always reduces in registers, ARC_PATH_ATOMIC never does: set ARC_BALANCE_THRESHOLD to 1..33 or ARC_THRESHOLD_AUTO, or choose another ARC_PATH"
#endif
#endif

#if ARC_VECTOR_ATOMICS + 0 < 0 || ARC_VECTOR_ATOMICS + 0 > 1
#error "ARC_VECTOR_ATOMICS must be 0 or 1"
#elif ARC_VECTOR_ATOMICS + 0 == 0 && !ARC__IS_ZERO(ARC_VECTOR_ATOMICS)
#error "ARC_VECTOR_ATOMICS must be 0 or 1"
#endif

#if defined(ARC_INACTIVE_IS_ZERO) || defined(ARC_WARP_IS_ACTIVE) || defined(ARC_ALIGNED_16)
#error "a promise is an option of a call since arc 0.4: options.promises, ARC_PROMISE_..."
#endif

#if ARC_SCOPE + 0 < ARC_SCOPE_DEVICE || ARC_SCOPE + 0 > ARC_SCOPE_SYSTEM
#error "ARC_SCOPE must be ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM"
#endif

#if ARC_CHECK + 0 < 0 || ARC_CHECK + 0 > 2
#error "ARC_CHECK must be 0, 1 or 2"
#elif ARC_CHECK + 0 == 0 && !ARC__IS_ZERO(ARC_CHECK)
#error "ARC_CHECK must be 0, 1 or 2"
#endif

#if ARC_KEY_BITS + 0 != 32 && ARC_KEY_BITS + 0 != 64
#error "ARC_KEY_BITS must be 32 or 64"
#endif

#if ARC_EXACT + 0 < 0 || ARC_EXACT + 0 > 1
#error "ARC_EXACT must be 0 or 1"
#elif ARC_EXACT + 0 == 0 && !ARC__IS_ZERO(ARC_EXACT)
#error "ARC_EXACT must be 0 or 1"
#endif

#if ARC_MAX_PIECES + 0 < 1 || ARC_MAX_PIECES + 0 > 8
#error "ARC_MAX_PIECES must be 1..8"
#elif defined(ARC__PIECES) && ARC_MAX_PIECES > ARC__PIECES /* a target is already declared */
#error "ARC_MAX_PIECES must be set above arc's first header: with -D if -include reads one"
#endif

#if defined(ARC_TABLES)
#error "ARC_TABLES: tables of rows are no part of arc any more; studies/groups/table.cuh is one"
#endif

#if defined(ARC_WIDE)
#error "ARC_WIDE: include arc/wide.cuh instead, before arc.cuh or in its place"
#endif

#if ARC_DROP_IN + 0 < ARC_DROP_IN_SUMS || ARC_DROP_IN + 0 > ARC_DROP_IN_LEARNS
#error "ARC_DROP_IN must be ARC_DROP_IN_SUMS or ARC_DROP_IN_LEARNS"
#endif

#if defined(ARC_DROP_IN_FLOAT) || defined(ARC_DROP_IN_SEVERAL)
#error "ARC_DROP_IN_FLOAT, ARC_DROP_IN_SEVERAL: gone; see ARC_DROP_IN_LEARNS"
#endif

#if ARC_PROFILE + 0 < 0 || ARC_PROFILE + 0 > 1
#error "ARC_PROFILE must be 0 or 1"
#elif ARC_PROFILE + 0 == 0 && !ARC__IS_ZERO(ARC_PROFILE)
#error "ARC_PROFILE must be 0 or 1"
#endif

#if ARC_SAFE_MASKS + 0 < 0 || ARC_SAFE_MASKS + 0 > 1
#error "ARC_SAFE_MASKS must be 0 or 1"
#elif ARC_SAFE_MASKS + 0 == 0 && !ARC__IS_ZERO(ARC_SAFE_MASKS)
#error "ARC_SAFE_MASKS must be 0 or 1"
#endif

#if ARC_WIDE_WORDS + 0 < 1 || ARC_WIDE_WORDS + 0 > 16
#error "ARC_WIDE_WORDS must be 1..16"
#endif
/* The number of long longs in a row of `width` parameters of a wide target. Clear them to 0. */
#define ARC_WIDE_ROW(width) (ARC_WIDE_WORDS * (width) + ((width) + 3) / 4)

/* The policy in words, for logs and the head of result files. */
#undef ARC__PATH_STRING
#undef ARC__THRESHOLD_STRING
#undef ARC__SCOPE_STRING
#undef ARC__DROP_IN_STRING
#undef ARC__FEW_STRING
#if ARC_PATH == ARC_PATH_ATOMIC
#define ARC__PATH_STRING "atomic"
#elif ARC_PATH == ARC_PATH_SERIALIZED
#define ARC__PATH_STRING "serialized"
#elif ARC_PATH == ARC_PATH_BUTTERFLY
#define ARC__PATH_STRING "butterfly"
#elif ARC_PATH == ARC_PATH_TRANSPOSED
#define ARC__PATH_STRING "transposed"
#elif ARC_PATH == ARC_PATH_TREE
#define ARC__PATH_STRING "tree"
#else
#define ARC__PATH_STRING "auto"
#endif
#define ARC__SPELL(x) #x
#define ARC__STRING(x) ARC__SPELL(x)
#if ARC_BALANCE_THRESHOLD == ARC_THRESHOLD_AUTO
#define ARC__THRESHOLD_STRING "auto"
#else
#define ARC__THRESHOLD_STRING ARC__STRING(ARC_BALANCE_THRESHOLD)
#endif
#if ARC_SCOPE == ARC_SCOPE_DEVICE
#define ARC__SCOPE_STRING "device"
#else
#define ARC__SCOPE_STRING "system"
#endif
#define ARC_VERSION_STRING       \
  ARC__STRING(ARC_VERSION_MAJOR) \
  "." ARC__STRING(ARC_VERSION_MINOR) "." ARC__STRING(ARC_VERSION_PATCH)
#define ARC_POLICY_STRING \
  "arc " ARC_VERSION_STRING " path=" ARC__PATH_STRING " threshold=" ARC__THRESHOLD_STRING       \
  " vector_atomics=" ARC__STRING(ARC_VECTOR_ATOMICS) " scope=" ARC__SCOPE_STRING                \
  " check=" ARC__STRING(ARC_CHECK) " key_bits=" ARC__STRING(ARC_KEY_BITS)                       \
  " exact=" ARC__STRING(ARC_EXACT) ARC__FEW_STRING

/* The default decision (ARC_THRESHOLD_AUTO). The unit of all constants is a tenth of what one more
   lane of a request costs.
   Memory serves lanes that add to one address one after the other, so plain atomics cost q requests
   per lane: q = ceil(n / 4) with rows of whole 16 bytes, n without vector atomics. A reduction
   costs the same for any number of lanes: a base, and a part per value (twice for 64-bit values).
   So, if one key is promised, a warp reduces from
       T = (REDUCE + VALUE n) / (REQUEST q) + 1                          lanes on,
   and in half of the blocks from T + 2 (T - 1) / 3 on, whatever else is promised. Without that
   promise, a warp matches keys from
       (MATCH + MATCH_SHUFFLE S) / (REQUEST q)                           active lanes on,
   where S is the number of shuffles of the transposed reduction (head of arc/core.cuh), or 1 for
   one 32-bit integer on sm_80 and newer. Computation between two adds overlaps with the atomics and
   hides some of their cost. If your kernel computes much there, two or three times as many lanes
   may be a few per cent faster: pass that number as the threshold, or let arc_tune.h find it.
   `cmake --workflow --preset policy` prints the constants of your GPU. */
#ifndef ARC_COST_REDUCE
#define ARC_COST_REDUCE 50
#endif
#ifndef ARC_COST_VALUE
#define ARC_COST_VALUE 5
#endif
#ifndef ARC_COST_MATCH
#define ARC_COST_MATCH 120
#endif
#ifndef ARC_COST_MATCH_SHUFFLE
#define ARC_COST_MATCH_SHUFFLE 10
#endif
#ifndef ARC_COST_REQUEST
#define ARC_COST_REQUEST 10
#endif
#if ARC_COST_REDUCE + 0 < 1 || ARC_COST_VALUE + 0 < 1 || ARC_COST_MATCH + 0 < 1 || \
    ARC_COST_MATCH_SHUFFLE + 0 < 1 || ARC_COST_REQUEST + 0 < 1
#error "every ARC_COST_... must be 1 or more"
#endif
#if ARC_MAX_PIECES == 1 && ARC_WIDE_WORDS == 6 &&         \
    ARC_COST_REDUCE == 50 && ARC_COST_VALUE == 5 && ARC_COST_MATCH == 120 &&            \
    ARC_COST_MATCH_SHUFFLE == 10 && ARC_COST_REQUEST == 10 &&                           \
    ARC_DROP_IN == ARC_DROP_IN_LEARNS && ARC_PROFILE == 0 && ARC_SAFE_MASKS == 0
#define ARC__FEW_STRING "" /* so that the string of the default stays as it is */
#else
#if ARC_DROP_IN == ARC_DROP_IN_SUMS
#define ARC__DROP_IN_STRING "sums"
#else
#define ARC__DROP_IN_STRING "learns"
#endif
#define ARC__FEW_STRING \
  " max_pieces=" ARC__STRING(ARC_MAX_PIECES) " wide_words=" ARC__STRING(ARC_WIDE_WORDS)         \
  " cost_reduce=" ARC__STRING(ARC_COST_REDUCE) " cost_value=" ARC__STRING(ARC_COST_VALUE)       \
  " cost_match=" ARC__STRING(ARC_COST_MATCH)                                                    \
  " cost_match_shuffle=" ARC__STRING(ARC_COST_MATCH_SHUFFLE)                                    \
  " cost_request=" ARC__STRING(ARC_COST_REQUEST)                                                \
  " drop_in=" ARC__DROP_IN_STRING " profile=" ARC__STRING(ARC_PROFILE)                          \
  " safe_masks=" ARC__STRING(ARC_SAFE_MASKS)
#endif
#define ARC_MIN_LANES_TO_REDUCE(values, requests) \
  ((ARC_COST_REDUCE + ARC_COST_VALUE * (values)) / (ARC_COST_REQUEST * (requests)) + 1)
#define ARC_MIN_LANES_TO_MATCH(shuffles, requests) \
  ((ARC_COST_MATCH + ARC_COST_MATCH_SHUFFLE * (shuffles)) / (ARC_COST_REQUEST * (requests)))
