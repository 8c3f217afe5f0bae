// expect.cuh -- what the tests of the CPU warp share: expectations, and memory both sides can see.
// SPDX-License-Identifier: Apache-2.0
#ifndef EXPECT_CUH
#define EXPECT_CUH

#include "../../bench/common/test_device.h"

#include <vector>

static inline void expect_no_error(void) {
  cudaError_t launched = cudaGetLastError(), finished = cudaDeviceSynchronize();
  CHECK(launched == cudaSuccess && finished == cudaSuccess, "%s",
        cudaGetErrorString(launched != cudaSuccess ? launched : finished));
}

// An array on the device, until the end of its scope.
template <class T>
struct device_array {
  size_t count;
  T *at = NULL;
  explicit device_array(const std::vector<T> &values) : count(values.size()) {
    cudaMalloc(&at, count * sizeof(T));
    cudaMemcpy(at, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit device_array(size_t zeros) : device_array(std::vector<T>(zeros)) {}
  device_array(const device_array &) = delete;
  ~device_array() { cudaFree(at); }
  // Behind launches, none of which may have failed.
  std::vector<T> read(void) const {
    std::vector<T> values(count);
    expect_no_error();
    cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
};

#endif
