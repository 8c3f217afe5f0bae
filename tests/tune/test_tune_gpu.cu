/* test_tune_gpu.cu - the tuner with CUDA events on a GPU: a kernel of known times, and captures in
   the middle of the tuning. SPDX-License-Identifier: Apache-2.0 */
#include "../../bench/common/device.h"
#include "../../bench/common/test_check.h"
#include "../../bench/common/test_device.h"
#include "arc_tune.h"

/* Threshold 12 is the fastest, by 24 of the 174 thousand cycles of 8, which stands for arc's choice. */
static __global__ void spin(int threshold) {
  const int away = (threshold == ARC_THRESHOLD_AUTO ? 8 : threshold) - 12;
  const long long end = clock64() + 150000 + 6000 * (away < 0 ? -away : away);
  while (clock64() < end) continue;
}

int main() {
  static arc_tune t;
  static arc_tune_cuda timer;
  const arc_tune_config config = arc_tune_config_default();
  cudaStream_t stream;
  cudaGraph_t graph;
  if (!test_has_device("test_tune_gpu")) return TEST_SKIPPED;
  device_check(cudaStreamCreate(&stream), "a stream");
  timer.tune = &t;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
  for (int i = 0; i < 5000 && t.result.tunings == 0; ++i) {
    const bool captured = i >= 40 && i < 45;
    const unsigned ticket = t.ticket;
    if (captured) CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const arc_tune_policy p = arc_tune_cuda_begin(&timer, stream);
    spin<<<1, 1, 0, stream>>>(p.threshold);
    arc_tune_cuda_end(&timer, stream, p);
    if (captured) CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    if (captured) CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK(!captured || (p.ticket == 0 && t.ticket == ticket), "it went on when captured");
    if (i % 4 == 3) CHECK_CUDA(cudaStreamSynchronize(stream));
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  arc_tune_cuda_close(&timer);
  printf("threshold %d, %d launches, gain %.2f %%, cost %.1f\n", t.result.choice.threshold,
         t.result.launches, 100.0 * t.result.gain, t.result.cost);
  CHECK(t.result.choice.threshold >= 11 && t.result.choice.threshold <= 13, "not 12");
  CHECK(t.result.tunings == 1 && t.result.gain > 0.08 && t.result.gain < 0.17, "not 24 of 174");
  return test_end("test_tune_gpu");
}
