// simt_runtime.h -- the subset of the CUDA runtime that tests and benchmarks use, on the host.
// SPDX-License-Identifier: Apache-2.0
//
// Launches and copies are synchronous; there is one device, number 0, and one stream, 0. Events
// read the host's clock: what they measure is this machine, never a GPU.
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorLaunchFailure = 719
};
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

#endif
