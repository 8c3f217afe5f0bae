// bench_switch.cu -- how many lane switches a second the CPU warp makes on one core.
// SPDX-License-Identifier: Apache-2.0
//
// Prints, for a few block sizes, lane switches per second of processor time (not wall time: the
// machine may be shared). With an argument, a number of million switches a second, the exit code is
// 1 where a row stays below it.
#include "simt/simt.cuh"

#if SIMT_ON_CPU
#include <time.h>

__global__ static void shuffles(int count, float *out) {
  float v = (float)threadIdx.x;
  for (int i = 0; i < count; ++i) v += __shfl_xor_sync(0xffffffffu, v, 1 << (i % 5));
  if (v < 0.0f) *out = v;
}

__global__ static void atomics(int count, float *out) {
  for (int i = 0; i < count; ++i) {
    atomicAdd(&out[threadIdx.x % 32 + 32 * (i % 4)], 1.0f);
    __syncwarp();
  }
}

__global__ static void barriers(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int row(const char *name, int threads, double start, double least) {
  double seconds = processor_seconds() - start;
  double rate = (double)simt_counters_read().lane_switches / seconds * 1e-6;
  printf("%-10s %8d %10.1f\n", name, threads, rate);
  return rate < least;
}

int main(int argc, char **argv) {
  double least = argc > 1 ? atof(argv[1]) : 0.0;
  const int lanes_total = 10 * 1000 * 1000;
  const int sizes[] = {32, 128, 256, 1024};
  float *out;
  int slow = 0;
  cudaMalloc(&out, 128 * sizeof(float));
  cudaMemset(out, 0, 128 * sizeof(float));
  printf("%-10s %8s %10s\n", "kernel", "threads", "M switches/s");
  for (int threads : sizes) {
    int count = lanes_total / 4 / threads;
    double start = processor_seconds();
    simt_counters_reset();
    SIMT_LAUNCH(shuffles, 4, threads, 0, 0, count, out);
    slow |= row("shuffle", threads, start, least);
    start = processor_seconds();
    simt_counters_reset();
    SIMT_LAUNCH(atomics, 4, threads, 0, 0, count / 4, out);
    slow |= row("atomic", threads, start, least);
    start = processor_seconds();
    simt_counters_reset();
    SIMT_LAUNCH(barriers, 4, threads, 0, 0, count);
    slow |= row("barrier", threads, start, least);
  }
  cudaFree(out);
  return slow;
}
#else
int main(void) {
  printf("the CPU warp's own speed: nothing to measure under nvcc\n");
  return 77;
}
#endif
