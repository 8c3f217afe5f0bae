/* add_rows_reproducibly.cu - sums in 64-bit fixed point. SPDX-License-Identifier: Apache-2.0 */
#include "floats.cuh"
#include "launch.cuh"

namespace {

/* The largest finite |value| of a contiguous matrix, and whether another is not finite. */
template <class T>
__global__ void __launch_bounds__(THREADS) find_largest(job j) {
  enum { EACH = 16 / sizeof(T), AHEAD = 4 };
  const T *values = (const T *)j.values;
  const bool aligned = (unsigned long long)values % 16 == 0;
  long long count = j.n * j.width, vectors = aligned ? count / EACH : 0;
  long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long threads = gridDim.x * (long long)blockDim.x;
  unsigned largest = 0u, others = 0u;
  for (long long i = thread; i < j.cleared; i += threads) j.sums[i] = 0;
  const auto see = [&](T value) {
    const unsigned bits = bits_of(to_float(value));
    largest = max(largest, bits < NOT_FINITE ? bits : 0u);
    others |= bits >= NOT_FINITE;
  };
  for (long long first = thread; first < vectors; first += AHEAD * threads) {
    alignas(16) T batch[AHEAD * EACH] = {};
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * threads < vectors)
        *(int4 *)(batch + EACH * i) = ((const int4 *)values)[first + i * threads];
#pragma unroll
    for (int i = 0; i < AHEAD * EACH; ++i) see(batch[i]);
  }
  for (long long i = vectors * EACH + thread; i < count; i += threads) see(values[i]);
  raise_of_block(j.largest, largest, others);
}

/* If there are any: adds infinities and NaNs at once, with one of which a sum is the same in any
   order. */
template <class T>
__global__ void __launch_bounds__(THREADS) add_not_finite(job j) {
  if (j.largest[1] == 0u) return;
  job flat = j;
  flat.out_stride = 1;
  auto values_of_out = target_of(flat, (T *)nullptr, 1);
  long long count = j.n * j.width, step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    float value = to_float(((const T *)j.values)[i]);
    if (bits_of(value) < NOT_FINITE) continue;
    long long key = key_of(j, i / j.width);
    if (!has_row(j, &key)) continue;
    arc_add_divergent(values_of_out, key * j.out_stride + i % j.width, &value);
  }
}

/* Adds the sums to out, each rounded once. */
template <class T>
__global__ void __launch_bounds__(THREADS) finish(job j) {
  int scale = scale_log2(j.largest, j.n);
  long long count = j.rows * j.width, step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += step) {
    long long sum = j.sums[i];
    if (sum == 0) continue;
    long long at = j.out_stride == j.width ? i : i / j.width * j.out_stride + i % j.width;
    T *out = (T *)j.out + at;
    store(out, (float)((double)to_float(*out) + arc_fixed_to_f64(sum, scale)));
  }
}

__global__ void keep_keys_within(job j, bool wraps, volatile int *outside) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < j.n; i += step) {
    long long key = key_of(j, i);
    if (wraps && key < 0) key += j.rows;
    const bool is_within = (unsigned long long)key < (unsigned long long)j.rows;
    if (!is_within) *outside = 1;
    ((long long *)j.out)[i] = is_within ? key : 0;
  }
}

template <class T>
cudaError_t largest(job j, device d) {
  unsigned blocks = resident_blocks(find_largest<T>, (j.n * j.width + THREADS - 1) / THREADS, d);
  find_largest<T><<<blocks, THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

template <class T>
cudaError_t find_scale(job j, device d) {
  largest<T>(j, d);
  unsigned blocks = resident_blocks(add_not_finite<T>, (j.n * j.width + THREADS - 1) / THREADS, d);
  add_not_finite<T><<<blocks, THREADS, 0, d.stream>>>(j);
  return cudaGetLastError();
}

template <class T>
cudaError_t add_reproducibly(job j, device d) {
  find_scale<T>(j, d);
  cudaError_t error = launch_add<T, true>(j, d);
  unsigned blocks = resident_blocks(finish<T>, (j.rows * j.width + THREADS - 1) / THREADS, d);
  finish<T><<<blocks, THREADS, 0, d.stream>>>(j);
  return error != cudaSuccess ? error : cudaGetLastError();
}

}  // namespace

cudaError_t find_largest_f32(job j, device d) { return largest<float>(j, d); }
cudaError_t find_largest_f16(job j, device d) { return largest<__half>(j, d); }
cudaError_t find_largest_bf16(job j, device d) { return largest<__nv_bfloat16>(j, d); }
cudaError_t find_scale_f32(job j, device d) { return find_scale<float>(j, d); }
cudaError_t find_scale_f16(job j, device d) { return find_scale<__half>(j, d); }
cudaError_t find_scale_bf16(job j, device d) { return find_scale<__nv_bfloat16>(j, d); }
cudaError_t add_rows_reproducibly_f32(job j, device d) { return add_reproducibly<float>(j, d); }
cudaError_t add_rows_reproducibly_f16(job j, device d) { return add_reproducibly<__half>(j, d); }
cudaError_t add_rows_reproducibly_bf16(job j, device d) {
  return add_reproducibly<__nv_bfloat16>(j, d);
}

cudaError_t keep_within(job j, device d, bool wraps, int *outside) {
  const long long wanted = (j.n + THREADS - 1) / THREADS, most = 8ll * d.multiprocessors;
  keep_keys_within<<<(unsigned)std::min(wanted, most), THREADS, 0, d.stream>>>(j, wraps, outside);
  return cudaGetLastError();
}
