/* accumulator.cu - float32 rows into words by exponent, and out of them.
   SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <climits>

#define ARC_KEY_BITS 64 /* as add_rows.cuh has it */
#include "arc/wide.cuh"

#include "add_rows.cuh"
#include "adders.h"

namespace {

/* Chunks of 32 rows to a warp: as many on every GPU, since the sum of a key is kept from one to the
   next, and its bits depend on it. */
constexpr int CHUNKS = 8;

template <class K, int WIDTH>
__global__ void __launch_bounds__(THREADS, 1) add_to_words(job j) {
  const int width = WIDTH ? WIDTH : j.width;
  arc_target_wide target = arc_target_wide_rows(j.sums, ARC_WIDE_ROW(width), width);
  add_rows_by<K>(arc_index_add_begin_wide(target, (const float *)j.values, j.values_stride), j);
}

/* One thread per value. */
template <bool CLEARS>
__global__ void __launch_bounds__(THREADS) read(job j) {
  long long count = j.rows * j.width, step = gridDim.x * (long long)blockDim.x;
  for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < count; k += step) {
    long long *row = j.sums + k / j.width * ARC_WIDE_ROW(j.width);
    int i = (int)(k % j.width);
    ((float *)j.out)[k] =
        CLEARS ? arc_wide_take_f32(row, j.width, i) : arc_wide_to_f32(row, j.width, i);
  }
}

}  // namespace

cudaError_t add_rows_to_words(job j, device d) {
  const long long rows = CHUNKS * THREADS; /* of a block */
  void (*kernel)(job) = j.rows <= INT_MAX ? add_to_words<int, 0> : add_to_words<long long, 0>;
#define WIDTH(w) \
  if (j.rows <= INT_MAX && j.width == w) kernel = add_to_words<int, w>;
  WIDTH(1)
  WIDTH(2) WIDTH(3) WIDTH(4) WIDTH(8) WIDTH(9) WIDTH(16) WIDTH(32) WIDTH(64)
#undef WIDTH
      j.chunks = CHUNKS;
  j.columns = j.width;
  kernel<<<(unsigned)((j.n + rows - 1) / rows), THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

cudaError_t read_words(job j, device d, bool clears) {
  const long long blocks = (j.rows * j.width + THREADS - 1) / THREADS;
  (clears ? read<true>
          : read<false>)<<<(unsigned)std::min(blocks, 1ll << 20), THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}
