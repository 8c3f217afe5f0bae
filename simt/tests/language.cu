// language.cu -- variables, shared memory, barriers, atomics, intrinsics, runtime; both builds.
// SPDX-License-Identifier: Apache-2.0
#ifndef __CUDACC__ // glibc 2.42 and newer have functions of these names of CUDA's
extern "C" float rsqrtf(float) noexcept;
extern "C" double rsqrt(double) noexcept;
#endif
#include "../../bench/common/test_device.h"
#include "../../bench/common/test_memory.h"

#include <string.h>

static __global__ void place(unsigned *visits, unsigned *shapes) {
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  atomicAdd(&visits[block * threads + thread], 1u);
  if (block == 0 && thread == 0) {
    const unsigned seen[7] = {gridDim.x,  gridDim.y,  gridDim.z,         blockDim.x,
                              blockDim.y, blockDim.z, (unsigned)warpSize};
    for (int i = 0; i < 7; ++i) shapes[i] = seen[i];
  }
}

static void test_place(dim3 grid, dim3 block) {
  size_t count = (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
  const test_memory<unsigned> visits(count), shapes(7);
  SIMT_LAUNCH(place, grid, block, 0, 0, visits.at, shapes.at);
  for (unsigned v : visits.read()) CHECK(v == 1, "%u visits", v);
  const std::vector<unsigned> expected = {grid.x, grid.y, grid.z, block.x, block.y, block.z, 32};
  CHECK(shapes.read() == expected, "shapes");
}

// Both kinds of shared memory, reversed within the block; a count over the block.
static __global__ void reverse(const int *in, int *out, int *odd) {
  __shared__ int fixed[128];
  SIMT_DYNAMIC_SHARED(int, tile);
  unsigned t = threadIdx.x, base = blockIdx.x * blockDim.x;
  fixed[t] = in[base + t];
  __syncthreads();
  tile[t] = fixed[blockDim.x - 1 - t];
  __syncthreads();
  out[base + t] = tile[t];
  int count = __syncthreads_count(in[base + t] & 1);
  int some = __syncthreads_or(in[base + t] == 1), each = __syncthreads_and(in[base + t] > 0);
  if (t == 0) odd[blockIdx.x] = count + 1000 * (some != 0) + 10000 * (each != 0);
}

static void test_shared(int threads) {
  std::vector<int> in((size_t)(3 * threads));
  for (size_t i = 0; i < in.size(); ++i) in[i] = (int)i;
  const test_memory<int> device_in(in), device_out(in), odd(3);
  SIMT_LAUNCH(reverse, 3, threads, (size_t)threads * sizeof(int), 0, device_in.at, device_out.at,
              odd.at);
  std::vector<int> out = device_out.read();
  for (int i = 0; i < 3 * threads; ++i) {
    int expected = i / threads * threads + threads - 1 - i % threads;
    CHECK(out[(size_t)i] == expected, "%d threads: [%d] is %d", threads, i, out[(size_t)i]);
  }
  std::vector<int> expected = {0, 10000, 10000}; // all but the first are above 0
  for (int i = 0; i < 3 * threads; ++i) expected[i / threads] += (i & 1) + (i == 1 ? 1000 : 0);
  CHECK(odd.read() == expected, "%d threads: %d in the first block", threads, odd.read()[0]);
}

struct sums {
  double d;
  unsigned long long u64;
  float f;
  int i, least, most, swapped;
  unsigned u, u_least, u_most;
};
// Marked as a library marks its functions: on the CPU warp only.
static __device__ void add_marked(int *sum, int value) { atomicAdd(sum, value); }
#if defined(SIMT_CALL_OF)
#define add_marked(...) SIMT_CALL_OF(add_marked(__VA_ARGS__))
#endif
static __global__ void atomics(sums *s) {
  int t = (int)threadIdx.x;
  atomicAdd(&s->d, 0.5);
  atomicAdd(&s->u64, 1ull << 33);
  atomicAdd(&s->f, 0.25f);
  add_marked(&s->i, -t);
  atomicAdd(&s->u, 3u);
  atomicMin(&s->least, -t);
  atomicMax(&s->most, t);
  atomicMin(&s->u_least, (unsigned)t);
  atomicMax(&s->u_most, (unsigned)t);
  if (atomicCAS(&s->swapped, 0, 1) == 0) atomicExch(&s->swapped, 77);
}

static void test_atomics(void) {
  const test_memory<sums> device(1);
  SIMT_LAUNCH(atomics, 2, 100, 0, 0, device.at);
  sums s = device.read()[0];
  CHECK(s.d == 100.0 && s.u64 == 200ull << 33 && s.f == 50.0f, "%g %llu %g", s.d, s.u64,
        (double)s.f);
  CHECK(s.i == -9900 && s.u == 600, "%d %u", s.i, s.u);
  CHECK(s.least == -99 && s.most == 99 && s.u_least == 0 && s.u_most == 99, "minima, maxima");
  CHECK(s.swapped == 77, "%d", s.swapped);
}

enum { bit_results = 16 };
static __global__ void bits(int *r, float *f) {
  r[0] = __popc(0xf0f00001u);
  r[1] = __popcll(0xf00000000000000full);
  r[2] = __ffs(0);
  r[3] = __ffs(0x40);
  r[4] = __ffsll(1ll << 40);
  r[5] = __clz(0);
  r[6] = __clz(1);
  r[7] = (int)__brev(0x80000001u);
  r[8] = __float_as_int(1.0f);
  r[9] = (int)__float_as_uint(-0.0f);
  r[10] = min(-3, 2) + max(7, 4);
  r[11] = (int)__fns(0x00000ff0u, 0, 3);
  r[12] = (int)__umulhi(0x80000000u, 6u);
  r[13] = (int)__brev(6u);
  r[14] = (int)max(2u, 5u);
  r[15] = __float2int_rn(2.5f);
  f[0] = __int_as_float(0x40490fdb);
  f[1] = __uint_as_float(0x3f000000u);
  f[2] = __fmaf_rn(2.0f, 3.0f, 1.0f);
  f[3] = rsqrtf(4.0f) + (float)rsqrt(1.0) - 1;
  f[4] = __expf(0.0f);
  f[5] = min(1.0f, 2.0f) + max(3.0f, nanf(""));
  f[6] = __saturatef(7.0f);
}

static void test_bits(void) {
  const test_memory<int> r(bit_results);
  const test_memory<float> f(7);
  SIMT_LAUNCH(bits, 1, 1, 0, 0, r.at, f.at);
  const int expected[bit_results] = {
      9, 8, 0, 7,          41, 32, 31, (int)0x80000001u, 0x3f800000, (int)0x80000000u,
      4, 6, 3, 0x60000000, 5,  2};
  const float expected_f[7] = {3.14159274f, 0.5f, 7.0f, 0.5f, 1.0f, 4.0f, 1.0f};
  for (size_t i = 0; i < bit_results; ++i)
    CHECK(r.read()[i] == expected[i], "%zu: 0x%x", i, (unsigned)r.read()[i]);
  for (size_t i = 0; i < 7; ++i)
    CHECK(f.read()[i] == expected_f[i], "%zu: %g", i, (double)f.read()[i]);
}

static __global__ void nothing(void) {}

static void test_errors(void) {
  SIMT_LAUNCH(nothing, 1, 1, 0, 0);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  SIMT_LAUNCH(nothing, 1, 2048, 0, 0);
  // Runtimes differ in which error it is.
  CHECK(cudaPeekAtLastError() != cudaSuccess, "too many threads");
  CHECK(cudaGetLastError() != cudaSuccess, "too many threads");
  CHECK(cudaGetLastError() == cudaSuccess, "an error is returned once");
  SIMT_LAUNCH(nothing, dim3(1, 0), 1, 0, 0);
  CHECK(cudaGetLastError() != cudaSuccess, "an empty grid");
  CHECK(strlen(cudaGetErrorString(cudaErrorInvalidConfiguration)) > 0, "a text");
}

static void test_events(void) {
  cudaEvent_t start, stop;
  float milliseconds = -1.0f;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  SIMT_LAUNCH(nothing, 8, 256, 0, 0);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&milliseconds, start, stop);
  CHECK(milliseconds >= 0.0f, "%g", (double)milliseconds);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

// The same garbage in both builds, where it has a value of its own.
static void test_poison(void) {
  float f = simt_poison_f32();
  unsigned b;
  memcpy(&b, &f, sizeof b);
  CHECK(b == 0x7fc5eed5u && f != f, "0x%08x", b);
  CHECK(simt_poison_key() == 0x6bad5eed, "0x%x", (unsigned)simt_poison_key());
  CHECK(simt_poison_pointer() != NULL, "a pointer");
}

int main(void) {
  if (!test_has_device("language")) return TEST_SKIPPED;
#if SIMT_ON_CPU
  simt_seed_from_env();
#endif
  test_place(dim3(2, 3, 2), dim3(5, 3, 2));
  test_place(dim3(1), dim3(1));
  test_place(dim3(7), dim3(33));
  test_place(dim3(1, 2), dim3(16, 16, 4));
  const int sizes[] = {1, 31, 32, 33, 64, 100, 128};
  for (int threads : sizes) test_shared(threads);
  test_atomics();
  test_bits();
  test_errors();
  test_events();
  test_poison();
  return test_end("language");
}
