/* arc study groups: adding by key, with plain atomics, with arc, and with a table of rows.
   SPDX-License-Identifier: Apache-2.0

   A count is a sum of ones: all rows read one value, 1. */
#include "groups.h"

#include "arc/wide.cuh"
#include "arc/index_add.cuh"
#include "table.cuh"

/* ---- kernels -------------------------------------------------------------------------------- */

DEVICE int stride_of(int what, int width) { return what == WHAT_COUNTS ? 0 : width; }

DEVICE void add_atomically(unsigned *sum, unsigned value, float) { atomicAdd(sum, value); }
DEVICE void add_atomically(float *sum, float value, float) { atomicAdd(sum, value); }
DEVICE void add_atomically(long long *sum, float value, float scale) {
  atomicAdd((unsigned long long *)sum, (unsigned long long)__float2ll_rn(value * scale));
}

template <int width, typename value_type, typename sum_type>
__global__ void __launch_bounds__(LINE_THREADS) add_plain(grouping g, int) {
  const float scale = ldexpf(1.0f, g.scale_log2);
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.rows) return;
  const value_type *values = (const value_type *)g.value.data + row * stride_of(g.what, width);
  sum_type *sums = (sum_type *)g.sums.data + (long long)((const int *)g.key.data)[row] * width;
  for (int i = 0; i < width; ++i) add_atomically(sums + i, values[i], scale);
}

/* Each warp takes consecutive rows, 32 times `chunks`; the next keys are on their way while it
   adds. */
template <int width>
__global__ void __launch_bounds__(LINE_THREADS) add_wide(grouping g, int chunks) {
  const int *keys = (const int *)g.key.data;
  const arc_target_wide target =
      arc_target_wide_rows((long long *)g.sums.data, ARC_WIDE_ROW(width), width);
  arc_index_add_wide rows = arc_index_add_begin_wide(target, (const float *)g.value.data, width);
  const long long warp = (long long)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  long long row = warp * chunks * 32 + threadIdx.x % 32;
  int next = row < g.rows ? keys[row] : 0;
  for (int chunk = 0; chunk < chunks; ++chunk, row += 32) {
    const int key = next;
    if (row + 32 < g.rows) next = keys[row + 32];
    arc_index_add_rows_wide(&rows, key, row, row < g.rows);
  }
  arc_index_add_end_wide(&rows);
}

/* The same into other sums, or by a table. */
#define ADD_KERNEL(S, VALUE, SUM, ...)                                                           \
  template <int width, bool has_table>                                                           \
  __global__ void __launch_bounds__(LINE_THREADS) add_##S(grouping g, int chunks) {              \
    SIMT_DYNAMIC_SHARED(char, shared);                                                           \
    const int *keys = (const int *)g.key.data, stride = stride_of(g.what, width);                \
    const VALUE *values = (const VALUE *)g.value.data;                                           \
    const arc_target_##S target = arc_target_##S##_rows((SUM *)g.sums.data, width, __VA_ARGS__); \
    arc_index_add_##S rows = arc_index_add_begin_##S(target, values, stride);                    \
    arc_options exact = arc_options_default();                                                   \
    exact.exact = true;                                                                          \
    arc__call call = arc__call_of(&target.any, 0, values, false, exact);                         \
    table of_warp;                                                                               \
    if constexpr (has_table) of_warp = table_begin(&call, shared, g.table_rows);                 \
    const long long warp = (long long)(blockIdx.x * blockDim.x + threadIdx.x) / 32;              \
    long long row = warp * chunks * 32 + threadIdx.x % 32;                                       \
    int next = row < g.rows ? keys[row] : 0;                                                     \
    for (int chunk = 0; chunk < chunks; ++chunk, row += 32) {                                    \
      const int key = next;                                                                      \
      const bool active = row < g.rows;                                                          \
      if (row + 32 < g.rows) next = keys[row + 32];                                              \
      if constexpr (has_table)                                                                   \
        table_add(&of_warp, arc__call_of(&target.any, key, values + (active ? row : 0) * stride, \
                                         active, exact));                                        \
      else                                                                                       \
        arc_index_add_rows_##S(&rows, key, row, active);                                         \
    }                                                                                            \
    if constexpr (has_table)                                                                     \
      table_end(&of_warp, &call);                                                                \
    else                                                                                         \
      arc_index_add_end_##S(&rows);                                                              \
  }
ADD_KERNEL(fixed, float, long long, width, g.scale_log2)
ADD_KERNEL(u32, unsigned, unsigned, width)
ADD_KERNEL(f32, float, float, width)

/* ---- host ----------------------------------------------------------------------------------- */

static size_t sum_bytes(const grouping *g) { return g->what == WHAT_SUMS ? 8 : 4; }

static bool is_wide(const grouping *g, int adder) {
  return g->what == WHAT_WIDE && adder == ADD_ARC;
}

static size_t sums_bytes(const grouping *g, int adder) {
  const size_t keys = (size_t)g->keys, columns = (size_t)g->columns;
  return is_wide(g, adder) ? 8 * keys * ARC_WIDE_ROW(columns) : sum_bytes(g) * keys * columns;
}

bool grouping_offers(const grouping *g, int adder) {
  if (g->what == WHAT_WIDE && adder == ADD_TABLE) return false;
  return adder != ADD_CUB || (!SIMT_ON_CPU && g->what != WHAT_WEIGHTS);
}

void grouping_add(grouping *g, int adder) {
#define ADDERS_OF(S, width, VALUE, SUM) \
  { add_plain<width, VALUE, SUM>, add_##S<width, false>, add_##S<width, true> }
#define SUMS_OF(width) ADDERS_OF(fixed, width, float, long long)
#define WIDE_OF(width) \
  { add_plain<width, float, float>, add_wide<width>, nullptr }
#define EACH_WIDTH(OF) OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), OF(7), OF(8)
  static void (*const kernels[][ADD_CUB])(grouping, int) = {
      EACH_WIDTH(SUMS_OF), ADDERS_OF(u32, 1, unsigned, unsigned), ADDERS_OF(f32, 1, float, float),
      EACH_WIDTH(WIDE_OF)};
  if (!SIMT_ON_CPU && adder == ADD_CUB) return cub_add(g);
  const int first[] = {0, MOST_COLUMNS, MOST_COLUMNS + 1, MOST_COLUMNS + 2}; /* by `what` */
  void (*const kernel)(grouping, int) = kernels[first[g->what] + g->columns - 1][adder];
  const int bytes = (int)sum_bytes(g), warps = LINE_THREADS / 32, chunks = (g->rows + 31) / 32;
  const size_t shared =
      adder == ADD_TABLE ? table_bytes(bytes, g->table_rows, g->columns, LINE_THREADS) : 0;
  int blocks = line_blocks((size_t)g->rows);
  if (adder != ADD_PLAIN) /* a warp sets up once for many rows */
    blocks = std::min(blocks, resident_blocks(kernel, LINE_THREADS, shared));
  device_clear(g->sums.data, sums_bytes(g, adder));
  SIMT_LAUNCH(kernel, blocks, LINE_THREADS, shared, 0, *g,
              (chunks + blocks * warps - 1) / (blocks * warps));
}

/* ---- what must come out --------------------------------------------------------------------- */

/* |values| are below 1: what `rows` of them may differ by when they are summed as floats. */
static double rounding(int rows) { return 8.0 * sqrt(rows) * rows / 16777216.0; }

bool grouping_check(const grouping *g, int adder, const group_oracle *oracle, error_line *error) {
  const size_t count = oracle->sums.size();
  const bool is_float = g->what >= WHAT_WEIGHTS || (g->what == WHAT_SUMS && adder == ADD_CUB);
  const size_t columns = (size_t)g->columns, row_words = (size_t)ARC_WIDE_ROW(columns);
  std::vector<long long> room(std::max(count, sums_bytes(g, adder) / 8));
  const float *const floats = (const float *)room.data();
  const unsigned *const counts = (const unsigned *)room.data();
  if (!SIMT_ON_CPU && is_float && adder == ADD_CUB)
    cub_read(g, (float *)room.data());
  else
    device_to_host(room.data(), g->sums.data, sums_bytes(g, adder), "reading sums");
  for (size_t i = 0; i < count && !interrupts; ++i) {
    const int rows = oracle->rows[i / columns];
    const double wanted = arc_fixed_to_f64(oracle->sums[i], g->scale_log2);
    const float sum = is_wide(g, adder) ? arc_wide_to_f32(&room[i / columns * row_words],
                                                          g->columns, (int)(i % columns))
                                        : floats[i];
    const bool right = is_float
                           ? fabs(sum - wanted) <=
                                 (g->few_bits ? 0.0 : rounding(rows) + ldexp(rows, -g->scale_log2))
                           : (g->what == WHAT_COUNTS ? counts[i] : room[i]) == oracle->sums[i];
    if (!right) return error_set(error, "sum %zu of %zu, of %d rows, is wrong", i, count, rows);
  }
  return true;
}
