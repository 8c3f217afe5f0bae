/* arc studies: memory of the device, medians of times, launches.
   SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <vector>

#include "../../bench/common/device.h"
#include "../../bench/common/program_run.h"

typedef struct device_memory {
  size_t now, peak; /* bytes */
} device_memory;

typedef struct device_array {
  void *data;
  size_t bytes;
} device_array;

static inline void device_release(device_memory *memory, device_array *array) {
  device_check(cudaFree(array->data), "freeing memory");
  memory->now -= array->bytes;
  array->data = nullptr;
  array->bytes = 0;
}

/* At least that many bytes; what the array held is lost if it has to grow. */
static inline void device_reserve(device_memory *memory, device_array *array, size_t bytes,
                                  const char *what) {
  if (bytes <= array->bytes) return;
  device_release(memory, array);
  device_check(cudaMalloc(&array->data, bytes), what);
  array->bytes = bytes;
  memory->now += bytes;
  if (memory->now > memory->peak) memory->peak = memory->now;
}

static inline void device_clear(void *data, size_t bytes) {
  device_check(cudaMemsetAsync(data, 0, bytes, 0), "clearing memory");
}

/* Arrays that are taken one by one, cleared, and given back together. */
typedef std::vector<void *> device_pool;

static inline void *device_take(device_pool *pool, size_t bytes, const char *what) {
  void *data;
  device_check(cudaMalloc(&data, bytes), what);
  device_clear(data, bytes);
  pool->push_back(data);
  return data;
}

/* All but the first so many. */
static inline void device_give_back(device_pool *pool, size_t kept = 0) {
  for (; pool->size() > kept; pool->pop_back()) cudaFree(pool->back());
}

static inline void device_to_host(void *host, const void *device, size_t bytes, const char *what) {
  device_check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), what);
}

/* So many of its numbers, or of another type. */
template <typename type>
static inline std::vector<type> device_read(const void *device, size_t count,
                                            const char *what = "reading") {
  std::vector<type> host(count);
  device_to_host(host.data(), device, count * sizeof(type), what);
  return host;
}

static inline void host_to_device(void *device, const void *host, size_t bytes, const char *what) {
  device_check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), what);
}

/* What the host holds, in an array of that size. */
template <typename type>
static inline void device_upload(device_memory *memory, device_array *array,
                                 const std::vector<type> &host, const char *what) {
  device_reserve(memory, array, host.size() * sizeof(type), what);
  host_to_device(array->data, host.data(), host.size() * sizeof(type), what);
}

/* To be called before what takes memory. */
static inline bool has_device(const char *program, error_line *error) {
  int devices = 0;
  if (SIMT_ON_CPU) memory_limit();
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return true;
  return error_set(error,
                   "no CUDA device: %s; the program built for the CPU warp, %s_simt, needs none",
                   status == cudaSuccess ? "none found" : cudaGetErrorString(status), program);
}

/* The median of so many launches after one that warms a GPU up, or of those before an interrupt.
   before: is called before each, and not timed. */
template <typename launch_type, typename before_type>
static inline float median_time(int runs, launch_type launch, before_type before) {
  std::vector<float> ms;
  if (!SIMT_ON_CPU) before(), launch();
  while ((int)ms.size() < runs && (ms.empty() || !interrupts)) {
    before();
    ms.push_back(device_time(launch));
  }
  return median(ms.data(), (int)ms.size());
}

template <typename launch_type>
static inline float median_time(int runs, launch_type launch) {
  return median_time(runs, launch, [] {});
}

/* Of a function that kernels call. */
#define DEVICE static __device__ __forceinline__

/* Of the loop that follows, where nvcc compiles. */
#if defined(__CUDACC__)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#endif

/* Of kernels with one thread for each item of a line. */
enum { LINE_THREADS = 256 };

static inline int line_blocks(size_t threads) {
  return (int)((threads + LINE_THREADS - 1) / LINE_THREADS);
}

/* How many blocks of a kernel the device holds at once; from here on they may have so many bytes of
   shared memory. */
template <typename kernel_type>
static inline int resident_blocks(kernel_type kernel, int threads, size_t bytes) {
#if SIMT_ON_CPU
  (void)kernel, (void)threads, (void)bytes;
  return 2;
#else
  int processors, resident;
  device_check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
      "shared memory of a block");
  device_check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "a device");
  device_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes),
               "shared memory of a block");
  return processors * resident;
#endif
}
