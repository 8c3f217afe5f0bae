/* sum_segments.cu - sums of a sorted index. SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "adders.h"
#include "floats.cuh"
#include "sum_segments.cuh"

namespace {

enum {
  VECTOR = 4,     /* columns of a thread, where all are aligned */
  LEAST_ROWS = 32 /* of a piece, whose words take 41 bytes a column */
};

template <>
struct window<__half> {
  enum { LEAST = 0, FIRST = -24 }; /* which has all halves */
};

__global__ void __launch_bounds__(THREADS) number_keys(job j, int *keys, int *rows) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= j.n) return;
  const long long key = key_of(j, row);
  check_key(j, key);
  keys[row] = (int)key;
  rows[row] = (int)row;
}

bool has_vectors(const job &j) {
  const unsigned long long addresses = (unsigned long long)j.values | (unsigned long long)j.out;
  const int strides = j.width | j.values_stride | j.out_stride;
  return (addresses | (unsigned)(strides * j.value_bytes)) % (VECTOR * j.value_bytes) == 0;
}

/* As many threads as run at once. */
void cut_pieces(job *j, device d) {
  j->columns = has_vectors(*j) ? +VECTOR : 1;
  const long long threads = (long long)BLOCKS * THREADS * d.multiprocessors;
  const long long pieces = std::max(1ll, threads / (j->width / j->columns));
  j->piece = std::max((j->n + pieces - 1) / pieces, (long long)LEAST_ROWS);
}

long long pieces_of(const job &j) { return (j.n + j.piece - 1) / j.piece; }

template <class T>
cudaError_t add_segments(job j, device d) {
  cut_pieces(&j, d);
  const long long threads = pieces_of(j) * (j.width / j.columns);
  const unsigned blocks = (unsigned)((threads + THREADS - 1) / THREADS);
  const bool is_vector = j.columns > 1;
  j.infinities = (unsigned *)(j.sums + pieces_of(j) * WORDS * j.width);
  cudaMemsetAsync(j.sums, 0, segment_bytes(j, d), d.stream);
  void (*const steps[])(job) = {is_vector ? sum_pieces<T, VECTOR> : sum_pieces<T, 1>,
                                is_vector ? join_pieces<T, VECTOR> : join_pieces<T, 1>};
  for (const auto step : steps) step<<<blocks, THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

}  // namespace

size_t segment_bytes(job j, device d) {
  cut_pieces(&j, d);
  const long long words = pieces_of(j) * WORDS * j.width;
  return words * sizeof(word) + pieces_of(j) * (j.width / j.columns) * sizeof(unsigned);
}

cudaError_t number_rows(job j, int *keys, int *rows, device d) {
  const unsigned blocks = (unsigned)((j.n + THREADS - 1) / THREADS);
  number_keys<<<blocks, THREADS, 0, d.stream>>>(j, keys, rows);
  return cudaGetLastError();
}

cudaError_t add_segments_f32(job j, device d) { return add_segments<float>(j, d); }
cudaError_t add_segments_f16(job j, device d) { return add_segments<__half>(j, d); }
cudaError_t add_segments_bf16(job j, device d) { return add_segments<__nv_bfloat16>(j, d); }
