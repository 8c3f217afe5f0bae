/* test_index_add.cu - rows that lie in memory: every type of values and memory, every width, any order.
   SPDX-License-Identifier: Apache-2.0

   Values are small multiples of a quarter, so that every partial sum can be represented in memory
   and there is one right answer. Rows that no active lane names are NaN; inactive lanes hold wild
   keys and rows of all 64 bits, or poison. The memory between and around the rows of sums must stay
   as it was. */
#include "check.cuh"

enum { WARPS = 3, CALLS = 3, LANES = 32 * CALLS, UPDATES = WARPS * LANES, KEYS = 40, SCALE = 20 };
enum { F32, F64, F16, BF16, FIXED, I32, I64 };

struct plan {
  int width, source_stride, stride, key_bits;
  unsigned active[WARPS * CALLS];
};

#define TARGET_OF(S, M, rows) arc_target_##S##_rows((M *)(rows), plan.stride, width)
#define TARGET_fixed(S, M, rows) arc_target_fixed_rows((M *)(rows), plan.stride, width, SCALE)
/* Two pieces; the second one's rows follow upon the first one's. */
#define TARGET_pieces(S, M, rows) two_pieces((M *)(rows), plan.stride, width)
static __device__ __forceinline__ arc_target_f32 two_pieces(float *rows, int stride, int width) {
  arc_piece_f32 pieces[2] = {{rows, stride, width / 2},
                             {rows + width / 2, stride, width - width / 2}};
  return arc_target_f32_pieces(pieces, 2);
}

#define ADD(S, bits)                                                            \
  if (plan.key_bits == bits) {                                                  \
    o.key_bits = bits;                                                          \
    arc_index_add_rows_with_##S(&r, bits == 32 ? (int)keys[n] : keys[n], row_of[n], active, o); \
  }

/* Programs for the GPU, which take long to compile, have keys of 64 bits in one kernel. */
#if SIMT_ON_CPU
#define ADD_64(S) ADD(S, 64)
#define HAS_64_BITS(kind) true
#else
#define ADD_64(S)
#define HAS_64_BITS(kind) ((kind) == 0)
#endif
#define ADD_BOTH(S) ADD(S, 64)

/* LITERAL: the width, or 0. */
#define KERNEL(NAME, S, M, T, FROM, TARGET, LITERAL, KEYS_OF_64_BITS)                              \
  static __global__ void NAME(struct plan plan, void *rows, const void *source,                    \
                              const long long *keys, const long long *row_of) {                    \
    const int width = LITERAL ? LITERAL : plan.width;                                              \
    int lane = threadIdx.x & 31, warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) >> 5;         \
    arc_options o = arc_options_default();                                                         \
    arc_target_##S t = TARGET(S, M, rows);                                                         \
    arc_index_add_##S r = arc_index_add_begin_##S##FROM(t, (const T *)source, plan.source_stride); \
    for (int call = 0; call < CALLS; ++call) {                                                     \
      int n = warp * LANES + call * 32 + lane;                                                     \
      bool active = (plan.active[warp * CALLS + call] >> lane & 1u) != 0u;                         \
      CHECK_BEFORE_UPDATE(call);                                                                   \
      ADD(S, 32)                                                                                   \
      KEYS_OF_64_BITS(S)                                                                           \
    }                                                                                              \
    arc_index_add_end_##S(&r);                                                                                   \
  }

#define TARGET_planes(S, M, rows) arc_target_##S##_planes((M *)(rows), plan.stride, width)
#define TARGET_dynamic(S, M, rows) arc_target_##S##_dynamic((M *)(rows), plan.stride, width)
KERNEL(f32_f32, f32, float, float, , TARGET_dynamic, 0, ADD_BOTH)
KERNEL(f32_f32_9, f32, float, float, , TARGET_OF, 9, ADD_64)
KERNEL(f32_f32_16, f32, float, float, , TARGET_OF, 16, ADD_64)
KERNEL(f32_pieces, f32, float, float, , TARGET_pieces, 0, ADD_64)
KERNEL(f32_f64, f32_to_f64, double, float, , TARGET_dynamic, 0, ADD_64)
KERNEL(f32_f64_1, f32_to_f64, double, float, , TARGET_OF, 1, ADD_64)
KERNEL(f32_f16, f16, void, float, , TARGET_OF, 0, ADD_64)
KERNEL(f32_bf16, bf16, void, float, , TARGET_dynamic, 0, ADD_64)
KERNEL(f32_fixed, fixed, long long, float, , TARGET_fixed, 0, ADD_64)
KERNEL(f16_f32, f32, float, void, _from_f16, TARGET_OF, 0, ADD_64)
KERNEL(f16_f16, f16, void, void, _from_f16, TARGET_dynamic, 0, ADD_64)
KERNEL(bf16_bf16, bf16, void, void, _from_bf16, TARGET_OF, 0, ADD_64)
KERNEL(bf16_fixed, fixed, long long, void, _from_bf16, TARGET_fixed, 0, ADD_64)
KERNEL(f64_f64, f64, double, double, , TARGET_dynamic, 0, ADD_64)
KERNEL(i32_i32, i32, int, int, , TARGET_dynamic, 0, ADD_64)
KERNEL(u64_u64, u64, unsigned long long, unsigned long long, , TARGET_OF, 0, ADD_64)
KERNEL(f32_planes, f32, float, float, , TARGET_planes, 0, ADD_64)
KERNEL(f16_planes, f32, float, void, _from_f16, TARGET_planes, 0, ADD_64)

/* Rows in shared memory: a block of one warp brings its own there. */
enum { SHARED_WIDTH = 12 };
static __global__ void from_shared(struct plan plan, void *rows, const void *source,
                                   const long long *keys, const long long *row_of) {
  __shared__ __align__(16) float values[LANES * SHARED_WIDTH];
  int lane = threadIdx.x & 31, warp = (int)blockIdx.x;
  for (int i = lane; i < LANES; i += 32)
    for (int k = 0; k < SHARED_WIDTH; ++k) {
      int n = warp * LANES + i;
      bool active = (plan.active[n / 32] >> (n & 31) & 1u) != 0u;
      values[i * SHARED_WIDTH + k] =
          active ? ((const float *)source)[row_of[n] * plan.source_stride + k]
                 : __int_as_float(0x7fc00000);
    }
  __syncthreads();
  CHECK_BEFORE_UPDATE(0);
  arc_target_f32 t = arc_target_f32_rows((float *)rows, plan.stride, SHARED_WIDTH);
  arc_index_add_f32 r = arc_index_add_begin_f32(t, values, SHARED_WIDTH);
  for (int i = lane; i < LANES; i += 32) {
    int n = warp * LANES + i, key = (int)keys[n];
    bool active = (plan.active[n / 32] >> lane & 1u) != 0u;
    arc_index_add_rows_f32(&r, key, i, active);
  }
  arc_index_add_end_f32(&r);
}

/* Cells of memory, and the numbers they hold. Every number is exact in its cell. */
static int bytes_of(int type) {
  return type == F16 || type == BF16 ? 2 : type == F32 || type == I32 ? 4 : 8;
}

static double number_of(int type, const void *cells, size_t i) {
  if (type == F32) return ((const float *)cells)[i];
  if (type == F64) return ((const double *)cells)[i];
  if (type == FIXED) return ldexp((double)((const long long *)cells)[i], -SCALE);
  if (type == I32) return ((const int *)cells)[i] / 4.0;
  if (type == I64) return (double)((const long long *)cells)[i] / 4.0;
  return check_half(((const unsigned short *)cells)[i], type == BF16);
}

static void put(int type, void *cells, size_t i, double number) {
  if (type == F32) ((float *)cells)[i] = (float)number;
  if (type == F64) ((double *)cells)[i] = number;
  if (type == FIXED) ((long long *)cells)[i] = (long long)ldexp(number, SCALE);
  if (type == I32) ((int *)cells)[i] = isnan(number) ? 0x7fffffff : (int)(4 * number);
  if (type == I64) ((long long *)cells)[i] = isnan(number) ? 1ll << 62 : (long long)(4 * number);
  if (type == F16 || type == BF16)
    ((unsigned short *)cells)[i] = check_half_bits(number, type == BF16);
}

enum { KINDS = 19 };
static const struct {
  const char *name;
  void (*kernel)(struct plan, void *, const void *, const long long *, const long long *);
  int source, memory, width; /* the only one, or 0 */
} kinds[KINDS] = {{"f32 into f32", f32_f32, F32, F32, 0},
                  {"f32 into f32, width 9", f32_f32_9, F32, F32, 9},
                  {"f32 into f32, width 16", f32_f32_16, F32, F32, 16},
                  {"f32 into two pieces", f32_pieces, F32, F32, 0},
                  {"f32 into f64", f32_f64, F32, F64, 0},
                  {"f32 into f64, width 1", f32_f64_1, F32, F64, 1},
                  {"f32 into f16", f32_f16, F32, F16, 0},
                  {"f32 into bf16", f32_bf16, F32, BF16, 0},
                  {"f32 into fixed", f32_fixed, F32, FIXED, 0},
                  {"f16 into f32", f16_f32, F16, F32, 0},
                  {"f16 into f16", f16_f16, F16, F16, 0},
                  {"bf16 into bf16", bf16_bf16, BF16, BF16, 0},
                  {"bf16 into fixed", bf16_fixed, BF16, FIXED, 0},
                  {"f64 into f64", f64_f64, F64, F64, 0},
                  {"i32 into i32", i32_i32, I32, I32, 0},
                  {"u64 into u64", u64_u64, I64, I64, 0},
                  {"f32 in shared memory", from_shared, F32, F32, SHARED_WIDTH},
                  {"f32 into planes", f32_planes, F32, F32, 0},
                  {"f16 into planes", f16_planes, F16, F32, 0}};

/* A key for each update: sorted, runs, all different, random, some hot, one. */
enum { SORTED, RUNS, RANDOM, ZIPF, HALF_HOT, ONE, TURNS, PATTERNS };

static void draw_keys(int *keys, int pattern, struct check_random *random) {
  int run = 1 + check_below(random, 12), hot = check_below(random, KEYS);
  for (int n = 0; n < UPDATES; ++n) {
    int any = check_below(random, KEYS);
    keys[n] = pattern == SORTED     ? n * KEYS / UPDATES
              : pattern == RUNS     ? n / run * 7 % KEYS
              : pattern == RANDOM   ? any
              : pattern == ZIPF     ? check_below(random, any + 1)
              : pattern == HALF_HOT ? (check_below(random, 2) ? hot : any)
              : pattern == ONE      ? hot
                                    : (n / 32 * 3 + n % 32 / 8 * (n / 64 % 2)) % KEYS;
  }
}

static void run(int kind, int width) {
  struct check_random random;
  const bool planes = kind >= 17;
  if (!check_begin(kinds[kind].name, &random)) return;
  const int source_type = kinds[kind].source, memory = kinds[kind].memory;
  const int each = bytes_of(source_type), cell = bytes_of(memory);
  const int pattern = check_below(&random, PATTERNS), gathers = check_below(&random, 2);
  if (kinds[kind].width) width = kinds[kind].width;
  if (kind == 3 && width == 1) width = 2;
  const int round = 1 << check_below(&random, 3); /* strides that do and do not allow vectors */
  struct plan plan = {
      width,
      (width + check_below(&random, 5) + round - 1) / round * round,
      ((planes ? KEYS : width) + check_below(&random, 5) + round - 1) / round * round,
      check_below(&random, 2) && HAS_64_BITS(kind) ? 64 : 32,
      {0u}};
  const int shift = check_below(&random, 2) ? 0 : cell * check_below(&random, 8);
  const int source_shift = check_below(&random, 2) ? 0 : each * check_below(&random, 8);
  const size_t cells = (size_t)(planes ? width : KEYS) * plan.stride + 16,
               values = (size_t)2 * UPDATES * plan.source_stride + 16;
  static int keys[UPDATES];
  static long long lane_keys[UPDATES], rows[UPDATES];
  std::vector<char> arena(cells * (size_t)cell + 128), source(values * (size_t)each + 128);
  std::vector<double> must(cells), used(cells);
  for (size_t i = 0; i < cells; ++i) {
    must[i] = check_below(&random, 9) - 4;
    put(memory, &arena[shift], i, must[i]);
  }
  for (size_t i = 0; i < values; ++i) put(source_type, &source[source_shift], i, NAN);
  draw_keys(keys, pattern, &random);
  for (int w = 0; w < WARPS * CALLS; ++w) plan.active[w] = check_any_mask(-1, &random);
  /* whatever is added first, sums are multiples of a quarter below `most` + 4: a type has them */
  const double most = memory == BF16 ? 56 : memory == F16 ? 500 : 1e4;
  const int largest = memory == BF16 ? 4 : 64;
  for (int n = 0; n < UPDATES; ++n) {
    const bool active = (plan.active[n / 32] >> (n & 31) & 1u) != 0u;
    rows[n] = gathers ? (n * 37 + 11) % (2 * UPDATES) : n;
    lane_keys[n] = keys[n];
    if (!active) {
      rows[n] = check_below(&random, 2) ? (long long)splitmix64(check.seed, check_bits(&random))
                                        : simt_poison_key();
      lane_keys[n] =
          check_below(&random, 2) ? (long long)check_bits(&random) << 20 : simt_poison_key();
      continue;
    }
    for (int i = 0; i < width; ++i) {
      size_t to = planes ? (size_t)i * plan.stride + keys[n] : (size_t)keys[n] * plan.stride + i;
      double value = (check_below(&random, 2 * largest + 1) - largest) / 4.0;
      if (used[to] + fabs(value) > most) value = 0;
      used[to] += fabs(value);
      if (source_type == F32 && memory == FIXED) /* any float; each is rounded by itself */
        value = (float)(check_bits(&random) * 0x1p-28 - 8);
      must[to] += memory == FIXED ? ldexp(nearbyint(ldexp(value, SCALE)), -SCALE) : value;
      put(source_type, &source[source_shift], (size_t)rows[n] * plan.source_stride + i, value);
    }
  }
  const test_memory<char> device_cells(arena), device_source(source);
  const test_memory<long long> device_keys(lane_keys), device_rows(rows);
  SIMT_LAUNCH(kinds[kind].kernel, dim3(WARPS), dim3(32), 0, 0, plan, device_cells.at + shift,
              device_source.at + source_shift, device_keys.at, device_rows.at);
  arena = device_cells.read();
  for (size_t i = 0; i < cells; ++i)
    CHECK(number_of(memory, &arena[shift], i) == must[i],
          "width %d, strides %d and %d, shifts %d and %d, %d-bit keys, pattern %d%s: key %d, "
          "column %d is %g, must be %g",
          width, plan.source_stride, plan.stride, source_shift, shift, plan.key_bits, pattern,
          gathers ? ", gathered" : "", (int)(i / plan.stride), (int)(i % plan.stride),
          number_of(memory, &arena[shift], i), must[i]);
  check.compared += cells;
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  static const int wide[] = {64, 100, 128, 129, 132, 200, 1030};
  struct check_random random = {splitmix64(check.seed, 0)};
  const long cases = check.cases >= 0 ? check.cases : 40;
  for (int kind = 0; kind < KINDS; ++kind)
    for (long i = 0; i < cases; ++i) {
      const int width = 1 + (int)(40 * i / cases);
      run(kind, width <= 34 ? width : wide[check_below(&random, 7)]);
    }
  return check_finish();
}
