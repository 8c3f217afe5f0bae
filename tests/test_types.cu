/* test_types.cu - values of each type into memory of each type: every form on every path.
   SPDX-License-Identifier: Apache-2.0

   Every sum has one right answer: integers are any bits and wrap; floats are small multiples of a
   power of two, whose partial sums all are representable in memory; into fixed memory with
   options.exact they are any floats, rounded one by one. Inactive lanes hold NaN or any bits, wild
   keys and wild pointers. */
#include "check.cuh"

enum { WARPS = 60, THREADS = 32 * WARPS, ROWS = 24, PIECE = 2, SCALE = 11 };
enum { FIRST_HOT = 3, HOT_ROWS = 14, BLOCK = 64 };
/* clang-format off */
#define EACH_FORM(X)                                                           \
  X(KEYED) X(UNIFORM) X(MASKED) X(DIVERGENT) X(PIECES) X(HOT) X(HOT_HERE)       \
  X(SUMS) X(SUMS_UNIFORM) X(POINTERS) X(SCALAR) X(ATOMRED)
/* clang-format on */
#define NUMBER(form) form,
#define NAME(form) #form,
enum { EACH_FORM(NUMBER) FORMS };
static const char *const form_names[FORMS] = {EACH_FORM(NAME)};

struct plan {
  int form, path, threshold;
  unsigned active[WARPS], calling;
  int stride, shift; /* in values; shift: where row 0 begins in its allocation */
};

/* What the instances differ in: the rows' target, two pieces (of another scale), the form for the
   papers' pointers and the scalar one, which have no other memory than their own. */
#define ROWS_OWN(S, base, W) arc_target_##S##_rows(base, plan.stride, W)
#define ROWS_fixed(S, base, W) arc_target_fixed_rows(base, plan.stride, W, SCALE)

#define PIECES_OF(S, first, rows, W, SCALE_OF_FIRST, SCALE)                              \
  const arc_piece_##S pieces[2] = {{first, PIECE, W > PIECE ? PIECE : W SCALE_OF_FIRST}, \
                                   {rows + PIECE, plan.stride, W - PIECE SCALE}};        \
  arc_target_##S two = arc_target_##S##_pieces(pieces, W > PIECE ? 2 : 1);
#define AND_SCALE(scale) , scale
#define PIECES_OWN(S, first, rows, W) PIECES_OF(S, first, rows, W, , )
#define PIECES_fixed(S, first, rows, W) \
  PIECES_OF(S, first, rows, W, AND_SCALE(SCALE + 3), AND_SCALE(SCALE))

#define OWN_FORMS(S, T, W)                                                                   \
  T *pointers[W];                                                                            \
  for (int i = 0; i < W; ++i) pointers[i] = all_pointers[thread * W + i];                    \
  if (plan.form == POINTERS) arc_add_pointers_with_##S(pointers, W, key, values, active, o); \
  for (int i = 0; i < W && plan.form == SCALAR; ++i)                                         \
    if (active) arc_atomic_add_##S(&rows[key * plan.stride + i], values[i]);                 \
  for (int i = 0; i < W && plan.form == ATOMRED; ++i)                                        \
    if (active) arc_atomred_##S(&rows[key * plan.stride + i], values[i]);
#define NO_FORMS(S, T, W) (void)all_pointers;
#define LAST_OWN_FORMS ATOMRED
#define LAST_NO_FORMS SUMS_UNIFORM

/* Sums of hot rows are values; of fixed memory, whose bytes they have. */
#define SUM_T_OWN(T) T
#define SUM_T_fixed(T) long long
#define HOT_FORMS(S, T, W)                                                    \
  __shared__ T hot_sums[ARC_HOT_SUMS(HOT_ROWS, W, BLOCK)];                    \
  arc_hot_##S hot = arc_hot_begin_##S(target, hot_sums, FIRST_HOT, HOT_ROWS); \
  if (plan.form == HOT) {                                                     \
    arc_hot_add_with_##S(&hot, key, values, active, o);                       \
    arc_hot_end_##S(&hot, true);                                              \
  } else if (active) { /* the others are gone */                              \
    o.lane_mask = ARC_LANES_HERE;                                             \
    arc_hot_add_with_##S(&hot, key, values, true, o);                         \
    arc_hot_end_##S(&hot, false);                                             \
  }
#define SUM_FORMS(S)                                                             \
  if (plan.form == SUMS_UNIFORM) o.promises |= ARC_PROMISE_ONE_KEY;              \
  for (arc_sum_##S sum = arc_sum_begin_with_##S(target, key, values, active, o); \
       arc_sum_next_##S(&sum);)                                                  \
    arc_sum_add_##S(&sum);

/* One of two calls: the path and the promises are literals, `form` is none. Programs for the GPU,
   which take long to compile, leave out what is ON_CPU or, unless TEST_TYPES_ALL asks for it, in
   ALL. */
#if !defined(TEST_TYPES_ALL)
#define TEST_TYPES_ALL SIMT_ON_CPU
#endif
#if SIMT_ON_CPU
#define ON_CPU(...) __VA_ARGS__
#else
#define ON_CPU(...)
#endif
#define PATH(S, name)                                                         \
  if (plan.path == name) {                                                    \
    o.path = name;                                                            \
    if (plan.form == KEYED) arc_add_with_##S(target, key, values, active, o); \
    if (plan.form == UNIFORM) {                                               \
      o.promises |= ARC_PROMISE_ONE_KEY;                                      \
      arc_add_with_##S(target, key, values, active, o);                       \
    }                                                                         \
  }
#if TEST_TYPES_ALL
#define ALL(...) __VA_ARGS__
#define HAS_FORM(form) true
#define PATHS(S)               \
  PATH(S, ARC_PATH_ATOMIC)     \
  PATH(S, ARC_PATH_SERIALIZED) \
  PATH(S, ARC_PATH_BUTTERFLY)  \
  PATH(S, ARC_PATH_TRANSPOSED) \
  PATH(S, ARC_PATH_TREE)       \
  PATH(S, ARC_PATH_AUTO)
enum { FIRST_PATH = ARC_PATH_ATOMIC };
#else
#define ALL(...)
#define HAS_FORM(form) (form != MASKED && form != DIVERGENT)
#define PATHS(S) PATH(S, ARC_PATH_AUTO)
enum { FIRST_PATH = ARC_PATH_AUTO };
#endif

#define KERNEL(N, S, T, M, INTO, OTHERS, EXACT, W)                                           \
  static __global__ void add_##N##_##W(struct plan plan, M *rows, M *first, const int *keys, \
                                       const T *all_values, T *const *all_pointers) {        \
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;           \
    bool active = (plan.active[thread >> 5] >> lane & 1u) != 0u;                             \
    int key = keys[thread];                                                                  \
    T values[W];                                                                             \
    for (int i = 0; i < W; ++i) values[i] = all_values[thread * W + i];                      \
    arc_target_##S target = ROWS_##INTO(S, rows, W);                                         \
    arc_options o = arc_options_default();                                                   \
    o.threshold = plan.threshold;                                                            \
    o.exact = EXACT;                                                                         \
    CHECK_BEFORE_UPDATE(0);                                                                  \
    if ((plan.calling >> lane & 1u) == 0u) return;                                           \
    if (plan.form == KEYED || plan.form == UNIFORM) {                                        \
      PATHS(S)                                                                               \
    } else if (plan.form == PIECES) {                                                        \
      PIECES_##INTO(S, first, rows, W) arc_add_with_##S(two, key, values, active, o);        \
    } else if (plan.form == SUMS || plan.form == SUMS_UNIFORM) {                             \
      SUM_FORMS(S)                                                                           \
    } else if (plan.form == HOT || plan.form == HOT_HERE) {                                  \
      HOT_FORMS(S, SUM_T_##INTO(T), W)                                                       \
    } /* clang-format off */                                                               \
    ALL(else if (plan.form == MASKED) {                                                    \
      o.lane_mask = plan.calling;                                                          \
      arc_add_with_##S(target, key, values, active, o);                                    \
    } else if (plan.form == DIVERGENT) {                                                   \
      o.lane_mask = ARC_LANES_HERE;                                                        \
      if (active) arc_add_with_##S(target, key, values, active, o);                        \
    })                                                                                     \
    OTHERS(S, T, W)                                                                        \
  } /* clang-format on */

#define UNUSED __attribute__((unused)) /* in some parts */
UNUSED static inline float float_of(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A multiple of 1 / parts below `below`. */
UNUSED static inline float draw_float(struct check_random *random, bool active, int below,
                                      int parts) {
  float value = (float)(check_below(random, 2 * below * parts + 1) - below * parts) / (float)parts;
  return active ? value : float_of(0x7fc00000u | check_below(random, 1 << 20));
}

/* Values of each instance, and what memory holds after one more of them. `of` and `in` translate
   between memory and the numbers that are summed, of the type that the name A_... has. */
#define MEMORY_INTEGER(N, T)                                           \
  typedef unsigned long long A_##N;                                    \
  static inline T draw_##N(struct check_random *random, bool active) { \
    return (T)draw_bits(random, active);                               \
  }                                                                    \
  static inline T in_##N(A_##N a) { return (T)a; }                     \
  static inline A_##N of_##N(T cell) { return (A_##N)cell; }           \
  static inline A_##N sum_##N(A_##N a, T value, int scale) {           \
    (void)scale;                                                       \
    return of_##N(in_##N(a + (A_##N)value));                           \
  }
#define MEMORY_FLOAT(N, T, M, DRAW, IN, OF)                                           \
  typedef double A_##N;                                                               \
  static inline T draw_##N(struct check_random *random, bool active) { return DRAW; } \
  static inline M in_##N(A_##N a) { return IN; }                                      \
  static inline A_##N of_##N(M cell) { return OF; }                                   \
  static inline A_##N sum_##N(A_##N a, T value, int scale) {                          \
    return (void)scale, a + (double)value;                                            \
  }
#define MEMORY_FIXED(N, DRAW)                                                             \
  typedef long long A_##N;                                                                \
  static inline float draw_##N(struct check_random *random, bool active) { return DRAW; } \
  static inline long long in_##N(A_##N a) { return a; }                                   \
  static inline A_##N of_##N(long long cell) { return cell; }                             \
  static inline A_##N sum_##N(A_##N a, float value, int scale) {                          \
    return a + llrint(ldexp((double)value, scale));                                       \
  }

static inline bool has_one_key(int form) { return form == UNIFORM || form == SUMS_UNIFORM; }

static struct plan draw_plan(struct check_random *random, int form, int path, int width) {
  static const int thresholds[] = {0, 2, 8, 33, ARC_THRESHOLD_AUTO};
  struct plan plan = {form, path, thresholds[check_below(random, 5)], {0u}, ARC_LANES_ALL, 0, 0};
  plan.stride = width + check_below(random, 8);
  if (check_below(random, 2)) plan.stride = (plan.stride + 7) / 8 * 8;
  plan.shift = check_below(random, 9);
  if (form == MASKED) plan.calling = check_bits(random) | 1u << check_below(random, 32);
  for (int w = 0; w < WARPS; ++w) plan.active[w] = check_any_mask(-1, random) & plan.calling;
  return plan;
}

#define RUN(N, S, T, M, INTO, OTHERS, EXACT, W)                                                \
  KERNEL(N, S, T, M, INTO, OTHERS, EXACT, W)                                                   \
  static void run_##N##_##W(int form, int path) {                                              \
    enum { CELLS = ROWS * (W + 15) + 16 };                                                     \
    static T values[THREADS * W], *pointers[THREADS * W];                                      \
    static A_##N must[CELLS], must_first[ROWS * PIECE];                                        \
    static M cells[CELLS], first_cells[ROWS * PIECE];                                          \
    static int keys[THREADS];                                                                  \
    struct check_random random;                                                                \
    if (form > LAST_##OTHERS || !HAS_FORM(form)) return;                                       \
    if (EXACT && (form == SUMS || form == SUMS_UNIFORM)) return;                               \
    if (!check_begin(#N " of width " #W, &random)) return;                                     \
    struct plan plan = draw_plan(&random, form, path, W);                                      \
    for (int i = 0; i < CELLS; ++i) {                                                          \
      A_##N *cell = i < ROWS * PIECE ? &must_first[i] : &must[i];                              \
      *cell = of_##N(in_##N(sum_##N(0, draw_##N(&random, true), SCALE)));                      \
      must[i] = of_##N(in_##N(sum_##N(0, draw_##N(&random, true), SCALE)));                    \
      cells[i] = in_##N(must[i]);                                                              \
      if (i < ROWS * PIECE) first_cells[i] = in_##N(must_first[i]);                            \
    }                                                                                          \
    const test_memory<M> memory(cells), first(first_cells);                                   \
    for (int w = 0; w < WARPS; ++w) {                                                          \
      int groups = 1 + check_below(&random, 1 + check_below(&random, 8));                      \
      int origin = check_below(&random, ROWS);                                                 \
      for (int lane = 0; lane < 32; ++lane) {                                                  \
        int n = 32 * w + lane, group = has_one_key(form) ? 0 : check_below(&random, groups);   \
        bool active = (plan.active[w] >> lane & 1u) != 0u;                                     \
        keys[n] =                                                                              \
            active || has_one_key(form) ? (origin + group) % ROWS : (int)check_bits(&random);  \
        for (int i = 0; i < W; ++i) {                                                          \
          bool is_first = form == PIECES && i < PIECE;                                         \
          int at = active ? keys[n] * plan.stride + i + plan.shift : 0;                        \
          A_##N *cell = is_first ? &must_first[active ? keys[n] * PIECE + i : 0] : &must[at];  \
          values[n * W + i] = draw_##N(&random, active);                                       \
          if (active) *cell = sum_##N(*cell, values[n * W + i], is_first ? SCALE + 3 : SCALE); \
          pointers[n * W + i] =                                                                \
              active ? (T *)memory.at + at : (T *)(size_t)(check_bits(&random) | 1u);          \
        }                                                                                      \
      }                                                                                        \
    }                                                                                          \
    const test_memory<int> device_keys(keys);                                                 \
    const test_memory<T> device_values(values);                                               \
    const test_memory<T *> device_pointers(pointers);                                         \
    SIMT_LAUNCH(add_##N##_##W, dim3(THREADS / BLOCK), dim3(BLOCK), 0, 0, plan,                 \
                memory.at + plan.shift, first.at, device_keys.at, device_values.at,            \
                device_pointers.at);                                                           \
    const std::vector<M> got = memory.read(), got_first = first.read();                        \
    for (int i = 0; i < CELLS; ++i)                                                            \
      CHECK(of_##N(got[i]) == must[i],                                                         \
            "%s, path %d, threshold %d, stride %d, shift %d: cell %d "                         \
            "is %.9g and must be %.9g",                                                        \
            form_names[form], path, plan.threshold, plan.stride, plan.shift, i,                \
            (double)of_##N(got[i]), (double)must[i]);                                          \
    for (int i = 0; i < ROWS * PIECE; ++i)                                                     \
      CHECK(of_##N(got_first[i]) == must_first[i],                                             \
            "first piece, threshold %d: cell %d is %.9g "                                      \
            "and must be %.9g",                                                                \
            plan.threshold, i, (double)of_##N(got_first[i]), (double)must_first[i]);           \
    check.compared += CELLS + ROWS * PIECE;                                                    \
  }

/* Sources are compiled in parts, to spread the compiler's time: TEST_TYPES_PART. */
#if TEST_TYPES_PART == 1
static inline double draw_double(struct check_random *random, bool active) {
  double value = ((double)check_bits(random) - 2147483648.0) + check_below(random, 256) / 256.0;
  return active ? value : (double)float_of(0x7fc00000u | check_below(random, 1 << 20));
}
MEMORY_FLOAT(f64, double, double, draw_double(random, active), a, cell)
MEMORY_FLOAT(f32_f64, float, double, draw_float(random, active, 64, 16), a, cell)
ON_CPU(RUN(f64, f64, double, double, OWN, OWN_FORMS, false, 1))
RUN(f64, f64, double, double, OWN, OWN_FORMS, false, 9)
ON_CPU(RUN(f64, f64, double, double, OWN, OWN_FORMS, false, 35))
RUN(f32_f64, f32_to_f64, float, double, OWN, NO_FORMS, false, 9)
static void (*const runs[])(int, int) = {ON_CPU(run_f64_1, ) run_f64_9,
                                         ON_CPU(run_f64_35, ) run_f32_f64_9};
#elif TEST_TYPES_PART == 2
static inline unsigned long long draw_bits(struct check_random *random, bool active) {
  return (unsigned long long)check_bits(random) << 32 | check_bits(random) | !active;
}
MEMORY_INTEGER(i32, int)
ALL(MEMORY_INTEGER(u32, unsigned))
ALL(MEMORY_INTEGER(i64, long long))
MEMORY_INTEGER(u64, unsigned long long)
RUN(i32, i32, int, int, OWN, OWN_FORMS, false, 1)
RUN(i32, i32, int, int, OWN, OWN_FORMS, false, 5)
ALL(RUN(u32, u32, unsigned, unsigned, OWN, OWN_FORMS, false, 3))
ALL(RUN(i64, i64, long long, long long, OWN, OWN_FORMS, false, 3))
RUN(u64, u64, unsigned long long, unsigned long long, OWN, OWN_FORMS, false, 10)
static void (*const runs[])(int, int) = {run_i32_1, run_i32_5,
                                         ALL(run_u32_3, ) ALL(run_i64_3, ) run_u64_10};
#elif TEST_TYPES_PART == 3
MEMORY_FLOAT(f32_f16, float, unsigned short, draw_float(random, active, 2, 2),
             check_half_bits(a, false), check_half(cell, false))
MEMORY_FLOAT(f32_bf16, float, unsigned short, draw_float(random, active, 1, 1),
             check_half_bits(a, true), check_half(cell, true))
ON_CPU(RUN(f32_f16, f16, float, unsigned short, OWN, NO_FORMS, false, 1))
RUN(f32_f16, f16, float, unsigned short, OWN, NO_FORMS, false, 2)
RUN(f32_f16, f16, float, unsigned short, OWN, NO_FORMS, false, 9)
RUN(f32_bf16, bf16, float, unsigned short, OWN, NO_FORMS, false, 16)
ON_CPU(RUN(f32_bf16, bf16, float, unsigned short, OWN, NO_FORMS, false, 35))
static void (*const runs[])(int, int) = {ON_CPU(run_f32_f16_1, ) run_f32_f16_2, run_f32_f16_9,
                                         run_f32_bf16_16, ON_CPU(run_f32_bf16_35, )};
#elif TEST_TYPES_PART == 4
static inline float draw_any_float(struct check_random *random, bool active) {
  float value = ldexpf(draw_float(random, true, 1, 1 << 20), check_below(random, 40) - 20);
  return active ? value : draw_float(random, false, 1, 1);
}
MEMORY_FIXED(f32_fixed, draw_float(random, active, 64, 16))
MEMORY_FIXED(f32_exact, draw_any_float(random, active))
RUN(f32_fixed, fixed, float, long long, fixed, NO_FORMS, false, 9)
ON_CPU(RUN(f32_fixed, fixed, float, long long, fixed, NO_FORMS, false, 35))
ON_CPU(RUN(f32_exact, fixed, float, long long, fixed, NO_FORMS, true, 1))
RUN(f32_exact, fixed, float, long long, fixed, NO_FORMS, true, 9)
static void (*const runs[])(int, int) = {
    run_f32_fixed_9, ON_CPU(run_f32_fixed_35, ) ON_CPU(run_f32_exact_1, ) run_f32_exact_9};
#else
MEMORY_FLOAT(f32, float, float, draw_float(random, active, 64, 16), (float)a, (double)cell)
RUN(f32, f32, float, float, OWN, OWN_FORMS, false, 9)
static void (*const runs[])(int, int) = {run_f32_9};
#endif

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int round = 0; round < 4; ++round)
    for (size_t type = 0; type < sizeof runs / sizeof *runs; ++type)
      for (int form = 0; form < FORMS; ++form)
        for (int path = FIRST_PATH; path <= (form <= UNIFORM ? ARC_PATH_AUTO : FIRST_PATH); ++path)
          runs[type](form, path);
  return check_finish();
}
