/* user_errors.cu - what a user of arc can do wrong, and who reports it.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   user_errors                every error in a process of its own, then every correct twin
 *   user_errors --error N      error N alone
 *
 * Each kernel holds an error and its correct twin: `wrong` chooses. The table below says what each
 * build must report: the CPU warp with arc's checks off, the CPU warp at ARC_CHECK 2, the GPU at
 * ARC_CHECK 2; at ARC_CHECK 1 both report that lanes are absent. A failed check ends the GPU's
 * context, so that every error runs in a process of its own, and for TIME_LIMIT_S at most: number 5
 * hangs there. USER_ERRORS.md shows the table to users.
 */
#include "simt/simt.cuh"

/* nvcc compiles this path fastest; arc checks a call before it takes any. */
#if !SIMT_ON_CPU && !defined(ARC_PATH)
#define ARC_PATH ARC_PATH_SERIALIZED
#endif
#include "arc.cuh"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 3, STRIDE = 4, KEY = 5, ROW_FLOATS = 1024, TIME_LIMIT_S = 20 };

#define THRESHOLD ARC_BALANCE_THRESHOLD
#define ERROR_KERNEL(name) static __global__ void name(float *rows, bool wrong)

static __device__ int lane_index(void) { return (int)(threadIdx.x & 31u); }
static __device__ arc_target_f32 right_target(float *rows) {
  return arc_target_f32_rows(rows, STRIDE, WIDTH);
}

/* ---- who calls ------------------------------------------------------------------------------ */

ERROR_KERNEL(whole_warp_call_in_if) {
  const float values[WIDTH] = {1, 2, 3};
  const bool hit = lane_index() % 3 == 0;
  if (hit || !wrong) arc_add_f32(right_target(rows), KEY, values, hit, THRESHOLD);
}

ERROR_KERNEL(calls_in_if_and_else) {
  const float values[WIDTH] = {1, 2, 3};
  const bool low = lane_index() < 12;
  const arc_target_f32 target = right_target(rows);
  if (!wrong)
    arc_add_f32(target, low ? 1 : 2, values, true, THRESHOLD);
  else if (low)
    arc_add_f32(target, 1, values, true, THRESHOLD);
  else
    arc_add_f32(target, 2, values, true, THRESHOLD);
}

ERROR_KERNEL(lanes_have_returned) {
  const float values[WIDTH] = {1, 2, 3};
  const bool inside = lane_index() < 20;
  if (wrong && !inside) return;
  arc_add_f32(right_target(rows), KEY, values, inside, THRESHOLD);
}

/* Launched with 20 threads. */
ERROR_KERNEL(block_of_20) {
  const float values[WIDTH] = {1, 2, 3};
  const arc_target_f32 target = right_target(rows);
  if (wrong)
    arc_add_f32(target, KEY, values, true, THRESHOLD);
  else
    arc_add_masked_f32(target, KEY, values, true, 0x000fffffu, THRESHOLD);
}

ERROR_KERNEL(masks_differ) {
  const float values[WIDTH] = {1, 2, 3};
  const unsigned mask = wrong ? ~(1u << (lane_index() + 1) % 32) : 0xffffffffu;
  arc_add_masked_f32(right_target(rows), KEY, values, true, mask, THRESHOLD);
}

ERROR_KERNEL(mask_of_before_the_branch) {
  const float values[WIDTH] = {1, 2, 3};
  const bool hit = lane_index() % 2 == 0;
  const unsigned mask = __ballot_sync(0xffffffffu, hit);
  if (hit && (lane_index() < 20 || !wrong))
    arc_add_masked_f32(right_target(rows), KEY, values, true, mask, THRESHOLD);
}

ERROR_KERNEL(loop_with_own_trip_count) {
  const float values[WIDTH] = {1, 2, 3};
  const int count = lane_index() % 3 + 1;
  const arc_target_f32 target = right_target(rows);
  for (int i = 0; i < (wrong ? count : 3); ++i)
    arc_add_f32(target, KEY, values, i < count, THRESHOLD);
}

ERROR_KERNEL(vote_and_own_flag) {
  const float values[WIDTH] = {1, 2, 3};
  const bool hit = lane_index() % 3 == 0, any = __any_sync(0xffffffffu, hit);
  if (any && (hit || !wrong)) arc_add_uniform_f32(right_target(rows), KEY, values, hit, THRESHOLD);
}

/* Launched with two warps: 20 lanes of the first and 12 of the second call. */
ERROR_KERNEL(mask_of_another_warp) {
  const float values[WIDTH] = {1, 2, 3};
  const bool first = threadIdx.x < 32;
  const unsigned mask = first || wrong ? 0x000fffffu : 0xfff00000u;
  if (first ? lane_index() < 20 : lane_index() >= 20)
    arc_add_masked_f32(right_target(rows), KEY, values, true, mask, THRESHOLD);
}

/* ---- what differs among the lanes ------------------------------------------------------------ */

ERROR_KERNEL(two_targets) {
  const float values[WIDTH] = {1, 2, 3};
  float *base = wrong && lane_index() >= 16 ? rows + 512 : rows;
  arc_add_f32(right_target(base), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(thresholds_differ) {
  const float values[WIDTH] = {1, 2, 3};
  const int threshold = wrong && lane_index() % 2 ? 33 : 2;
  arc_add_f32(right_target(rows), KEY, values, true, threshold);
}

ERROR_KERNEL(uniform_call_with_two_keys) {
  const float values[WIDTH] = {1, 2, 3};
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_add_uniform_f32(right_target(rows), key, values, true, THRESHOLD);
}

ERROR_KERNEL(uniform_call_with_two_keys_by_atomics) {
  const float values[WIDTH] = {1, 2, 3};
  const int key = wrong && lane_index() == 9 ? KEY + 1 : KEY;
  arc_options options = arc_options_default();
  options.path = ARC_PATH_ATOMIC;
  options.promises = ARC_PROMISE_ONE_KEY;
  arc_add_with_f32(right_target(rows), key, values, true, options);
}

ERROR_KERNEL(target_of_another_lane) {
  const float values[WIDTH] = {1, 2, 3};
  __shared__ arc_target_f32 shared;
  if (lane_index() == 0) shared = right_target(rows);
  __syncthreads();
  arc_add_f32(wrong ? shared : right_target(rows), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(pointers_of_a_key_differ) {
  const float values[WIDTH] = {1, 2, 3};
  float *row = rows + STRIDE * (wrong && lane_index() == 9 ? KEY + 1 : KEY);
  float *const pointers[WIDTH] = {row, row + 1, row + 2};
  arc_add_pointers_f32(pointers, WIDTH, KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(widths_differ) {
  const float values[WIDTH] = {1, 2, 3};
  const int width = wrong && lane_index() >= 16 ? 2 : WIDTH;
  arc_add_f32(arc_target_f32_rows(rows, STRIDE, width), KEY, values, true, THRESHOLD);
}

/* ---- arguments ------------------------------------------------------------------------------- */

ERROR_KERNEL(width_0_literal) {
  const float values[WIDTH] = {1, 2, 3};
  if (wrong)
    arc_add_f32(arc_target_f32_rows(rows, STRIDE, 0), KEY, values, true, THRESHOLD);
  else
    arc_add_f32(right_target(rows), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(width_0_at_run_time) {
  const float values[WIDTH] = {1, 2, 3};
  const int width = wrong ? 0 : WIDTH;
  arc_add_f32(arc_target_f32_rows(rows, STRIDE, width), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(nine_pieces) {
  const float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  arc_piece_f32 pieces[9];
  for (int i = 0; i < 9; ++i) {
    pieces[i].base = rows + 100 * i;
    pieces[i].stride = pieces[i].width = 1;
  }
  if (wrong)
    arc_add_f32(arc_target_f32_pieces(pieces, 9), KEY, values, true, THRESHOLD);
  else
    arc_add_f32(arc_target_f32_pieces(pieces, 8), KEY, values, true, THRESHOLD);
}

ERROR_KERNEL(threshold_below_0) {
  const float values[WIDTH] = {1, 2, 3};
  arc_add_f32(right_target(rows), KEY, values, true, wrong ? -1 : 1);
}

/* Negative keys are legal: row -1 is there. */
ERROR_KERNEL(key_below_0) {
  const float values[WIDTH] = {1, 2, 3};
  arc_add_f32(right_target(rows + STRIDE), wrong ? -1 : 0, values, true, THRESHOLD);
}

ERROR_KERNEL(key_far_outside) {
  const float values[WIDTH] = {1, 2, 3};
  const int key = wrong && lane_index() == 9 ? 1 << 30 : KEY;
  arc_add_f32(right_target(rows), key, values, true, THRESHOLD);
}

ERROR_KERNEL(misaligned_base) {
  const float values[WIDTH] = {1, 2, 3};
  float *base = (float *)((char *)rows + (wrong ? 2 : 0));
  arc_add_f32(right_target(base), KEY, values, true, THRESHOLD);
}

/* Two values where three are read: the last two of the array. */
ERROR_KERNEL(values_too_short) {
  const float *values = rows + ROW_FLOATS - (wrong ? 2 : WIDTH);
  arc_add_f32(right_target(rows), KEY, values, true, THRESHOLD);
}

/* ---- promises -------------------------------------------------------------------------------- */

ERROR_KERNEL(zeros_promised) {
  const bool active = lane_index() < 20;
  const float one = active || (wrong && lane_index() == 25) ? 1.0f : 0.0f;
  const float values[WIDTH] = {one, 2 * one, 3 * one};
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_IS_ZERO;
  arc_add_with_f32(right_target(rows), KEY, values, active, options);
}

ERROR_KERNEL(keys_promised) {
  const float values[WIDTH] = {1, 2, 3};
  const int key = wrong && lane_index() == 25 ? KEY + 1 : KEY;
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_INACTIVE_HAS_KEY;
  arc_add_with_f32(right_target(rows), key, values, lane_index() < 20, options);
}

ERROR_KERNEL(active_lane_promised) {
  const float values[WIDTH] = {1, 2, 3};
  arc_options options = arc_options_default();
  options.promises = ARC_PROMISE_WARP_IS_ACTIVE;
  arc_add_with_f32(right_target(rows), KEY, values, !wrong, options);
}

/* ---- who must report ------------------------------------------------------------------------- */

struct user_error {
  int number;
  void (*kernel)(float *rows, bool wrong);
  int threads, twin_sum;
  /* What some line of the report must hold, `...` standing for anything; NULL: nothing is asked.
     The CPU warp without arc's checks, with ARC_CHECK 2, and a GPU with ARC_CHECK 2. */
  const char *alone, *checked, *gpu;
};

#define ABSENT "simt: misuse: named lanes never arrive"
#define MEET "simt: misuse: two operations meet"
#define MASKS_MEET "simt: misuse: two masks meet"
#define NOT_HERE "arc: ...lanes"
#define LEGAL "" /* no report at all */

static const struct user_error user_errors[] = {
    {1, whole_warp_call_in_if, 32, 66, ABSENT, ABSENT, NOT_HERE},
    {2, calls_in_if_and_else, 32, 192, MEET, MEET, NULL},
    {3, lanes_have_returned, 32, 120, ABSENT, ABSENT, NOT_HERE},
    {4, block_of_20, 20, 120, ABSENT, ABSENT, NOT_HERE},
    {5, masks_differ, 32, 192, MASKS_MEET, MASKS_MEET, NULL},
    {6, mask_of_before_the_branch, 32, 96, ABSENT, ABSENT, NOT_HERE},
    {7, two_targets, 32, 192, NULL, "arc: ...target", "arc: ...target"},
    {8, thresholds_differ, 32, 192, ABSENT, "arc: ...threshold", "arc: ...threshold"},
    {9, uniform_call_with_two_keys, 32, 192, NULL, "arc: ...key", "arc: ...key"},
    {10, target_of_another_lane, 32, 192, NULL, "arc: ...lane", "arc: ...lane"},
    {11, width_0_literal, 32, 192, NULL, "arc: ...width", "arc: ...width"},
    {12, key_below_0, 32, 192, LEGAL, LEGAL, LEGAL},
    {13, loop_with_own_trip_count, 32, 378, ABSENT, ABSENT, NOT_HERE},
    {14, nine_pieces, 32, 1152, NULL, "arc: ...pieces", "arc: ...pieces"},
    {15, zeros_promised, 32, 120, NULL, "arc: ...zero", "arc: ...zero"},
    {16, keys_promised, 32, 120, NULL, "arc: ...key", "arc: ...key"},
    {17, pointers_of_a_key_differ, 32, 192, NULL, "arc: ...pointer", "arc: ...pointer"},
    {18, key_far_outside, 32, 192, "memory that is not there", "memory that is not there",
     "illegal memory access"},
    {19, misaligned_base, 32, 192, "simt: misuse: a misaligned", "misaligned", "misaligned"},
    {20, threshold_below_0, 32, 192, NULL, "arc: ...threshold", "arc: ...threshold"},
    {21, widths_differ, 32, 192, ABSENT, "arc: ...width", "arc: ...width"},
    {22, uniform_call_with_two_keys_by_atomics, 32, 192, NULL, "arc: ...key", "arc: ...key"},
    {23, vote_and_own_flag, 32, 66, ABSENT, ABSENT, NOT_HERE},
    {24, values_too_short, 32, 0, NULL, NULL, NULL},
    {25, mask_of_another_warp, 64, 192, "simt: misuse: a lane is not in its own mask", "mask",
     "arc: ...mask"},
    {26, active_lane_promised, 32, 192, NULL, "arc: ...active", "arc: ...active"},
    {27, width_0_at_run_time, 32, 192, NULL, "arc: ...width", "arc: ...width"},
};
enum { ERRORS = sizeof user_errors / sizeof user_errors[0] };

static const char *must_say(const struct user_error *e) {
  const bool is_absence = e->gpu && !strcmp(e->gpu, NOT_HERE);
  if (ARC_CHECK == 1) return !is_absence ? NULL : SIMT_ON_CPU ? ABSENT : NOT_HERE;
#if !SIMT_ON_CPU
  return ARC_CHECK == 2 ? e->gpu : NULL;
#else
  if (ARC_CHECK == 0 && ARC_PATH == ARC_PATH_ATOMIC && !is_absence && e->alone &&
      !strcmp(e->alone, ABSENT))
    return NULL; /* what makes lanes part ways on the other paths makes no difference there */
  if (SIMT__ASAN && e->kernel == values_too_short) return "AddressSanitizer: heap-buffer-overflow";
  if (SIMT__ASAN && e->kernel == key_far_outside) return "AddressSanitizer";
  return ARC_CHECK == 2 ? e->checked : ARC_CHECK == 0 ? e->alone : NULL;
#endif
}

/* Runs one kernel; returns the sum of all rows, or a negative number after an error. */
static double run(const struct user_error *e, bool wrong) {
  static float host[ROW_FLOATS];
  float *rows = NULL;
  double sum = 0;
  cudaMalloc((void **)&rows, sizeof host);
  cudaMemset(rows, 0, sizeof host);
  SIMT_LAUNCH(e->kernel, 1, e->threads, 0, 0, rows, wrong);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status == cudaSuccess) status = cudaMemcpy(host, rows, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(rows);
  if (status != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    return -1;
  }
  for (int i = 0; i < ROW_FLOATS; ++i) sum += host[i];
  return sum;
}

/* Whether the line holds the parts of the pattern that `...` separates, in this order. */
static bool line_says(const char *line, const char *pattern) {
  const char *dots = strstr(pattern, "...");
  if (!dots) return strstr(line, pattern) != NULL;
  char head[64];
  snprintf(head, sizeof head, "%.*s", (int)(dots - pattern), pattern);
  const char *found = strstr(line, head);
  return found && strstr(found + strlen(head), dots + 3);
}

static bool is_report(const char *line) {
  return strstr(line, "simt: ") || strstr(line, "arc: ") || strstr(line, "Sanitizer: ") ||
         strstr(line, "CUDA: ");
}

/* Runs the error in a process of its own; prints the line that is asked for, else the first one
   that reports anything. */
static bool error_is_reported(const char *program, const struct user_error *e) {
  const char *pattern = must_say(e);
  const bool legal = pattern && !*pattern;
  char command[1024], line[4096], shown[128] = "silent";
  bool found = false, any = false;
  snprintf(command, sizeof command, "'%s' --error %d 2>&1", program, e->number);
  FILE *output = popen(command, "r");
  while (output && fgets(line, sizeof line, output)) {
    const bool asked = pattern && !legal && !found && line_says(line, pattern);
    if (asked || (!any && is_report(line)))
      snprintf(shown, sizeof shown, "%.*s", (int)strcspn(line, "\n"), line);
    found = found || asked;
    any = any || is_report(line);
  }
  if (output) pclose(output);
  printf("%2d  %s\n", e->number, shown);
  const bool good = !pattern || (legal ? !any : found);
  if (!good) printf("    FAILED: must %s%s\n", legal ? "be silent" : "say ", pattern);
  return good;
}

static bool twin_is_right(const struct user_error *e) {
  const double sum = run(e, false);
  if (sum == e->twin_sum) return true;
  printf("%2d  FAILED: the twin adds up to %g, must be %d\n", e->number, sum, e->twin_sum);
  return false;
}

static void on_alarm(int) {
  static const char text[] = "CUDA: the kernel does not end\n";
  _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char **argv) {
  int devices = 0, failures = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("skipped: no CUDA device\n");
    return 77;
  }
  if (argc == 3 && !strcmp(argv[1], "--error")) {
    signal(SIGALRM, on_alarm);
    alarm(TIME_LIMIT_S);
    const int number = atoi(argv[2]);
    return number < 1 || number > ERRORS || run(&user_errors[number - 1], true) < 0;
  }
  for (int i = 0; i < ERRORS; ++i) failures += !error_is_reported(argv[0], &user_errors[i]);
  for (int i = 0; i < ERRORS; ++i) failures += !twin_is_right(&user_errors[i]);
  printf("user_errors: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
