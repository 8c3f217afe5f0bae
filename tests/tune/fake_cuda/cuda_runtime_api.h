/* cuda_runtime_api.h - as much of the CUDA runtime as arc_tune.h calls, without a device.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_TESTS_FAKE_CUDA_H
#define ARC_TESTS_FAKE_CUDA_H

typedef enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorNotReady = 600 } cudaError_t;
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeRelaxed = 2 };

typedef struct fake_stream {
  double queued_us, done_us; /* work handed over, and work that has run, since the start */
  int captured;              /* 1 yes, 2 cannot be asked */
} * cudaStream_t;

typedef struct fake_event {
  int alive;
  cudaStream_t stream; /* of the latest record, or null */
  double at_us;
} * cudaEvent_t;

enum { CREATE, RECORD, ELAPSED, QUERY, KINDS };

static struct fake {
  struct fake_event event[2 * ARC_TUNE__SLOTS];
  int alive, recorded, calls, any_captured;
  int fail[KINDS]; /* how many of the next calls do */
  enum cudaStreamCaptureMode mode;
  cudaError_t last;
} fake;

static inline cudaError_t call(int kind, int fails) {
  fake.calls += 1;
  if (kind < KINDS && fake.fail[kind]-- > 0) fails = 1;
  if (fails) fake.last = cudaErrorInvalidValue;
  return fails ? cudaErrorInvalidValue : cudaSuccess;
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  const cudaError_t error = call(CREATE, 0);
  if (error == cudaSuccess) *event = &fake.event[fake.alive++], (*event)->alive = 1;
  return error;
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CHECK(event->alive, "an event is destroyed twice");
  fake.alive -= event->alive--;
  return call(KINDS, 0);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const cudaError_t error = call(RECORD, 0);
  CHECK(event->alive && stream->captured == 0, "an event is recorded on a captured stream");
  event->stream = error ? NULL : stream;
  event->at_us = stream->queued_us;
  fake.recorded += error == cudaSuccess;
  return error;
}
static inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  const cudaError_t error = call(QUERY, 0);
  CHECK(event->alive && event->stream != NULL, "an event is asked for that was never recorded");
  CHECK(!fake.any_captured || fake.mode == cudaStreamCaptureModeRelaxed,
        "a query while this thread captures would invalidate the capture");
  if (error || event->stream->done_us >= event->at_us) return error;
  return fake.last = cudaErrorNotReady;
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop) {
  CHECK(start->stream == stop->stream && stop->stream->done_us >= stop->at_us, "events not over");
  *ms = (float)((stop->at_us - start->at_us) * 1e-3);
  return call(ELAPSED, 0);
}
static inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                enum cudaStreamCaptureStatus *status) {
  *status = stream->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return call(KINDS, stream->captured == 2);
}
static inline cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  const enum cudaStreamCaptureMode held = fake.mode;
  fake.mode = *mode, *mode = held;
  return call(KINDS, 0);
}
static inline cudaError_t cudaGetLastError(void) {
  const cudaError_t last = fake.last;
  fake.last = cudaSuccess;
  return last;
}
static inline cudaError_t cudaPeekAtLastError(void) { return fake.calls += 1, fake.last; }

#endif
