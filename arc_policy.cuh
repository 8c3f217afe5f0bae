/* arc_policy.cuh - every macro a user of arc may set: documented, defaulted, checked.
   SPDX-License-Identifier: Apache-2.0

   Plain C99 preprocessor, no CUDA needed. Set a macro before including arc.cuh, or with -D.
   An illegal, misspelt or empty value is an #error that lists the legal ones.

   macro                  legal values             default              what it does, what it costs, when to change it
   ---------------------  -----------------------  -------------------  ---------------------------------------------
   ARC_PATH               ARC_PATH_ATOMIC          ARC_PATH_AUTO        the path behind the short names (arc_add_f32,
                          ARC_PATH_SERIALIZED                           ...). Fix it to compare paths, or when auto is
                          ARC_PATH_BUTTERFLY                            not the fastest in your own sweep. Every path
                          ARC_PATH_TRANSPOSED                           stays callable by name.
                          ARC_PATH_TREE
                          ARC_PATH_AUTO
   ARC_BALANCE_THRESHOLD  0..33,                   ARC_THRESHOLD_AUTO   lanes a group must have to be reduced in
                          ARC_THRESHOLD_AUTO                            registers; 0 always reduces, 33 never does.
                                                                        AUTO decides by architecture, width and keys
                                                                        (table at the end of this file). A literal
                                                                        costs nothing, a run-time one a compare.
   ARC_INACTIVE_IS_ZERO   0, 1                     0                    1: the caller promises that inactive lanes
                                                                        hold zeros and readable values. Saves up to
                                                                        one select a value in partly active warps.
   ARC_INACTIVE_HAS_KEY   0, 1                     0                    1: the caller promises that in a uniform add
                                                                        inactive lanes hold the key too, as where the
                                                                        warp walks over one list. Saves a shuffle.
   ARC_WARP_IS_ACTIVE     0, 1                     0                    1: the caller promises that no warp calls
                                                                        with all its lanes inactive, as after a vote
                                                                        of its own. Saves arc's vote.
   ARC_VECTOR_ATOMICS     0, 1                     1                    1: 8- and 16-byte reduction instructions
                                                                        where architecture (sm_90), alignment and
                                                                        address space allow. 0: one float a request.
   ARC_SCOPE              ARC_SCOPE_DEVICE         ARC_SCOPE_DEVICE     SYSTEM: additions are atomic towards other
                          ARC_SCOPE_SYSTEM                              GPUs and the CPU too. Slower on peer memory;
                                                                        ask for it only when they add as well.
   ARC_CHECK              0, 1, 2                  0                    1: arguments (width, stride, pieces, threshold,
                                                                        lane mask); a few instructions a call.
                                                                        2: also promises (one key in a uniform call,
                                                                        the three above); a few votes and a compare
                                                                        a value. A failure stops the kernel with
                                                                        file, line and what was wrong. */
#ifndef ARC_POLICY_CUH
#define ARC_POLICY_CUH

#define ARC_VERSION_MAJOR 0
#define ARC_VERSION_MINOR 1
#define ARC_VERSION_PATCH 0
#define ARC_VERSION (10000 * ARC_VERSION_MAJOR + 100 * ARC_VERSION_MINOR + ARC_VERSION_PATCH)

/* Enumerators start at 1, so that a misspelt name (0 to the preprocessor) is never a legal value. */
#define ARC_PATH_ATOMIC 1
#define ARC_PATH_SERIALIZED 2
#define ARC_PATH_BUTTERFLY 3
#define ARC_PATH_TRANSPOSED 4
#define ARC_PATH_TREE 5
#define ARC_PATH_AUTO 6

#define ARC_SCOPE_DEVICE 1
#define ARC_SCOPE_SYSTEM 2

/* For rows that the whole grid adds to at once: a camera's gradient, a background colour, a small
   table. Requests to one row stand in line (H200: 0.57 G a second instead of 40), so that even one
   lane's values are better brought to memory in one. A lane cannot see what other warps add to. */
#define ARC_THRESHOLD_CONTENDED 1
#define ARC_THRESHOLD_NEVER 33 /* a warp has 32 lanes: no group ever reaches it */
#define ARC_THRESHOLD_AUTO 34

#ifndef ARC_PATH
#define ARC_PATH ARC_PATH_AUTO
#endif
#ifndef ARC_BALANCE_THRESHOLD
#define ARC_BALANCE_THRESHOLD ARC_THRESHOLD_AUTO
#endif
#ifndef ARC_INACTIVE_IS_ZERO
#define ARC_INACTIVE_IS_ZERO 0
#endif
#ifndef ARC_INACTIVE_HAS_KEY
#define ARC_INACTIVE_HAS_KEY 0
#endif
#ifndef ARC_WARP_IS_ACTIVE
#define ARC_WARP_IS_ACTIVE 0
#endif
#ifndef ARC_VECTOR_ATOMICS
#define ARC_VECTOR_ATOMICS 1
#endif
#ifndef ARC_SCOPE
#define ARC_SCOPE ARC_SCOPE_DEVICE
#endif
#ifndef ARC_CHECK
#define ARC_CHECK 0
#endif

/* Where 0 is legal, a misspelt or empty value must not pass for it: ARC__IS_ZERO(x) is 1 only when
   x is spelt 0. */
#define ARC__JOIN(a, b) a##b
#define ARC__IS_ZERO(x) ARC__IS_ZERO_SPELT(x)
#define ARC__IS_ZERO_SPELT(x) ARC__JOIN(ARC__ZERO_, x)
#define ARC__ZERO_0 1
#define ARC__ZERO_ 0

#if ARC_PATH + 0 < ARC_PATH_ATOMIC || ARC_PATH + 0 > ARC_PATH_AUTO
#error "ARC_PATH must be ARC_PATH_ATOMIC, ARC_PATH_SERIALIZED, ARC_PATH_BUTTERFLY, ARC_PATH_TRANSPOSED, ARC_PATH_TREE or ARC_PATH_AUTO"
#endif

#if ARC_BALANCE_THRESHOLD + 0 < 0 || ARC_BALANCE_THRESHOLD + 0 > ARC_THRESHOLD_AUTO
#error "ARC_BALANCE_THRESHOLD must be 0..33 or ARC_THRESHOLD_AUTO"
#elif ARC_BALANCE_THRESHOLD + 0 == 0
#if !ARC__IS_ZERO(ARC_BALANCE_THRESHOLD)
#error "ARC_BALANCE_THRESHOLD must be 0..33 or ARC_THRESHOLD_AUTO"
#elif ARC_PATH + 0 == ARC_PATH_ATOMIC
#error "ARC_BALANCE_THRESHOLD 0 always reduces in registers, ARC_PATH_ATOMIC never does: set ARC_BALANCE_THRESHOLD to 1..33 or ARC_THRESHOLD_AUTO, or choose another ARC_PATH"
#endif
#endif

#if ARC_INACTIVE_IS_ZERO + 0 < 0 || ARC_INACTIVE_IS_ZERO + 0 > 1
#error "ARC_INACTIVE_IS_ZERO must be 0 or 1"
#elif ARC_INACTIVE_IS_ZERO + 0 == 0
#if !ARC__IS_ZERO(ARC_INACTIVE_IS_ZERO)
#error "ARC_INACTIVE_IS_ZERO must be 0 or 1"
#endif
#endif

#if ARC_INACTIVE_HAS_KEY + 0 < 0 || ARC_INACTIVE_HAS_KEY + 0 > 1
#error "ARC_INACTIVE_HAS_KEY must be 0 or 1"
#elif ARC_INACTIVE_HAS_KEY + 0 == 0
#if !ARC__IS_ZERO(ARC_INACTIVE_HAS_KEY)
#error "ARC_INACTIVE_HAS_KEY must be 0 or 1"
#endif
#endif

#if ARC_WARP_IS_ACTIVE + 0 < 0 || ARC_WARP_IS_ACTIVE + 0 > 1
#error "ARC_WARP_IS_ACTIVE must be 0 or 1"
#elif ARC_WARP_IS_ACTIVE + 0 == 0
#if !ARC__IS_ZERO(ARC_WARP_IS_ACTIVE)
#error "ARC_WARP_IS_ACTIVE must be 0 or 1"
#endif
#endif

#if ARC_VECTOR_ATOMICS + 0 < 0 || ARC_VECTOR_ATOMICS + 0 > 1
#error "ARC_VECTOR_ATOMICS must be 0 or 1"
#elif ARC_VECTOR_ATOMICS + 0 == 0
#if !ARC__IS_ZERO(ARC_VECTOR_ATOMICS)
#error "ARC_VECTOR_ATOMICS must be 0 or 1"
#endif
#endif

#if ARC_SCOPE + 0 < ARC_SCOPE_DEVICE || ARC_SCOPE + 0 > ARC_SCOPE_SYSTEM
#error "ARC_SCOPE must be ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM"
#endif

#if ARC_CHECK + 0 < 0 || ARC_CHECK + 0 > 2
#error "ARC_CHECK must be 0, 1 or 2"
#elif ARC_CHECK + 0 == 0
#if !ARC__IS_ZERO(ARC_CHECK)
#error "ARC_CHECK must be 0, 1 or 2"
#endif
#endif

/* The policy in words, for logs and the head of result files. */
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
#define ARC_VERSION_STRING \
  ARC__STRING(ARC_VERSION_MAJOR) "." ARC__STRING(ARC_VERSION_MINOR) "." ARC__STRING(ARC_VERSION_PATCH)
#define ARC_POLICY_STRING                                                                       \
  "arc " ARC_VERSION_STRING " path=" ARC__PATH_STRING " threshold=" ARC__THRESHOLD_STRING       \
  " inactive_is_zero=" ARC__STRING(ARC_INACTIVE_IS_ZERO)                                        \
  " inactive_has_key=" ARC__STRING(ARC_INACTIVE_HAS_KEY)                                        \
  " warp_is_active=" ARC__STRING(ARC_WARP_IS_ACTIVE)                                            \
  " vector_atomics=" ARC__STRING(ARC_VECTOR_ATOMICS) " scope=" ARC__SCOPE_STRING                \
  " check=" ARC__STRING(ARC_CHECK)

/* What arc chooses where it is asked to (ARC_THRESHOLD_AUTO): the balancing threshold by width and by
   the bytes that one reduction instruction may add. Literals fold. */
/* policy_table: begin */
/* clang-format off */
/* Generated by bench/policy_table.c from bench/results/h200/policy_alike.csv,
   bench/results/h200/policy_mixed.csv,
   bench/results/h200/policy_tile.csv,
   bench/results/h200/policy_keyed.csv:
   do not edit, run it again. Measured 2026-11-21 on
   NVIDIA H200, sm_90, 132 multiprocessors, L2 60 MiB.
   Threshold, then its cost over the best one's: in warps that all have the same number of
   active lanes; and where they differ (*: measured, else estimated). Keyed: the fewest
   active lanes for which it pays to look at keys that may differ (8-byte vectors:
   estimated). A width between two takes the figures of the lower one.
     width    16-byte vectors    8-byte vectors        no vectors    keyed: 16  8  no
         1     7  1.00 1.05*     7  1.00 1.04      6  1.00 1.05         14  14  14
         2     7  1.00 1.05*     7  1.00 1.08      5  1.01 1.04         16  11   8
         3     5  1.00 1.04*     5  1.00 1.05      5  1.05 1.02          9   7   6
         4     8  1.00 1.08*     5  1.00 1.06      4  1.04 1.05         19   8   4
         6     5  1.00 1.07*     5  1.02 1.05      3  1.02 1.05         10   5   3
         8     5  1.00 1.09*     5  1.05 1.03      3  1.04 1.03         11   5   3
         9     5  1.01 1.07*     5  1.08 1.02      2  1.00 1.05          8   4   2
        10     5  1.00 1.08*     5  1.07 1.02      2  1.00 1.03          8   4   2
        12     5  1.00 1.09*     5  1.09 1.00      2  1.00 1.00          9   4   2
        14     5  1.01 1.08*     5  1.11 1.00      1  1.00 1.00          7   3   2
        16     5  1.00 1.09*     4  1.04 1.04      1  1.00 1.00          8   3   2
        20     5  1.01 1.09*     4  1.06 1.00      1  1.00 1.00          7   3   1
        32     5  1.02 1.06*     3  1.03 1.04      1  1.00 1.00          7   1   1 */
#define ARC_AUTO_THRESHOLD_SM90(width, vector_bytes) \
  ((vector_bytes) >= 16 ? ((width) < 3 ? 7 : (width) < 4 ? 5 : (width) < 6 ? 8 : 5) : \
   (vector_bytes) >= 8 ? ((width) < 3 ? 7 : (width) < 16 ? 5 : (width) < 32 ? 4 : 3) : \
   ((width) < 2 ? 6 : (width) < 4 ? 5 : (width) < 6 ? 4 : \
         (width) < 9 ? 3 : (width) < 14 ? 2 : 1))
#define ARC_AUTO_KEYED_SM90(width, vector_bytes) \
  ((vector_bytes) >= 16 ? ((width) < 2 ? 14 : (width) < 3 ? 16 : (width) < 4 ? 9 : \
         (width) < 6 ? 19 : (width) < 8 ? 10 : (width) < 9 ? 11 : (width) < 12 ? 8 : \
         (width) < 14 ? 9 : (width) < 16 ? 7 : (width) < 20 ? 8 : 7) : \
   (vector_bytes) >= 8 ? ((width) < 2 ? 14 : (width) < 3 ? 11 : (width) < 4 ? 7 : \
         (width) < 6 ? 8 : (width) < 9 ? 5 : (width) < 14 ? 4 : (width) < 32 ? 3 : 1) : \
   ((width) < 2 ? 14 : (width) < 3 ? 8 : (width) < 4 ? 6 : \
         (width) < 6 ? 4 : (width) < 9 ? 3 : (width) < 20 ? 2 : 1))
/* Not measured: the CPU warp's model of an H200 (simt/README.md), for all that have no
   figures of their own. */
#define ARC_AUTO_THRESHOLD_MODEL(width, vector_bytes) \
  ((vector_bytes) >= 16 ? ((width) < 3 ? 9 : (width) < 4 ? 5 : (width) < 6 ? 10 : 5) : \
   (vector_bytes) >= 8 ? ((width) < 3 ? 9 : (width) < 12 ? 5 : (width) < 32 ? 3 : 1) : \
   ((width) < 2 ? 9 : (width) < 6 ? 5 : (width) < 12 ? 2 : 1))
#define ARC_AUTO_KEYED_MODEL(width, vector_bytes) \
  ((vector_bytes) >= 16 ? ((width) < 3 ? 12 : (width) < 4 ? 6 : (width) < 6 ? 13 : \
         (width) < 9 ? 7 : (width) < 20 ? 4 : 3) : \
   (vector_bytes) >= 8 ? ((width) < 2 ? 12 : (width) < 3 ? 8 : (width) < 4 ? 5 : \
         (width) < 6 ? 4 : (width) < 8 ? 3 : (width) < 20 ? 2 : 1) : \
   ((width) < 2 ? 12 : (width) < 3 ? 6 : (width) < 4 ? 4 : \
         (width) < 6 ? 3 : (width) < 10 ? 2 : 1))
/* clang-format on */
/* policy_table: end */

#endif /* ARC_POLICY_CUH */
