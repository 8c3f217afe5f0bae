/* test_keys.cu - keys of 64 bits: two that share their low word name two rows, and are two groups;
   unsigned keys, which are ints of their bits.
   SPDX-License-Identifier: Apache-2.0

   The rows of keys k and k - 2^32 lie 48 GiB apart, in address space that is reserved and, but for
   its ends, never touched; on a GPU with less memory the test skips. */
#include "check.cuh"

#include "arc/hot.cuh"

#if SIMT_ON_CPU
#include <sys/mman.h>
#endif

enum { WARPS = 64, THREADS = 32 * WARPS, ROWS = 8, WIDTH = 3 };
enum { HOT = ARC_PATH_AUTO + 1, HOT_ROWS = 3, CALLS = 3 };

struct plan {
  int path, uniform, threshold;
  long long first_hot;
  unsigned active[WARPS];
};

#define PATH(name)                                                           \
  if (plan.path == name) {                                                   \
    o.path = name;                                                           \
    if (!plan.uniform) arc_add_with_f32(target, keys[n], values, active, o); \
    o.promises |= ARC_PROMISE_ONE_KEY;                                       \
    if (plan.uniform) arc_add_with_f32(target, keys[n], values, active, o);  \
  }

static __global__ void add(struct plan plan, float *row_0, const long long *keys,
                           const float *all_values) {
  int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  bool active = (plan.active[n >> 5] >> (n & 31) & 1u) != 0u;
  float values[WIDTH];
  for (int i = 0; i < WIDTH; ++i) values[i] = all_values[n * WIDTH + i];
  arc_target_f32 target = arc_target_f32_rows(row_0, WIDTH, WIDTH);
  arc_options o = arc_options_default();
  o.key_bits = 64;
  o.threshold = plan.threshold;
  PATH(ARC_PATH_ATOMIC)
  PATH(ARC_PATH_TRANSPOSED)
  PATH(ARC_PATH_TREE)
  PATH(ARC_PATH_AUTO)
  if (plan.path != HOT) return;
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), HOT_ROWS, WIDTH, 64) / sizeof(float)];
  for (int i = 0; i < WIDTH; ++i) values[i] /= CALLS;
  arc_hot_f32 hot = arc_hot_begin_f32(target, shared, plan.first_hot, HOT_ROWS);
  for (int call = 0; call < CALLS; ++call) arc_hot_add_with_f32(&hot, keys[n], values, active, o);
  arc_hot_end_f32(&hot);
}

static const size_t apart = (size_t)WIDTH * sizeof(float) << 32;

static float *reserve(size_t bytes) {
#if SIMT_ON_CPU
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : (float *)memory;
#else
  void *memory = NULL;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? (float *)memory : NULL;
#endif
}

static void run(char *memory, int path, int uniform) {
  static long long keys[THREADS];
  static float values[THREADS * WIDTH], must[2][ROWS * WIDTH], got[ROWS * WIDTH];
  struct check_random random;
  if (!check_begin("64-bit keys", &random)) return;
  const long long below = check_below(&random, 2);
  struct plan plan = {path,
                      uniform,
                      check_below(&random, 2) ? ARC_THRESHOLD_AUTO : 3,
                      check_below(&random, ROWS) - (below << 32),
                      {0u}};
  memset(must, 0, sizeof must);
  for (int w = 0; w < WARPS; ++w) {
    plan.active[w] = check_any_mask(-1, &random);
    int rows = uniform ? 1 : 1 + check_below(&random, 3), first = check_below(&random, ROWS);
    int halves = uniform ? 1 : 2, half = check_below(&random, 2);
    for (int n = 32 * w; n < 32 * w + 32; ++n) {
      int row = (first + check_below(&random, rows)) % ROWS;
      int below = (half + check_below(&random, halves)) % 2;
      bool active = (plan.active[w] >> (n & 31) & 1u) != 0u;
      keys[n] = active || uniform ? (long long)row - ((long long)below << 32)
                                  : (long long)check_bits(&random) << 32;
      for (int i = 0; i < WIDTH; ++i) {
        values[n * WIDTH + i] = active ? (float)(CALLS * check_below(&random, 300)) : (float)NAN;
        if (active) must[below][row * WIDTH + i] += values[n * WIDTH + i];
      }
    }
  }
  char *ends[2] = {memory + apart, memory};
  for (int i = 0; i < 2; ++i) CHECK_CUDA(cudaMemset(ends[i], 0, sizeof got));
  const test_memory<long long> device_keys(keys);
  const test_memory<float> device_values(values);
  SIMT_LAUNCH(add, dim3(WARPS / 2), dim3(64), 0, 0, plan, (float *)ends[0], device_keys.at,
              device_values.at);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int below = 0; below < 2; ++below) {
    CHECK_CUDA(cudaMemcpy(got, ends[below], sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * WIDTH; ++i)
      CHECK(got[i] == must[below][i],
            "path %d%s, threshold %d: key %d%s, value %d is %g, must be %g", path,
            uniform ? ", uniform" : "", plan.threshold, i / WIDTH, below ? " - 2^32" : "",
            i % WIDTH, (double)got[i], (double)must[below][i]);
    check.compared += ROWS * WIDTH;
  }
}

/* Row n - 4 by key (unsigned)(n - 4); before: what memory holds before the hot rows end. */
static __global__ void add_unsigned(float *row_0, float *before, unsigned first) {
  __shared__ float shared[ARC_HOT_BYTES(sizeof(float), HOT_ROWS, 1, 64) / sizeof(float)];
  const int row = (int)threadIdx.x % ROWS;
  const unsigned key = (unsigned)(row - ROWS / 2);
  const float value = 1;
  const arc_target_f32 target = arc_target_f32_rows(row_0, 1, 1);
  const arc_hot_f32 hot = arc_hot_begin_f32(target, shared, first, HOT_ROWS);
  for (int call = 0; call < CALLS; ++call) arc_hot_add_f32(&hot, key, &value, true);
  __syncthreads();
  before[row] = row_0[(int)key];
  arc_hot_end_f32(&hot);
}

static void run_unsigned(unsigned first) {
  struct check_random random;
  if (!check_begin("unsigned keys", &random)) return;
  const test_memory<float> rows(std::vector<float>(2 * ROWS, 0.0f));
  SIMT_LAUNCH(add_unsigned, dim3(1), dim3(64), 0, 0, rows.at + ROWS / 2, rows.at + ROWS, first);
  const std::vector<float> got = rows.read();
  for (int i = 0; i < ROWS; ++i) {
    const int key = i - ROWS / 2, sum = CALLS * 64 / ROWS;
    const bool is_hot = key >= (int)first && key < (int)first + HOT_ROWS;
    CHECK(got[i] == sum && got[ROWS + i] == (is_hot ? 0 : sum),
          "first key %d: row %d is %g, and was %g before the end", (int)first, key, (double)got[i],
          (double)got[ROWS + i]);
  }
  check.compared += 2 * ROWS;
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int first = -ROWS; first < ROWS; ++first) run_unsigned((unsigned)first);
  static const int paths[] = {
      ARC_PATH_ATOMIC, ARC_PATH_TRANSPOSED, ARC_PATH_TREE, ARC_PATH_AUTO, HOT};
  char *memory = (char *)reserve(apart + ROWS * WIDTH * sizeof(float));
  if (!memory) {
    printf("skipped: no room for rows that lie 2^32 keys apart\n");
    return CHECK_SKIPPED;
  }
  for (int round = 0; round < 20; ++round)
    for (int path = 0; path < 5; ++path)
      for (int uniform = 0; uniform < 2; ++uniform) run(memory, paths[path], uniform);
  return check_finish();
}
