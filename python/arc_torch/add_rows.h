/* add_rows.h - what a kernel of this folder takes. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_ADD_ROWS_H
#define ARC_ADD_ROWS_H

/* n rows of `width` values, which a launch may cut into panels of `columns`, and where they go.
   Strides in values, below 2^31 bytes. */
struct job {
  const void *values, *index;
  void *out;
  long long n, rows; /* of values; of out */
  int width, columns, value_bytes, values_stride, out_stride;
  bool has_wide_index; /* of 64 bits */
  bool wraps, clips;   /* with ARC_KEYS_DROP: keys below 0 count from the end; stay within */
  long long chunks;    /* of 32 rows, that each warp takes one after the other */
  long long *sums;     /* [rows][width] in fixed point, or rows of wide words, or null */
  unsigned *largest;   /* two: bits of the largest finite |value|; whether another is not finite */
  long long cleared;   /* sums that find_largest clears */

  /* If the index is sorted: the row of values that each of its keys belongs to; the rows of a
     piece; the parts of sums, [pieces][2][width]. A thread then takes `columns` of a row. */
  const int *order;
  long long piece;
  void *parts; /* floats or, in fixed point, 64 bits */
};

#endif
