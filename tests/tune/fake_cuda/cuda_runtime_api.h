/* cuda_runtime_api.h - as much of the CUDA runtime as arc_tune.h calls, without a device; the bodies
   are in test_tune_cuda.c. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_FAKE_CUDA_H
#define ARC_TESTS_FAKE_CUDA_H

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorNotReady = 600
} cudaError_t;

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeRelaxed = 2 };

typedef struct fake_stream *cudaStream_t;
typedef struct fake_event *cudaEvent_t;

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

#endif
