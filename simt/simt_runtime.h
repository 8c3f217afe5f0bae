// simt_runtime.h -- what the host uses: the launch and a subset of the CUDA runtime.
// SPDX-License-Identifier: Apache-2.0
//
// Launches and copies are synchronous; there is one device, number 0, and one stream, 0. Events
// read the host's clock: what they measure is this machine, never a GPU.
#pragma once

#include "simt_types.h"
#include "simt_warp.h"

// ----------------------------------------------------------------------------------------- launch

struct cudaStream_opaque;
typedef cudaStream_opaque *cudaStream_t;

struct simt__launch_site {
  const char *kernel;
  simt__line at;
};
void simt__run(const simt__launch_site &site, dim3 grid, dim3 block, size_t shared_bytes,
               void (*body)(const void *arguments), const void *arguments);

template <class Body>
static inline void simt__call_body(const void *body) { (*static_cast<const Body *>(body))(); }

// Holds a launch until its arguments arrive: SIMT_LAUNCH(k, g, b, s, 0) has none, and no comma.
template <class... Parameters>
struct simt__launcher {
  void (*kernel)(Parameters...);
  simt__launch_site site;
  dim3 grid, block;
  size_t shared_bytes;
  void operator()(Parameters... arguments) const {
    void (*run)(Parameters...) = kernel;
    auto body = [&]() { run(arguments...); };
    simt__run(site, grid, block, shared_bytes, simt__call_body<decltype(body)>, &body);
  }
};
template <class... Parameters>
static inline simt__launcher<Parameters...> simt__launch(void (*kernel)(Parameters...),
                                                         simt__launch_site site, dim3 grid,
                                                         dim3 block, size_t shared_bytes,
                                                         cudaStream_t) {
  return {kernel, site, grid, block, shared_bytes};
}
#define SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                   \
  simt__launch(kernel, simt__launch_site{#kernel, {__FILE__, __LINE__}}, grid, block, \
               shared_bytes, stream)(__VA_ARGS__)

// ---------------------------------------------------------------------------------------- runtime

#define SIMT__EACH_ERROR(X)                                             \
  X(cudaSuccess, 0, "no error")                                         \
  X(cudaErrorInvalidValue, 1, "invalid argument")                       \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                      \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")              \
  X(cudaErrorLaunchFailure, 719, "the launch was abandoned after a misuse")
#define SIMT__ERROR(name, number, text) name = number,
enum cudaError_t { SIMT__EACH_ERROR(SIMT__ERROR) };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
struct simt__event;
typedef simt__event *cudaEvent_t;

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);

// Aligned to 256 bytes; blocks up to 1 MiB are filled with NaNs, larger ones are left to the
// system.
cudaError_t simt__malloc(void **pointer, size_t bytes);
template <class T>
static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  void *memory = NULL;
  cudaError_t error = simt__malloc(&memory, bytes);
  *pointer = static_cast<T *>(memory);
  return error;
}
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemset(void *to, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream = 0);
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes) {
  if (bytes > sizeof symbol) return cudaErrorInvalidValue;
  return cudaMemcpy((void *)&symbol, from, bytes, cudaMemcpyHostToDevice);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes) {
  if (bytes > sizeof symbol) return cudaErrorInvalidValue;
  return cudaMemcpy(to, (const void *)&symbol, bytes, cudaMemcpyDeviceToHost);
}

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventDestroy(cudaEvent_t event);

// --------------------------------------------------------------------------------- what is lacking

// What programs often use and is not here ends in one error, that says what to write instead.
#define SIMT__PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SIMT__LACKS(text) SIMT__PRAGMA(GCC error #text)
template <class... Arguments>
cudaError_t simt__lacking(Arguments...);  // the error is said: whatever is called, compiles

#ifndef __managed__  // -D__managed__= makes it a global of the host
#define __managed__ SIMT__LACKS(simt has no __managed__: write cudaMalloc and cudaMemcpy)
#endif
#define cudaMallocManaged \
  SIMT__LACKS(simt has no cudaMallocManaged: write cudaMalloc and cudaMemcpy) simt__lacking
#define cudaMallocHost SIMT__LACKS(simt has no cudaMallocHost: write malloc) simt__lacking
#define cudaStreamCreate SIMT__LACKS(simt has no cudaStreamCreate: write stream 0) simt__lacking
#define cudaStreamCreateWithFlags \
  SIMT__LACKS(simt has no cudaStreamCreateWithFlags: write stream 0) simt__lacking
#define cudaStreamDestroy SIMT__LACKS(simt has no cudaStreamDestroy: write stream 0) simt__lacking

// Headers of CUDA that are included after this one are empty; halves are not there either.
#define __CUDA_RUNTIME_H__
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
#if __GNUC__ >= 12 || defined(__clang__)  // no macro: libstdc++ has variables of that name
typedef unsigned short __half
    __attribute__((unavailable("simt has no __half of cuda_fp16.h: write unsigned short")));
#endif
#define __float2half(...) \
  SIMT__LACKS(simt has no __float2half of cuda_fp16.h: write simt_cvt_rn_f16_f32) 0
#define __half2float(...) \
  SIMT__LACKS(simt has no __half2float of cuda_fp16.h: write simt_cvt_f32_f16) 0.0f
