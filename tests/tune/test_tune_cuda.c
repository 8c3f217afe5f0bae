/* test_tune_cuda.c - >>cuda of arc_tune.h on the runtime of fake_cuda: events, capture, streams,
   failures. SPDX-License-Identifier: Apache-2.0 */
#define ARC_TUNE_CUDA
#include <stdlib.h>

#include "../../bench/common/test_check.h"

#include "arc_tune.h"

/* What goes wrong until a tuning has ended; then all is well, and the next finds threshold 12. */
typedef struct trouble {
  const char *name;
  int tunes_beside; /* already this one finds it */
  double lag_us;    /* of work that the device is behind the host */
  int captured;     /* so are three of four launches: 1 known, 2 cannot be asked */
  int in_between;   /* of nine captures one begins between begin and end */
  int elsewhere;    /* another stream of this thread is captured */
  int second;       /* another stream's pairs interleave; in the end it stops */
  int odd_end;      /* an end is missing of three; one more has a ticket so much further */
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
                                         {"an end too early", 1, .odd_end = 1},
                                         {"an end too late", 1, .odd_end = -ARC_TUNE__SLOTS},
                                         {"no record", 0, .fail = {[RECORD] = 1000000}},
                                         {"one start", 1, .fail = {[RECORD] = 1}},
                                         {"no time", 0, .fail = {[ELAPSED] = 1000000}},
                                         {"no answer", 0, .fail = {[QUERY] = 1000000}},
                                         {"a failure each", 1, .fail = {1, 1, 1, 1}}};

static arc_tune tune;
static arc_tune_cuda timer;
static struct fake_stream streams[2];

/* When captured, the graph gets the choice so far, and the tuning stands still. */
static arc_tune_policy begin(cudaStream_t stream) {
  const int rests = tune.rest > 0, calls = fake.calls, recorded = fake.recorded;
  const unsigned ticket = tune.ticket;
  const arc_tune_policy p = arc_tune_cuda_begin(&timer, stream);
  CHECK(p.ticket != 0 || fake.recorded == recorded, "what is not timed is recorded");
  CHECK(!rests || fake.calls == calls, "a call of the runtime between tunings");
  CHECK(!stream->captured || (p.ticket == 0 && p.threshold == tune.result.choice.threshold &&
                              tune.ticket == ticket && !fake.last),
        "captured: it went on, or left an error behind");
  stream->queued_us += 0.5 + 0.01 * abs((p.threshold == ARC_THRESHOLD_AUTO ? 8 : p.threshold) - 12);
  return p;
}

static void end(cudaStream_t stream, arc_tune_policy p) {
  arc_tune_cuda_end(&timer, stream, p);
  stream->queued_us += 300.0;           /* other kernels */
  arc_tune_cuda_end(&timer, stream, p); /* once more is as good as once */
}

static void launch(int i, const trouble *w) {
  cudaStream_t first = &streams[0], second = &streams[i < 300];
  first->captured = i % 4 ? w->captured : 0;
  fake.any_captured = w->elsewhere || first->captured;
  arc_tune_policy a = begin(first), b = a;
  if (w->second) b = begin(second);
  if (w->second && i % 2) end(second, b);
  if (w->in_between) first->captured = i % 9 == 0;
  if (!w->odd_end || i % 3) end(first, a);
  if (first->captured)
    CHECK(arc_tune_report(&tune, a.ticket, 1.0) == ARC_TUNE_ERROR_REPORT, "its end is awaited");
  if (w->second && i % 2 == 0) end(second, b);
  a.ticket += (unsigned)w->odd_end;
  if (w->odd_end) arc_tune_cuda_end(&timer, &streams[1], a);
  for (int k = 0; k < (i < 297 ? 2 : 1); ++k)
    if (streams[k].queued_us - streams[k].done_us > w->lag_us)
      streams[k].done_us = streams[k].queued_us - w->lag_us;
}

/* And an error of the program's own stays for it to find. */
static void test_trouble(const trouble *w) {
  static const struct fake nothing;
  const arc_tune_config config = arc_tune_config_default();
  fake = nothing;
  timer.tune = &tune; /* close has zeroed the rest */
  memset(streams, 0, sizeof streams);
  memcpy(fake.fail, w->fail, sizeof fake.fail);
  CHECK(arc_tune_init(&tune, &config) == ARC_TUNE_OK, "init");
  for (int i = 0; i < 6000 && tune.result.tunings == 0; ++i) {
    const int errs = w == &troubles[1] && i == 20;
    if (errs) fake.last = cudaErrorInvalidValue;
    launch(i, w);
    CHECK(!errs || cudaGetLastError() == cudaErrorInvalidValue, "it cleared the program's error");
  }
  CHECK(tune.result.tunings > 0 && fake.last == cudaSuccess, "%s: no end, or an error", w->name);
  CHECK(fake.recorded >= 2 * tune.result.launches, "%s: times of nothing", w->name);
  CHECK(!w->tunes_beside || (tune.result.choice.threshold == 12 && tune.result.gain > 0.07 &&
                             tune.result.gain < 0.08),
        "%s: %d, for a gain of %g, not 4 of 54", w->name, tune.result.choice.threshold,
        tune.result.gain);
  memset(fake.fail, 0, sizeof fake.fail);
  for (int k = 0; k < 2; ++k) streams[k].done_us = streams[k].queued_us;
  for (int i = 0; i < 4000; ++i) launch(1000, &none);
  CHECK(tune.result.choice.threshold == 12 && tune.result.launches > 0, "after %s: %d", w->name,
        tune.result.choice.threshold);
  for (int k = 0; k < 2; ++k) arc_tune_cuda_close(&timer); /* twice is as good as once */
  CHECK(fake.alive == 0 && fake.mode == cudaStreamCaptureModeGlobal && timer.tune == NULL,
        "%s: %d events are left, or a mode", w->name, fake.alive);
}

int main(void) {
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; ++i) test_trouble(&troubles[i]);
  return test_end("test_tune_cuda");
}
