/* test_tune_gpu.cu - the tuner with CUDA events on a GPU: over the sweep's workload models, its
   choice against an exhaustive search in the same run; a capture in the middle of a tuning; what it
   costs the host.
   SPDX-License-Identifier: Apache-2.0

   Prints one line a workload and width, with a head line:
     workload,width,chosen_path,chosen_threshold,best_path,best_threshold,regret_percent,iterations
   A threshold of 34 is the one as compiled, or none (atomic). */
#include <chrono>
#include <stdio.h>
#include <stdlib.h>

#include "simt/simt.cuh"

#include "arc.cuh"
#include "arc_tune.h"

#include "bench/sweep_workload.cu" /* what lanes and keys are drawn from */

enum { BLOCKS = 528, THREADS = 256, UPDATES = 256, ROWS = 100000, PADDING = 4 };
enum { REPEATS = 15, FINAL_REPEATS = 31, FINALISTS = 8, SKIPPED = 77 };

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

/* ---- kernels: each path with one key a block and with keys of the lanes' own ----------------- */

#define DEFINE_KERNEL(kind, name, W, add, threshold)                                         \
  static __global__ void __launch_bounds__(THREADS)                                          \
      kernel_##kind##_##name##_##W(const struct sweep_args a) {                              \
    struct sweep_lane lane = sweep_lane_begin(&a, blockIdx.x, threadIdx.x, blockDim.x);      \
    arc_target_f32 target = arc_target_f32_rows(a.rows, a.stride, W);                        \
    _Pragma("unroll 1") for (int u = 0; u < a.updates; ++u) {                                \
      struct sweep_update d = sweep_draw_##kind(&a, &lane);                                  \
      float values[W];                                                                       \
      sweep_values(values, W, d.active ? d.x : lane.setup.inactive_value, lane.setup.never); \
      add(target, d.key, values, d.active, threshold);                                       \
    }                                                                                        \
  }
#define DEFINE_KERNELS(W)                                                                \
  DEFINE_KERNEL(uniform, compiled, W, arc_add_uniform_auto_f32, ARC_BALANCE_THRESHOLD)   \
  DEFINE_KERNEL(uniform, auto, W, arc_add_uniform_auto_f32, a.threshold)                 \
  DEFINE_KERNEL(uniform, transposed, W, arc_add_uniform_transposed_f32, a.threshold)     \
  DEFINE_KERNEL(uniform, tree, W, arc_add_uniform_tree_f32, a.threshold)                 \
  DEFINE_KERNEL(uniform, butterfly, W, arc_add_uniform_butterfly_f32, a.threshold)       \
  DEFINE_KERNEL(uniform, atomic, W, arc_add_uniform_atomic_f32, a.threshold)             \
  DEFINE_KERNEL(keyed, compiled, W, arc_add_auto_f32, ARC_BALANCE_THRESHOLD)             \
  DEFINE_KERNEL(keyed, auto, W, arc_add_auto_f32, a.threshold)                           \
  DEFINE_KERNEL(keyed, transposed, W, arc_add_transposed_f32, a.threshold)               \
  DEFINE_KERNEL(keyed, tree, W, arc_add_tree_f32, a.threshold)                           \
  DEFINE_KERNEL(keyed, atomic, W, arc_add_atomic_f32, a.threshold)                       \
  static kernel_pointer find_kernel_##W(int uniform, arc_tune_policy p) {                \
    switch (p.path) {                                                                    \
      case ARC_PATH_ATOMIC:                                                              \
        return uniform ? kernel_uniform_atomic_##W : kernel_keyed_atomic_##W;            \
      case ARC_PATH_BUTTERFLY:                                                           \
        return kernel_uniform_butterfly_##W; /* with several keys it is plain atomics */ \
      case ARC_PATH_TRANSPOSED:                                                          \
        return uniform ? kernel_uniform_transposed_##W : kernel_keyed_transposed_##W;    \
      case ARC_PATH_TREE:                                                                \
        return uniform ? kernel_uniform_tree_##W : kernel_keyed_tree_##W;                \
      default:                                                                           \
        if (p.threshold == ARC_THRESHOLD_AUTO)                                           \
          return uniform ? kernel_uniform_compiled_##W : kernel_keyed_compiled_##W;      \
        return uniform ? kernel_uniform_auto_##W : kernel_keyed_auto_##W;                \
    }                                                                                    \
  }

typedef void (*kernel_pointer)(struct sweep_args a);
DEFINE_KERNELS(9)
DEFINE_KERNELS(3)

/* ---- workloads ------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  int id;
} workloads[] = {{"axes", SWEEP_WORKLOAD_AXES},
                 {"tile", SWEEP_WORKLOAD_TILE},
                 {"spheres", SWEEP_WORKLOAD_SPHERES},
                 {"cubemap", SWEEP_WORKLOAD_CUBEMAP},
                 {"hashgrid", SWEEP_WORKLOAD_HASHGRID},
                 {"pagerank", SWEEP_WORKLOAD_PAGERANK},
                 {"hot", SWEEP_WORKLOAD_HOT}};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

struct work {
  struct sweep_args args;
  int uniform, width;
};

/* Axes are 1 to 4 active lanes in one half of the updates, 1 to 32 in the other, of one key. */
static struct work make_work(int workload, int width, float *rows,
                             struct sweep_lane_setup *device_lanes) {
  struct sweep_lane_setup lanes[32];
  struct sweep_sizes sizes = {ROWS, PADDING, BLOCKS, THREADS, UPDATES, 1};
  struct sweep_cell cell;
  struct work w;
  int axes = workload == SWEEP_WORKLOAD_AXES;
  memset(&cell, 0, sizeof cell);
  cell.workload = workload;
  cell.width = width;
  cell.lanes = axes ? SWEEP_LANES_MIXED : SWEEP_LANES_MODEL;
  cell.shape = SWEEP_SHAPE_RANDOM;
  cell.call = axes ? SWEEP_CALL_UNIFORM : sweep_workload_call(workload);
  sweep_workload_args(&cell, &sizes, &w.args);
  sweep_workload_lanes(&cell, sizes.seed, lanes);
  cuda_check(cudaMemcpy(device_lanes, lanes, sizeof lanes, cudaMemcpyHostToDevice), "lanes");
  w.args.rows = rows;
  w.args.lanes = device_lanes;
  w.uniform = cell.call == SWEEP_CALL_UNIFORM;
  w.width = width;
  return w;
}

static void launch(const struct work *w, arc_tune_policy p, cudaStream_t stream) {
  struct sweep_args args = w->args;
  args.threshold = p.threshold;
  kernel_pointer kernel =
      w->width == 9 ? find_kernel_9(w->uniform, p) : find_kernel_3(w->uniform, p);
  kernel<<<BLOCKS, THREADS, 0, stream>>>(args);
}

static arc_tune_config make_config(int uniform) {
  static const int paths[] = {ARC_PATH_TRANSPOSED, ARC_PATH_TREE, ARC_PATH_ATOMIC,
                              ARC_PATH_BUTTERFLY};
  arc_tune_config config = arc_tune_config_default();
  for (int i = 0; i < 3 + uniform; ++i) {
    config.path[2 + i].path = paths[i];
    config.path[2 + i].uses_threshold = paths[i] != ARC_PATH_ATOMIC;
  }
  config.paths = 5 + uniform;
  return config;
}

/* ---- the exhaustive search ------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static float time_once(const struct work *w, arc_tune_policy p, cudaEvent_t start,
                       cudaEvent_t stop) {
  float ms = 0.0f;
  cuda_check(cudaEventRecord(start, 0), "record");
  launch(w, p, 0);
  cuda_check(cudaEventRecord(stop, 0), "record");
  cuda_check(cudaEventSynchronize(stop), "kernel");
  cuda_check(cudaEventElapsedTime(&ms, start, stop), "time");
  return 1000.0f * ms;
}

/* Medians of some candidates, by candidate. They take turns, in another order each time: a launch
   feels what ran before it. */
static void measure(const arc_tune *t, const struct work *w, int *candidate, int count, int repeats,
                    float *median_us) {
  static float times[ARC_TUNE__MAX_CANDIDATES][FINAL_REPEATS];
  unsigned random = 1u;
  cudaEvent_t start, stop;
  cuda_check(cudaEventCreate(&start), "event");
  cuda_check(cudaEventCreate(&stop), "event");
  for (int repeat = -1; repeat < repeats; ++repeat)
    for (int k = 0; k < count; ++k) {
      random = random * 1664525u + 1013904223u;
      int other = k + (int)((random >> 8) % (unsigned)(count - k)), i = candidate[other];
      candidate[other] = candidate[k];
      candidate[k] = i;
      float us = time_once(w, arc_tune__policy(t, i), start, stop);
      if (repeat >= 0) times[i][repeat] = us;
    }
  for (int k = 0; k < count; ++k) {
    float *of = times[candidate[k]];
    qsort(of, (size_t)repeats, sizeof *of, compare_floats);
    median_us[candidate[k]] = of[repeats / 2];
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

/* All candidates, then the fastest and the chosen one again and for longer: the fastest of a
   hundred medians was lucky. Returns the best; the regret is a share. */
static int search_exhaustively(const arc_tune *t, const struct work *w, int chosen, float *regret) {
  static float median_us[ARC_TUNE__MAX_CANDIDATES];
  static int candidate[ARC_TUNE__MAX_CANDIDATES];
  int best = chosen, finalists = 0;
  for (int i = 0; i < t->candidates; ++i) candidate[i] = i;
  measure(t, w, candidate, t->candidates, REPEATS, median_us);
  for (; finalists < FINALISTS; ++finalists)
    for (int i = finalists + 1; i < t->candidates; ++i)
      if (median_us[candidate[i]] < median_us[candidate[finalists]]) {
        int held = candidate[i];
        candidate[i] = candidate[finalists];
        candidate[finalists] = held;
      }
  int listed = 0;
  for (int i = 0; i < finalists; ++i) listed += candidate[i] == chosen;
  if (!listed) candidate[finalists++] = chosen;
  measure(t, w, candidate, finalists, FINAL_REPEATS, median_us);
  for (int i = 0; i < finalists; ++i)
    if (median_us[candidate[i]] < median_us[best]) best = candidate[i];
  *regret = median_us[chosen] / median_us[best] - 1.0f;
  return best;
}

/* ---- the tuner ------------------------------------------------------------------------------- */

/* A graph captured while a tuning is under way: the policy is the one in use, the capture whole. */
static void capture(arc_tune *t, arc_tune_cuda *timer, const struct work *w, cudaStream_t stream) {
  cudaGraph_t graph;
  arc_tune_policy policy;
  unsigned before = t->launch;
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < 4; ++i) {
    CHECK(arc_tune_cuda_begin(timer, stream, &policy) == ARC_TUNE_OK, "begin while captured");
    CHECK(policy.ticket == 0, "a captured launch is timed");
    launch(w, policy, stream);
    CHECK(arc_tune_cuda_end(timer, stream) == ARC_TUNE_OK, "end while captured");
  }
  cuda_check(cudaStreamEndCapture(stream, &graph), "end capture");
  cuda_check(cudaGraphDestroy(graph), "graph");
  CHECK(t->launch == before, "the tuning went on while the stream was captured");
}

/* Returns the launches that the tuning took. */
static int tune(arc_tune *t, const struct work *w) {
  arc_tune_cuda timer;
  arc_tune_policy policy;
  cudaStream_t stream;
  int launches = 0, begun = 0;
  cuda_check(cudaStreamCreate(&stream), "stream");
  CHECK(arc_tune_cuda_open(&timer, t) == ARC_TUNE_OK, "open");
  for (; launches < t->config.interval && !(begun && !arc_tune_is_tuning(t)); ++launches) {
    begun = begun || arc_tune_is_tuning(t);
    if (launches == 40) capture(t, &timer, w, stream);
    CHECK(arc_tune_cuda_begin(&timer, stream, &policy) == ARC_TUNE_OK, "begin");
    launch(w, policy, stream);
    CHECK(arc_tune_cuda_end(&timer, stream) == ARC_TUNE_OK, "end");
    if (launches % 4 == 3) cuda_check(cudaStreamSynchronize(stream), "kernel");
  }
  cuda_check(cudaDeviceSynchronize(), "kernel");
  CHECK(!arc_tune_is_tuning(t), "the tuning did not end within an interval");
  CHECK(arc_tune_cuda_close(&timer) == ARC_TUNE_OK, "close");
  cuda_check(cudaStreamDestroy(stream), "stream");
  return launches;
}

/* Until the clocks stand where they will stay. */
static void warm_up(float *rows, struct sweep_lane_setup *lanes) {
  struct work w = make_work(SWEEP_WORKLOAD_TILE, 9, rows, lanes);
  arc_tune_policy policy = {ARC_PATH_AUTO, ARC_THRESHOLD_AUTO, 0};
  auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)) {
    launch(&w, policy, 0);
    cuda_check(cudaDeviceSynchronize(), "kernel");
  }
}

static void tune_workload(int index, int width, float *rows, struct sweep_lane_setup *lanes) {
  static arc_tune t;
  static char text[8192];
  struct work w = make_work(workloads[index].id, width, rows, lanes);
  arc_tune_config config = make_config(w.uniform);
  arc_tune_policy chosen;
  float regret = 0.0f;
  CHECK(arc_tune_init(&t, &config) == ARC_TUNE_OK, "init");
  int launches = tune(&t, &w);
  arc_tune_best(&t, &chosen);
  int best_index =
      search_exhaustively(&t, &w, arc_tune__find(&t, chosen.path, chosen.threshold), &regret);
  arc_tune_policy best = arc_tune__policy(&t, best_index);
  printf("%s,%d,%s,%d,%s,%d,%.2f,%d\n", workloads[index].name, width,
         arc_tune__path_name(chosen.path), chosen.threshold, arc_tune__path_name(best.path),
         best.threshold, 100.0 * regret, launches);
  fflush(stdout);
  CHECK(regret <= 0.02f, "%s, width %d: the regret is %.2f %%", workloads[index].name, width,
        100.0 * regret);
  if (regret <= 0.02f) return;
  arc_tune_explain(&t, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

/* ---- the host -------------------------------------------------------------------------------- */

enum { CALLS = 100000 };

static void expect_cheap(const char *what, std::chrono::steady_clock::time_point begin) {
  std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  printf("%s between tunings: %.1f ns of the host\n", what, took.count() / CALLS);
  CHECK(took.count() / CALLS < 1000.0, "%s cost %.0f ns", what, took.count() / CALLS);
}

static void measure_host_cost(void) {
  static arc_tune t;
  arc_tune_cuda timer;
  arc_tune_config config = make_config(1);
  arc_tune_policy policy;
  config.warmup = 1000000000;
  arc_tune_init(&t, &config);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < CALLS; ++i) {
    arc_tune_next(&t, &policy);
    arc_tune_report(&t, 1.0);
  }
  expect_cheap("next and report", begin);
  CHECK(arc_tune_cuda_open(&timer, &t) == ARC_TUNE_OK, "open");
  begin = std::chrono::steady_clock::now();
  for (int i = 0; i < CALLS; ++i) {
    arc_tune_cuda_begin(&timer, 0, &policy);
    arc_tune_cuda_end(&timer, 0);
  }
  expect_cheap("begin and end", begin);
  arc_tune_cuda_close(&timer);
}

int main(void) {
  int devices = 0;
  float *rows = nullptr;
  struct sweep_lane_setup *lanes = nullptr;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("skipped: no CUDA device\n");
    return SKIPPED;
  }
  cuda_check(cudaMalloc((void **)&rows, ROWS * 12 * sizeof(float)), "memory");
  cuda_check(cudaMemset(rows, 0, ROWS * 12 * sizeof(float)), "memory");
  cuda_check(cudaMalloc((void **)&lanes, 32 * sizeof *lanes), "memory");
  printf(
      "workload,width,chosen_path,chosen_threshold,best_path,best_threshold,regret_percent,"
      "iterations\n");
  warm_up(rows, lanes);
  for (int i = 0; i < WORKLOADS; ++i) {
    tune_workload(i, 9, rows, lanes);
    tune_workload(i, 3, rows, lanes);
  }
  measure_host_cost();
  cudaFree(lanes);
  cudaFree(rows);
  printf("test_tune_gpu: %d failures\n", failures);
  return failures > 0;
}
