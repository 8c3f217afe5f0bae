// runtime.h -- bodies of the runtime subset.
// SPDX-License-Identifier: Apache-2.0
#ifndef SIMT_ENGINE_RUNTIME_H
#define SIMT_ENGINE_RUNTIME_H

enum { filled_bytes_max = 1 << 20 };

cudaError_t cudaPeekAtLastError(void) { return engine.error; }
cudaError_t cudaGetLastError(void) {
  cudaError_t error = engine.error;
  engine.error = cudaSuccess;
  return error;
}
const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
  }
  return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorLaunchFailure: return "the launch was abandoned after a misuse";
  }
  return "unrecognized error code";
}
// Like the real runtime, it also returns what an earlier launch left behind, and leaves it there.
cudaError_t cudaDeviceSynchronize(void) { return engine.error; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return engine.error; }

// What the host calls wrongly becomes the last error, too.
static cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) engine.error = error;
  return error;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t simt__malloc(void **pointer, size_t bytes) {
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  if (posix_memalign(pointer, 256, bytes) != 0) return result(cudaErrorMemoryAllocation);
  if (bytes <= filled_bytes_max) memset(*pointer, 0xff, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void *pointer) {
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  if (bytes && (!to || !from)) return result(cudaErrorInvalidValue);
  if (bytes) memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  if (bytes && !to) return result(cudaErrorInvalidValue);
  if (bytes) memset(to, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t) {
  return cudaMemset(to, byte, bytes);
}

struct simt__event {
  std::chrono::steady_clock::time_point time;
};
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new simt__event();
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

#endif
