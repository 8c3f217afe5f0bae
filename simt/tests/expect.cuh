// expect.cuh -- what the tests of the CPU warp share: expectations, and memory both sides can see.
// SPDX-License-Identifier: Apache-2.0
#ifndef EXPECT_CUH
#define EXPECT_CUH

#include "simt/simt.cuh"

#include <stdio.h>

#include <vector>

static int failures = 0;

// Prints the first failures only: one broken rule tends to break thousands of cases.
#define EXPECT(condition, ...)                                        \
  do {                                                                \
    if (!(condition) && ++failures <= 20) {                           \
      printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);          \
      printf(__VA_ARGS__);                                            \
      printf("\n");                                                   \
    }                                                                 \
  } while (0)

template <class T>
static T *to_device(const std::vector<T> &values) {
  T *memory = NULL;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}
template <class T>
static std::vector<T> from_device(const T *memory, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

static inline bool has_device(void) {
  int count = 0;
  bool has = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!has) printf("skipped: no device\n");
  return has;
}

static inline void expect_no_error(void) {
  cudaError_t launched = cudaGetLastError(), finished = cudaDeviceSynchronize();
  EXPECT(launched == cudaSuccess && finished == cudaSuccess, "%s",
         cudaGetErrorString(launched != cudaSuccess ? launched : finished));
}

static inline int verdict(const char *name) {
  printf("%s: %s\n", name, failures ? "FAILED" : "passed");
  return failures ? 1 : 0;
}

#endif
