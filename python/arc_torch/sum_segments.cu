/* sum_segments.cu - sums of a sorted index. SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "adders.h"
#include "floats.cuh"
#include "sum_segments.cuh"

namespace {

enum {
  VECTOR_BYTES = 16,
  LEAST_ROWS = 8,    /* of a piece */
  MOST_PIECES = 2048 /* that a segment may go through, to be joined one after the other */
};

bool has_vectors(const job &j) {
  const unsigned long long addresses = (unsigned long long)j.values | (unsigned long long)j.out;
  const int strides = j.width | j.values_stride | j.out_stride;
  return (addresses | (unsigned)(strides * j.value_bytes)) % VECTOR_BYTES == 0;
}

template <class T, class S>
cudaError_t add_segments(job j, device d) {
  enum { EACH = VECTOR_BYTES / sizeof(T) };
  const long long threads = (j.n + j.piece - 1) / j.piece * (j.width / j.columns);
  const unsigned blocks = (unsigned)((threads + THREADS - 1) / THREADS);
  const bool is_vector = j.columns > 1;
  void (*const steps[])(job) = {is_vector ? sum_pieces<T, EACH, S> : sum_pieces<T, 1, S>,
                                is_vector ? join_pieces<T, EACH, S> : join_pieces<T, 1, S>};
  for (const auto step : steps) step<<<blocks, THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

}  // namespace

/* As many threads as run at once. */
long long cut_pieces(job *j, device d) {
  j->columns = has_vectors(*j) ? VECTOR_BYTES / j->value_bytes : 1;
  const long long threads = (long long)BLOCKS * THREADS * d.multiprocessors;
  const long long wanted = threads / (j->width / j->columns);
  const long long pieces = std::max(1ll, std::min(wanted, (long long)MOST_PIECES));
  j->piece = std::max((j->n + pieces - 1) / pieces, (long long)LEAST_ROWS);
  return (j->n + j->piece - 1) / j->piece;
}

#define ADDERS(name, S, T) \
  cudaError_t name(job j, device d) { return add_segments<T, S>(j, d); }
ADDERS(add_segments_f32, float, float)
ADDERS(add_segments_f16, float, __half)
ADDERS(add_segments_bf16, float, __nv_bfloat16)
ADDERS(add_fixed_segments_f32, long long, float)
ADDERS(add_fixed_segments_f16, long long, __half)
ADDERS(add_fixed_segments_bf16, long long, __nv_bfloat16)
