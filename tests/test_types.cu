/* test_types.cu - f64, i32, u32, i64, u64: every form on every path, one literal width a kernel.
   SPDX-License-Identifier: Apache-2.0

   Values fill their type, so that a lost half of a 64-bit word is seen: integers are any bits and
   wrap, doubles are multiples of 2^-8 below 2^32, whose sums are exact. Inactive lanes hold NaN or
   any bits, wild keys and wild pointers. */
#include "check.cuh"

enum { WARPS = 60, THREADS = 32 * WARPS, ROWS = 24, PADDING = 2, PIECE = 2 };
enum { KEYED, UNIFORM, MASKED, DIVERGENT, PIECES, POINTERS, SCALAR, FORMS };

static const char *const form_names[FORMS] = {"keyed",  "uniform",  "masked", "divergent",
                                              "pieces", "pointers", "scalar"};

struct plan {
  int form, path, threshold;
  unsigned active[WARPS], calling;
};

/* Rows of W values, `PADDING` apart; the pieces form has the first PIECE of them in `first`. */
#define KERNEL(S, T, W)                                                                          \
  static __global__ void add_##S##_##W(struct plan plan, T *rows, T *first, const int *keys,     \
                                       const T *all_values, T *const *all_pointers) {            \
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;               \
    bool active = (plan.active[thread >> 5] >> lane & 1u) != 0u;                                 \
    int key = keys[thread];                                                                      \
    T values[W], *pointers[W];                                                                   \
    for (int i = 0; i < W; ++i) values[i] = all_values[thread * W + i];                          \
    for (int i = 0; i < W; ++i) pointers[i] = all_pointers[thread * W + i];                      \
    arc_target_##S target = arc_target_##S##_rows(rows, W + PADDING, W);                         \
    arc_options o = arc_options_default();                                                       \
    o.threshold = plan.threshold;                                                                \
    if ((plan.calling >> lane & 1u) == 0u) return;                                               \
    if (plan.form == KEYED || plan.form == UNIFORM) {                                            \
      PATH(S, ARC_PATH_ATOMIC)                                                                   \
      PATH(S, ARC_PATH_SERIALIZED)                                                               \
      PATH(S, ARC_PATH_BUTTERFLY)                                                                \
      PATH(S, ARC_PATH_TRANSPOSED)                                                               \
      PATH(S, ARC_PATH_TREE)                                                                     \
      PATH(S, ARC_PATH_AUTO)                                                                     \
    } else if (plan.form == MASKED) {                                                            \
      arc_add_masked_##S(target, key, values, active, plan.calling, plan.threshold);             \
    } else if (plan.form == DIVERGENT) {                                                         \
      if (active) arc_add_divergent_##S(target, key, values, plan.threshold);                    \
    } else if (plan.form == PIECES) {                                                            \
      arc_piece_##S pieces[2] = {{first, PIECE, W > PIECE ? PIECE : W}, {rows, W + PADDING, W}};  \
      pieces[1].base += pieces[0].width;                                                         \
      pieces[1].width -= pieces[0].width;                                                        \
      arc_target_##S two = arc_target_##S##_pieces(pieces, W > PIECE ? 2 : 1);                   \
      arc_add_##S(two, key, values, active, plan.threshold);                                     \
    } else if (plan.form == POINTERS) {                                                          \
      arc_add_pointers_##S(pointers, W, key, values, active, plan.threshold);                    \
    } else {                                                                                     \
      for (int i = 0; i < W; ++i)                                                                \
        if (active) arc_atomic_add_##S(&rows[key * (W + PADDING) + i], values[i]);               \
    }                                                                                            \
  }

/* One of the two calls: `form` is not a literal, promises are. */
#define PATH(S, name)                                                      \
  if (plan.path == name) {                                                 \
    o.path = name;                                                         \
    if (plan.form == KEYED) arc_add_with_##S(target, key, values, active, o); \
    if (plan.form == UNIFORM) {                                            \
      o.promises |= ARC_PROMISE_ONE_KEY;                                   \
      arc_add_with_##S(target, key, values, active, o);                    \
    }                                                                      \
  }

static double draw_f64(struct check_random *random, bool active) {
  double value = ((double)check_bits(random) - 2147483648.0) + check_below(random, 256) / 256.0;
  return active ? value : __longlong_as_double(0x7ff8000000000000ll | check_bits(random));
}
static unsigned long long draw_u64(struct check_random *random, bool active) {
  return (unsigned long long)check_bits(random) << 32 | check_bits(random) | !active;
}
#define DRAW(S, T) \
  static T draw_##S(struct check_random *random, bool active) { return (T)draw_u64(random, active); }
DRAW(i32, int)
DRAW(u32, unsigned)
DRAW(i64, long long)

/* The sum that wraps. */
static double sum_f64(double a, double b) { return a + b; }
static unsigned long long sum_u64(unsigned long long a, unsigned long long b) { return a + b; }
static long long sum_i64(long long a, long long b) { return (long long)sum_u64(a, b); }
static unsigned sum_u32(unsigned a, unsigned b) { return a + b; }
static int sum_i32(int a, int b) { return (int)sum_u32((unsigned)a, (unsigned)b); }

static struct plan draw_plan(struct check_random *random, int form, int path) {
  static const int thresholds[] = {0, 2, 8, 33, ARC_THRESHOLD_AUTO};
  struct plan plan = {form, path, thresholds[check_below(random, 5)], {0u}, ARC_LANES_ALL};
  if (form == MASKED) plan.calling = check_bits(random) | 1u << check_below(random, 32);
  for (int w = 0; w < WARPS; ++w)
    plan.active[w] =
        check_mask(check_below(random, SHAPE_COUNT), check_below(random, 33), random) & plan.calling;
  return plan;
}

#define TYPE(S, T, W)                                                                           \
  KERNEL(S, T, W)                                                                               \
  static void run_##S##_##W(int form, int path) {                                               \
    static T values[THREADS * W], must[ROWS * (W + PADDING)], got[ROWS * (W + PADDING)];        \
    static T must_first[ROWS * PIECE], got_first[ROWS * PIECE], *pointers[THREADS * W];         \
    static int keys[THREADS];                                                                   \
    struct check_random random;                                                                 \
    if (!check_begin(#S " of width " #W, &random)) return;                                      \
    struct plan plan = draw_plan(&random, form, path);                                          \
    for (int i = 0; i < ROWS * (W + PADDING); ++i) must[i] = draw_##S(&random, true);           \
    for (int i = 0; i < ROWS * PIECE; ++i) must_first[i] = draw_##S(&random, true);             \
    T *rows = (T *)check_upload(must, sizeof must);                                             \
    T *first = (T *)check_upload(must_first, sizeof must_first);                                \
    for (int w = 0; w < WARPS; ++w) {                                                           \
      int groups = 1 + check_below(&random, 1 + check_below(&random, 8));                       \
      int origin = check_below(&random, ROWS);                                                  \
      for (int lane = 0; lane < 32; ++lane) {                                                   \
        int n = 32 * w + lane, group = form == UNIFORM ? 0 : check_below(&random, groups);      \
        bool active = (plan.active[w] >> lane & 1u) != 0u;                                      \
        keys[n] = active ? (origin + group) % ROWS : (int)check_bits(&random);                  \
        for (int i = 0; i < W; ++i) {                                                           \
          int at = active ? keys[n] * (W + PADDING) + i : 0;                                    \
          T *cell = form == PIECES && i < PIECE ? &must_first[keys[n] * PIECE + i] : &must[at]; \
          values[n * W + i] = draw_##S(&random, active);                                        \
          if (active) *cell = sum_##S(*cell, values[n * W + i]);                                \
          pointers[n * W + i] = active ? rows + at : (T *)(size_t)(check_bits(&random) | 1u);   \
        }                                                                                       \
      }                                                                                         \
    }                                                                                           \
    int *device_keys = (int *)check_upload(keys, sizeof keys);                                  \
    T *device_values = (T *)check_upload(values, sizeof values);                                \
    T **device_pointers = (T **)check_upload(pointers, sizeof pointers);                        \
    SIMT_LAUNCH(add_##S##_##W, dim3(WARPS / 2), dim3(64), 0, 0, plan, rows, first, device_keys, \
                device_values, device_pointers);                                                \
    CHECK_CUDA(cudaDeviceSynchronize());                                                        \
    CHECK_CUDA(cudaMemcpy(got, rows, sizeof got, cudaMemcpyDeviceToHost));                      \
    CHECK_CUDA(cudaMemcpy(got_first, first, sizeof got_first, cudaMemcpyDeviceToHost));         \
    for (int i = 0; i < ROWS * (W + PADDING); ++i)                                              \
      CHECK(got[i] == must[i], "%s, path %d, threshold %d: row %d, value %d is off by %g",      \
            form_names[form], path, plan.threshold, i / (W + PADDING), i % (W + PADDING),       \
            (double)got[i] - (double)must[i]);                                                  \
    for (int i = 0; i < ROWS * PIECE; ++i)                                                      \
      CHECK(got_first[i] == must_first[i], "first piece: row %d, value %d is off by %g",        \
            i / PIECE, i % PIECE, (double)got_first[i] - (double)must_first[i]);                \
    check.compared += ROWS * (W + PADDING + PIECE);                                             \
    CHECK_CUDA(cudaFree(rows));                                                                 \
    CHECK_CUDA(cudaFree(first));                                                                \
    CHECK_CUDA(cudaFree(device_keys));                                                          \
    CHECK_CUDA(cudaFree(device_values));                                                        \
    CHECK_CUDA(cudaFree(device_pointers));                                                      \
  }

TYPE(f64, double, 1)
TYPE(f64, double, 5)
TYPE(f64, double, 35)
TYPE(i32, int, 5)
TYPE(u32, unsigned, 3)
TYPE(i64, long long, 3)
TYPE(u64, unsigned long long, 10)

static void (*const runs[])(int form, int path) = {run_f64_1, run_f64_5, run_f64_35, run_i32_5,
                                                   run_u32_3, run_i64_3, run_u64_10};

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int round = 0; round < 3; ++round)
    for (size_t type = 0; type < sizeof runs / sizeof *runs; ++type)
      for (int form = 0; form < FORMS; ++form)
        for (int path = 1; path <= (form <= UNIFORM ? 6 : 1); ++path) runs[type](form, path);
  return check_finish();
}
