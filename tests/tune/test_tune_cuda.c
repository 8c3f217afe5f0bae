/* test_tune_cuda.c - >>cuda of arc_tune.h on a runtime that is not there: events, capture, streams,
   failures. No real CUDA is involved; see fake_cuda/cuda_runtime_api.h.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_TUNE_CUDA
#include "tune_check.h"

/* ---- the runtime ---------------------------------------------------------------------------- */

struct fake_stream {
  double queued_us, done_us; /* work handed over, and work that has run, since the start */
  int captured;              /* 1 yes, 2 cannot be asked */
};

struct fake_event {
  int alive;
  cudaStream_t stream; /* of the latest record, or null */
  double at_us;
};

enum { EVENTS = 2 * ARC_TUNE__SLOTS, NEVER = 1000 };

static struct fake {
  struct fake_event event[EVENTS];
  int alive, recorded, queried, calls;
  int fail_create;                           /* from so many events on */
  int fail_record, fail_elapsed, fail_query; /* so many times */
  int any_captured;
  enum cudaStreamCaptureMode mode;
  cudaError_t last;
} fake;

static cudaError_t finish_call(cudaError_t error) {
  fake.calls += 1;
  if (error != cudaSuccess) fake.last = error;
  return error;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  if (fake.alive >= fake.fail_create) return finish_call(cudaErrorInvalidValue);
  *event = &fake.event[fake.alive++];
  (*event)->alive = 1;
  return finish_call(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CHECK(event->alive, "an event is destroyed twice");
  event->alive = 0;
  fake.alive -= 1;
  return finish_call(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CHECK(event->alive && stream->captured == 0, "an event is recorded on a captured stream");
  event->stream = fake.fail_record > 0 ? NULL : stream;
  if (fake.fail_record-- > 0) return finish_call(cudaErrorInvalidValue);
  event->at_us = stream->queued_us;
  fake.recorded += 1;
  return finish_call(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  CHECK(event->alive && event->stream != NULL, "an event is asked for that was never recorded");
  CHECK(!fake.any_captured || fake.mode == cudaStreamCaptureModeRelaxed,
        "a query while this thread captures would invalidate the capture");
  fake.queried += 1;
  if (fake.fail_query-- > 0) return finish_call(cudaErrorInvalidValue);
  return finish_call(event->stream->done_us >= event->at_us ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  CHECK(start->stream == stop->stream && stop->stream->done_us >= stop->at_us, "events not over");
  if (fake.fail_elapsed-- > 0) return finish_call(cudaErrorInvalidValue);
  *milliseconds = (float)((stop->at_us - start->at_us) * 1e-3);
  return finish_call(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  *status = stream->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return finish_call(stream->captured == 2 ? cudaErrorStreamCaptureImplicit : cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  enum cudaStreamCaptureMode held = fake.mode;
  fake.mode = *mode;
  *mode = held;
  return finish_call(cudaSuccess);
}

cudaError_t cudaGetLastError(void) {
  cudaError_t last = fake.last;
  fake.last = cudaSuccess;
  return last;
}

cudaError_t cudaPeekAtLastError(void) {
  fake.calls += 1;
  return fake.last;
}

/* ---- a program that launches ---------------------------------------------------------------- */

static arc_tune tune;
static arc_tune_cuda timer;
static struct fake_stream streams[2];

static double cost_us(arc_tune_policy policy) {
  return 0.5 + 0.01 * abs((policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold) - 12);
}

static void begin_fresh(void) {
  static struct fake nothing;
  arc_tune_config config = arc_tune_config_default();
  fake = nothing;
  fake.fail_create = NEVER;
  memset(streams, 0, sizeof streams);
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init");
  CHECK(arc_tune_cuda_open(&timer, &tune) == ARC_TUNE_OK, "open");
}

static void end_clean(void) {
  arc_tune_cuda_close(&timer);
  arc_tune_cuda_close(&timer); /* twice is as good as once */
  CHECK(fake.alive == 0, "%d events are left", fake.alive);
  CHECK(fake.mode == cudaStreamCaptureModeGlobal, "the capture mode was not put back");
  CHECK(fake.last == cudaSuccess, "an error of the runtime was left behind");
}

static arc_tune_policy begin(cudaStream_t stream) {
  arc_tune_policy policy = arc_tune_cuda_begin(&timer, stream);
  CHECK(check_is_legal(&tune.config, policy), "%d:%d", policy.path, policy.threshold);
  stream->queued_us += cost_us(policy);
  return policy;
}

/* One iteration; the device is `lag_us` of work behind the host. */
static arc_tune_policy launch(cudaStream_t stream, double lag_us) {
  arc_tune_policy policy = begin(stream);
  arc_tune_cuda_end(&timer, stream, policy);
  stream->queued_us += 300.0;                /* other kernels */
  arc_tune_cuda_end(&timer, stream, policy); /* once more is as good as once */
  if (stream->queued_us - stream->done_us > lag_us) stream->done_us = stream->queued_us - lag_us;
  return policy;
}

static int tune_to_the_end(double lag_us) {
  int launches = 0, tunings = tune.result.tunings;
  for (; launches < 20000 && tune.result.tunings == tunings; ++launches) launch(streams, lag_us);
  return launches;
}

static void expect_twelve(const char *what) {
  CHECK(tune.result.choice.threshold == 12, "%s: chose %d", what, tune.result.choice.threshold);
}

static void test_tunes(void) {
  static const double lags_us[] = {0.0, 500.0, 5000.0, 20000.0};
  for (int i = 0; i < 4; ++i) {
    begin_fresh();
    int launches = tune_to_the_end(lags_us[i]);
    expect_twelve("polled times");
    CHECK(launches < 1950, "%d launches", launches);
    CHECK(tune.result.gain > 0.07 && tune.result.gain < 0.08, "the gain is 4 of 54, not %g",
          tune.result.gain);
    CHECK(fake.recorded == 2 * tune.result.launches, "%d events for %d times", fake.recorded,
          tune.result.launches);
    CHECK(lags_us[i] > 0.0 || fake.queried < launches, "%d queries", fake.queried);
    end_clean();
  }
}

static void test_no_call_between_tunings(void) {
  begin_fresh();
  fake.calls = 0;
  for (int i = 0; i < 8; ++i) launch(streams, 0.0);
  CHECK(fake.calls == 0, "%d calls before the first tuning", fake.calls);
  tune_to_the_end(2000.0);
  fake.calls = 0;
  for (int i = 0; i < 1000; ++i) launch(streams, 0.0);
  CHECK(fake.calls == 0, "%d calls of the runtime between tunings", fake.calls);
  end_clean();
}

/* Whenever a capture begins, its graph gets the choice so far, and the tuning stands still. */
static void test_stands_still_while_captured(void) {
  for (int captured = 1; captured <= 2; ++captured) {
    begin_fresh();
    for (int i = 0; i < 2000; ++i) {
      launch(streams, 0.0);
      int recorded = fake.recorded, launches = tune.launches, tuning = tune.rest == 0;
      streams[0].captured = captured;
      fake.any_captured = 1;
      for (int k = 0; k < 3 && tuning; ++k) {
        arc_tune_policy policy = launch(streams, 0.0);
        CHECK(policy.ticket == 0 && check_is_same(policy, tune.result.choice),
              "captured: the policy is %d:%d", policy.path, policy.threshold);
        CHECK(fake.recorded == recorded && tune.launches == launches, "captured: it went on");
        CHECK(fake.last == cudaSuccess, "captured: an error was left behind");
      }
      streams[0].captured = fake.any_captured = 0;
    }
    CHECK(tune.result.tunings == 1, "%d tunings beside captures", tune.result.tunings);
    expect_twelve("beside captures");
    end_clean();
  }
}

/* Another stream is captured all the while; and a capture begins between begin and end. */
static void test_other_captures(void) {
  begin_fresh();
  fake.any_captured = 1;
  tune_to_the_end(500.0);
  expect_twelve("beside a capture");
  while (tune.rest != 0) launch(streams, 0.0);
  arc_tune_policy policy = begin(streams);
  streams[0].captured = 1;
  arc_tune_cuda_end(&timer, streams, policy);
  CHECK(arc_tune_report(&tune, policy.ticket, 1.0) == ARC_TUNE_ERROR_REPORT,
        "the end of a launch is awaited though the stream is captured");
  streams[0].captured = 0;
  tune_to_the_end(0.0);
  expect_twelve("a capture in between");
  end_clean();
}

/* Pairs interleave, and the second stream stops for good after a while. */
static void test_two_streams(void) {
  for (int stops = 10; stops <= 100000; stops *= 100) {
    begin_fresh();
    int rounds = 0;
    for (; rounds < 3000 && tune.result.tunings == 0; ++rounds) {
      arc_tune_policy a = begin(&streams[0]), b = begin(&streams[rounds < stops]);
      if (rounds % 2) arc_tune_cuda_end(&timer, &streams[rounds < stops], b);
      arc_tune_cuda_end(&timer, &streams[0], a);
      if (rounds % 2 == 0) arc_tune_cuda_end(&timer, &streams[rounds < stops], b);
      streams[0].done_us = streams[0].queued_us;
      if (rounds + 3 < stops) streams[1].done_us = streams[1].queued_us - 5.0;
    }
    if (stops > 10) expect_twelve("two streams");
    CHECK(rounds < 2000, "two streams: %d rounds", rounds);
    end_clean();
  }
}

/* The device stands still; begin without end, end without begin, on another stream, twice. */
static void test_odd_calls(void) {
  begin_fresh();
  for (int i = 0; i < 3000; ++i) launch(streams, 1e30);
  CHECK(tune.result.tunings == 1 && tune.result.launches == 0, "tuned without times");
  streams[0].done_us = streams[0].queued_us;
  for (int i = 0; i < 3000; ++i) {
    arc_tune_policy policy = begin(&streams[i % 2]), no_ticket = tune.result.choice;
    if (i % 3) arc_tune_cuda_end(&timer, &streams[i % 2], policy);
    if (i % 5 == 0) arc_tune_cuda_end(&timer, &streams[i % 2], policy);
    arc_tune_cuda_end(&timer, &streams[1], no_ticket);
    policy.ticket += 1;
    arc_tune_cuda_end(&timer, &streams[0], policy);
    for (int k = 0; k < 2; ++k) streams[k].done_us = streams[k].queued_us += 50.0;
  }
  tune_to_the_end(0.0);
  tune_to_the_end(0.0);
  expect_twelve("after odd calls");
  end_clean();
}

static void test_failures(void) {
  for (int events = 0; events < EVENTS; ++events) {
    fake.fail_create = events;
    memset(&timer, 0x5a, sizeof timer); /* as found on a stack */
    CHECK(arc_tune_cuda_open(&timer, &tune) == ARC_TUNE_ERROR_CUDA, "open with %d events", events);
    CHECK(fake.alive == 0, "%d of %d events are left", fake.alive, events);
  }
  for (int what = 0; what < 6; ++what) {
    begin_fresh();
    int often = what < 3 ? 1000000 : 1;
    fake.fail_record = what % 3 == 0 ? often : 0;
    fake.fail_elapsed = what % 3 == 1 ? often : 0;
    fake.fail_query = what % 3 == 2 ? often : 0;
    int launches = tune_to_the_end(0.0);
    CHECK(fake.last == cudaSuccess, "failure %d: an error was left behind", what);
    if (what < 3) CHECK(tune.result.launches == 0 && tune.result.gain == 0.0, "tuned untimed");
    if (what >= 3) expect_twelve("some failures");
    CHECK(what < 3 || launches < 700, "some failures: %d launches", launches);
    fake.fail_record = fake.fail_elapsed = fake.fail_query = 0;
    tune_to_the_end(0.0);
    expect_twelve("after failures");
    end_clean();
  }
}

/* An error of the program's own stays for the program to find. */
static void test_leaves_errors_alone(void) {
  begin_fresh();
  for (int i = 0; i < 20; ++i) launch(streams, 1000.0);
  fake.last = cudaErrorInvalidValue;
  launch(streams, 0.0);
  CHECK(fake.last == cudaErrorInvalidValue, "begin cleared the program's error");
  fake.last = cudaSuccess;
  arc_tune_policy policy = begin(streams);
  fake.last = cudaErrorInvalidValue; /* the launch has failed */
  arc_tune_cuda_end(&timer, streams, policy);
  CHECK(policy.ticket != 0 && fake.last == cudaErrorInvalidValue,
        "end cleared the program's error");
  fake.last = cudaSuccess;
  end_clean();
}

int main(void) {
  test_tunes();
  test_no_call_between_tunings();
  test_stands_still_while_captured();
  test_other_captures();
  test_two_streams();
  test_odd_calls();
  test_failures();
  test_leaves_errors_alone();
  return check_finish("test_tune_cuda");
}
