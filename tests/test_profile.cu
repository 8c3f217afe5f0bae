/* test_profile.cu - what arc/profile.cuh counts and prints. SPDX-License-Identifier: Apache-2.0
 *
 *   test_profile                    the test
 *   test_profile --masks FILE       writes the masks of a small kernel, for test_workload_file.py,
 *                                   and prints its adds and warp calls
 */
#include "check.cuh"

#include <string>

#include "arc/drop_in.cuh"

enum { BLOCKS = 7, THREADS = 64, LANES = BLOCKS * THREADS };

/* Of every warp, the first 12 + 4 * (warp % 6) lanes add to rows of 2. */
static __device__ bool adds(int thread) { return thread % 32 < 12 + 4 * (thread / 32 % 6); }

static __global__ void count(float *cells, int *used, const int *limit) {
  SIMT_DYNAMIC_SHARED(int, plain); /* which a sanitizer leaves where it is known to be shared */
  const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (adds(thread)) {
    const int row = thread % 32 / 5;
    atomicAdd(&cells[2 * row], 1.0f);
    atomicAdd(&cells[2 * row + 1], 2.0f);
  }
  if (thread < *limit) used[1 + atomicAdd(used, 1)] = 1;
  if (threadIdx.x == 0) *plain = 0;
  __syncthreads();
  atomicAdd(plain, 1); /* not counted */
}

/* More lines than a file may have. */
template <int line>
static __device__ void add_at(float *cells) {
  arc__drop_in_add(cells, 1.0f, arc__code_line{"many.cu", line});
  if constexpr (line > 1) add_at<line - 1>(cells);
}
static __global__ void many_lines(float *cells) { add_at<ARC__PLACES + 6>(cells); }

static std::string printed(const char *masks, int *status) {
  char text[1 << 16];
  FILE *out = tmpfile();
  *status = arc_profile_print(out, masks);
  rewind(out);
  text[fread(text, 1, sizeof text - 1, out)] = 0;
  fclose(out);
  return text;
}

/* The adds and warp calls of a line of the table, by its calls and lanes. */
static double adds_of(const std::string &table, int nth, double *calls) {
  const char *at = table.c_str();
  double place = 0, lanes = 0;
  for (int i = 0; i < nth && at; ++i) at = strchr(at + 1, '\n');
  *calls = 0;
  if (at) sscanf(at, " %lf %lf %lf", &place, calls, &lanes);
  return *calls * lanes;
}

static void run(int *must) {
  const int limit = 100;
  const check_memory<float> cells(64);
  const check_memory<int> used(LANES + 1), device_limit(&limit, 1);
  SIMT_LAUNCH(count, dim3(BLOCKS), dim3(THREADS), sizeof(int), 0, cells.at, used.at,
              device_limit.at);
  *must = 0;
  for (int i = 0; i < LANES; ++i) *must += i % 32 < 12 + 4 * (i / 32 % 6);
  double sum = 0;
  for (float x : cells.read()) sum += x;
  CHECK(sum == 3.0 * *must, "the sums are %g and must be %g", sum, 3.0 * *must);
}

int main(int argc, char **argv) {
  struct check_random r;
  int must, status;
  double calls;
  if (argc == 3 && !strcmp(argv[1], "--masks")) {
    run(&must);
    status = arc_profile_print(stderr, argv[2]);
    printf("%d adds\n", 2 * must);
    return status;
  }
  check_main(argc, argv);
  check_begin("profile", &r);
  printed(NULL, &status);
  CHECK(status == 1, "nothing has run, but the status is %d", status);
  run(&must);
  const std::string table = printed(NULL, &status);
  puts(table.c_str());
  CHECK(status == 0, "the status is %d", status);
  for (int nth = 1; nth <= 2; ++nth) {
    const double got = adds_of(table, nth, &calls);
    CHECK(fabs(got - must) < 0.06 * calls + 1, "line %d: %g adds, must be %d", nth, got, must);
  }
  const double got = adds_of(table, 3, &calls);
  CHECK(fabs(got - 100) < 0.06 * calls + 1, "100 results are used, not %g", got);
  CHECK(strstr(table.c_str(), "its result is used"), "no result is used");
  CHECK(strstr(table.c_str(), "one call of 2 values"), "two lines are one row's");
  CHECK(adds_of(table, 4, &calls) == 0, "shared memory is counted, too");
  CHECK((printed("/nowhere/masks.csv", &status), status == 1), "a CSV that cannot be written");
  const check_memory<float> cell(1);
  SIMT_LAUNCH(many_lines, dim3(1), dim3(32), 0, 0, cell.at);
  CHECK(cell.read()[0] == 32.0f * (ARC__PLACES + 6), "lines that are lost add, too");
  const std::string all = printed(NULL, &status);
  CHECK(std::count(all.begin(), all.end(), '\n') == 1 + ARC__PLACES, "%d lines at most",
        ARC__PLACES);
  check.compared += 3;
  return check_finish();
}
