/* test_repeatable.cu - sums in fixed targets: the same bits in every run.
   SPDX-License-Identifier: Apache-2.0

   Values are any floats, so that a float sum in another order would differ. Each kernel runs ten
   times, on the CPU warp under ten schedules. The digests are committed: the CPU warp and every GPU
   must agree on them. Exact sums must have one digest, whatever the path, threshold and block. */
#include "check.cuh"

enum { THREADS = 32 * 156, ROWS = 40, WIDTH = 9, SCALE = 24, RUNS = 10 };
enum { KEYED, UNIFORM, PARTIAL, DIVERGENT, FORMS };

struct plan {
  int form, exact, path, threshold;
};

#define CALL(EXACT, PATH)                                                       \
  if (plan.exact == (EXACT) && plan.path == (PATH)) {                           \
    o.exact = EXACT;                                                            \
    o.path = PATH;                                                              \
    if (plan.form == KEYED) arc_add_with_fixed(target, key, values, active, o); \
    if (plan.form == UNIFORM) {                                                 \
      o.promises |= ARC_PROMISE_ONE_KEY;                                        \
      arc_add_with_fixed(target, shared_key, values, active, o);                \
    }                                                                           \
  }

static __global__ void add(struct plan plan, long long *rows, const int *keys,
                           const float *all_values) {
  int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int key = keys[n], shared_key = keys[n & ~31];
  bool active = (key ^ n) % 5 != 0;
  float values[WIDTH];
  for (int i = 0; i < WIDTH; ++i) values[i] = all_values[n * WIDTH + i];
  arc_target_fixed target = arc_target_fixed_rows(rows, WIDTH, WIDTH, SCALE);
  arc_options o = arc_options_default();
  o.threshold = plan.threshold;
  CALL(false, ARC_PATH_AUTO)
  CALL(true, ARC_PATH_AUTO)
  CALL(true, ARC_PATH_ATOMIC)
  CALL(true, ARC_PATH_TREE)
  if (plan.form == PARTIAL && (n & 31) < 20)
    arc_add_masked_fixed(target, key, values, active, 0xfffffu, plan.threshold);
  if (plan.form == DIVERGENT && active) {
    if (n & 1)
      arc_add_divergent_fixed(target, key, values, plan.threshold);
    else
      arc_add_divergent_fixed(target, key, values, plan.threshold);
  }
}

static unsigned long long digest_of(const long long *rows) {
  unsigned long long digest = 0xcbf29ce484222325ull;
  for (int i = 0; i < ROWS * WIDTH; ++i)
    digest = (digest ^ (unsigned long long)rows[i]) * 0x100000001b3ull;
  return digest;
}

static void run(struct plan plan, unsigned long long must) {
  static int keys[THREADS];
  static float values[THREADS * WIDTH];
  static long long rows[ROWS * WIDTH];
  static const char *const names[FORMS] = {"keyed", "uniform", "partial warps", "divergent"};
  struct check_random random = {0}; /* the same in every case: the digests are constants */
  if (!check_begin(names[plan.form], &random)) return;
  random = (struct check_random){2026};
  for (int n = 0; n < THREADS; ++n)
    keys[n] = (n / 32 * 7 + check_below(&random, 1 + n / 32 % 4)) % ROWS;
  for (int i = 0; i < THREADS * WIDTH; ++i)
    values[i] =
        ldexpf((float)check_below(&random, 1 << 24) - 8388608.0f, check_below(&random, 20) - 36);
  int *device_keys = (int *)check_upload(keys, sizeof keys);
  float *device_values = (float *)check_upload(values, sizeof values);
  long long *device_rows = NULL;
  CHECK_CUDA(cudaMalloc((void **)&device_rows, sizeof rows));
  for (int i = 0; i < RUNS; ++i) {
    /* level (a) promises nothing about blocks; the exact one does */
    int block = plan.exact && i % 2 ? 32 : 96;
#if SIMT_ON_CPU
    simt_seed(1000u + (unsigned)i);
#endif
    CHECK_CUDA(cudaMemset(device_rows, 0, sizeof rows));
    SIMT_LAUNCH(add, dim3(THREADS / block), dim3(block), 0, 0, plan, device_rows, device_keys,
                device_values);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(rows, device_rows, sizeof rows, cudaMemcpyDeviceToHost));
    CHECK(digest_of(rows) == must,
          "%s%s, path %d, threshold %d, run %d: digest 0x%llx, must be 0x%llx",
          plan.exact ? "exact, " : "", names[plan.form], plan.path, plan.threshold, i,
          digest_of(rows), must);
    check.compared += ROWS * WIDTH;
  }
  CHECK_CUDA(cudaFree(device_keys));
  CHECK_CUDA(cudaFree(device_values));
  CHECK_CUDA(cudaFree(device_rows));
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  /* exact: of the same updates, in whichever way they are called */
  const unsigned long long exact = 0xcae455e4eff8d144ull, exact_uniform = 0x57e537b93f019ebcull;
  run((struct plan){KEYED, false, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO}, 0x3949178d727d8f74ull);
  run((struct plan){KEYED, false, ARC_PATH_AUTO, 4}, 0x40ecca9485281afcull);
  run((struct plan){UNIFORM, false, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO}, 0x0d50439f7445a390ull);
  run((struct plan){PARTIAL, false, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO}, 0xbb36268affcadc75ull);
  run((struct plan){DIVERGENT, false, ARC_PATH_AUTO, ARC_THRESHOLD_AUTO}, exact);
  run((struct plan){DIVERGENT, false, ARC_PATH_AUTO, 33}, exact);
  static const int paths[] = {ARC_PATH_AUTO, ARC_PATH_ATOMIC, ARC_PATH_TREE};
  static const int thresholds[] = {0, 6, 33, ARC_THRESHOLD_AUTO};
  for (int path = 0; path < 3; ++path)
    for (int threshold = 0; threshold < 4; ++threshold) {
      run((struct plan){KEYED, true, paths[path], thresholds[threshold]}, exact);
      run((struct plan){UNIFORM, true, paths[path], thresholds[threshold]}, exact_uniform);
    }
  return check_finish();
}
