/* adders.h - what launches the kernels. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_ADDERS_H
#define ARC_ADDERS_H

#include <cuda_runtime_api.h>

#include "add_rows.h"

struct device {
  cudaStream_t stream;
  int multiprocessors;
};

/* By the type of out and values. The reproducible ones add in fixed point: `sums` and `largest`
   hold zeros, and values no gaps. Those by segments take a job that cut_pieces has seen; if they are
   in fixed point, one that find_scale has seen before it was sorted. */
typedef cudaError_t row_adder(job, device);
row_adder add_rows_f32, add_rows_f64, add_rows_f16, add_rows_bf16;
row_adder add_rows_reproducibly_f32, add_rows_reproducibly_f16, add_rows_reproducibly_bf16;
row_adder add_segments_f32, add_segments_f16, add_segments_bf16;
row_adder find_scale_f32, find_scale_f16, find_scale_bf16;
row_adder find_largest_f32, find_largest_f16, find_largest_bf16; /* of n x width values */
row_adder add_fixed_segments_f32, add_fixed_segments_f16, add_fixed_segments_bf16;

/* float32 into rows of wide words, `sums`; and these, read into `out`, and cleared if so. */
row_adder add_rows_to_words;
cudaError_t read_words(job, device, bool clears);

/* Of n keys, 64-bit ones in out: 0 for each that is not below `rows`, and then `outside`, which may
   be the host's, is 1. wraps: a negative key counts from the end. */
cudaError_t keep_within(job, device, bool wraps, int *outside);

struct grid_job; /* grid_sample.h */

/* grid_sample's gradients, by the type of all tensors, for what plan_sums has planned. */
typedef cudaError_t grid_sampler(grid_job, device, int axes, int taps);
grid_sampler sample_f32, sample_f16, sample_bf16;

/* Sets `columns` and `piece`; returns how many pieces there are. */
long long cut_pieces(job *j, device d);

#endif
