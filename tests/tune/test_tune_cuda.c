/* test_tune_cuda.c - >>cuda of arc_tune.h on the runtime of fake_cuda: events, capture, streams,
   failures. SPDX-License-Identifier: Apache-2.0 */
#define ARC_TUNE_CUDA
#include <stdlib.h>

#include "../../bench/common/test_check.h"

#include "arc_tune.h"

/* What goes wrong for a while; then all is well, and the tuning must find threshold 12. */
typedef struct trouble {
  const char *name;
  int tunes_beside; /* or it finds nothing, but ends */
  double lag_us;    /* of work that the device is behind the host */
  int second;       /* another stream's pairs interleave; in the end it stops */
  int captured;     /* of four launches three are captured: 1 known, 2 cannot be asked */
  int elsewhere;    /* another stream of this thread is captured */
  int in_between;   /* of nine captures one begins between begin and end */
  int odd_ends;     /* ends are missing, come twice, or with tickets of their own */
  int fail[KINDS];  /* so many calls fail */
} trouble;
static const trouble none, troubles[] = {{"none", 1, .lag_us = 0.0},
                                         {"0.5 ms late", 1, .lag_us = 500.0},
                                         {"20 ms late", 1, .lag_us = 20000.0},
                                         {"the device stands still", 0, .lag_us = 1e30},
                                         {"captures", 1, .captured = 1},
                                         {"captures unknown", 1, .captured = 2},
                                         {"captures in between", 1, .in_between = 1},
                                         {"another capture", 1, .lag_us = 500.0, .elsewhere = 1},
                                         {"two streams", 0, .second = 1},
                                         {"odd ends", 0, .odd_ends = 1},
                                         {"no record", 0, .fail = {[RECORD] = 1000000}},
                                         {"one start", 1, .fail = {[RECORD] = 1}},
                                         {"no time", 0, .fail = {[ELAPSED] = 1000000}},
                                         {"no answer", 0, .fail = {[QUERY] = 1000000}},
                                         {"a failure each", 1, .fail = {1, 1, 1, 1}}};

static arc_tune tune;
static arc_tune_cuda timer;
static struct fake_stream streams[2];

static arc_tune_policy begin(cudaStream_t stream) {
  int calls = fake.calls, between_tunings = tune.rest > 0;
  arc_tune_policy p = arc_tune_cuda_begin(&timer, stream);
  CHECK(!between_tunings || fake.calls == calls, "a call of the runtime between tunings");
  stream->queued_us += 0.5 + 0.01 * abs((p.threshold == ARC_THRESHOLD_AUTO ? 8 : p.threshold) - 12);
  return p;
}

static void end(cudaStream_t stream, arc_tune_policy p, int i, const trouble *w) {
  if (w->odd_ends && i % 3 == 0) return;
  arc_tune_cuda_end(&timer, stream, p);
  stream->queued_us += 300.0;           /* other kernels */
  arc_tune_cuda_end(&timer, stream, p); /* once more is as good as once */
  p.ticket = i % 2 ? 0 : p.ticket + 1;
  if (w->odd_ends) arc_tune_cuda_end(&timer, &streams[1], p);
}

/* Its graph gets the choice so far, and the tuning stands still. */
static void launch_captured(int captured) {
  const unsigned ticket = tune.ticket;
  const int recorded = fake.recorded;
  streams[0].captured = captured;
  fake.any_captured = 1;
  for (int k = 0; k < 3 && tune.rest == 0; ++k) {
    arc_tune_policy p = begin(streams);
    end(streams, p, 1, &none);
    CHECK(p.ticket == 0 && p.threshold == tune.result.choice.threshold, "captured %d", p.threshold);
    CHECK(fake.recorded == recorded && tune.ticket == ticket && fake.last == cudaSuccess,
          "captured: it went on, or left an error behind");
  }
  streams[0].captured = fake.any_captured = 0;
}

static void launch(int i, const trouble *w) {
  if (w->captured) launch_captured(w->captured);
  arc_tune_policy a = begin(&streams[0]), b = a;
  if (w->second) b = begin(&streams[i < 300]);
  if (w->second && i % 2) end(&streams[i < 300], b, 1, &none);
  streams[0].captured = w->in_between && i % 9 == 0;
  end(&streams[0], a, i, w);
  if (streams[0].captured)
    CHECK(arc_tune_report(&tune, a.ticket, 1.0) == ARC_TUNE_ERROR_REPORT, "its end is awaited");
  streams[0].captured = 0;
  if (w->second && i % 2 == 0) end(&streams[i < 300], b, 1, &none);
  for (int k = 0; k < 2 && (k == 0 || i < 297); ++k)
    if (streams[k].queued_us - streams[k].done_us > w->lag_us)
      streams[k].done_us = streams[k].queued_us - w->lag_us;
}

/* And an error of the program's own stays for it to find. */
static void test_trouble(const trouble *w) {
  static const struct fake nothing;
  const arc_tune_config config = arc_tune_config_default();
  const arc_tune_cuda opened = {.tune = &tune};
  fake = nothing;
  timer = opened;
  memset(streams, 0, sizeof streams);
  memcpy(fake.fail, w->fail, sizeof fake.fail);
  fake.any_captured = w->elsewhere;
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init");
  for (int i = 0; i < 2100; ++i) {
    if (w == &troubles[1] && i == 20) fake.last = cudaErrorInvalidValue;
    launch(i, w);
    if (w == &troubles[1] && i == 20)
      CHECK(cudaGetLastError() == cudaErrorInvalidValue, "it cleared the program's error");
  }
  CHECK(tune.result.tunings > 0 && fake.last == cudaSuccess, "%s: no end, or an error", w->name);
  CHECK(fake.recorded >= 2 * tune.result.launches, "%s: times of nothing", w->name);
  CHECK(!w->tunes_beside || (tune.result.choice.threshold == 12 && tune.result.gain > 0.07 &&
                             tune.result.gain < 0.08),
        "%s: %d, for a gain of %g, not 4 of 54", w->name, tune.result.choice.threshold,
        tune.result.gain);
  memset(fake.fail, 0, sizeof fake.fail);
  fake.any_captured = 0;
  for (int k = 0; k < 2; ++k) streams[k].done_us = streams[k].queued_us;
  for (int i = 0; i < 4000; ++i) launch(1000, &none);
  CHECK(tune.result.choice.threshold == 12 && tune.result.launches > 0, "after %s: %d", w->name,
        tune.result.choice.threshold);
  arc_tune_cuda_close(&timer);
  arc_tune_cuda_close(&timer); /* twice is as good as once */
  CHECK(fake.alive == 0 && fake.mode == cudaStreamCaptureModeGlobal, "%d events are left, or mode",
        fake.alive);
}

int main(void) {
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; ++i) test_trouble(&troubles[i]);
  return test_end("test_tune_cuda");
}
