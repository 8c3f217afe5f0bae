/* typed.cuh - the kernels of a type that is not f32: plain atomics by hand and arc's auto path.
   SPDX-License-Identifier: Apache-2.0

   Each file type_....cu defines, and then includes this:
       SWEEP_NAME                 the type in cell.h
       SWEEP_S, SWEEP_T           suffix and type of the values
       SWEEP_M                    the type of memory
       SWEEP_ROW_LENGTH(stride)   of a row there, if it is not the stride
       SWEEP_ROWS(width)          the target
       SWEEP_PLAIN(at, v, count)  adds v[0], ... to at[0], ...: SWEEP_EACH values of `count` that are
                                  left
       SWEEP_EACH
       SWEEP_HAS_NONE             if values are no floats: what is around is another kernel
   One kernel with a threshold known at run time serves all thresholds, arc's default included. */
#include "kernel.cuh"

#include "by_hand.cuh"

#ifndef SWEEP_ROW_LENGTH
#define SWEEP_ROW_LENGTH(stride) (stride)
#endif

SWEEP_FN void add_plain(float *rows, int stride, int width, int key, const SWEEP_T *values,
                        bool active) {
  if (!active) return;
  SWEEP_M *row = (SWEEP_M *)rows + (long long)key * SWEEP_ROW_LENGTH(stride);
  SWEEP_UNROLL
  for (int i = 0; i < width; i += SWEEP_EACH) SWEEP_PLAIN(row + i, values + i, width - i);
}

/* Lanes 24 to 31 add nothing: one lane's value is about what halves may err by. */
SWEEP_FN void add_broken(float *rows, int stride, int width, int key, const SWEEP_T *values,
                         bool active) {
  add_plain(rows, stride, width, key, values, active && threadIdx.x % 32 < 24);
}

#define ONE_WIDTH(X, ...) X(3, __VA_ARGS__)
SWEEP_PATH(SWEEP_FEW_WIDTHS, plain, SWEEP_BY_HAND(add_plain))
SWEEP_PATH(ONE_WIDTH, broken, SWEEP_BY_HAND(add_broken))
SWEEP_PATH(SWEEP_FEW_WIDTHS, auto_any, SWEEP_ARC(ARC_PATH_AUTO, one_key, a.threshold))
SWEEP_UNIFORM_PATH(SWEEP_FEW_WIDTHS, auto_all_any,
                   SWEEP_ARC_PROMISED(SWEEP_ALL_PROMISED, a.threshold))
#ifdef SWEEP_HAS_NONE
SWEEP_PATH(SWEEP_FEW_WIDTHS, none, SWEEP_NONE)
#define NONE_TABLE SWEEP_ANY_TABLE(none, SWEEP_PATH_NONE),
#else
#define NONE_TABLE
#endif

#define FAMILY(name, ...) SWEEP_FAMILY(name, __VA_ARGS__)
FAMILY(SWEEP_NAME, NONE_TABLE SWEEP_ANY_TABLE(plain, SWEEP_PATH_PLAIN),
       SWEEP_ANY_TABLE(broken, SWEEP_PATH_BROKEN),
       SWEEP_TABLE(auto_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD),
       SWEEP_TABLE(auto_all_any, SWEEP_PATH_AUTO, SWEEP_ZEROS_ALL_PROMISED, SWEEP_ANY_THRESHOLD))
