/* add_rows.h - what a kernel of add_rows.cuh takes. SPDX-License-Identifier: Apache-2.0 */
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
  long long chunks;    /* of 32 rows, that each warp takes one after the other */
  long long *sums;     /* [rows][width] in fixed point, or null */
  unsigned *largest;   /* two: bits of the largest |value| and, if it is not finite, of the largest
                          that is */
};

#if !defined(__CUDACC_RTC__)
#include <cuda_runtime_api.h>

struct device {
  cudaStream_t stream;
  int multiprocessors;
};

/* By the type of out and values. The reproducible ones add in fixed point: `sums` and `largest`
   hold zeros, and values no gaps. */
typedef cudaError_t row_adder(job, device);
row_adder add_rows_f32, add_rows_f64, add_rows_f16, add_rows_bf16;
row_adder add_rows_reproducibly_f32, add_rows_reproducibly_f16, add_rows_reproducibly_bf16;
#endif

#endif
