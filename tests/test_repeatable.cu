/* test_repeatable.cu - sums in fixed targets: the same bits in every run.
   SPDX-License-Identifier: Apache-2.0

   Values are any floats, so that a float sum in another order would differ. Each kernel runs five
   times, on the CPU warp under five schedules. The digests are committed: the CPU warp and every GPU
   must agree on them. Exact sums must have one digest, whatever the path, threshold and block. */
#include "check.cuh"

enum { THREADS = 32 * 156, ROWS = 40, WIDTH = 9, SCALE = 24, RUNS = 5 };
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
  arc_options masked = o, here = o;
  masked.lane_mask = 0xfffffu;
  here.lane_mask = ARC_LANES_HERE;
  CALL(false, ARC_PATH_AUTO)
  CALL(true, ARC_PATH_AUTO)
  CALL(true, ARC_PATH_ATOMIC)
  CALL(true, ARC_PATH_TREE)
  if (plan.form == PARTIAL && (n & 31) < 20)
    arc_add_with_fixed(target, key, values, active, masked);
  if (plan.form == DIVERGENT && active) {
    if (n & 1)
      arc_add_with_fixed(target, key, values, true, here);
    else
      arc_add_with_fixed(target, key, values, true, here);
  }
}

static void run(struct plan plan, unsigned long long must) {
  static int keys[THREADS];
  static float values[THREADS * WIDTH];
  static const char *const names[FORMS] = {"keyed", "uniform", "partial warps", "divergent"};
  struct check_random random = {0}; /* the same in every case: the digests are constants */
  if (!check_begin(names[plan.form], &random)) return;
  random = (struct check_random){2026};
  for (int n = 0; n < THREADS; ++n)
    keys[n] = (n / 32 * 7 + check_below(&random, 1 + n / 32 % 4)) % ROWS;
  for (int i = 0; i < THREADS * WIDTH; ++i)
    values[i] =
        ldexpf((float)check_below(&random, 1 << 24) - 8388608.0f, check_below(&random, 20) - 36);
  const test_memory<int> device_keys(keys);
  const test_memory<float> device_values(values);
  for (int i = 0; i < RUNS; ++i) {
    /* level (a) promises nothing about blocks; the exact one does */
    int block = plan.exact && i % 2 ? 32 : 96;
#if SIMT_ON_CPU
    simt_seed(1000u + (unsigned)i);
#endif
    const test_memory<long long> rows(ROWS * WIDTH);
    SIMT_LAUNCH(add, dim3(THREADS / block), dim3(block), 0, 0, plan, rows.at, device_keys.at,
                device_values.at);
    const unsigned long long digest = check_digest(rows.read());
    CHECK(digest == must, "%s%s, path %d, threshold %d, run %d: digest 0x%llx, must be 0x%llx",
          plan.exact ? "exact, " : "", names[plan.form], plan.path, plan.threshold, i, digest,
          must);
    check.compared += ROWS * WIDTH;
  }
}

/* As many additions of the largest value as the scale is for, by each way to sum. */
static __global__ void add_largest(float largest, int scale_log2, int calls, long long *sums) {
  const arc_target_fixed target = arc_target_fixed_rows(sums, 1, 1, scale_log2);
  arc_options always = arc_options_default();
  always.threshold = 0;
  arc_options serialized = always, exact = arc_options_default();
  serialized.path = ARC_PATH_SERIALIZED;
  exact.exact = true;
  for (int i = 0; i < calls; ++i) {
    arc_add_with_fixed(target, 0, &largest, true, always);
    arc_add_with_fixed(target, 1, &largest, true, serialized);
    arc_add_with_fixed(target, 2, &largest, true, exact);
  }
}

/* None is beyond the range; with the next scale, their sum is, or as close as sums are rounded. */
static void fits(float largest, int calls) {
  const double additions = 32.0 * calls, sum = additions * largest, limit = 9223372036854775808.0;
  const int scale = arc_fixed_scale_log2(fabsf(largest), additions);
  const test_memory<long long> device_sums(3);
  CHECK(scale == 126 || ldexp(fabs(sum), scale + 1) * (1 + 0x1p-18) + additions >= limit,
        "%d additions of %a: scale 2^%d, though 2^%d fits", 32 * calls, largest, scale, scale + 1);
  SIMT_LAUNCH(add_largest, dim3(1), dim3(32), 0, 0, largest, scale, calls, device_sums.at);
  const std::vector<long long> sums = device_sums.read();
  for (int i = 0; i < 3; ++i)
    CHECK(fabs((double)sums[i] - ldexp(sum, scale)) <= ldexp(fabs(sum), scale - 18) + additions,
          "%d additions of %a, scale 2^%d: sum %d is %lld", 32 * calls, largest, scale, i, sums[i]);
  check.compared += 3;
}

static void scales(void) {
  struct check_random random;
  if (!check_begin("scales", &random)) return;
  static const struct {
    double largest, additions;
    int scale;
  } edges[] = {{1, 1, 62},        {1, 134217728, 35},   {1, 134217216, 36},
               {0.75, 1e8, 36},   {0, 1e8, 126},        {1e-38, 1, 126},
               {3e38, 1, -65},    {1, 0, 126},          {0x1p-126, 0x1p62, 126},
               {0, 0x1p64, -127}, {3e38, 0x1p70, -127}, {NAN, 1, -127},
               {-1, 1, -127},     {-1e-30, 1, -127},    {1, -1, -127},
               {1, NAN, -127},    {INFINITY, 1, -127},  {-0.0, 1, 126}};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; ++i) {
    const int scale = arc_fixed_scale_log2(edges[i].largest, edges[i].additions);
    CHECK(scale == edges[i].scale, "%.9g additions of %.9g: scale 2^%d, must be 2^%d",
          edges[i].additions, edges[i].largest, scale, edges[i].scale);
  }
  fits(0x1.c71c7p+11f, 9); /* 288 fit, but not as the sums of 32, one after the other, round */
  for (int i = 0; i < 200; ++i) {
    const int shape = check_below(&random, 4), exponent = check_below(&random, 150) - 60;
    const float mantissa = shape == 0   ? 1.0f
                           : shape == 1 ? 1.0f - (float)(1 + check_below(&random, 4)) * 0x1p-24f
                                        : 0.5f + (float)check_below(&random, 1 << 23) * 0x1p-24f;
    fits(ldexpf(shape == 3 ? -mantissa : mantissa, exponent), 1 + check_below(&random, 16));
  }
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  scales();
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
