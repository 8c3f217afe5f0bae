/* adders.h - what launches the kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_ADDERS_H
#define ARC_ADDERS_H

#include <cuda_runtime_api.h>

#include "add_rows.h"

struct device {
  cudaStream_t stream;
  int multiprocessors;
};

/* By the type of out and values. Those by segments round each sum once: `index` has sorted int, and
   `sums` memory of so many bytes. */
typedef cudaError_t row_adder(job, device);
row_adder add_rows_f32, add_rows_f64, add_rows_f16, add_rows_bf16;
row_adder add_segments_f32, add_segments_f16, add_segments_bf16;
size_t segment_bytes(job, device);

/* What is to be sorted for them: the keys, checked, and which row each belongs to. */
cudaError_t number_rows(job, int *keys, int *rows, device);

/* float32 into rows of wide words, `sums`; and these, read into `out`, and cleared if so. */
row_adder add_rows_to_words;
cudaError_t read_words(job, device, bool clears);

#endif
