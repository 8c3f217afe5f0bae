/* test_tune_cuda.c - >>cuda of arc_tune.h on the runtime of fake_cuda: events, capture, streams,
   failures. SPDX-License-Identifier: Apache-2.0 */
#define ARC_TUNE_CUDA
#include "tune_check.h"

/* ---- a program that launches ---------------------------------------------------------------- */

/* What goes wrong for a while; then all is well, and the tuning must find threshold 12. */
typedef struct trouble {
  const char *name;
  double lag_us;    /* of work that the device is behind the host */
  int streams;      /* that launches take in turn, their pairs interleaving; the last one stops */
  int captured;     /* of four launches three are captured: 1 known, 2 cannot be asked */
  int elsewhere;    /* another stream of this thread is captured */
  int in_between;   /* of nine captures one begins between begin and end */
  int odd_ends;     /* ends are missing, come twice, or with tickets of their own */
  int fail[KINDS];  /* so many calls fail */
  int tunes_beside; /* or it finds nothing, but ends */
} trouble;
static const trouble troubles[] = {
    {.name = "none", .streams = 1, .tunes_beside = 1},
    {.name = "0.5 ms late", .lag_us = 500.0, .streams = 1, .tunes_beside = 1},
    {.name = "20 ms late", .lag_us = 20000.0, .streams = 1, .tunes_beside = 1},
    {.name = "the device stands still", .lag_us = 1e30, .streams = 1},
    {.name = "captures", .streams = 1, .captured = 1, .tunes_beside = 1},
    {.name = "captures unknown", .streams = 1, .captured = 2, .tunes_beside = 1},
    {.name = "captures in between", .streams = 1, .in_between = 1, .tunes_beside = 1},
    {.name = "another capture", .lag_us = 500.0, .streams = 1, .elsewhere = 1, .tunes_beside = 1},
    {.name = "two streams", .streams = 2},
    {.name = "odd ends", .streams = 1, .odd_ends = 1},
    {.name = "no record", .streams = 1, .fail = {[RECORD] = 1000000}},
    {.name = "no time", .streams = 1, .fail = {[ELAPSED] = 1000000}},
    {.name = "no answer", .streams = 1, .fail = {[QUERY] = 1000000}},
    {.name = "a failure each", .streams = 1, .fail = {1, 1, 1, 1}, .tunes_beside = 1}};

static arc_tune tune;
static arc_tune_cuda timer;
static struct fake_stream streams[2];

static void open_fresh(const trouble *w) {
  static const struct fake nothing;
  arc_tune_config config = arc_tune_config_default();
  fake = nothing;
  memset(streams, 0, sizeof streams);
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init");
  memset(&timer, 0, sizeof timer);
  timer.tune = &tune;
  memcpy(fake.fail, w->fail, sizeof fake.fail);
  fake.any_captured = w->elsewhere;
}

static arc_tune_policy begin(cudaStream_t stream) {
  int calls = fake.calls, between_tunings = tune.rest > 0;
  arc_tune_policy policy = arc_tune_cuda_begin(&timer, stream);
  CHECK(check_is_legal(&tune, policy), "%d:%d", policy.path, policy.threshold);
  CHECK(!between_tunings || fake.calls == calls, "a call of the runtime between tunings");
  int threshold = policy.threshold == ARC_THRESHOLD_AUTO ? 8 : policy.threshold;
  stream->queued_us += 0.5 + 0.01 * abs(threshold - 12);
  return policy;
}

static void end(cudaStream_t stream, arc_tune_policy policy, int i, const trouble *w) {
  if (w->odd_ends && i % 3 == 0) return;
  arc_tune_cuda_end(&timer, stream, policy);
  stream->queued_us += 300.0;                /* other kernels */
  arc_tune_cuda_end(&timer, stream, policy); /* once more is as good as once */
  arc_tune_policy other = policy;
  other.ticket = i % 2 ? 0 : policy.ticket + 1;
  if (w->odd_ends) arc_tune_cuda_end(&timer, &streams[1], other);
}

/* Its graph gets the choice so far, and the tuning stands still. */
static void launch_captured(int captured, const trouble *w) {
  unsigned launches = tune.ticket;
  int recorded = fake.recorded, tuning = tune.rest == 0;
  streams[0].captured = captured;
  fake.any_captured = 1;
  for (int k = 0; k < 3 && tuning; ++k) {
    arc_tune_policy policy = begin(streams);
    end(streams, policy, 1, w);
    CHECK(policy.ticket == 0 && check_is_same(policy, tune.result.choice),
          "captured: the policy is %d:%d", policy.path, policy.threshold);
    CHECK(fake.recorded == recorded && tune.ticket == launches && fake.last == cudaSuccess,
          "captured: it went on, or left an error behind");
  }
  streams[0].captured = fake.any_captured = 0;
}

static void launch(int i, const trouble *w) {
  static const trouble none;
  cudaStream_t second = &streams[w->streams == 2 && i < 300];
  if (w->captured) launch_captured(w->captured, w);
  arc_tune_policy a = begin(&streams[0]), b = a;
  if (w->streams == 2) b = begin(second);
  if (w->streams == 2 && i % 2) end(second, b, 1, &none);
  if (w->in_between && i % 9 == 0) streams[0].captured = 1;
  end(&streams[0], a, i, w);
  if (streams[0].captured)
    CHECK(arc_tune_report(&tune, a.ticket, 1.0) == ARC_TUNE_ERROR_REPORT,
          "the end of a launch is awaited though the stream is captured");
  streams[0].captured = 0;
  if (w->streams == 2 && i % 2 == 0) end(second, b, 1, &none);
  for (int k = 0; k < 2 && (k == 0 || i < 297); ++k)
    if (streams[k].queued_us - streams[k].done_us > w->lag_us)
      streams[k].done_us = streams[k].queued_us - w->lag_us;
}

static void test_trouble(const trouble *w) {
  static const trouble none = {.streams = 1};
  open_fresh(w);
  for (int i = 0; i < 2100; ++i) launch(i, w);
  CHECK(tune.result.tunings > 0, "%s: no tuning ends", w->name);
  CHECK(fake.recorded >= 2 * tune.result.launches, "%s: times of nothing", w->name);
  CHECK(fake.last == cudaSuccess, "%s: an error of the runtime was left behind", w->name);
  if (w->tunes_beside)
    CHECK(tune.result.choice.threshold == 12 && tune.result.gain > 0.07 && tune.result.gain < 0.08,
          "%s: chose %d, for a gain of %g, not 4 of 54", w->name, tune.result.choice.threshold,
          tune.result.gain);
  memset(fake.fail, 0, sizeof fake.fail);
  fake.any_captured = 0;
  for (int k = 0; k < 2; ++k) streams[k].done_us = streams[k].queued_us;
  for (int i = 0; i < 4000; ++i) launch(1000, &none);
  CHECK(tune.result.choice.threshold == 12, "after %s: chose %d", w->name,
        tune.result.choice.threshold);
  CHECK(tune.result.launches > 0 && tune.result.launches < 700, "%d times", tune.result.launches);
  arc_tune_cuda_close(&timer);
  arc_tune_cuda_close(&timer); /* twice is as good as once */
  CHECK(fake.alive == 0, "%d events are left", fake.alive);
  CHECK(fake.mode == cudaStreamCaptureModeGlobal, "the capture mode was not put back");
}

/* An error of the program's own, before begin or by its launch, stays for the program to find. */
static void test_leaves_errors_alone(void) {
  open_fresh(troubles);
  for (int i = 0; i < 20; ++i) launch(i, troubles);
  fake.last = cudaErrorInvalidValue;
  launch(20, troubles);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue, "begin cleared the program's error");
  arc_tune_policy policy = begin(streams);
  fake.last = cudaErrorInvalidValue;
  arc_tune_cuda_end(&timer, streams, policy);
  CHECK(policy.ticket != 0 && cudaGetLastError() == cudaErrorInvalidValue,
        "end cleared the program's error");
  arc_tune_cuda_close(&timer);
}

int main(void) {
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; ++i) test_trouble(&troubles[i]);
  test_leaves_errors_alone();
  return test_end("test_tune_cuda");
}
