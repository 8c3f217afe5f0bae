/* bench_drop_in - the flag of arc/drop_in.cuh beside plain atomics, launches in turns; plain twice, for
   its own spread. Prints a CSV. VARIANTS: the names that kernels.cu was compiled for, as X(name).
   SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include <algorithm>
#include <random>
#include <vector>

#include "bench/common/device_describe.h"
#include "bench/common/program_run.h"

#include "kernels.h"

#ifndef VARIANTS
#define VARIANTS X(plain) X(again) X(sums) X(learns)
#endif
#define X(name) extern const drop_in_variant name;
VARIANTS
#undef X

namespace {

enum { LAUNCHES = 40, FIRST = 10 };
/* By the value's number, a random row, and the first of 32 rows that its warp has drawn. */
const struct {
  const char *name;
  int (*key)(int i, int row, int of_warp);
} patterns[] = {
    {"key = thread", [](int i, int, int) { return i % DROP_IN_ROWS; }},
    {"random", [](int, int row, int) { return row; }},
    {"zipf",
     [](int, int row, int) {
       return (int)std::min(DROP_IN_ROWS - 1.0, pow((row + 1.0) / DROP_IN_ROWS, -2.0) - 1.0);
     }},
    {"8 a warp", [](int, int row, int of_warp) { return of_warp + row % 8; }},
    {"pairs", [](int i, int, int of_warp) { return of_warp + i % 32 / 2; }},
    {"one a warp", [](int, int, int of_warp) { return of_warp; }},
    {"sorted by 8", [](int i, int, int of_warp) { return of_warp + i % 32 / 8; }},
    {"half on one", [](int, int row, int) { return row % 2 ? row : 0; }},
    {"one key", [](int, int, int) { return 0; }}};

struct timed {
  std::vector<float> ms;
  double sum;
  double late() { return median(ms.data() + FIRST, LAUNCHES - FIRST); } /* sorts them */
  double first() const {
    double all = 0;
    for (int i = 0; i < FIRST; ++i) all += ms[i];
    return all;
  }
};

template <class T>
double sum_of(const void *device) {
  std::vector<T> host(DROP_IN_BYTES / sizeof(T));
  cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (T x : host) sum += (double)x;
  return sum;
}

void measure(int kernel, const char *pattern, void *out, const int *keys, const float *values) {
  static const drop_in_variant *const variants[] = {
#define X(name) &name,
      VARIANTS
#undef X
  };
  const int count = (int)(sizeof variants / sizeof *variants);
  std::vector<timed> t(count);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (const drop_in_variant *v : variants) v->forget();
  for (int launch = -1; launch < LAUNCHES; ++launch) /* -1: plain alone, to load and to warm */
    for (int v = 0; v < (launch < 0 ? 1 : count); ++v) {
      const drop_in_launch *l = &variants[v]->launches[kernel];
      float ms;
      cudaMemset(out, 0, DROP_IN_BYTES);
      cudaEventRecord(begin);
      l->kernel<<<l->blocks, DROP_IN_THREADS>>>(out, keys, values);
      cudaEventRecord(end);
      device_check(cudaEventSynchronize(end), "running a kernel");
      cudaEventElapsedTime(&ms, begin, end);
      if (launch >= 0) t[v].ms.push_back(ms);
      if (launch == LAUNCHES - 1)
        t[v].sum = kernel == 2   ? sum_of<unsigned>(out)
                   : kernel == 3 ? sum_of<double>(out)
                                 : sum_of<float>(out);
    }
  cudaEventDestroy(begin), cudaEventDestroy(end);
  for (int v = 0; v < count; ++v) {
    const drop_in_launch *l = &variants[v]->launches[kernel];
    cudaFuncAttributes a;
    int blocks = 0;
    cudaFuncGetAttributes(&a, (const void *)l->kernel);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l->kernel, DROP_IN_THREADS, 0);
    printf("%s,%s,%s,%d,%d,%.4f,%.3f,%.3f,%.1e\n", l->name, pattern, variants[v]->name,
           a.numRegs, blocks, t[v].late(), t[0].late() / t[v].late(),
           t[0].first() / t[v].first(), fabs(t[v].sum / t[0].sum - 1.0));
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (program_begin("bench_drop_in", argc, argv)) return 0;
  void *out;
  int *keys;
  float *values;
  device_check(cudaMalloc(&out, DROP_IN_BYTES), "memory");
  device_check(cudaMalloc(&keys, DROP_IN_N * sizeof *keys), "memory");
  device_check(cudaMalloc(&values, DROP_IN_N * sizeof *values), "memory");
  const std::vector<float> ones(DROP_IN_N, 1.0f);
  cudaMemcpy(values, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice);
  program_write_head(stdout);
  device_describe(stdout, DEVICE_IN_FILE, 0.0);
  printf(
      "# how: %d values; %d launches in turns, medians from launch %d on; again: plain once more\n"
      "# column times_plain, first_ten: plain's time over this one's, also of the first ten\n"
      "kernel,keys,variant,registers,blocks,ms,times_plain,first_ten,error\n",
      (int)DROP_IN_N, (int)LAUNCHES, (int)FIRST);
  for (const auto &pattern : patterns) {
    std::vector<int> host(DROP_IN_N);
    std::mt19937 r(1);
    for (int i = 0; i < DROP_IN_N; ++i) {
      const unsigned of_warp = ((unsigned)i / 32u * 2654435761u >> 8) % (DROP_IN_ROWS / 32u) * 32u;
      host[i] = pattern.key(i, (int)(r() % DROP_IN_ROWS), (int)of_warp);
    }
    cudaMemcpy(keys, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    for (int kernel = 0; kernel < DROP_IN_KERNELS; ++kernel)
      measure(kernel, pattern.name, out, keys, values);
  }
  return 0;
}
