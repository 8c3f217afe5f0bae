/* test_tune_gpu.cu - the tuner with CUDA events on a GPU: its choice against an exhaustive search in
   the same run, a capture in the middle of a tuning, and what it costs the host.
   SPDX-License-Identifier: Apache-2.0 */
#include <chrono>
#include <stdio.h>
#include <stdlib.h>

#include "arc.cuh"
#include "arc_tune.h"

enum { WIDTH = 9, ROWS = 20000, BLOCKS = 1056, UPDATES = 64, REPEATS = 21, SKIPPED = 77 };

static int failures = 0;

#define CHECK(condition, ...)       \
  do {                              \
    if (!(condition)) {             \
      failures += 1;                \
      fprintf(stderr, "FAILED: ");  \
      fprintf(stderr, __VA_ARGS__); \
      fputc('\n', stderr);          \
    }                               \
  } while (0)

static void cuda_check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

static __device__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/* A tile renderer: one key a warp and update; a quarter of the warps has 1 to 4 active lanes, `full`
   of 8 are full, the rest anything. */
#define DEFINE_KERNEL(path)                                                                      \
  __global__ void kernel_##path(float *rows, int full, int threshold) {                          \
    arc_target_f32 target = arc_target_f32_rows(rows, 12, WIDTH);                                \
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32u, lane = threadIdx.x & 31u;     \
    for (int i = 0; i < UPDATES; ++i) {                                                          \
      unsigned draw = mix(warp * UPDATES + (unsigned)i), kind = draw >> 8 & 7u;                  \
      unsigned lanes = kind < 2u ? 1u + (draw >> 12) % 4u : 1u + (draw >> 12) % 32u;             \
      if ((int)kind >= 8 - full) lanes = 32u;                                                    \
      float values[WIDTH];                                                                       \
      for (int k = 0; k < WIDTH; ++k) values[k] = (float)(lane + (unsigned)k);                   \
      arc_add_uniform_##path##_f32(target, (int)(draw % ROWS), values, lane < lanes, threshold); \
    }                                                                                            \
  }
DEFINE_KERNEL(auto)
DEFINE_KERNEL(transposed)
DEFINE_KERNEL(butterfly)

static void launch(arc_tune_policy p, float *rows, int full, cudaStream_t stream) {
  switch (p.path) {
    case ARC_PATH_TRANSPOSED:
      kernel_transposed<<<BLOCKS, 256, 0, stream>>>(rows, full, p.threshold);
      break;
    case ARC_PATH_BUTTERFLY:
      kernel_butterfly<<<BLOCKS, 256, 0, stream>>>(rows, full, p.threshold);
      break;
    default:
      kernel_auto<<<BLOCKS, 256, 0, stream>>>(rows, full, p.threshold);
      break;
  }
}

static arc_tune_config make_config(void) {
  arc_tune_config config = arc_tune_config_default();
  config.path[2].path = ARC_PATH_TRANSPOSED;
  config.path[3].path = ARC_PATH_BUTTERFLY;
  config.path[2].uses_threshold = config.path[3].uses_threshold = 1;
  config.paths = 4;
  return config;
}

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Medians of every policy, taking turns: by candidate. */
static void search_exhaustively(const arc_tune *t, float *rows, int full, float *median_us) {
  static float times[ARC_TUNE__MAX_CANDIDATES][REPEATS];
  static int
      order[ARC_TUNE__MAX_CANDIDATES]; /* a launch feels what ran before it: never the same */
  unsigned random = 1u;
  cudaEvent_t start, stop;
  cuda_check(cudaEventCreate(&start), "event");
  cuda_check(cudaEventCreate(&stop), "event");
  for (int i = 0; i < t->candidates; ++i) order[i] = i;
  for (int repeat = -2; repeat < REPEATS; ++repeat)
    for (int k = 0; k < t->candidates; ++k) {
      random = random * 1664525u + 1013904223u;
      int other = k + (int)((random >> 8) % (unsigned)(t->candidates - k));
      int i = order[other];
      order[other] = order[k];
      order[k] = i;
      float ms = 0.0f;
      cuda_check(cudaEventRecord(start, 0), "record");
      launch(arc_tune__policy(t, i), rows, full, 0);
      cuda_check(cudaEventRecord(stop, 0), "record");
      cuda_check(cudaEventSynchronize(stop), "kernel");
      cuda_check(cudaEventElapsedTime(&ms, start, stop), "time");
      if (repeat >= 0) times[i][repeat] = 1000.0f * ms;
    }
  for (int i = 0; i < t->candidates; ++i) {
    qsort(times[i], REPEATS, sizeof(float), compare_floats);
    median_us[i] = times[i][REPEATS / 2];
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

/* A graph captured while a tuning is under way: the policy must be the one in use, the capture whole. */
static void capture(arc_tune *t, arc_tune_cuda *timer, float *rows, int full, cudaStream_t stream) {
  cudaGraph_t graph;
  arc_tune_policy policy;
  unsigned before = t->launch;
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < 4; ++i) {
    CHECK(arc_tune_cuda_begin(timer, stream, &policy) == ARC_TUNE_OK, "begin while captured");
    CHECK(policy.ticket == 0, "a captured launch is timed");
    launch(policy, rows, full, stream);
    CHECK(arc_tune_cuda_end(timer, stream) == ARC_TUNE_OK, "end while captured");
  }
  cuda_check(cudaStreamEndCapture(stream, &graph), "end capture");
  cuda_check(cudaGraphDestroy(graph), "graph");
  CHECK(t->launch == before, "the tuning went on while the stream was captured");
}

static void tune_workload(float *rows, int full) {
  static arc_tune t;
  static float median_us[ARC_TUNE__MAX_CANDIDATES];
  static char text[8192];
  arc_tune_cuda timer;
  arc_tune_config config = make_config();
  arc_tune_policy policy;
  cudaStream_t stream;
  int launches = 0, begun = 0;
  cuda_check(cudaStreamCreate(&stream), "stream");
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
  search_exhaustively(&t, rows, full, median_us);
  CHECK(arc_tune_cuda_open(&timer, &t) == ARC_TUNE_OK, "open");
  for (; launches < config.interval && !(begun && !arc_tune_is_tuning(&t)); ++launches) {
    begun = begun || arc_tune_is_tuning(&t);
    if (launches == 40) capture(&t, &timer, rows, full, stream);
    CHECK(arc_tune_cuda_begin(&timer, stream, &policy) == ARC_TUNE_OK, "begin");
    launch(policy, rows, full, stream);
    CHECK(arc_tune_cuda_end(&timer, stream) == ARC_TUNE_OK, "end");
    if (launches % 4 == 3) cuda_check(cudaStreamSynchronize(stream), "kernel");
  }
  cuda_check(cudaDeviceSynchronize(), "kernel");
  arc_tune_best(&t, &policy);
  float best = median_us[0], chosen = median_us[arc_tune__find(&t, policy.path, policy.threshold)];
  for (int i = 0; i < t.candidates; ++i) best = median_us[i] < best ? median_us[i] : best;
  printf(
      "%d of 8 updates full: %d launches, chosen %.1f us, best of all %d %.1f us, regret %.2f %%\n",
      full, launches, chosen, t.candidates, best, 100.0 * (chosen / best - 1.0f));
  arc_tune_explain(&t, text, sizeof text);
  printf("%s\n", text);
  CHECK(chosen <= 1.02f * best, "the regret is %.2f %%", 100.0 * (chosen / best - 1.0f));
  CHECK(!arc_tune_is_tuning(&t), "the tuning did not end within an interval");
  CHECK(arc_tune_cuda_close(&timer) == ARC_TUNE_OK, "close");
  cuda_check(cudaStreamDestroy(stream), "stream");
}

static void measure_host_cost(void) {
  static arc_tune t;
  arc_tune_cuda timer;
  arc_tune_config config = make_config();
  arc_tune_policy policy;
  enum { CALLS = 100000 };
  config.warmup = 1000000000;
  arc_tune_init(&t, &config);
  CHECK(arc_tune_cuda_open(&timer, &t) == ARC_TUNE_OK, "open");
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < CALLS; ++i) {
    arc_tune_cuda_begin(&timer, 0, &policy);
    arc_tune_cuda_end(&timer, 0);
  }
  std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  printf("begin and end between tunings: %.1f ns of the host\n", took.count() / CALLS);
  CHECK(took.count() / CALLS < 1000.0, "begin and end cost %.0f ns", took.count() / CALLS);
  arc_tune_cuda_close(&timer);
}

int main(void) {
  int devices = 0;
  float *rows = nullptr;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("skipped: no CUDA device\n");
    return SKIPPED;
  }
  cuda_check(cudaMalloc((void **)&rows, ROWS * 12 * sizeof(float)), "memory");
  cuda_check(cudaMemset(rows, 0, ROWS * 12 * sizeof(float)), "memory");
  for (int full = 0; full <= 6; full += 3) tune_workload(rows, full);
  measure_host_cost();
  cudaFree(rows);
  printf("test_tune_gpu: %d failures\n", failures);
  return failures > 0;
}
