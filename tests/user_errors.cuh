/* user_errors.cuh - runs the errors of user_errors.cu and user_errors_forms.cu.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   PROGRAM                every error in a process of its own, then every correct twin
 *   PROGRAM --error N      error N alone
 *
 * Each kernel holds an error and its correct twin: `wrong` chooses. A failed check ends the GPU's
 * context, so that every error runs in a process of its own, and for TIME_LIMIT_S at most: some
 * hang there. USER_ERRORS.md has tables of them for users.
 */
#ifndef USER_ERRORS_CUH
#define USER_ERRORS_CUH

#include "simt/simt.cuh"

/* nvcc compiles this path fastest; arc checks a call before it takes any. */
#if !SIMT_ON_CPU && !defined(ARC_PATH)
#define ARC_PATH ARC_PATH_SERIALIZED
#endif
#define ARC_MAX_PIECES 8
#include "arc.cuh"
#include "arc/index_add.cuh"
#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include "../bench/common/device_count.h"

enum { WIDTH = 3, STRIDE = 4, KEY = 5, ROW_FLOATS = 1024, TIME_LIMIT_S = 20, AT_ONCE = 8 };

static __device__ const float values[WIDTH] = {1, 2, 3}; /* of most calls */

static __device__ int lane_index(void) { return (int)(threadIdx.x & 31u); }
static __device__ arc_target_f32 right_target(float *rows) {
  return arc_target_f32_rows(rows, STRIDE, WIDTH);
}
static __device__ __forceinline__ arc_options promising(int promises) {
  arc_options options = arc_options_default();
  options.promises = promises;
  return options;
}
static __device__ __attribute__((unused)) void add_at(arc_target_f32 target, int threshold) {
  arc_options options = arc_options_default();
  options.threshold = threshold;
  arc_add_with_f32(target, KEY, values, true, options);
}

struct user_error {
  int number;
  void (*kernel)(float *rows, bool wrong);
  int threads, twin_sum;
  /* What some line of the report must hold, `...` standing for anything; NULL: nothing is asked.
     The CPU warp without arc's checks, with ARC_CHECK 2, and a GPU with ARC_CHECK 2. */
  const char *alone, *checked, *gpu;
  int level = 2;                /* the ARC_CHECK from which on `checked` and `gpu` are asked */
  size_t shared_bytes = 0;      /* of the launch of the twin; the error gets half of them */
  const char *sanitized = NULL; /* with AddressSanitizer, if that finds it before */
};

static std::vector<user_error> user_errors;

struct user_error_entry {
  explicit user_error_entry(const user_error &e) { user_errors.push_back(e); }
};

/* USER_ERROR(number, kernel, threads, ...) { ... }: the members of user_error, then the body. */
#define USER_ERROR(number, name, ...)                                      \
  static __global__ void name(float *rows, bool wrong);                    \
  static const user_error_entry name##_entry({number, name, __VA_ARGS__}); \
  static __global__ void name(float *rows, bool wrong)

#define ABSENT "simt: misuse: named lanes never arrive"
#define MEET "simt: misuse: two operations meet"
#define MASKS_MEET "simt: misuse: two masks meet"
#define NOT_HERE "arc: ...lanes"
#define LEGAL "" /* no report at all */
#define SILENT EVERYBODY_SAYS(LEGAL) /* an error, and nobody reports it */
#define CHECK_SAYS(words) "arc: ..." words, "arc: ..." words
#define EVERYBODY_SAYS(words) words, words, words

static const char *must_say(const struct user_error *e) {
#if SIMT_ON_CPU && SIMT__ASAN
  if (e->sanitized) return e->sanitized;
#endif
  if (ARC_CHECK >= e->level) return SIMT_ON_CPU ? e->checked : e->gpu;
  if (ARC_CHECK == 1 || !SIMT_ON_CPU) return NULL;
  if (ARC_PATH == ARC_PATH_ATOMIC && e->level == 2 && e->alone && !strcmp(e->alone, ABSENT))
    return NULL; /* what makes lanes part ways on the other paths makes no difference there */
  return e->alone;
}

/* Runs one kernel; returns the sum of all rows, or a negative number after an error. */
static double run(const struct user_error *e, bool wrong) {
  static float host[ROW_FLOATS];
  float *rows = NULL;
  double sum = 0;
  cudaMalloc((void **)&rows, sizeof host);
  cudaMemset(rows, 0, sizeof host);
  SIMT_LAUNCH(e->kernel, 1, e->threads, e->shared_bytes / (wrong ? 2 : 1), 0, rows, wrong);
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

static FILE *begin_error(const char *program, const struct user_error *e) {
  char command[1024];
  snprintf(command, sizeof command, "'%s' --error %d 2>&1", program, e->number);
  return popen(command, "r");
}

/* Of what the error's process says, prints the line that is asked for, else the first one that
   reports anything. */
static bool error_is_reported(FILE *output, const struct user_error *e) {
  const char *pattern = must_say(e);
  const bool legal = pattern && !*pattern;
  char line[4096], shown[128] = "silent";
  bool found = false, any = false;
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

/* What main() does. */
static int run_errors(int argc, char **argv) {
  int failures = 0;
  if (device_count() == 0) {
    printf("skipped: no CUDA device\n");
    return 77;
  }
  if (argc == 3 && !strcmp(argv[1], "--error")) {
    cudaFree(0); /* with many processes beside it, that takes long */
    signal(SIGALRM, on_alarm);
    alarm(TIME_LIMIT_S);
    for (const user_error &e : user_errors)
      if (e.number == atoi(argv[2])) return run(&e, true) < 0;
    return 1;
  }
  std::vector<FILE *> outputs; /* a few ahead of the one that is read */
  for (size_t i = 0; i < user_errors.size(); ++i) {
    while (outputs.size() < user_errors.size() && outputs.size() < i + AT_ONCE)
      outputs.push_back(begin_error(argv[0], &user_errors[outputs.size()]));
    failures += !error_is_reported(outputs[i], &user_errors[i]);
  }
  for (const user_error &e : user_errors) failures += !twin_is_right(&e);
  printf("user_errors: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}

#endif /* USER_ERRORS_CUH */
