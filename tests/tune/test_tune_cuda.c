/* test_tune_cuda.c - >>cuda of arc_tune.h on a runtime that is not there: ring, polling, capture,
   streams, failures. No real CUDA is involved; see fake_cuda/cuda_runtime_api.h.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_TUNE_CUDA
#include "tune_check.h"

/* ---- the runtime ---------------------------------------------------------------------------- */

struct fake_stream {
  double queued_us, done_us; /* work handed over, and work that has run, since the start */
  int captured;              /* 1 yes, 2 cannot be asked */
};

struct fake_event {
  int alive, recorded;
  cudaStream_t stream;
  double at_us;
};

enum { EVENTS = 128 };

static struct fake {
  struct fake_event event[EVENTS];
  int created, destroyed, recorded, queried, calls;
  int fail_create_after, fail_record, fail_elapsed, fail_query;
  int any_captured;
  enum cudaStreamCaptureMode mode;
  cudaError_t last;
} fake;

static cudaError_t keep_error(cudaError_t error) {
  if (error != cudaSuccess) fake.last = error;
  return error;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  fake.calls += 1;
  if (fake.fail_create_after >= 0 && fake.created - fake.destroyed >= fake.fail_create_after)
    return keep_error(cudaErrorMemoryAllocation);
  for (int i = 0; i < EVENTS; ++i)
    if (!fake.event[i].alive) {
      memset(&fake.event[i], 0, sizeof fake.event[i]);
      fake.event[i].alive = 1;
      fake.created += 1;
      *event = &fake.event[i];
      return cudaSuccess;
    }
  return keep_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  fake.calls += 1;
  CHECK(event != NULL && event->alive, "an event that is not there is destroyed");
  event->alive = 0;
  fake.destroyed += 1;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  fake.calls += 1;
  CHECK(event->alive, "an event that is not there is recorded");
  CHECK(stream->captured == 0, "an event is recorded on a captured stream");
  if (fake.fail_record) return keep_error(cudaErrorInvalidValue);
  event->recorded = 1;
  event->stream = stream;
  event->at_us = stream->queued_us;
  fake.recorded += 1;
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  fake.calls += 1;
  fake.queried += 1;
  CHECK(event->alive && event->recorded, "an event is asked for that was never recorded");
  CHECK(!fake.any_captured || fake.mode == cudaStreamCaptureModeRelaxed,
        "a query while this thread captures would invalidate the capture");
  if (fake.fail_query) return keep_error(cudaErrorInvalidValue);
  return event->stream->done_us >= event->at_us ? cudaSuccess : keep_error(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  fake.calls += 1;
  CHECK(start->alive && stop->alive && start->recorded && stop->recorded, "events not recorded");
  CHECK(start->stream == stop->stream, "events of two streams");
  CHECK(stop->stream->done_us >= stop->at_us, "the time of an event that is not over");
  if (fake.fail_elapsed) return keep_error(cudaErrorInvalidValue);
  *milliseconds = (float)((stop->at_us - start->at_us) * 1e-3);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  fake.calls += 1;
  if (stream->captured == 2) return keep_error(cudaErrorStreamCaptureImplicit);
  *status = stream->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  enum cudaStreamCaptureMode held = fake.mode;
  fake.calls += 1;
  fake.mode = *mode;
  *mode = held;
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
  cudaError_t last = fake.last;
  fake.calls += 1;
  fake.last = cudaSuccess;
  return last;
}

cudaError_t cudaPeekAtLastError(void) {
  fake.calls += 1;
  return fake.last;
}

/* ---- a program that launches ---------------------------------------------------------------- */

static double cost_us(arc_tune_policy policy) {
  return 100.0 + 2.0 * abs((policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold) - 12);
}

static void begin_fresh(arc_tune *t, arc_tune_cuda *timer) {
  arc_tune_config config = arc_tune_config_default();
  memset(&fake, 0, sizeof fake);
  fake.fail_create_after = -1;
  CHECK(arc_tune_init(t, &config) == ARC_TUNE_OK, "init");
  CHECK(arc_tune_cuda_open(timer, t) == ARC_TUNE_OK, "open");
  CHECK(fake.created == 2 * ARC_TUNE_CUDA_RING, "%d events created", fake.created);
}

static void end_clean(arc_tune_cuda *timer) {
  CHECK(arc_tune_cuda_close(timer) == ARC_TUNE_OK, "close");
  CHECK(fake.created == fake.destroyed, "%d events of %d are left", fake.created - fake.destroyed,
        fake.created);
  CHECK(fake.mode == cudaStreamCaptureModeGlobal, "the capture mode was not put back");
  CHECK(fake.last == cudaSuccess, "an error of the runtime was left behind");
}

/* One iteration; the device is `lag_us` of work behind the host. */
static arc_tune_policy launch(arc_tune_cuda *timer, cudaStream_t stream, double lag_us) {
  arc_tune_policy policy = {0, 0, 0};
  arc_tune_config config = arc_tune_config_default();
  CHECK(arc_tune_cuda_begin(timer, stream, &policy) == ARC_TUNE_OK, "begin");
  CHECK(check_is_legal(&config, policy), "begin: %d:%d", policy.path, policy.threshold);
  stream->queued_us += cost_us(policy);
  CHECK(arc_tune_cuda_end(timer, stream) == ARC_TUNE_OK, "end");
  stream->queued_us += 300.0; /* other kernels */
  if (stream->queued_us - stream->done_us > lag_us) stream->done_us = stream->queued_us - lag_us;
  return policy;
}

static int tune_to_the_end(arc_tune *t, arc_tune_cuda *timer, cudaStream_t stream, double lag_us) {
  int launches = 0, begun = 0;
  while (launches < 20000 && !(begun && !arc_tune_is_tuning(t))) {
    begun = begun || arc_tune_is_tuning(t);
    launch(timer, stream, lag_us);
    launches += 1;
  }
  return launches;
}

static void expect_twelve(const arc_tune *t, const char *what) {
  arc_tune_policy policy;
  arc_tune_best(t, &policy);
  CHECK(policy.threshold == 12, "%s: chose %d:%d", what, policy.path, policy.threshold);
}

static arc_tune tune;
static arc_tune_cuda timer;

static void test_tunes(void) {
  static const double lags_us[] = {0.0, 500.0, 5000.0, 20000.0};
  for (int i = 0; i < 4; ++i) {
    struct fake_stream stream = {0.0, 0.0, 0};
    begin_fresh(&tune, &timer);
    int launches = tune_to_the_end(&tune, &timer, &stream, lags_us[i]);
    expect_twelve(&tune, "polled times");
    printf("device %5.0f us behind: tuned after %d launches, %d queries\n", lags_us[i], launches,
           fake.queried);
    CHECK(launches < 2000, "%d launches", launches);
    end_clean(&timer);
  }
}

static void test_no_call_between_tunings(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  begin_fresh(&tune, &timer);
  fake.calls = 0;
  for (int i = 0; i < 8; ++i) launch(&timer, &stream, 0.0);
  CHECK(fake.calls == 0, "%d calls before the first tuning", fake.calls);
  tune_to_the_end(&tune, &timer, &stream, 2000.0);
  fake.calls = 0;
  for (int i = 0; i < 1500; ++i) launch(&timer, &stream, 0.0);
  CHECK(fake.calls == 0, "%d calls of the runtime between tunings", fake.calls);
  end_clean(&timer);
}

static void test_stands_still_while_captured(void) {
  for (int captured = 1; captured <= 2; ++captured) {
    struct fake_stream stream = {0.0, 0.0, 0};
    begin_fresh(&tune, &timer);
    for (int i = 0; i < 30; ++i) launch(&timer, &stream, 0.0);
    CHECK(arc_tune_is_tuning(&tune), "not tuning at launch 30");
    stream.captured = captured;
    fake.any_captured = 1;
    unsigned before = tune.launch;
    int recorded = fake.recorded, queried = fake.queried;
    arc_tune_policy first = launch(&timer, &stream, 0.0);
    for (int i = 0; i < 1000; ++i) {
      arc_tune_policy policy = launch(&timer, &stream, 0.0);
      CHECK(policy.ticket == 0 && policy.path == first.path && policy.threshold == first.threshold,
            "captured: the policy changed to %d:%d", policy.path, policy.threshold);
    }
    CHECK(fake.recorded == recorded && fake.queried == queried, "captured: events are used");
    CHECK(tune.launch == before, "captured: the tuning went on");
    CHECK(fake.last == cudaSuccess, "captured: an error was left behind");
    stream.captured = 0;
    fake.any_captured = 0;
    tune_to_the_end(&tune, &timer, &stream, 0.0);
    expect_twelve(&tune, "after a capture");
    end_clean(&timer);
  }
}

/* This thread captures another stream in global mode: querying must not spoil that. */
static void test_another_stream_is_captured(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  begin_fresh(&tune, &timer);
  fake.any_captured = 1;
  tune_to_the_end(&tune, &timer, &stream, 500.0);
  expect_twelve(&tune, "beside a capture");
  end_clean(&timer);
}

/* A capture that begins between begin and end. */
static void test_capture_begins_in_between(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  arc_tune_policy policy;
  begin_fresh(&tune, &timer);
  while (!arc_tune_is_tuning(&tune)) launch(&timer, &stream, 0.0);
  arc_tune_cuda_begin(&timer, &stream, &policy);
  stream.captured = 1;
  CHECK(arc_tune_cuda_end(&timer, &stream) == ARC_TUNE_ERROR_CUDA, "end on a captured stream");
  stream.captured = 0;
  tune_to_the_end(&tune, &timer, &stream, 0.0);
  expect_twelve(&tune, "a capture in between");
  end_clean(&timer);
}

static void test_two_streams(void) {
  struct fake_stream streams[2] = {{0.0, 0.0, 0}, {0.0, 0.0, 0}};
  arc_tune_policy a, b;
  begin_fresh(&tune, &timer);
  int rounds = 0, begun = 0;
  for (; rounds < 3000 && !(begun && !arc_tune_is_tuning(&tune)); ++rounds) {
    begun = begun || arc_tune_is_tuning(&tune);
    arc_tune_cuda_begin(&timer, &streams[0], &a);
    arc_tune_cuda_begin(&timer, &streams[1], &b);
    streams[0].queued_us += cost_us(a);
    streams[1].queued_us += cost_us(b);
    if (rounds % 2) arc_tune_cuda_end(&timer, &streams[1]);
    arc_tune_cuda_end(&timer, &streams[0]);
    if (rounds % 2 == 0) arc_tune_cuda_end(&timer, &streams[1]);
    streams[0].done_us = streams[0].queued_us;
    streams[1].done_us = streams[1].queued_us - 900.0; /* the second is behind */
  }
  expect_twelve(&tune, "two streams");
  CHECK(rounds < 500, "two streams: %d rounds", rounds);
  end_clean(&timer);
}

/* One stream stops for good: the other's times still come in, and the tuning ends. */
static void test_a_stream_hangs(void) {
  struct fake_stream streams[2] = {{0.0, 0.0, 0}, {0.0, -1.0, 0}};
  begin_fresh(&tune, &timer);
  while (!arc_tune_is_tuning(&tune)) launch(&timer, &streams[0], 0.0);
  arc_tune_policy policy;
  arc_tune_cuda_begin(&timer, &streams[1], &policy);
  streams[1].queued_us += 1.0;
  arc_tune_cuda_end(&timer, &streams[1]);
  int launches = tune_to_the_end(&tune, &timer, &streams[0], 0.0);
  CHECK(launches < 20000, "the tuning does not end");
  end_clean(&timer);
}

static void test_ring_is_full(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  begin_fresh(&tune, &timer);
  for (int i = 0; i < 3000; ++i) launch(&timer, &stream, 1e30);
  CHECK(fake.recorded <= 2 * ARC_TUNE_CUDA_RING, "%d events recorded, none was free",
        fake.recorded);
  stream.done_us = stream.queued_us;
  arc_tune_retune(&tune);
  tune_to_the_end(&tune, &timer, &stream, 0.0);
  expect_twelve(&tune, "after a full ring");
  end_clean(&timer);
}

/* begin without end, end without begin, a null timer. */
static void test_odd_calls(void) {
  struct fake_stream stream = {0.0, 0.0, 0}, other = {0.0, 0.0, 0};
  arc_tune_policy policy;
  begin_fresh(&tune, &timer);
  CHECK(arc_tune_cuda_end(&timer, &stream) == ARC_TUNE_OK, "end without begin");
  for (int i = 0; i < 200; ++i) {
    arc_tune_cuda_begin(&timer, &stream, &policy);
    arc_tune_cuda_end(&timer, &other);
    stream.done_us = stream.queued_us += 100.0;
  }
  CHECK(timer.open <= 1, "%d launches are open on one stream", timer.open);
  CHECK(arc_tune_cuda_begin(&timer, &stream, NULL) == ARC_TUNE_ERROR_ARGUMENT, "no policy");
  CHECK(arc_tune_cuda_begin(NULL, &stream, &policy) == ARC_TUNE_ERROR_STATE, "no timer");
  CHECK(policy.path == ARC_PATH_AUTO && policy.threshold == ARC_THRESHOLD_AUTO, "no timer: auto");
  CHECK(arc_tune_cuda_end(NULL, &stream) == ARC_TUNE_ERROR_ARGUMENT, "no timer");
  CHECK(arc_tune_cuda_open(NULL, &tune) == ARC_TUNE_ERROR_ARGUMENT, "no timer");
  CHECK(arc_tune_cuda_close(NULL) == ARC_TUNE_ERROR_ARGUMENT, "no timer");
  end_clean(&timer);
  CHECK(arc_tune_cuda_close(&timer) == ARC_TUNE_OK, "closed twice");
  CHECK(arc_tune_cuda_begin(&timer, &stream, &policy) == ARC_TUNE_ERROR_STATE, "a closed timer");
}

static void test_failures(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  arc_tune_policy policy;
  arc_tune_config config = arc_tune_config_default();
  for (int after = 0; after < 2 * ARC_TUNE_CUDA_RING; ++after) {
    memset(&fake, 0, sizeof fake);
    fake.fail_create_after = after;
    CHECK(arc_tune_cuda_open(&timer, &tune) == ARC_TUNE_ERROR_CUDA, "open with %d events", after);
    CHECK(fake.created == after && fake.destroyed == after, "%d of %d events destroyed",
          fake.destroyed, after);
  }
  for (int what = 0; what < 3; ++what) {
    int errors = 0;
    begin_fresh(&tune, &timer);
    fake.fail_record = what == 0;
    fake.fail_elapsed = what == 1;
    fake.fail_query = what == 2;
    for (int i = 0; i < 1500; ++i) {
      errors += arc_tune_cuda_begin(&timer, &stream, &policy) == ARC_TUNE_ERROR_CUDA;
      CHECK(check_is_legal(&config, policy), "failing runtime: %d:%d", policy.path,
            policy.threshold);
      stream.done_us = stream.queued_us += cost_us(policy);
      errors += arc_tune_cuda_end(&timer, &stream) == ARC_TUNE_ERROR_CUDA;
      fake.last = cudaSuccess; /* the program looks at its errors */
    }
    CHECK(errors > 0, "failure %d was not reported", what);
    CHECK(!arc_tune_is_tuning(&tune), "failure %d: the tuning goes on without times", what);
    fake.fail_record = fake.fail_elapsed = fake.fail_query = 0;
    arc_tune_retune(&tune);
    tune_to_the_end(&tune, &timer, &stream, 0.0);
    expect_twelve(&tune, "after failures");
    end_clean(&timer);
  }
}

/* An error of the program's own stays for the program to find. */
static void test_leaves_errors_alone(void) {
  struct fake_stream stream = {0.0, 0.0, 0};
  arc_tune_policy policy;
  begin_fresh(&tune, &timer);
  for (int i = 0; i < 20; ++i) launch(&timer, &stream, 1000.0);
  fake.last = cudaErrorInvalidValue;
  arc_tune_cuda_begin(&timer, &stream, &policy);
  arc_tune_cuda_end(&timer, &stream);
  CHECK(fake.last == cudaErrorInvalidValue, "the program's error was cleared");
  fake.last = cudaSuccess;
  end_clean(&timer);
}

int main(void) {
  test_tunes();
  test_no_call_between_tunings();
  test_stands_still_while_captured();
  test_another_stream_is_captured();
  test_capture_begins_in_between();
  test_two_streams();
  test_a_stream_hangs();
  test_ring_is_full();
  test_odd_calls();
  test_failures();
  test_leaves_errors_alone();
  return check_finish("test_tune_cuda");
}
