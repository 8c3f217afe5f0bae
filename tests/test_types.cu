/* test_types.cu - values of each type into memory of each type: every form on every path.
   SPDX-License-Identifier: Apache-2.0

   Every sum has one right answer: integers are any bits and wrap; floats are small multiples of a
   power of two, whose partial sums all are representable in memory; into fixed memory with
   options.exact they are any floats, rounded one by one. Inactive lanes hold NaN or any bits, wild
   keys and wild pointers. Part 6: planes in place of rows, all but one form. */
#include "check.cuh"

#include "arc/papers.cuh"

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
  int stride, shift; /* in values; shift: where row 0 begins in its allocation; of planes, stride
                        is their distance */
};

/* What the instances differ in: a scale, which rows and pieces of fixed memory have; the form for the
   papers' pointers and the scalar one, which have no other memory than their own. */
#define SCALE_OWN(scale)
#define SCALE_fixed(scale) , scale

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
#define HOT_FORMS(S, T, W)                                                         \
  __shared__ T hot_sums[ARC_HOT_BYTES(sizeof(T), HOT_ROWS, W, BLOCK) / sizeof(T)]; \
  arc_hot_##S hot = arc_hot_begin_##S(target, hot_sums, FIRST_HOT, HOT_ROWS);      \
  if (plan.form == HOT) {                                                          \
    arc_hot_add_with_##S(&hot, key, values, active, o);                            \
    arc_hot_end_##S(&hot);                                                         \
  } else if (active) { /* the others are gone */                                   \
    o.lane_mask = ARC_LANES_HERE;                                                  \
    arc_hot_add_with_##S(&hot, key, values, true, o);                              \
    arc_hot_end_warp_##S(&hot);                                                    \
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

#define KERNEL(TYPE, S, INTO, LAYOUT, OTHERS, EXACT, W)                                           \
  static __global__ void add_##S##_##EXACT##_##W(struct plan plan, TYPE::M *rows, TYPE::M *first, \
                                                 const int *keys, const TYPE::T *all_values,      \
                                                 TYPE::T *const *all_pointers) {                  \
    typedef TYPE::T T;                                                                            \
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;                \
    bool active = (plan.active[thread >> 5] >> lane & 1u) != 0u;                                  \
    int key = keys[thread];                                                                       \
    T values[W];                                                                                  \
    for (int i = 0; i < W; ++i) values[i] = all_values[thread * W + i];                           \
    arc_target_##S target = arc_target_##S##_##LAYOUT(rows, plan.stride, W SCALE_##INTO(SCALE));  \
    arc_options o = arc_options_default();                                                        \
    o.threshold = plan.threshold;                                                                 \
    o.exact = EXACT;                                                                              \
    CHECK_BEFORE_UPDATE(0);                                                                       \
    if ((plan.calling >> lane & 1u) == 0u) return;                                                \
    if (plan.form == KEYED || plan.form == UNIFORM) {                                             \
      PATHS(S)                                                                                    \
    } else if (plan.form == PIECES) {                                                             \
      const arc_piece_##S pieces[2] = {                                                           \
          {first, PIECE, W > PIECE ? PIECE : W SCALE_##INTO(SCALE + 3)},                          \
          {rows + PIECE, plan.stride, W - PIECE SCALE_##INTO(SCALE)}};                            \
      arc_add_with_##S(arc_target_##S##_pieces(pieces, W > PIECE ? 2 : 1), key, values, active,   \
                       o);                                                                        \
    } else if (plan.form == SUMS || plan.form == SUMS_UNIFORM) {                                  \
      SUM_FORMS(S)                                                                                \
    } else if (plan.form == HOT || plan.form == HOT_HERE) {                                       \
      HOT_FORMS(S, SUM_T_##INTO(T), W)                                                            \
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

/* ---- values and memory -------------------------------------------------------------------------- */
/* T: of values; M: of memory; A: of the numbers that are summed, which `of` and `in` translate from
   and to memory. draw: a value; sum: what memory holds after one more of them. */

template <class T_>
struct integer {
  typedef T_ T, M;
  typedef unsigned long long A;
  static T draw(struct check_random *random, bool active) {
    return (T)((A)check_bits(random) << 32 | check_bits(random) | !active);
  }
  static M in(A a) { return (M)a; }
  static A of(M cell) { return (A)cell; }
  static A sum(A a, T value, int) { return of(in(a + (A)value)); }
};

static inline float nan_of(struct check_random *random) {
  const unsigned bits = 0x7fc00000u | (unsigned)check_below(random, 1 << 20);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Multiples of 1 / PARTS below BELOW. */
template <class M_, int BELOW, int PARTS>
struct floats {
  typedef float T;
  typedef M_ M;
  typedef double A;
  static T draw(struct check_random *random, bool active) {
    const int value = check_below(random, 2 * BELOW * PARTS + 1) - BELOW * PARTS;
    return active ? (float)value / (float)PARTS : nan_of(random);
  }
  static M in(A a) { return (M)a; }
  static A of(M cell) { return (A)cell; }
  static A sum(A a, T value, int) { return a + (double)value; }
};

struct doubles : floats<double, 64, 16> {
  typedef double T;
  static T draw(struct check_random *random, bool active) {
    const T value = ((T)check_bits(random) - 2147483648.0) + check_below(random, 256) / 256.0;
    return active ? value : (T)nan_of(random);
  }
  static A sum(A a, T value, int) { return a + value; }
};

template <bool is_bf16, int BELOW>
struct halves : floats<unsigned short, BELOW, BELOW> {
  static unsigned short in(double a) { return check_half_bits(a, is_bf16); }
  static double of(unsigned short cell) { return check_half(cell, is_bf16); }
};

struct fixed : floats<long long, 64, 16> {
  typedef long long A;
  static M in(A a) { return a; }
  static A of(M cell) { return cell; }
  static A sum(A a, T value, int scale) { return a + llrint(ldexp((double)value, scale)); }
};

/* Any floats, rounded one by one. */
struct exact : fixed {
  static T draw(struct check_random *random, bool active) {
    const T value = floats<long long, 1, 1 << 20>::draw(random, active);
    return ldexpf(value, check_below(random, 40) - 20);
  }
};

/* ---- cases ---------------------------------------------------------------------------------------- */

static inline bool has_one_key(int form) { return form == UNIFORM || form == SUMS_UNIFORM; }

static struct plan draw_plan(struct check_random *random, int form, int path, int width,
                             bool planes) {
  static const int thresholds[] = {0, 2, 8, 33, ARC_THRESHOLD_AUTO};
  struct plan plan = {form, path, thresholds[check_below(random, 5)], {0u}, ARC_LANES_ALL, 0, 0};
  plan.stride = (planes ? ROWS : width) + check_below(random, 8);
  if (check_below(random, 2)) plan.stride = (plan.stride + 7) / 8 * 8;
  plan.shift = check_below(random, 9);
  if (form == MASKED) plan.calling = check_bits(random) | 1u << check_below(random, 32);
  for (int w = 0; w < WARPS; ++w) plan.active[w] = check_any_mask(-1, random) & plan.calling;
  return plan;
}

/* In memory lie the rows, and behind them those of the first of two pieces. */
template <class type>
static void run(const char *name,
                void (*kernel)(struct plan plan, typename type::M *rows, typename type::M *first,
                               const int *keys, const typename type::T *values,
                               typename type::T *const *pointers),
                int width, bool planes, int form, int path) {
  typedef typename type::T T;
  const int first = (ROWS + (planes ? 15 : 0)) * (width + 15) + 16, cells = first + ROWS * PIECE;
  std::vector<typename type::M> held;
  std::vector<typename type::A> must;
  std::vector<T> values(THREADS * width);
  std::vector<T *> pointers(values.size());
  static int keys[THREADS];
  struct check_random random;
  if (!check_begin(name, &random)) return;
  struct plan plan = draw_plan(&random, form, path, width, planes);
  for (int i = 0; i < cells; ++i) {
    held.push_back(type::in(type::sum(0, type::draw(&random, true), SCALE)));
    must.push_back(type::of(held[i]));
  }
  const test_memory<typename type::M> memory(held);
  for (int n = 0, groups = 0, origin = 0; n < THREADS; ++n) {
    if (n % 32 == 0) groups = 1 + check_below(&random, 1 + check_below(&random, 8));
    if (n % 32 == 0) origin = check_below(&random, ROWS);
    const int group = has_one_key(form) ? 0 : check_below(&random, groups);
    const bool active = (plan.active[n / 32] >> n % 32 & 1u) != 0u;
    keys[n] = active || has_one_key(form) ? (origin + group) % ROWS : (int)check_bits(&random);
    for (int i = 0; i < width; ++i) {
      const bool is_first = form == PIECES && i < PIECE;
      const int at = !active    ? 0
                     : is_first ? first + keys[n] * PIECE + i
                     : planes   ? plan.shift + i * plan.stride + keys[n]
                                : plan.shift + keys[n] * plan.stride + i;
      values[n * width + i] = type::draw(&random, active);
      if (active)
        must[at] = type::sum(must[at], values[n * width + i], is_first ? SCALE + 3 : SCALE);
      pointers[n * width + i] =
          active ? (T *)memory.at + at : (T *)(size_t)(check_bits(&random) | 1u);
    }
  }
  const test_memory<int> device_keys(keys);
  const test_memory<T> device_values(values);
  const test_memory<T *> device_pointers(pointers);
  SIMT_LAUNCH(kernel, dim3(THREADS / BLOCK), dim3(BLOCK), 0, 0, plan, memory.at + plan.shift,
              memory.at + first, device_keys.at, device_values.at, device_pointers.at);
  const std::vector<typename type::M> got = memory.read();
  for (int i = 0; i < cells; ++i)
    CHECK(type::of(got[i]) == must[i],
          "%s, path %d, threshold %d, stride %d, shift %d: cell %d of %d is %.9g and must be %.9g",
          form_names[form], path, plan.threshold, plan.stride, plan.shift, i, cells,
          (double)type::of(got[i]), (double)must[i]);
  check.compared += cells;
}

static std::vector<void (*)(int form, int path)> runs;
struct run_entry {
  explicit run_entry(void (*run_)(int, int)) { runs.push_back(run_); }
};

/* TYPE of values and memory, by the calls of suffix S; OTHERS: more forms. */
#define RUN(TYPE, S, INTO, OTHERS, EXACT, W) RUN_IN(rows, TYPE, S, INTO, OTHERS, EXACT, W)
#define RUN_PLANES(...) RUN_IN(planes, __VA_ARGS__)
#define RUN_IN(LAYOUT, TYPE, S, INTO, OTHERS, EXACT, W)                                          \
  KERNEL(TYPE, S, INTO, LAYOUT, OTHERS, EXACT, W)                                                \
  static const run_entry S##_##EXACT##_##W([](int form, int path) {                              \
    const bool is_sum = form == SUMS || form == SUMS_UNIFORM;                                    \
    const bool planes = #LAYOUT[0] == 'p', has = !planes || form != PIECES;                      \
    if (form <= LAST_##OTHERS && HAS_FORM(form) && has && !(EXACT && is_sum))                    \
      run<TYPE>(#S " " #LAYOUT " of width " #W, add_##S##_##EXACT##_##W, W, planes, form, path); \
  });

/* Sources are compiled in parts, to spread the compiler's time: TEST_TYPES_PART. */
#if TEST_TYPES_PART == 1
typedef floats<double, 64, 16> floats_in_doubles;
ON_CPU(RUN(doubles, f64, OWN, OWN_FORMS, false, 1))
RUN(doubles, f64, OWN, OWN_FORMS, false, 9)
ON_CPU(RUN(doubles, f64, OWN, OWN_FORMS, false, 35))
RUN(floats_in_doubles, f32_to_f64, OWN, NO_FORMS, false, 9)
#elif TEST_TYPES_PART == 2
RUN(integer<int>, i32, OWN, OWN_FORMS, false, 1)
RUN(integer<int>, i32, OWN, OWN_FORMS, false, 5)
ALL(RUN(integer<unsigned>, u32, OWN, OWN_FORMS, false, 3))
ALL(RUN(integer<long long>, i64, OWN, OWN_FORMS, false, 3))
RUN(integer<unsigned long long>, u64, OWN, OWN_FORMS, false, 10)
#elif TEST_TYPES_PART == 3
typedef halves<false, 2> f16s;
typedef halves<true, 1> bf16s;
ON_CPU(RUN(f16s, f16, OWN, NO_FORMS, false, 1))
RUN(f16s, f16, OWN, NO_FORMS, false, 2)
RUN(f16s, f16, OWN, NO_FORMS, false, 9)
RUN(bf16s, bf16, OWN, NO_FORMS, false, 16)
ON_CPU(RUN(bf16s, bf16, OWN, NO_FORMS, false, 35))
#elif TEST_TYPES_PART == 4
RUN(fixed, fixed, fixed, NO_FORMS, false, 9)
ON_CPU(RUN(fixed, fixed, fixed, NO_FORMS, false, 35))
ON_CPU(RUN(exact, fixed, fixed, NO_FORMS, true, 1))
RUN(exact, fixed, fixed, NO_FORMS, true, 9)
#elif TEST_TYPES_PART == 6
typedef floats<float, 64, 16> floats_in_planes;
RUN_PLANES(floats_in_planes, f32, OWN, NO_FORMS, false, 12)
ON_CPU(RUN_PLANES(floats_in_planes, f32, OWN, NO_FORMS, false, 1))
ON_CPU(RUN_PLANES(floats_in_planes, f32, OWN, NO_FORMS, false, 70))
typedef floats<double, 64, 16> floats_in_doubles;
ON_CPU(RUN_PLANES(floats_in_doubles, f32_to_f64, OWN, NO_FORMS, false, 3))
ON_CPU(RUN_PLANES(doubles, f64, OWN, NO_FORMS, false, 4))
ON_CPU(RUN_PLANES(integer<int>, i32, OWN, NO_FORMS, false, 1))
ON_CPU(RUN_PLANES(integer<unsigned long long>, u64, OWN, NO_FORMS, false, 10))
ON_CPU(RUN_PLANES(fixed, fixed, fixed, NO_FORMS, false, 9))
RUN_PLANES(exact, fixed, fixed, NO_FORMS, true, 9)
#else
typedef floats<float, 64, 16> floats_alone;
RUN(floats_alone, f32, OWN, OWN_FORMS, false, 9)
#endif

int main(int argc, char **argv) {
  check_main(argc, argv);
  const long rounds = check.cases > 0 ? check.cases : SIMT_ON_CPU ? 1 : 2;
  for (long round = 0; round < rounds; ++round)
    for (auto run_one : runs)
      for (int form = 0; form < FORMS; ++form)
        for (int path = FIRST_PATH; path <= (form <= UNIFORM ? ARC_PATH_AUTO : FIRST_PATH); ++path)
          run_one(form, path);
  return check_finish();
}
