/* peer_scope.h - the kernels of peer_scope.cu, once for each ARC_SCOPE.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_BENCH_PEER_SCOPE_H
#define ARC_BENCH_PEER_SCOPE_H

#include "simt/simt.cuh"

enum { PEER_BLOCKS = 1056, PEER_THREADS = 256 };

/* One launch: each lane adds `updates` times `width` values, 1, 2, 3, 1, ..., times `one`, to a
   row. Runs of eight lanes share a row, drawn from all. */
typedef struct peer_work {
  float *rows;
  int row_count, updates;
  int width;    /* 1, 4, 9 or 16; rows begin at multiples of peer_stride(width) */
  bool is_auto; /* or by plain (vector) atomics */
  unsigned seed;
  float one;
} peer_work;

static inline int peer_stride(int width) { return width == 9 ? 12 : width; }

void peer_launch_device(const peer_work *work, cudaStream_t stream);
void peer_launch_system(const peer_work *work, cudaStream_t stream);

#endif
