/* test_check.cu - ARC_CHECK: each level reports what it promises, and nothing that is correct.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Built at levels 0, 1 and 2, for the CPU warp only: a failed check stops the kernel, which would
 * end the program on a GPU.
 */
#include "check.cuh"

/* What to do wrong, and in which lane: the others call correctly. */
enum {
  CORRECT,
  STRIDE_0, /* legal: one row for all keys; in all lanes */
  WIDTH_0,
  WIDTH_NEGATIVE,
  PIECE_WIDTH_0,
  STRIDE_TOO_LONG,
  STRIDE_BELOW_WIDTH,
  NO_PIECES,
  NINE_PIECES,
  THRESHOLD_NEGATIVE,
  THRESHOLD_35,
  MASK_WITHOUT_CALLER,
  KEYS_DIFFER,
  INACTIVE_NOT_ZERO,
  NOBODY_ACTIVE,
  ROW_NOT_ALIGNED, /* in all lanes */
  ROWS_STRIDE_TOO_LONG,
  ROWS_APART,
  NO_HOT_ROWS,
  KEY_OF_64_BITS,
  SCALE_TOO_LARGE,
  FIXED_TOO_LARGE,
  FIXED_NAN,
  EXACT_TOO_LARGE,
  FIXED_OVERFLOW,
  MISTAKES
};

enum { NEVER = 9 };

/* The level from which on it is reported, and how. What lanes do not agree on, and who is absent:
   user_errors.cu. */
static const struct {
  int level;
  const char *says;
} expected[MISTAKES] = {{NEVER, ""},
                        {NEVER, ""},
                        {0, "width"},
                        {0, "width"},
                        {0, "the width of a piece"},
                        {1, "the stride of a piece must be below 2^31 bytes"},
                        {1, "the stride of a piece is below its width"},
                        {1, "1 to ARC_MAX_PIECES pieces"},
                        {1, "1 to ARC_MAX_PIECES pieces"},
                        {1, "threshold"},
                        {1, "threshold"},
                        {1, "lane mask"},
                        {2, "keys of a uniform add differ"},
                        {2, "not zero"},
                        {2, "no lane of the warp is active"},
                        {2, "not aligned to 16 bytes"},
                        {1, "the stride of the rows must be below 2^31 bytes"},
                        {2, "the rows of a call are 2^31 or more apart"},
                        {1, "at least 1 hot row"},
                        {0, "key_is_no_int"},
                        {1, "scale_log2"},
                        {2, "the range of a fixed target"},
                        {2, "the range of a fixed target"},
                        {2, "the range of a fixed target"},
                        {2, "overflows"}};

enum { KEYED, UNIFORM, POINTERS, ENTRIES };

struct mistake {
  float *sums;
  int kind, lane, path, entry;
};

static __device__ __forceinline__ arc_target_f32 wrong_target(struct mistake m, int kind) {
  arc_piece_f32 pieces[9];
  for (int i = 0; i < 9; ++i) {
    pieces[i].base = m.sums + 2 * i;
    pieces[i].stride = kind == STRIDE_TOO_LONG && i == 1 ? 0x7fffffff : 20;
    pieces[i].width = kind == PIECE_WIDTH_0 && i == 1 ? 0 : 1;
  }
  const int count = kind == NO_PIECES ? 0 : kind == NINE_PIECES ? 9 : 2;
  if (kind == WIDTH_0) return arc_target_f32_rows(m.sums, 20, 0);
  if (kind == WIDTH_NEGATIVE) return arc_target_f32_rows(m.sums, 20, -3);
  if (kind == STRIDE_0) return arc_target_f32_rows(m.sums, 0, 2);
  if (kind == STRIDE_BELOW_WIDTH) return arc_target_f32_rows(m.sums, 1, 2);
  if (kind == ROW_NOT_ALIGNED) return arc_target_f32_rows(m.sums, 18, 2);
  return arc_target_f32_pieces(pieces, count);
}

/* For the CPU warp, so that the path may be known at run time only. */
static __global__ void call(struct mistake m) {
  const bool all_lanes = m.kind == STRIDE_0 || m.kind == ROW_NOT_ALIGNED;
  const int kind = all_lanes || check_lane() == m.lane ? m.kind : CORRECT;
  const bool active = m.kind != NOBODY_ACTIVE && check_lane() % 7 != 3;
  const float value = active ? (float)check_lane() : 0.0f;
  const float second = kind == INACTIVE_NOT_ZERO ? 1.0f
                       : kind == FIXED_TOO_LARGE ? 8796093022208.0f /* 2^43 */
                       : kind == FIXED_NAN       ? (float)NAN
                       : kind == EXACT_TOO_LARGE ? -8796093022208.0f
                       : kind == FIXED_OVERFLOW  ? 4398046511104.0f
                                                 : 2 * value;
  const float values[2] = {value, second};
  float *const pointers[2] = {m.sums, m.sums + 1};
  const long long no_int = 1 + (m.lane % 2 ? 1ll << 32 : -(1ll << 32));
  const long long key = kind == KEYS_DIFFER ? 2 : kind == KEY_OF_64_BITS ? no_int : 1;
  arc_options o = arc_options_default();
  o.path = m.path;
  o.promises = CHECK_PROMISES;
  o.threshold = kind == THRESHOLD_NEGATIVE ? -1 : kind == THRESHOLD_35 ? 35 : 1;
  if (m.entry == UNIFORM) o.promises |= ARC_PROMISE_ONE_KEY;
  if (kind == ROW_NOT_ALIGNED) o.promises |= ARC_PROMISE_ALIGNED_16;
  if (m.kind == MASK_WITHOUT_CALLER) o.lane_mask = ~(1u << m.lane);
  o.exact = m.kind == EXACT_TOO_LARGE;
  const int width = kind == WIDTH_0 ? 0 : kind == WIDTH_NEGATIVE ? -3 : 2;
  if (m.kind == ROWS_STRIDE_TOO_LONG || m.kind == ROWS_APART) {
    const int stride = kind == ROWS_STRIDE_TOO_LONG ? 0x7fffffff : 4;
    arc_index_add_f32 rows = arc_index_add_begin_f32(wrong_target(m, CORRECT), m.sums, stride);
    arc_index_add_rows_f32(&rows, 1, kind == ROWS_APART ? 1ll << 31 : 0, active);
    arc_index_add_end_f32(&rows);
  } else if (m.kind == NO_HOT_ROWS) {
    __shared__ float sums[ARC_HOT_SUMS(3, 2, 32)];
    arc_hot_f32 hot =
        arc_hot_begin_f32(wrong_target(m, CORRECT), sums, 0, kind == NO_HOT_ROWS ? 0 : 3);
    arc_hot_add_with_f32(&hot, 1, values, active, o);
    arc_hot_end_f32(&hot, true);
  } else if (m.entry == POINTERS)
    arc_add_pointers_with_f32(pointers, width, key, values, active, o);
  else if (m.kind > KEY_OF_64_BITS)
    arc_add_with_fixed(
        arc_target_fixed_rows((long long *)m.sums, 2, 2, kind == SCALE_TOO_LARGE ? 127 : 20), key,
        values, active, o);
  else
    arc_add_with_f32(wrong_target(m, kind), key, values, active, o);
}

static int is_of_target(int kind) {
  return kind == STRIDE_0 || (kind >= PIECE_WIDTH_0 && kind <= NINE_PIECES) ||
         (kind >= ROW_NOT_ALIGNED && kind != KEY_OF_64_BITS);
}

/* Whether this build promises to report the mistake, made in a lane that is active or not. */
static int is_promised(int kind, int entry, int active) {
  if (expected[kind].level > ARC_CHECK) return 0;
  if (kind == KEYS_DIFFER) return entry == UNIFORM;
  if (kind == NOBODY_ACTIVE) return CHECK_WARP_ACTIVE;
  if (kind == INACTIVE_NOT_ZERO) return CHECK_INACTIVE_ZERO && !active;
  if (kind == ROWS_APART || kind == KEY_OF_64_BITS || kind > SCALE_TOO_LARGE) return active;
  return 1;
}

/* Without a check these would be caught elsewhere, or run wild. */
static int is_harmless_unchecked(int kind) {
  return kind <= STRIDE_0 || kind == KEYS_DIFFER || kind == INACTIVE_NOT_ZERO ||
         kind == KEY_OF_64_BITS || (kind == NOBODY_ACTIVE && !CHECK_WARP_ACTIVE);
}

static void run_mistake(int kind, int lane, int path, int entry) {
  struct check_random random;
  if (entry == POINTERS && is_of_target(kind)) return;
  const int promised = is_promised(kind, entry, lane % 7 != 3);
  if (!promised && !is_harmless_unchecked(kind)) return;
  if (!check_begin("ARC_CHECK", &random)) return;
  const check_memory<float> sums(100);
  const struct mistake m = {sums.at, kind, lane, path, entry};
  CHECK_CUDA(cudaMemset(m.sums, kind == FIXED_OVERFLOW ? 0x7f : 0, 100 * sizeof(float)));
  const int before = check.reports;
  check.expect_report = promised;
  SIMT_LAUNCH(call, dim3(1), dim3(32), 0, 0, m);
  const cudaError_t ended = cudaGetLastError();
  CHECK_CUDA(cudaDeviceSynchronize());
  check.expect_report = 0;
  if (promised) {
    CHECK(check.reports > before && ended != cudaSuccess,
          "mistake %d entry %d path %d: not reported", kind, entry, path);
    CHECK(strstr(check.last_report, "arc: ") && strstr(check.last_report, expected[kind].says),
          "mistake %d: the report does not say '%s':\n%s", kind, expected[kind].says,
          check.last_report);
  } else
    CHECK_CUDA(ended);
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int kind = 0; kind < MISTAKES; ++kind)
    for (int path = ARC_PATH_ATOMIC; path <= ARC_PATH_AUTO; ++path)
      for (int entry = 0; entry < ENTRIES; ++entry)
        for (int i = 0; i < 3; ++i) {
          const int lanes[] = {0, 10, 31};
          run_mistake(kind, lanes[i], path, entry);
        }
  return check_finish();
}
