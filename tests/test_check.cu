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
  WIDTH_0,
  WIDTH_NEGATIVE,
  PIECE_WIDTH_0,
  STRIDE_TOO_LONG,
  NO_PIECES,
  NINE_PIECES,
  THRESHOLD_NEGATIVE,
  THRESHOLD_35,
  MASK_WITHOUT_CALLER,
  KEYS_DIFFER,
  INACTIVE_NOT_ZERO,
  NOBODY_ACTIVE,
  MISTAKES
};

static const struct {
  int level;
  const char *says;
} expected[MISTAKES] = {{9, ""},          {1, "width"},  {1, "width"},  {1, "width"},
                        {1, "stride"},    {1, "pieces"}, {1, "pieces"}, {1, "threshold"},
                        {1, "threshold"}, {1, "mask"},   {2, "keys"},   {2, "zero"},
                        {2, "active"}};

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
  return arc_target_f32_pieces(pieces, count);
}

enum { KEYED = CHECK_KEYED, UNIFORM = CHECK_UNIFORM, MASKED = CHECK_MASKED, ENTRIES };

template <int form>
static __device__ void call_on_path(struct mistake m, const arc_target_f32 &target,
                                    const struct check_call &c) {
  if (m.entry != form) return;
  switch (m.path) {
    case ARC_PATH_ATOMIC:
      check_add(form, ARC_PATH_ATOMIC, target, c);
      break;
    case ARC_PATH_SERIALIZED:
      check_add(form, ARC_PATH_SERIALIZED, target, c);
      break;
    case ARC_PATH_BUTTERFLY:
      check_add(form, ARC_PATH_BUTTERFLY, target, c);
      break;
    case ARC_PATH_TRANSPOSED:
      check_add(form, ARC_PATH_TRANSPOSED, target, c);
      break;
    case ARC_PATH_TREE:
      check_add(form, ARC_PATH_TREE, target, c);
      break;
    case ARC_PATH_AUTO:
      check_add(form, ARC_PATH_AUTO, target, c);
      break;
    default:
      check_add(form, 0, target, c);
      break;
  }
}

static __global__ void call(struct mistake m) {
  const int kind = check_lane() == m.lane ? m.kind : CORRECT;
  const bool active = m.kind != NOBODY_ACTIVE && check_lane() % 7 != 3;
  const float value = active ? (float)check_lane() : 0.0f;
  float values[2] = {value, 2 * value};
  const arc_target_f32 target = wrong_target(m, kind);
  const int threshold = kind == THRESHOLD_NEGATIVE ? -1 : kind == THRESHOLD_35 ? 35 : 1;
  const int key = kind == KEYS_DIFFER ? 2 : 1;
  if (kind == INACTIVE_NOT_ZERO) values[1] = 1.0f;
  struct check_call c = {key, values, NULL, 0, active, 0xffffffffu, threshold};
  if (m.kind == MASK_WITHOUT_CALLER) c.mask = ~(1u << m.lane);
  call_on_path<CHECK_KEYED>(m, target, c);
  call_on_path<CHECK_UNIFORM>(m, target, c);
  call_on_path<CHECK_MASKED>(m, target, c);
}

/* Whether this build promises to report the mistake, made in a lane that is active or not. */
static int is_promised(int kind, int entry, int path, int active) {
  if (expected[kind].level > ARC_CHECK) return 0;
  if (kind == MASK_WITHOUT_CALLER) return entry == MASKED;
  if (kind == KEYS_DIFFER)
    return entry == UNIFORM && (active || ARC_INACTIVE_HAS_KEY) && path != ARC_PATH_ATOMIC;
  if (kind == NOBODY_ACTIVE) return ARC_WARP_IS_ACTIVE && path != ARC_PATH_ATOMIC;
  if (kind == INACTIVE_NOT_ZERO) return ARC_INACTIVE_IS_ZERO && !active && path != ARC_PATH_ATOMIC;
  return 1;
}

/* Without a check these would be caught elsewhere, or run wild. */
static int is_harmless_unchecked(int kind) {
  return kind == CORRECT || kind == KEYS_DIFFER || kind == INACTIVE_NOT_ZERO ||
         (kind == NOBODY_ACTIVE && !ARC_WARP_IS_ACTIVE);
}

static void run_mistake(int kind, int lane, int path, int entry) {
  struct check_random random;
  const int promised = is_promised(kind, entry, path ? path : ARC_PATH, lane % 7 != 3);
  if (!promised && !is_harmless_unchecked(kind)) return;
  if (!check_begin("ARC_CHECK", &random)) return;
  struct mistake m = {NULL, kind, lane, path, entry};
  CHECK_CUDA(cudaMalloc((void **)&m.sums, 100 * sizeof(float)));
  CHECK_CUDA(cudaMemset(m.sums, 0, 100 * sizeof(float)));
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
  CHECK_CUDA(cudaFree(m.sums));
}

int main(int argc, char **argv) {
  check_main(argc, argv);
  for (int kind = 0; kind < MISTAKES; ++kind)
    for (int path = 0; path <= ARC_PATH_AUTO; ++path)
      for (int entry = 0; entry < ENTRIES; ++entry)
        for (int i = 0; i < 3; ++i) {
          const int lanes[] = {0, 10, 31};
          run_mistake(kind, lanes[i], path, entry);
        }
  return check_finish();
}
