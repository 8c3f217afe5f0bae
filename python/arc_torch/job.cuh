/* job.cuh - the keys of a job, in a kernel. SPDX-License-Identifier: Apache-2.0 */
#ifndef ARC_JOB_CUH
#define ARC_JOB_CUH

#include "add_rows.h"

#if defined(__CUDACC_RTC__)
#define REQUIRE(condition) (void)((condition) || (__trap(), 0))
#else
#undef NDEBUG /* a wrong key stops the kernel in every build, as PyTorch's do */
#include <cassert>
#define REQUIRE(condition) assert(condition)
#endif

enum { THREADS = 256 };

namespace {

__device__ __forceinline__ long long key_of(const job &j, long long row) {
  return j.has_wide_index ? ((const long long *)j.index)[row] : ((const int *)j.index)[row];
}

enum { NOT_FINITE = 0x7f800000 }; /* bits of infinity; beyond are NaNs */

/* Of its magnitude. */
__device__ __forceinline__ unsigned bits_of(float value) {
  return __float_as_uint(value) & 0x7fffffffu;
}

/* By all lanes of a warp. */
__device__ __forceinline__ void raise(unsigned *largest, unsigned bits) {
  for (int distance = 16; distance > 0; distance /= 2)
    bits = max(bits, __shfl_xor_sync(~0u, bits, distance));
  if ((threadIdx.x & 31) == 0) atomicMax(largest, bits);
}

/* By all threads of a block: the largest finite magnitude, and whether something else was there. */
__device__ __forceinline__ void raise_of_block(unsigned *largest, unsigned bits, unsigned others) {
  __shared__ unsigned of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0u;
  __syncthreads();
  raise(of_block, bits);
  if (others) of_block[1] = 1u;
  __syncthreads();
  if (threadIdx.x == 0 && of_block[0] > *(volatile unsigned *)largest)
    atomicMax(largest, of_block[0]);
  if (threadIdx.x == 0 && of_block[1]) largest[1] = 1u;
}

/* n values of at most the largest, each rounded to an integer, have a sum below 2^62. */
__device__ __forceinline__ int scale_log2(const unsigned *largest, long long n) {
  float value = __uint_as_float(largest[0]);
  int exponent = value > 0 ? ilogbf(value) + 1 : 0, bits = 64 - __clzll(n);
  return max(-126, min(126, 62 - exponent - bits));
}

/* Whether out has the row that a key names. */
__device__ __forceinline__ bool has_row(const job &j, long long *key) {
#if defined(ARC_KEYS_DROP) /* JAX's rules: no key is wrong */
  if (j.wraps && *key < 0) *key += j.rows;
  if (j.clips) *key = max(0ll, min(*key, j.rows - 1));
  return (unsigned long long)*key < (unsigned long long)j.rows;
#else
  REQUIRE((unsigned long long)*key < (unsigned long long)j.rows);
  return true;
#endif
}

}  // namespace

#endif
