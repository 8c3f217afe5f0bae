/* bench/common: arrays on the device, of tests. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TEST_MEMORY_H
#define ARC_TEST_MEMORY_H

#include <vector>

#include "simt/simt.cuh"

#ifndef CHECK_CUDA
#error "first include what has CHECK_CUDA(call): the test fails if the call ends with an error"
#endif

/* On a GPU in the stream's order, from a pool: with other tests beside it, whatever waits for the
   GPU takes long. */
static inline void *test_memory_take(size_t bytes) {
  void *at = nullptr;
#if SIMT_ON_CPU
  CHECK_CUDA(cudaMalloc(&at, bytes));
#else
  static const bool keeps = [] {
    unsigned long long all = ~0ull;
    cudaMemPool_t pool;
    CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    return true;
  }();
  if (keeps) CHECK_CUDA(cudaMallocAsync(&at, bytes, 0));
#endif
  return at;
}

/* An array on the device, until the end of its scope: of so many zeros, or a copy of the host's. */
template <class T>
struct test_memory {
  size_t count;
  T *at;

  explicit test_memory(size_t count_)
      : count(count_), at((T *)test_memory_take(count_ ? count_ * sizeof(T) : 1)) {
    CHECK_CUDA(cudaMemsetAsync(at, 0, count * sizeof(T)));
  }
  test_memory(const T *host, size_t count_) : test_memory(count_) {
    CHECK_CUDA(cudaMemcpyAsync(at, host, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit test_memory(const std::vector<T> &host) : test_memory(host.data(), host.size()) {}
  template <size_t N>
  explicit test_memory(const T (&host)[N]) : test_memory(host, N) {}
  test_memory(const test_memory &) = delete;
  ~test_memory() {
#if SIMT_ON_CPU
    cudaFree(at);
#else
    cudaFreeAsync(at, 0);
#endif
  }

  /* Behind all launches. */
  std::vector<T> read() const {
    std::vector<T> host(count);
    CHECK_CUDA(cudaMemcpy(host.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
};

#endif
