/* test_profile.cu - what arc/profile.cuh counts and prints. SPDX-License-Identifier: Apache-2.0
 *
 *   test_profile                    the test
 *   test_profile --masks FILE       writes the masks of a small kernel, for test_workload_file.py,
 *                                   and prints its adds and warp calls
 */
#include "simt/simt.cuh"

#define ARC_MAX_PIECES 8
#include "arc/drop_in.cuh" /* above arc.cuh, as by -include */
#undef ARC_MAX_PIECES      /* which check.cuh sets */

#include "check.cuh"
#include "printed.cuh"

#include "arc/overloads.cuh"

#include <algorithm>
#include <string>

enum { BLOCKS = 7, THREADS = 64, LANES = BLOCKS * THREADS };

/* Of every warp, the first 12 + 4 * (warp % 6) lanes add to rows of 2. */
static __device__ bool adds(int thread) { return thread % 32 < 12 + 4 * (thread / 32 % 6); }

enum { FIRST_ADD = __LINE__ + 6 };
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
  atomicAdd(plain, 1); /* has a line, but no calls */
}

/* Calls of arc by full warps, of which the first adds nothing in the first call. What is printed of
   each stands in the same order below. */
enum { FIRST_CALL = __LINE__ + 8 };
static __global__ void call_arc(float *rows, double *doubles) {
  const int lane = (int)threadIdx.x % 32;
  const float v[3] = {1.0f, 2.0f, 3.0f};
  const double d[2] = {1.0, 2.0};
  const arc_target_f32 t = arc_target_f32_rows(rows, 3, 3);
  arc_options o = arc_options_default();
  o.threshold = 17;
  arc_add_uniform_f32(t, 5, v, lane < 20 && threadIdx.x >= 32);
  arc_add_uniform_f32(t, 5, v, lane < 1);
  arc_add_f32(t, lane / 16, v, lane > 0);
  arc_add_f32(t, lane, v, true);
  arc_add_with_f32(t, lane / 16, v, true, o);
  arc_add_f64(arc_target_f64_rows(doubles, 2, 2), lane / 8, d, true);
  arc_add(t, lane / 31, v, lane < 5);
  arc_add_masked_f32(t, 0, v, true, 0xffffffffu);
  o.path = ARC_PATH_ATOMIC;
  arc_add_with(t, 0, v, true, o);
  if (lane % 2) arc_add_divergent_f32(t, lane % 4, v);
}

static const struct {
  const char *calls, *means, *fits, *call;
} printed_calls[] = {
    {"2", "20.0        1.0    20.0", "uniform", "arc_add_uniform of 3 values: 100% reduced"},
    {"4", "1.0        1.0     1.0", "atomicAdd", "arc_add_uniform of 3 values: 0% reduced"},
    {"4", "31.0        2.0    31.0", "add", "arc_add of 3 values: 100% reduced"},
    {"4", "32.0       32.0    32.0", "leave it", "arc_add of 3 values: 0% reduced"},
    {"4", "32.0        2.0    32.0", "add", "arc_add_with of 3 values: 0% reduced"},
    {"4", "32.0        4.0    32.0", "add", "arc_add of 2 values: 100% reduced"},
    {"4", "5.0        1.0     5.0", "leave it", "arc_add of 3 values: 0% reduced"},
    {"4", "32.0        1.0    32.0", "uniform", "arc_add_masked of 3 values: 100% reduced"},
    {}, /* a statement */
    {"4", "32.0        1.0    32.0", "uniform", "arc_add_with of 3 values: 0% reduced"}};
enum { CALLS = sizeof printed_calls / sizeof *printed_calls };

/* Counts of whole warps, whose lanes the CPU warp parts at an atomicAdd. What is printed of each
   stands in the same order below. */
static __device__ void arc__count_all(arc__u64 p, arc__code_line at, int type) {
  const int looks = __shfl_sync(ARC_LANES_ALL, arc__looks(at.line), 31);
  if (looks >= 0) arc__count(ARC_LANES_ALL, p, at, type, looks, 0);
}
#define COUNTS_TYPE(p, type) arc__count_all((arc__u64)(p), arc__code_line ARC__HERE, type)
#define COUNTS(p) COUNTS_TYPE(p, 1)
enum { FIRST_COUNT = __LINE__ + 5 };
static __global__ void count_warps(const float *at) {
  const int lane = (int)threadIdx.x % 32, warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int round = 0; round < 4; ++round) {
    const float *row = at + 64 * warp + 1024 * (round % 3);
    COUNTS(row + lane);
    COUNTS(row + 4 * (lane / 16));
    COUNTS(row + 4 * (lane / 16) + 1);
    COUNTS(row + 4 * (lane / 16) + 64);
    COUNTS(row + lane * (round + 5) % 512);
    COUNTS(row + lane * (round + 5) % 512 + lane % 2);
    COUNTS(row + lane * (round + 5) % 512 + lane % 2 + 1 + round % 2);
    for (int i = 0; i < 8; ++i) COUNTS(at + lane / 8 * 8 + (round % 2) * 999 + i);
    COUNTS(at + lane);
    COUNTS(at);
    COUNTS_TYPE(at + 1, 3); /* ints are no values of a call with floats */
    COUNTS(row + (lane + round * round) % 48);
    COUNTS(row + (lane + round * round) % 48 + 1); /* where another lane's line before added */
    for (int i = 0; i < 6; ++i) COUNTS(row + lane * (round + 5) % 512 + 1000 * i);
    for (int i = 0; i < 2; ++i) COUNTS(row + lane * (round + 5) % 512 + 2 * i);
    for (int i = 0; i < 40; ++i) COUNTS(row + lane + 3200 * i); /* by a grid's threads */
  }
}
static const struct {
  double passes, flag[2], call[2];
  const char *fits, *advice;
} printed_counts[] = {
    {4, {0.9, 0.97}, {0.2, 0.6}, "leave it", ""},
    {16, {1.5, 1.8}, {2, 9}, "divergent", ", one call of 3 arrays or corners"},
    {16, {1.5, 1.8}, {2, 9}, "divergent", ", one call of 3 arrays or corners"},
    {16, {1.5, 1.8}, {2, 9}, "divergent", ", one call of 3 arrays or corners"},
    {0, {0.9, 1}, {0.5, 1}, "leave it", ""},
    {0, {0.9, 1}, {0.5, 1}, "leave it", ""},
    {0, {0.9, 1}, {0.5, 1}, "leave it", ""},
    {32, {2, 4}, {2, 40}, "divergent", ", a loop or helper over about 8 values"},
    {4, {0.9, 0.97}, {0.2, 0.6}, "leave it", ", put neighbours back into one warp first"},
    {32, {1.5, 40}, {2, 90}, "drop-in", ""},
    {32, {1.5, 40}, {2, 90}, "drop-in", ""},
    {0, {0.9, 1}, {0.4, 1}, "leave it", ", one call of 2 arrays or corners"},
    {0, {0.9, 1}, {0.4, 1}, "leave it", ", one call of 2 arrays or corners"},
    {0, {0.9, 1}, {0.9, 1.05}, "leave it", ", a loop or helper over about 6 arrays or corners"},
    {0, {0.9, 1}, {0.5, 1}, "leave it", ", a loop or helper over about 2 values"},
    {4, {0.9, 0.97}, {0.2, 0.6}, "leave it", ""}};
enum { COUNTED_LINES = sizeof printed_counts / sizeof *printed_counts };

/* Far more calls than are looked at, whose number a GPU's clock estimates badly for one warp; a
   row's lines stay known. */
enum { FIRST_OFTEN = __LINE__ + 4, ROUNDS = SIMT_ON_CPU ? 40000 : 200000 };
static __global__ void count_often(const float *at) {
  for (int round = 0; round < ROUNDS; ++round) {
    const float *row = at + 4 * (((int)threadIdx.x + round) / 8 % 32);
    COUNTS(row);
    COUNTS(row + 1);
    COUNTS(row + 2);
  }
}

/* More lines than a file may have. */
template <int line>
static __device__ void add_at(float *cells) {
  arc__drop_in_add(cells, 1.0f, arc__code_line{"many.cu", line, 0});
  if constexpr (line > 1) add_at<line - 1>(cells);
}
static __global__ void many_lines(float *cells) { add_at<ARC__PLACES + 6>(cells); }

static std::string row_of(const std::string &table, int line) {
  char name[40];
  snprintf(name, sizeof name, "test_profile.cu:%d", line);
  size_t at = table.find(name);
  while (at != std::string::npos && isdigit(table[at + strlen(name)]))
    at = table.find(name, at + 1);
  CHECK(at != std::string::npos, "no row of line %d", line);
  const size_t from = table.rfind('\n', at) + 1;
  return at == std::string::npos ? "" : table.substr(from, table.find('\n', at) - from);
}

/* On a GPU the neighbours of a warp may have gone on before it came. */
static bool near_by_chance(int line) { return !SIMT_ON_CPU && line == 8; }

static void counts_of_warps(void) {
  int status;
  const test_memory<float> at(4096);
  SIMT_LAUNCH(count_warps, dim3(16), dim3(64), 0, 0, at.at);
  const std::string table = printed(NULL, &status);
  puts(table.c_str());
  for (int i = 0; i < COUNTED_LINES; ++i) {
    const auto &must = printed_counts[i];
    const std::string row = row_of(table, FIRST_COUNT + i);
    const std::string end = std::to_string(FIRST_COUNT + i) + must.advice;
    double lanes, passes, flag, call;
    CHECK(sscanf(row.c_str(), " %*f %*f %*f%% %lf %*f %lf %*f %lf %lf", &lanes, &passes, &flag,
                 &call) == 4 &&
              lanes == 32 && (must.passes == 0 || passes == must.passes) && flag >= must.flag[0] &&
              flag <= must.flag[1] && call >= must.call[0] && call <= must.call[1] &&
              row.find(std::string("  ") + must.fits + " ") < 90 && row.size() > end.size() &&
              (row.compare(row.size() - end.size(), end.size(), end) == 0 || near_by_chance(i)),
          "count %d: %s", i, row.c_str());
  }
}

static void calls_left_out(void) {
  int status;
  unsigned counted = 0;
  const test_memory<float> at(128);
  static arc__counts counts;
  SIMT_LAUNCH(count_often, dim3(2), dim3(32), 0, 0, at.at); /* the second behind the first */
  const std::string table = printed(NULL, &status);
  for (int i = 0; i < 3; ++i) {
    const std::string row = row_of(table, FIRST_OFTEN + i);
    double calls, lanes, addresses;
    CHECK(sscanf(row.c_str(), " %*f %lf %*f%% %lf %lf", &calls, &lanes, &addresses) == 3 &&
              calls > ROUNDS / 4 && calls < 4 * ROUNDS && lanes == 32 && addresses > 4 &&
              addresses <= 5 && strstr(row.c_str(), ", one call of 3 values"),
          "often %d: %s", i, row.c_str());
  }
  CHECK(cudaMemcpyFromSymbol(&counts, arc__counts_here, sizeof counts) == cudaSuccess,
        "the counts");
  for (const auto &copy : counts.tally)
    for (int place = 0; place < ARC__PLACES; ++place)
      if (counts.place[place].line == FIRST_OFTEN) counted += (unsigned)copy[place][ARC__ADDS] / 32;
  CHECK(counted > 20 && counted < ROUNDS / 4, "%u calls are looked at in a row", counted);
}

static void calls_of_arc(void) {
  int status;
  const test_memory<float> rows(128);
  const test_memory<double> doubles(8);
  SIMT_LAUNCH(call_arc, dim3(2), dim3(64), 0, 0, rows.at, doubles.at);
  double sum = 0, other = 0;
  for (float x : rows.read()) sum += x;
  for (double x : doubles.read()) other += x;
  const int updates = 2 * 20 + 4 * (1 + 31 + 32 + 32 + 5 + 32 + 32 + 16);
  CHECK(sum == 6.0 * updates && other == 3.0 * 4 * 32, "the sums are %g, %g", sum, other);
  const std::string table = printed(NULL, &status);
  puts(table.c_str());
  for (int i = 0; i < CALLS; ++i) {
    if (!printed_calls[i].calls) continue;
    const std::string row = row_of(table, FIRST_CALL + i);
    CHECK(row.find(std::string(" ") + printed_calls[i].calls + " ") < 16 &&
              row.find(std::string(" ") + printed_calls[i].means + " ") < 40 &&
              row.find(std::string("  ") + printed_calls[i].fits + " ") < 90 &&
              row.find(std::string(", ") + printed_calls[i].call) != std::string::npos,
          "call %d: %s", i, row.c_str());
  }
  CHECK(row_of(table, FIRST_CALL + 1).find("neighbours") == std::string::npos,
        "one lane per warp: other warps have no neighbours of it");
  const size_t divergent = table.find(", arc_add_divergent of 3 values: ");
  double place, calls, lanes;
  CHECK(divergent != std::string::npos &&
            sscanf(table.c_str() + table.rfind('\n', divergent), " %lf %lf %*f%% %lf", &place,
                   &calls, &lanes) == 3 &&
            fabs(calls * lanes - 4 * 16) < 0.06 * calls + 1,
        "the divergent call's lanes: %g", calls * lanes);
}

/* The adds and warp calls of a line of the table, by its calls and lanes. */
static double adds_of(const std::string &table, int line, double *calls) {
  double lanes = 0;
  *calls = 0;
  sscanf(row_of(table, line).c_str(), " %*f %lf %*f%% %lf", calls, &lanes);
  return *calls * lanes;
}

static void run(int *must) {
  const int limit = 100;
  const test_memory<float> cells(64);
  const test_memory<int> used(LANES + 1), device_limit(&limit, 1);
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
  for (int line = FIRST_ADD; line < FIRST_ADD + 2; ++line) {
    const double got = adds_of(table, line, &calls);
    CHECK(fabs(got - must) < 0.06 * calls + 1, "line %d: %g adds, must be %d", line, got, must);
  }
  const double got = adds_of(table, FIRST_ADD + 3, &calls);
  CHECK(fabs(got - 100) < 0.06 * calls + 1, "100 results are used, not %g", got);
  CHECK(strstr(table.c_str(), "its result is used"), "no result is used");
  CHECK(strstr(table.c_str(), "one call of 2 values"), "two lines are one row's");
  const std::string shared = row_of(table, FIRST_ADD + 6);
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 4 &&
            adds_of(table, FIRST_ADD + 6, &calls) == 0 &&
            shared.find("in shared or local memory: not served") != std::string::npos,
        "shared memory has a line with no calls: %s", shared.c_str());
  CHECK((printed("/nowhere/masks.csv", &status), status == 1), "a CSV that cannot be written");
  calls_of_arc();
  counts_of_warps();
  calls_left_out();
  const test_memory<float> cell(1);
  SIMT_LAUNCH(many_lines, dim3(1), dim3(32), 0, 0, cell.at);
  CHECK(cell.read()[0] == 32.0f * (ARC__PLACES + 6), "lines that are lost add, too");
  const std::string all = printed(NULL, &status);
  CHECK(std::count(all.begin(), all.end(), '\n') == 1 + ARC__PLACES, "%d lines at most",
        ARC__PLACES);
  check.compared += 3;
  return check_finish();
}
