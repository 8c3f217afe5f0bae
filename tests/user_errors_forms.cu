/* user_errors_forms.cu - what a user of arc can do wrong with its other forms: rows in memory, sums
 * in two halves, hot rows, other types of memory, and some options.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table below says what each build must report. Two errors have no kernel: a 64-bit key that
 * the caller casts to int (72, 74) is an int to arc.
 */
#include "user_errors.cuh"

enum { SCALE = 20, HOT_ROWS = 2, WARPS = 2, BLOCK = 32 * WARPS };
enum { MANY_ROWS = 64 }; /* half of their sums are more than a GPU rounds shared memory up by */
enum { HOT_SUMS = ARC_HOT_SUMS(HOT_ROWS, WIDTH, BLOCK) };

/* What many kernels do, with other numbers: nvcc, which inlines arc, compiles it once. */
#define OUT_OF_LINE static __device__ __attribute__((noinline)) void

static __device__ int warp_index(void) { return (int)(threadIdx.x / 32u); }
static __device__ __forceinline__ arc_options one_key(void) {
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_ONE_KEY;
  return options;
}

/* ---- rows that lie in memory ----------------------------------------------------------------- */
/* Of a key that all lanes have, the sum stays in registers from the second call on. */

static __device__ const float two_rows[] = {1, 2, 3, 0, 1, 2, 3, 0};

static __device__ __forceinline__ arc_gather_f32 right_rows(float *rows) {
  return arc_gather_begin_f32(right_target(rows), two_rows, STRIDE);
}

/* Bit i of `ends`: whether call i is followed by an end. */
OUT_OF_LINE add_rows(float *rows, int calls, unsigned ends, int active_calls) {
  arc_gather_f32 from = right_rows(rows);
  for (int i = 0; i < calls; ++i) {
    arc_gather_add_f32(&from, KEY, i % 2, i < active_calls);
    if (ends >> i & 1u) arc_gather_end_f32(&from);
  }
}

ERROR_KERNEL(rows_never_ended) { add_rows(rows, 2, wrong ? 0 : 2, 2); }
ERROR_KERNEL(rows_added_after_end) { add_rows(rows, 4, wrong ? 2 : 8, 4); }

ERROR_KERNEL(rows_ended_twice) {
  arc_gather_f32 from = right_rows(rows);
  arc_gather_add_f32(&from, KEY, 0, true);
  arc_gather_end_f32(&from);
  if (wrong) arc_gather_end_f32(&from);
}

ERROR_KERNEL(rows_where_lanes_have_returned) {
  const bool inside = lane_index() < 20;
  if (wrong && !inside) return;
  add_rows(rows, 1, 1, inside ? 1 : 0);
}

ERROR_KERNEL(rows_in_a_loop_with_own_trip_count) {
  const int count = lane_index() % 3 + 1;
  add_rows(rows, wrong ? count : 3, wrong ? 1u << (count - 1) : 4, count);
}

ERROR_KERNEL(row_that_is_not_there) {
  arc_gather_f32 from = right_rows(rows);
  arc_gather_add_f32(&from, KEY, wrong && lane_index() == 9 ? 1 << 30 : 0, true);
  arc_gather_end_f32(&from);
}

ERROR_KERNEL(rows_in_if) {
  const bool hit = lane_index() % 3 == 0;
  arc_gather_f32 from = right_rows(rows);
  if (hit || !wrong) arc_gather_add_f32(&from, KEY, 0, hit);
  arc_gather_end_f32(&from);
}

ERROR_KERNEL(rows_with_two_targets) {
  add_rows(wrong && lane_index() >= 16 ? rows + 512 : rows, 1, 1, 1);
}

/* A copy that nobody ends adds all the same, unless it keeps a sum. */
ERROR_KERNEL(rows_by_value) {
  arc_gather_f32 from = right_rows(rows), copy = from;
  arc_gather_add_f32(&copy, KEY, 0, true);
  arc_gather_end_f32(wrong ? &from : &copy);
}

/* ---- sums in two halves ---------------------------------------------------------------------- */
/* Four groups, and as many steps. */

static __device__ __forceinline__ arc_sum_f32 four_sums(float *rows, const float *values) {
  return arc_sum_begin_f32(right_target(rows), KEY + lane_index() % 4, values, true, 0);
}

ERROR_KERNEL(sums_left_half_way) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum)) {
    arc_sum_add_f32(&sum);
    if (wrong) break;
  }
}

ERROR_KERNEL(steps_of_active_lanes) {
  const float values[WIDTH] = {1, 2, 3};
  const bool hit = lane_index() % 3 == 0;
  arc_sum_f32 sum = arc_sum_begin_f32(right_target(rows), KEY, values, hit, 0);
  while ((hit || !wrong) && arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
}

ERROR_KERNEL(owners_alone_add) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum))
    if (sum.owned || !wrong) arc_sum_add_f32(&sum);
}

ERROR_KERNEL(values_change_between_steps) {
  float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum)) {
    arc_sum_add_f32(&sum);
    if (wrong) values[0] = 0;
  }
}

ERROR_KERNEL(one_lane_leaves_the_steps) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum)) {
    arc_sum_add_f32(&sum);
    if (wrong && lane_index() == 9) break;
  }
}

ERROR_KERNEL(sum_added_twice) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum))
    for (int i = 0; i < (wrong ? 2 : 1); ++i) arc_sum_add_f32(&sum);
}

ERROR_KERNEL(sum_added_before_the_first_step) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  if (wrong) arc_sum_add_f32(&sum);
  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
}

ERROR_KERNEL(one_key_promised_to_sums) {
  const float values[WIDTH] = {1, 2, 3};
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_sum_f32 sum = arc_sum_begin_with_f32(right_target(rows), key, values, true, one_key());
  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
}

ERROR_KERNEL(key_of_a_sum_is_changed) {
  const float values[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum = four_sums(rows, values);
  while (arc_sum_next_f32(&sum)) {
    if (wrong) sum.key = 0;
    arc_sum_add_f32(&sum);
  }
}

/* ---- hot rows -------------------------------------------------------------------------------- */
/* Launched with two warps; each adds to a row of its own. */

static __device__ __forceinline__ arc_hot_f32 hot_rows(float *rows, float *sums) {
  return arc_hot_begin_f32(right_target(rows), sums, KEY, HOT_ROWS);
}
static __device__ __forceinline__ void add_to(const arc_hot_f32 *hot, bool active) {
  const float values[WIDTH] = {1, 2, 3};
  arc_hot_add_with_f32(hot, KEY + warp_index(), values, active, one_key());
}

/* Bit i of `ends`: whether call i is followed by an end. */
OUT_OF_LINE add_hot(float *rows, float *sums, int first_key, int count, int calls, unsigned ends) {
  const arc_hot_f32 hot = arc_hot_begin_f32(right_target(rows), sums, first_key, count);
  for (int i = 0; i < calls; ++i) {
    add_to(&hot, true);
    if (ends >> i & 1u) arc_hot_end_f32(&hot, true);
  }
}

#define HOT_KERNEL(name, sums, first_key, count, calls, ends) \
  ERROR_KERNEL(name) {                                        \
    __shared__ float shared[HOT_SUMS];                        \
    add_hot(rows, sums, first_key, count, calls, ends);       \
  }
HOT_KERNEL(hot_rows_never_ended, shared, KEY, HOT_ROWS, 1, wrong ? 0 : 1)
HOT_KERNEL(hot_add_after_end, shared, KEY, HOT_ROWS, 2, wrong ? 1 : 2)
HOT_KERNEL(hot_end_in_the_loop, shared, KEY, HOT_ROWS, 2, wrong ? 3 : 2)
HOT_KERNEL(first_keys_differ, shared, KEY + (wrong ? warp_index() : 0), HOT_ROWS, 1, 1)
HOT_KERNEL(no_hot_rows, shared, KEY, wrong ? 0 : HOT_ROWS, 1, 1)
HOT_KERNEL(hot_sums_in_global_memory, wrong ? rows + 512 : shared, KEY, HOT_ROWS, 1, 1)

/* Launched with half of the memory. */
ERROR_KERNEL(hot_sums_of_one_warp) {
  SIMT_DYNAMIC_SHARED(float, shared);
  add_hot(rows, shared, KEY, MANY_ROWS, 1, 1);
  (void)wrong;
}

ERROR_KERNEL(hot_begin_below_a_return) {
  __shared__ float shared[HOT_SUMS];
  if (wrong && threadIdx.x >= 32) return;
  add_hot(rows, shared, KEY, HOT_ROWS, 1, 1);
}

ERROR_KERNEL(two_hot_sets_in_one_memory) {
  __shared__ float shared[2 * HOT_SUMS];
  const arc_hot_f32 first = hot_rows(rows, shared);
  add_to(&first, true);
  const arc_hot_f32 second = hot_rows(rows, wrong ? shared : shared + HOT_SUMS);
  arc_hot_end_f32(&first, true);
  arc_hot_end_f32(&second, true);
}

ERROR_KERNEL(hot_end_where_lanes_have_returned) {
  __shared__ float shared[HOT_SUMS];
  const arc_hot_f32 hot = hot_rows(rows, shared);
  add_to(&hot, true);
  if (wrong && threadIdx.x < 20) return;
  arc_hot_end_f32(&hot, true);
}

ERROR_KERNEL(hot_add_in_if) {
  __shared__ float shared[HOT_SUMS];
  const bool hit = lane_index() % 3 == 0;
  const arc_hot_f32 hot = hot_rows(rows, shared);
  if (hit || !wrong) add_to(&hot, hit);
  arc_hot_end_f32(&hot, true);
}

ERROR_KERNEL(hot_warp_without_its_end) {
  __shared__ float shared[HOT_SUMS];
  const arc_hot_f32 hot = hot_rows(rows, shared);
  add_to(&hot, true);
  if (wrong && warp_index() == 1) return;
  arc_hot_end_f32(&hot, false);
}

/* ---- tables ---------------------------------------------------------------------------------- */
/* As hot rows. They have not run on a GPU yet. */
#if SIMT_ON_CPU

OUT_OF_LINE add_to_table(float *rows, void *shared, int count, bool ends, bool calls) {
  const float values[WIDTH] = {1, 2, 3};
  arc_table_f32 table = arc_table_begin_f32(right_target(rows), shared, count);
  if (calls) arc_table_add_f32(&table, KEY + warp_index(), values, true);
  if (ends) arc_table_end_f32(&table);
}

#define TABLE_KERNEL(name, memory, count, ends, calls)                                \
  ERROR_KERNEL(name) {                                                                \
    __shared__ __align__(16) char shared[ARC_TABLE_BYTES(4, HOT_ROWS, WIDTH, BLOCK)]; \
    add_to_table(rows, memory, count, ends, calls);                                   \
  }
TABLE_KERNEL(table_never_ended, shared, HOT_ROWS, !wrong, true)
TABLE_KERNEL(no_table_rows, shared, wrong ? 0 : HOT_ROWS, true, true)
TABLE_KERNEL(table_in_global_memory, wrong ? (char *)(rows + 512) : shared, HOT_ROWS, true, true)
TABLE_KERNEL(table_add_in_if, shared, HOT_ROWS, true, !wrong || lane_index() % 3 == 0)

/* Launched with half of the memory. */
ERROR_KERNEL(table_of_one_warp) {
  SIMT_DYNAMIC_SHARED(float, shared);
  add_to_table(rows, shared, MANY_ROWS, true, true);
  (void)wrong;
}
#endif

/* ---- other types of memory ------------------------------------------------------------------- */

static __device__ __forceinline__ arc_target_fixed fixed_target(long long *sum, int scale_log2) {
  if (threadIdx.x == 0) *sum = 0;
  __syncthreads();
  return arc_target_fixed_rows(sum, 1, 1, scale_log2);
}
static __device__ __forceinline__ void show_fixed(float *rows, const long long *sum,
                                                  int scale_log2) {
  __syncthreads();
  if (threadIdx.x == 0) rows[0] = arc_fixed_to_f32(*sum, scale_log2);
}
static __device__ __forceinline__ void add_fixed(float *rows, float value, int scale_log2,
                                                 int read_scale_log2) {
  __shared__ long long sum;
  const arc_target_fixed target = fixed_target(&sum, scale_log2);
  arc_add_fixed(target, 0, &value, true, THRESHOLD);
  show_fixed(rows, &sum, read_scale_log2);
}

/* Launched with half of the memory. */
ERROR_KERNEL(fixed_hot_sums_sized_as_floats) {
  SIMT_DYNAMIC_SHARED(long long, sums);
  __shared__ long long in_memory[MANY_ROWS];
  const float value = 1;
  in_memory[threadIdx.x] = 0;
  const arc_hot_fixed hot = arc_hot_begin_fixed(fixed_target(in_memory, SCALE), sums, 0, MANY_ROWS);
  arc_hot_add_with_fixed(&hot, 0, &value, true, one_key());
  arc_hot_end_fixed(&hot, true);
  show_fixed(rows, in_memory, SCALE);
  (void)wrong;
}

ERROR_KERNEL(fixed_read_by_another_scale) { add_fixed(rows, 1, SCALE, wrong ? SCALE / 2 : SCALE); }
ERROR_KERNEL(fixed_out_of_range) { add_fixed(rows, wrong ? 1e13f : 1, SCALE, SCALE); }
ERROR_KERNEL(fixed_nan) { add_fixed(rows, wrong ? __int_as_float(0x7fc00000) : 1, SCALE, SCALE); }
ERROR_KERNEL(scale_out_of_range) { add_fixed(rows, 1, wrong ? 127 : SCALE, SCALE); }

/* Shows whether both sums are right. */
static __device__ __forceinline__ void add_halves(float *rows, void *halves) {
  const float values[2] = {1, 2};
  arc_add_f16(arc_target_f16_rows(halves, 2, 2), 0, values, true, THRESHOLD);
  __syncthreads();
  if (threadIdx.x == 0) rows[0] = __float_as_int(rows[0]) == 0x54005000; /* 64 and 32 */
}

ERROR_KERNEL(halves_at_an_odd_address) { add_halves(rows, (char *)rows + (wrong ? 1 : 0)); }

ERROR_KERNEL(halves_in_shared_memory) {
  SIMT_DYNAMIC_SHARED(float, halves);
  halves[0] = 0;
  __syncthreads();
  add_halves(rows, wrong ? halves : rows);
}

ERROR_KERNEL(misaligned_atomred) { arc_atomred_f32((float *)((char *)rows + (wrong ? 2 : 0)), 1); }

/* ---- options and rows ------------------------------------------------------------------------ */

ERROR_KERNEL(alignment_promised) {
  const float values[WIDTH] = {1, 2, 3};
  const arc_target_f32 target = arc_target_f32_rows(rows, wrong ? WIDTH : STRIDE, WIDTH);
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_ALIGNED_16;
  arc_add_with_f32(target, KEY, values, true, options);
}

ERROR_KERNEL(zeros_promised_without_memory) {
  const float values[WIDTH] = {1, 2, 3}, zeros[WIDTH] = {0, 0, 0};
  const float *nothing = wrong ? simt_poison_pointer() : zeros;
  const bool hit = lane_index() < 20;
  arc_options options = arc_options_default();
  options.path = ARC_PATH_TRANSPOSED;
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
  arc_add_with_f32(right_target(rows), KEY, hit ? values : nothing, hit, options);
}

ERROR_KERNEL(mask_of_no_lanes) {
  const float values[WIDTH] = {1, 2, 3};
  arc_options options = arc_options_default();
  options.lane_mask = wrong ? 0u : ARC_LANES_ALL;
  arc_add_with_f32(right_target(rows), KEY, values, true, options);
}

ERROR_KERNEL(path_0_or_7) {
  const float values[WIDTH] = {1, 2, 3};
  arc_options options = arc_options_default();
  options.path = !wrong ? ARC_PATH_SERIALIZED : lane_index() % 2 ? 0 : 7;
  arc_add_with_f32(right_target(rows), KEY, values, true, options);
}

ERROR_KERNEL(first_piece_null) {
  const float values[WIDTH] = {1, 2, 3};
  const arc_piece_f32 pieces[2] = {{wrong ? NULL : rows, STRIDE, 1},
                                   {wrong ? rows : NULL, STRIDE, 2}};
  arc_add_f32(arc_target_f32_pieces(pieces, 2), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(stride_below_the_width) {
  const float values[WIDTH] = {1, 2, 3};
  const arc_target_f32 target = arc_target_f32_rows(rows, wrong ? WIDTH - 1 : WIDTH, WIDTH);
  arc_add_f32(target, KEY, values, true, THRESHOLD);
}

/* Where the key may be no int, a program for the GPU does not compile. */
ERROR_KERNEL(key_of_64_bits) {
  const float values[WIDTH] = {1, 2, 3};
  const long long high = SIMT_ON_CPU && wrong ? 1ll << 32 : 0;
  arc_add_f32(right_target(rows), high + KEY, values, true, THRESHOLD);
}

/* ---- who calls ------------------------------------------------------------------------------- */

ERROR_KERNEL(divergent_call_in_one_branch) {
  const float values[WIDTH] = {1, 2, 3};
  if (wrong && lane_index() < 12)
    arc_add_divergent_f32(right_target(rows), KEY, values, THRESHOLD);
  else
    arc_add_f32(right_target(rows), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(activemask_outside_the_branch) {
  const float values[WIDTH] = {1, 2, 3};
  const bool hit = lane_index() % 3 == 0;
  const unsigned here = __activemask(), hits = __ballot_sync(ARC_LANES_ALL, hit);
  if (hit)
    arc_add_masked_f32(right_target(rows), KEY, values, true, wrong ? here : hits, THRESHOLD);
}

/* ---- who must report ------------------------------------------------------------------------- */

#define CHECK_SAYS(words) "arc: ..." words, "arc: ..." words
#define EVERYBODY_SAYS(words) words, words, words
#define ANY_REPORT "simt: misuse: "
#define BARRIER "simt: misuse: a barrier in divergent code"
#define NOT_THERE "memory that is not there"
#define ILLEGAL "illegal memory access"

static const struct user_error user_errors[] = {
    {28, rows_never_ended, 32, 384, NULL, CHECK_SAYS("arc_gather_end")},
    {29, rows_ended_twice, 32, 192, EVERYBODY_SAYS(LEGAL)},
    {30, rows_added_after_end, 32, 768, NULL, CHECK_SAYS("arc_gather_end")},
    {31, rows_where_lanes_have_returned, 32, 120, ABSENT, ABSENT, NOT_HERE, 1},
    {32, rows_in_a_loop_with_own_trip_count, 32, 378, ABSENT, ABSENT, NULL, 1},
    {33, row_that_is_not_there, 32, 192, NOT_THERE, NOT_THERE, ILLEGAL, 2, 0, "AddressSanitizer"},
    {34, rows_in_if, 32, 66, ABSENT, ABSENT, NULL, 1},
    {35, rows_with_two_targets, 32, 192, NULL, CHECK_SAYS("target")},
    {36, rows_by_value, 32, 192, NULL, NULL, NULL},
    {37, sums_left_half_way, 32, 192, NULL, CHECK_SAYS("arc_sum_next")},
    {38, steps_of_active_lanes, 32, 66, ABSENT, ANY_REPORT, NULL, 1},
    {39, owners_alone_add, 32, 192, NULL, NULL, NULL},
    {40, values_change_between_steps, 32, 192, NULL, NULL, NULL},
    {41, one_lane_leaves_the_steps, 32, 192, ABSENT, ANY_REPORT, NULL, 1},
    {42, sum_added_twice, 32, 192, NULL, CHECK_SAYS("twice")},
    {43, sum_added_before_the_first_step, 32, 192, NULL, NULL, NULL},
    {44, hot_sums_of_one_warp, BLOCK, 384, NULL, CHECK_SAYS("too small"), 1,
     ARC_HOT_SUMS(MANY_ROWS, WIDTH, BLOCK) * sizeof(float)},
    {45, hot_rows_never_ended, BLOCK, 384, NULL, CHECK_SAYS("arc_hot_end")},
    {46, hot_add_after_end, BLOCK, 768, NULL, CHECK_SAYS("arc_hot_end")},
    {47, two_hot_sets_in_one_memory, BLOCK, 384, NULL, CHECK_SAYS("one memory")},
    {48, hot_end_where_lanes_have_returned, BLOCK, 384, BARRIER, BARRIER, NULL, 1},
    {49, hot_begin_below_a_return, BLOCK, 384, BARRIER, BARRIER, NULL, 1},
    {50, hot_add_in_if, BLOCK, 132, ABSENT, ABSENT, NULL, 1},
    {51, hot_warp_without_its_end, BLOCK, 384, NULL, CHECK_SAYS("arc_hot_end")},
    {52, first_keys_differ, BLOCK, 384, NULL, CHECK_SAYS("first_key")},
    {53, hot_end_in_the_loop, BLOCK, 768, NULL, NULL, NULL},
    {54, no_hot_rows, BLOCK, 384, NULL, CHECK_SAYS("hot row"), 1},
    {55, hot_sums_in_global_memory, BLOCK, 384, NULL, NULL, "arc: ...shared memory", 1},
    {56, fixed_hot_sums_sized_as_floats, BLOCK, 64, NULL, CHECK_SAYS("too small"), 1,
     ARC_HOT_SUMS(MANY_ROWS, 1, BLOCK) * sizeof(long long)},
#if SIMT_ON_CPU
    {78, table_of_one_warp, BLOCK, 384, NULL, CHECK_SAYS("too small"), 1,
     ARC_TABLE_BYTES(4, MANY_ROWS, WIDTH, BLOCK)},
    {79, table_never_ended, BLOCK, 384, NULL, CHECK_SAYS("arc_table_end")},
    {80, no_table_rows, BLOCK, 384, NULL, CHECK_SAYS("1 row"), 1},
    {81, table_in_global_memory, BLOCK, 384, NULL, NULL, "arc: ...shared memory", 1},
    {82, table_add_in_if, BLOCK, 384, ANY_REPORT, ANY_REPORT, NULL, 1},
#endif
    {57, fixed_read_by_another_scale, 32, 32, NULL, NULL, NULL},
    {58, fixed_out_of_range, 32, 32, NULL, CHECK_SAYS("range of a fixed target")},
    {59, fixed_nan, 32, 32, NULL, CHECK_SAYS("range of a fixed target")},
    {60, halves_at_an_odd_address, 32, 1, EVERYBODY_SAYS("misaligned")},
    {61, halves_in_shared_memory, 32, 1, "shared", CHECK_SAYS("halves"), 1, 16},
    {62, alignment_promised, 32, 192, NULL, CHECK_SAYS("aligned")},
    {63, one_key_promised_to_sums, 32, 192, NULL, CHECK_SAYS("key")},
    {64, misaligned_atomred, 32, 32, EVERYBODY_SAYS("misaligned")},
    {66, mask_of_no_lanes, 32, 192, "simt: misuse: an empty mask", CHECK_SAYS("mask"), 1},
    {67, path_0_or_7, 32, 192, NULL, CHECK_SAYS("path"), 1},
    {68, first_piece_null, 32, 32, NOT_THERE, NOT_THERE, ILLEGAL, 2, 0, "AddressSanitizer"},
    {69, stride_below_the_width, 32, 192, NULL, CHECK_SAYS("stride"), 1},
    {70, scale_out_of_range, 32, 32, NULL, CHECK_SAYS("scale_log2"), 1},
    {71, zeros_promised_without_memory, 32, 120, "poison pointer", "poison pointer", ILLEGAL, 2, 0,
     "AddressSanitizer"},
    {73, key_of_64_bits, 32, 192, CHECK_SAYS("key"), NULL, 1},
    {75, divergent_call_in_one_branch, 32, 192, ABSENT, ABSENT, NULL, 1},
    {76, activemask_outside_the_branch, 32, 66, ABSENT, ABSENT, NOT_HERE, 1},
    {77, key_of_a_sum_is_changed, 32, 192, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
  return run_errors(argc, argv, user_errors, sizeof user_errors / sizeof user_errors[0]);
}
