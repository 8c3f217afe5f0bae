/* user_errors_forms.cu - what a user of arc can do wrong with its other forms: rows in memory, sums
 * in two steps, hot rows, other types of memory, and some options.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three errors have no kernel: a 64-bit key that the caller casts to int (72, 74) is an int to arc,
 * and what a sum holds before its first step (43) is an accident.
 *
 * ERRORS_PART: 1 or 2, half of them; default: all.
 */
#include "user_errors.cuh"

#ifndef ERRORS_PART
#define ERRORS_PART 0
#endif

enum { SCALE = 20, HOT_ROWS = 2, WARPS = 2, BLOCK = 32 * WARPS };
enum { MANY_ROWS = 64 }; /* half of their sums are more than a GPU rounds shared memory up by */
enum { HOT_SUMS = ARC_HOT_BYTES(4, HOT_ROWS, WIDTH, BLOCK) / 4 };

/* What many kernels do, with other numbers: nvcc, which inlines arc, compiles it once. */
#define OUT_OF_LINE static __device__ __attribute__((noinline)) void

#define ANY_REPORT "simt: misuse: "
#define BARRIER "simt: misuse: a barrier in divergent code"
#define NOT_THERE "memory that is not there"
#define ILLEGAL "illegal memory access"

#if ERRORS_PART != 2
static __device__ int warp_index(void) { return (int)(threadIdx.x / 32u); }

/* ---- rows that lie in memory ----------------------------------------------------------------- */
/* Of a key that all lanes have, the sum stays in registers from the second call on. */

static __device__ const float two_rows[] = {1, 2, 3, 0, 1, 2, 3, 0};

static __device__ __forceinline__ arc_index_add_f32 rows_from(float *rows, int stride) {
  return arc_index_add_begin_f32(right_target(rows), two_rows, stride);
}

/* Once begun, a gather is a: added to, f, g: by lane 9 from row 2^30 or 2^31; e: ended, b: begun
   anew, l: with a stride that is too long. Later calls are inactive. */
OUT_OF_LINE add_rows(float *rows, int active_calls, const char *steps) {
  arc_index_add_f32 from = rows_from(rows, STRIDE);
  for (int calls = 0; *steps; ++steps) {
    const char step = *steps;
    if (step == 'a' || step == 'f' || step == 'g') {
      const bool is_far = step != 'a' && lane_index() == 9;
      const long long row = is_far ? 1ll << (step == 'f' ? 30 : 31) : calls % 2;
      arc_index_add_rows_f32(&from, KEY, row, calls < active_calls);
      calls += 1;
    }
    if (step == 'e') arc_index_add_end_f32(&from);
    if (step == 'b' || step == 'l') from = rows_from(rows, step == 'b' ? STRIDE : 0x7fffffff);
  }
}

#define ROWS_STEPS(error, target, active_calls, steps) \
  USER_ERROR error { add_rows(target, active_calls, steps); }
ROWS_STEPS((28, rows_never_ended, 32, 384, NULL, CHECK_SAYS("arc_index_add_end")), rows, 2,
           wrong ? "aa" : "aae")
ROWS_STEPS((30, rows_added_after_end, 32, 768, NULL, CHECK_SAYS("arc_index_add_end")), rows, 4,
           wrong ? "aaeaa" : "aaaae")
ROWS_STEPS((96, rows_begun_anew, 32, 768, NULL, CHECK_SAYS("arc_index_add_end")), rows, 4,
           wrong ? "aabaae" : "aaebaae")
ROWS_STEPS((29, rows_ended_twice, 32, 192, EVERYBODY_SAYS(LEGAL)), rows, 1, wrong ? "aee" : "ae")
ROWS_STEPS((35, rows_with_two_targets, 32, 192, NULL, CHECK_SAYS("target")),
           !wrong || lane_index() < 16 ? rows : rows + 512, 1, "ae")
ROWS_STEPS((34, rows_in_if, 32, 66, ABSENT, ABSENT, NULL, 1), rows, lane_index() % 3 == 0,
           !wrong || lane_index() % 3 == 0 ? "ae" : "e")
ROWS_STEPS((32, rows_in_a_loop_with_own_trip_count, 32, 378, ABSENT, ABSENT, NULL, 1), rows,
           lane_index() % 3 + 1, "aaae" + (wrong ? 2 - lane_index() % 3 : 0))

ROWS_STEPS((33, row_that_is_not_there, 32, 192, NOT_THERE, NOT_THERE, ILLEGAL, 2, 0,
            "AddressSanitizer"),
           rows, 1, wrong ? "fe" : "ae")
ROWS_STEPS((110, stride_of_rows_too_long, 32, 192, NULL, CHECK_SAYS("rows must be below 2^31"), 1),
           rows, 1, wrong ? "lae" : "bae")
ROWS_STEPS((111, rows_too_far_apart, 32, 192, NULL, CHECK_SAYS("rows of a call")), rows, 1,
           wrong ? "ge" : "ae")

USER_ERROR(31, rows_where_lanes_have_returned, 32, 120, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool inside = lane_index() < 20;
  if (wrong && !inside) return;
  add_rows(rows, inside, "ae");
}

/* A copy that nobody ends adds all the same, unless it keeps a sum. */
USER_ERROR(36, rows_by_value, 32, 192, SILENT) {
  arc_index_add_f32 from = rows_from(rows, STRIDE), copy = from;
  arc_index_add_rows_f32(&copy, KEY, 0, true);
  arc_index_add_end_f32(wrong ? &from : &copy);
}

/* ---- sums in two steps ----------------------------------------------------------------------- */

/* Four groups, and as many steps. A sum is b: begun, n: taken a step, a: added, o: added by owners
   alone; k: its key is changed, v: a value is. */
#define ALL_STEPS "bnanananan"
OUT_OF_LINE add_sums(float *rows, const char *steps) {
  float mine[WIDTH] = {1, 2, 3};
  arc_sum_f32 sum;
  for (; *steps; ++steps) {
    if (*steps == 'b')
      sum = arc_sum_begin_f32(right_target(rows), KEY + lane_index() % 4, mine, true);
    if (*steps == 'n') arc_sum_next_f32(&sum);
    if (*steps == 'a' || (*steps == 'o' && sum.owned)) arc_sum_add_f32(&sum);
    if (*steps == 'k') sum.key = 0;
    if (*steps == 'v') mine[0] = 0;
  }
}

#define SUM_STEPS(error, wrong_steps, right_steps) \
  USER_ERROR error { add_sums(rows, wrong ? wrong_steps : right_steps); }
SUM_STEPS((37, sums_left_half_way, 32, 192, NULL, CHECK_SAYS("arc_sum_next")), "bna", ALL_STEPS)
SUM_STEPS((97, sums_begun_anew, 32, 384, NULL, CHECK_SAYS("arc_sum_next")), "bna" ALL_STEPS,
          ALL_STEPS ALL_STEPS)
SUM_STEPS((39, owners_alone_add, 32, 192, SILENT), "bnonononon", ALL_STEPS)
SUM_STEPS((40, values_change_between_steps, 32, 192, NULL, CHECK_SAYS("between its steps")),
          "bnavnananan", ALL_STEPS)
SUM_STEPS((41, one_lane_leaves_the_steps, 32, 192, ABSENT, ANY_REPORT, NULL, 1),
          lane_index() == 9 ? "bna" : ALL_STEPS, ALL_STEPS)
SUM_STEPS((42, sum_added_twice, 32, 192, NULL, CHECK_SAYS("twice")), "bnaananan", ALL_STEPS)
SUM_STEPS((77, key_of_a_sum_is_changed, 32, 192, NULL, CHECK_SAYS("for reading")), "bnkananan",
          ALL_STEPS)

USER_ERROR(38, steps_of_active_lanes, 32, 66, ABSENT, ANY_REPORT, NULL, 1) {
  const bool hit = lane_index() % 3 == 0;
  arc_sum_f32 sum = arc_sum_begin_f32(right_target(rows), KEY, values, hit);
  while ((hit || !wrong) && arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
}

USER_ERROR(63, one_key_promised_to_sums, 32, 192, NULL, CHECK_SAYS("key")) {
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_sum_f32 sum =
      arc_sum_begin_with_f32(right_target(rows), key, values, true, promising(ARC_PROMISE_ONE_KEY));
  while (arc_sum_next_f32(&sum)) arc_sum_add_f32(&sum);
}

/* ---- hot rows -------------------------------------------------------------------------------- */

/* Launched with two warps; each adds to a row of its own. Hot rows are b: begun, a: added to, i:
   added to by a third of the lanes, e: ended, w: ended by a warp alone; s: all threads meet; others
   are o: begun in the same memory, p: begun behind it, f: ended. */
OUT_OF_LINE use_hot(float *rows, float *sums, long long first_key, int count, const char *steps) {
  const arc_target_f32 target = right_target(rows);
  const arc_options one_key = promising(ARC_PROMISE_ONE_KEY);
  arc_hot_f32 hot, others;
  for (; *steps; ++steps) {
    const char step = *steps;
    if (step == 'b') hot = arc_hot_begin_f32(target, sums, first_key, count);
    if (step == 'a' || step == 'i')
      arc_hot_add_with_f32(&hot, KEY + warp_index(), values, step == 'a' || lane_index() % 3 == 0,
                           one_key);
    if (step == 'e') arc_hot_end_f32(&hot);
    if (step == 'w') arc_hot_end_warp_f32(&hot);
    if (step == 's') __syncthreads();
    if (step == 'o' || step == 'p')
      others = arc_hot_begin_f32(target, sums + (step == 'p') * HOT_SUMS, first_key, count);
    if (step == 'f') arc_hot_end_f32(&others);
  }
}

#define HOT_KERNEL(error, sums, first_key, count, steps) \
  USER_ERROR error {                                     \
    __shared__ float shared[2 * HOT_SUMS];               \
    use_hot(rows, sums, first_key, count, steps);        \
  }
#define HOT_STEPS(error, steps) HOT_KERNEL(error, shared, KEY, HOT_ROWS, steps)
HOT_STEPS((45, hot_rows_never_ended, BLOCK, 384, NULL, CHECK_SAYS("arc_hot_end")),
          wrong ? "ba" : "bae")
HOT_STEPS((46, hot_add_after_end, BLOCK, 768, NULL, CHECK_SAYS("arc_hot_end")),
          wrong ? "baesa" : "basae")
HOT_STEPS((47, two_hot_sets_in_one_memory, BLOCK, 384, NULL, CHECK_SAYS("one memory")),
          wrong ? "baoef" : "bapef")
HOT_STEPS((48, hot_end_where_lanes_have_returned, BLOCK, 384, BARRIER, BARRIER, NULL, 1),
          !wrong || threadIdx.x >= 20 ? "bae" : "ba")
HOT_STEPS((49, hot_begin_below_a_return, BLOCK, 384, BARRIER, BARRIER, NULL, 1),
          !wrong || threadIdx.x < 32 ? "bae" : "")
HOT_STEPS((50, hot_add_in_if, BLOCK, 132, ABSENT, ABSENT, NULL, 1),
          !wrong || lane_index() % 3 == 0 ? "bie" : "be")
HOT_STEPS((51, hot_warp_without_its_end, BLOCK, 384, NULL, CHECK_SAYS("arc_hot_end")),
          !wrong || warp_index() == 0 ? "baw" : "ba")
HOT_STEPS((53, hot_end_in_the_loop, BLOCK, 768, SILENT), wrong ? "baesae" : "basae")
HOT_STEPS((98, hot_rows_begun_anew, BLOCK, 768, NULL, CHECK_SAYS("begun anew")),
          wrong ? "basbae" : "baesbae")
HOT_KERNEL((52, first_keys_differ, BLOCK, 384, NULL, CHECK_SAYS("first_key")), shared,
           KEY + (wrong ? warp_index() : 0), HOT_ROWS, "bae")
HOT_KERNEL((54, no_hot_rows, BLOCK, 384, NULL, CHECK_SAYS("hot row"), 1), shared, KEY,
           wrong ? 0 : HOT_ROWS, "bae")
HOT_KERNEL((121, first_key_of_64_bits, BLOCK, 384, EVERYBODY_SAYS("arc: ...first_key"), 0), shared,
           KEY + (wrong ? 1ll << 32 : 0), HOT_ROWS, "bae")
HOT_KERNEL((55, hot_sums_in_global_memory, BLOCK, 384, NULL, NULL, "arc: ...shared memory", 1),
           wrong ? rows + 512 : shared, KEY, HOT_ROWS, "bae")

/* Launched with half of the memory. */
USER_ERROR(44, hot_sums_of_one_warp, BLOCK, 384, NULL, CHECK_SAYS("too small"), 1,
           ARC_HOT_BYTES(sizeof(float), MANY_ROWS, WIDTH, BLOCK)) {
  SIMT_DYNAMIC_SHARED(float, shared);
  use_hot(rows, shared, KEY, MANY_ROWS, "bae");
  (void)wrong;
}
#endif

#if ERRORS_PART != 1
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
OUT_OF_LINE add_fixed(float *rows, float value, int scale_log2, int read_scale_log2,
                      bool exact = false) {
  __shared__ long long sum;
  const arc_target_fixed target = fixed_target(&sum, scale_log2);
  arc_options options = arc_options_default();
  options.exact = exact;
  arc_add_with_fixed(target, 0, &value, true, options);
  show_fixed(rows, &sum, read_scale_log2);
}

/* Launched with half of the memory. */
USER_ERROR(56, fixed_hot_sums_sized_as_floats, BLOCK, 64, NULL, CHECK_SAYS("too small"), 1,
           ARC_HOT_BYTES(sizeof(long long), MANY_ROWS, 1, BLOCK)) {
  SIMT_DYNAMIC_SHARED(long long, sums);
  __shared__ long long in_memory[MANY_ROWS];
  const float value = 1;
  in_memory[threadIdx.x] = 0;
  const arc_hot_fixed hot = arc_hot_begin_fixed(fixed_target(in_memory, SCALE), sums, 0, MANY_ROWS);
  arc_hot_add_with_fixed(&hot, 0, &value, true, promising(ARC_PROMISE_ONE_KEY));
  arc_hot_end_fixed(&hot);
  show_fixed(rows, in_memory, SCALE);
  (void)wrong;
}

USER_ERROR(57, fixed_read_by_another_scale, 32, 32, SILENT) {
  add_fixed(rows, 1, SCALE, wrong ? SCALE / 2 : SCALE);
}
USER_ERROR(58, fixed_out_of_range, 32, 32, NULL, CHECK_SAYS("range of a fixed target")) {
  add_fixed(rows, wrong ? 1e13f : 1, SCALE, SCALE);
}
USER_ERROR(59, fixed_nan, 32, 32, NULL, CHECK_SAYS("range of a fixed target")) {
  add_fixed(rows, wrong ? __int_as_float(0x7fc00000) : 1, SCALE, SCALE);
}
USER_ERROR(113, exact_below_the_range, 32, 32, NULL, CHECK_SAYS("range of a fixed target")) {
  add_fixed(rows, wrong ? -1e13f : 1, SCALE, SCALE, true);
}
USER_ERROR(70, scale_out_of_range, 32, 32, NULL, CHECK_SAYS("scale_log2"), 1) {
  add_fixed(rows, 1, wrong ? 127 : SCALE, SCALE);
}

/* Three calls by four lanes, whose sums are 2^62 in fixed point: the second or third is beyond the
   range wherever the form keeps it. Shows the sum in memory. */
#define FULL_KERNEL(error, width, begin, add, end)                                             \
  USER_ERROR error {                                                                           \
    enum { SUMS = ARC_HOT_BYTES(8, 1, width, 32) / 8 };                                        \
    __shared__ __align__(16) long long shared[SUMS + width];                                   \
    float *const values = (float *)(shared + SUMS);                                            \
    unsigned long long *const sums = (unsigned long long *)rows;                               \
    const arc_target_fixed target = arc_target_fixed_rows((long long *)rows, 2, width, SCALE); \
    const bool active = lane_index() < 4;                                                      \
    for (int i = 0; i < width; ++i) values[i] = wrong ? 1099511627776.0f /* 2^40 */ : 1.0f;    \
    __syncthreads();                                                                           \
    begin;                                                                                     \
    for (int call = 0; call < 3; ++call) add;                                                  \
    end;                                                                                       \
    __syncthreads();                                                                           \
    if (threadIdx.x > 0) return;                                                               \
    rows[ROW_FLOATS - 1] = arc_fixed_to_f32((long long)atomicExch(sums, 0ull), SCALE);         \
    atomicExch(sums + 1, 0ull);                                                                \
  }
FULL_KERNEL((100, hot_rows_overflow, 32, 12, NULL, CHECK_SAYS("overflows")), 1,
            arc_hot_fixed hot = arc_hot_begin_fixed(target, shared, 0, 1),
            arc_hot_add_with_fixed(&hot, 0, values, active, promising(ARC_PROMISE_ONE_KEY)),
            arc_hot_end_fixed(&hot))
FULL_KERNEL((101, kept_rows_overflow, 32, 12, NULL, CHECK_SAYS("overflows")), 2,
            arc_index_add_fixed from = arc_index_add_begin_fixed(target, values, 0),
            arc_index_add_rows_fixed(&from, 0, 0, active), arc_index_add_end_fixed(&from))
USER_ERROR(102, scale_below_the_range, 32, 32, NULL, CHECK_SAYS("scale_log2"), 1) {
  add_fixed(rows, 1, wrong ? -127 : SCALE, SCALE);
}

/* Shows whether both sums are right. */
static __device__ __forceinline__ void add_halves(float *rows, void *halves) {
  const float values[2] = {1, 2};
  arc_add_f16(arc_target_f16_rows(halves, 2, 2), 0, values, true);
  __syncthreads();
  if (threadIdx.x == 0) rows[0] = __float_as_int(rows[0]) == 0x54005000; /* 64 and 32 */
}

USER_ERROR(60, halves_at_an_odd_address, 32, 1, "misaligned", CHECK_SAYS("not aligned"), 1) {
  add_halves(rows, (char *)rows + (wrong ? 1 : 0));
}

USER_ERROR(61, halves_in_shared_memory, 32, 1, "shared", CHECK_SAYS("halves"), 1, 16) {
  SIMT_DYNAMIC_SHARED(float, halves);
  halves[0] = 0;
  __syncthreads();
  add_halves(rows, wrong ? halves : rows);
}

USER_ERROR(64, misaligned_atomred, 32, 32, "misaligned", CHECK_SAYS("not aligned"), 1) {
  arc_atomred_f32((float *)((char *)rows + (wrong ? 2 : 0)), 1);
}

/* ---- options and rows ------------------------------------------------------------------------ */

USER_ERROR(62, alignment_promised, 32, 192, NULL, CHECK_SAYS("aligned")) {
  const arc_target_f32 target = arc_target_f32_rows(rows, wrong ? WIDTH : STRIDE, WIDTH);
  arc_add_with_f32(target, KEY, values, true, promising(ARC_PROMISE_ALIGNED_16));
}

USER_ERROR(71, zeros_promised_without_memory, 32, 120, "poison pointer", "poison pointer", ILLEGAL,
           2, 0, "AddressSanitizer") {
  const float zeros[WIDTH] = {0, 0, 0};
  const float *nothing = wrong ? simt_poison_pointer() : zeros;
  const bool hit = lane_index() < 20;
  arc_options options = promising(ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO);
  options.path = ARC_PATH_TRANSPOSED;
  arc_add_with_f32(right_target(rows), KEY, hit ? values : nothing, hit, options);
}

USER_ERROR(103, promises_of_a_renderer, 32, 120, NULL, CHECK_SAYS("zero")) {
  const bool active = lane_index() < 20;
  const float one = active || wrong ? 1.0f : 0.0f, mine[WIDTH] = {one, 2 * one, 3 * one};
  arc_add_with_f32(right_target(rows), KEY, mine, active,
                   promising(ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER));
}

/* Their number is known at run time only. */
USER_ERROR(104, ten_pieces, 32, 192, NULL, CHECK_SAYS("pieces"), 1) {
  const arc_piece_f32 piece = {rows, STRIDE, 1};
  const arc_piece_f32 pieces[10] = {piece, piece, piece, piece, piece,
                                    piece, piece, piece, piece, piece};
  (void)arc_target_f32_pieces(pieces, wrong ? 10 : 8);
  arc_add_f32(right_target(rows), KEY, values, true);
}

USER_ERROR(115, no_pieces, 32, 192, NULL, CHECK_SAYS("pieces"), 1) {
  const arc_piece_f32 piece = {rows, STRIDE, WIDTH};
  arc_add_f32(arc_target_f32_pieces(&piece, wrong ? 0 : 1), KEY, values, true);
}

USER_ERROR(116, piece_left_out, 32, 96, NULL, CHECK_SAYS("left out"), 1) {
  const arc_piece_f32 pieces[2] = {{rows, STRIDE, 2}, {wrong ? rows + 2 : NULL, STRIDE, 1}};
  arc_add_f32(arc_target_f32_first(arc_target_f32_pieces(pieces, 2), 1), KEY, values, true);
}

USER_ERROR(118, more_pieces_than_there_are, 32, 32, NULL, CHECK_SAYS("number of pieces"), 1) {
  const arc_piece_f32 pieces[2] = {{rows, STRIDE, 1}, {NULL, STRIDE, 1}};
  arc_add_f32(arc_target_f32_first(arc_target_f32_pieces(pieces, 2), wrong ? 3 : 2), KEY, values,
              true);
}

USER_ERROR(105, thresholds_of_a_dynamic_call, 32, 192, ABSENT, CHECK_SAYS("threshold")) {
  add_at(arc_target_f32_dynamic(rows, STRIDE, WIDTH), wrong && lane_index() % 2 ? 33 : 2);
}

USER_ERROR(122, path_by_lane, 32, 192, MEET, CHECK_SAYS("path or promises")) {
  arc_options options = arc_options_default();
  options.path = wrong && lane_index() % 2 ? ARC_PATH_ATOMIC : ARC_PATH_TREE;
  arc_add_with_f32(right_target(rows), KEY, values, true, options);
}

USER_ERROR(66, mask_of_no_lanes, 32, 192, "simt: misuse: an empty mask", CHECK_SAYS("mask"), 1) {
  arc_options options = arc_options_default();
  options.lane_mask = wrong ? 0u : ARC_LANES_ALL;
  arc_add_with_f32(right_target(rows), KEY, values, true, options);
}

USER_ERROR(67, path_0_or_7, 32, 192, NULL, CHECK_SAYS("path"), 1) {
  arc_options options = arc_options_default();
  options.path = !wrong ? ARC_PATH_SERIALIZED : lane_index() % 2 ? 0 : 7;
  arc_add_with_f32(right_target(rows), KEY, values, true, options);
}

USER_ERROR(68, first_piece_null, 32, 32, NOT_THERE, NOT_THERE, ILLEGAL, 2, 0, "AddressSanitizer") {
  const arc_piece_f32 pieces[2] = {{wrong ? NULL : rows, STRIDE, 1},
                                   {wrong ? rows : NULL, STRIDE, 2}};
  arc_add_f32(arc_target_f32_pieces(pieces, 2), KEY, values, true);
}

USER_ERROR(69, stride_below_the_width, 32, 192, NULL, CHECK_SAYS("stride"), 1) {
  const arc_target_f32 target = arc_target_f32_rows(rows, wrong ? WIDTH - 1 : WIDTH, WIDTH);
  arc_add_f32(target, KEY, values, true);
}

USER_ERROR(107, piece_of_width_0, 32, 192, EVERYBODY_SAYS("arc: ...the width of a piece"), 0) {
  const arc_piece_f32 pieces[2] = {{rows, STRIDE, WIDTH - 1},
                                   {rows + 512, STRIDE, wrong && lane_index() == 10 ? 0 : 1}};
  arc_add_f32(arc_target_f32_pieces(pieces, 2), KEY, values, true);
}

USER_ERROR(108, stride_too_long, 32, 192, NULL, CHECK_SAYS("piece must be below 2^31"), 1) {
  const int stride = wrong && lane_index() == 31 ? 0x7fffffff : STRIDE;
  arc_add_f32(arc_target_f32_rows(rows, stride, WIDTH), KEY, values, true);
}

/* Where the key may be no int, a program for the GPU does not compile. */
USER_ERROR(73, key_of_64_bits, 32, 192, CHECK_SAYS("key"), NULL, 1) {
  const long long high = SIMT_ON_CPU && wrong ? 0x7fffffffffffffff - KEY : 0;
  arc_add_f32(right_target(rows), high + KEY, values, true);
}
USER_ERROR(112, key_below_32_bits, 32, 192, CHECK_SAYS("key"), NULL, 1) {
  const long long high = SIMT_ON_CPU && wrong ? -(1ll << 32) : 0;
  arc_add_f32(right_target(rows), high + KEY, values, true);
}

/* ---- who calls ------------------------------------------------------------------------------- */

USER_ERROR(75, divergent_call_in_one_branch, 32, 192, ABSENT, ABSENT, NULL, 1) {
  if (wrong && lane_index() < 12)
    arc_add_divergent_f32(right_target(rows), KEY, values);
  else
    arc_add_f32(right_target(rows), KEY, values, true);
}

USER_ERROR(76, activemask_outside_the_branch, 32, 66, ABSENT, ABSENT, NOT_HERE, 1) {
  const bool hit = lane_index() % 3 == 0;
  const unsigned here = __activemask(), hits = __ballot_sync(ARC_LANES_ALL, hit);
  if (hit) arc_add_masked_f32(right_target(rows), KEY, values, true, wrong ? here : hits);
}
#endif

int main(int argc, char **argv) { return run_errors(argc, argv); }
