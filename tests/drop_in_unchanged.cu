/* drop_in_unchanged.cu - for machine_code.py: uses of atomics that arc/drop_in.cuh leaves as they
   are, compiled with and without it; the
   last kernel must differ. SPDX-License-Identifier: Apache-2.0 */
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/block/block_histogram.cuh>
#include <cub/warp/warp_reduce.cuh>

#define KERNEL extern "C" __global__ void

KERNEL append(int *count, int *list, const float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] > 0) list[atomicAdd(count, 1)] = i;
}
KERNEL used(float *a, double *b, unsigned *c, unsigned long long *d, float *out) {
  float old = atomicAdd(a + threadIdx.x, 2.5f);
  if (atomicAdd(b, 1) > 3) out[0] = old;
  for (unsigned k = atomicAdd(c, 2u); k < 7; k = atomicAdd(c, 1)) out[k] = 1;
  out[threadIdx.x] = static_cast<float>(atomicAdd(d, 1ull)) + (old > 1 ? atomicAdd(a, old) : old);
  switch (::atomicAdd(c, 5u) % 4) {
    case 1:
      out[9] = 1;
      break;
    default:
      out[max(atomicAdd(c, 1u), 2u)] = 2;
  }
}
static __device__ float fetch(float *p, float v) { return atomicAdd(p, v); }
KERNEL wrapped(float *sums, const int *keys) { fetch(&sums[keys[threadIdx.x]], 1.0f); }
KERNEL shared(int *out, const unsigned char *pixels, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&bins[pixels[i]], 1);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}
KERNEL others(float2 *a, float4 *b, __half2 *c, __nv_bfloat162 *d, __half *e, float *f, int *g) {
  a[1] = atomicAdd(a, make_float2(1, 2));
  b[1] = atomicAdd(b, make_float4(1, 2, 3, 4));
  atomicAdd(c, __float2half2_rn(1.5f));
  atomicAdd(d, __float2bfloat162_rn(1.5f));
  atomicAdd(e, __float2half(0.5f));
  atomicAdd_block(f, 1.0f);
  atomicAdd_system(g, 1);
  atomicMax(g, 3);
}
struct pair {
  int x, y;
};
static __device__ void atomicAdd(pair *p, pair v) { atomicMax(&p->x, v.x), atomicMax(&p->y, v.y); }
KERNEL own_overload(pair *p) { atomicAdd(p, pair{1, 2}); }
KERNEL groups(float *out, unsigned *count) {
  namespace cg = cooperative_groups;
  auto active = cg::coalesced_threads();
  if (active.thread_rank() == 0) out[0] = (float)atomicAdd(count, active.size());
  cg::this_grid().sync();
}
KERNEL of_cluster(int *out, const int *keys) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  const auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  const int key = keys[threadIdx.x];
  (int)atomicAdd(cluster.map_shared_rank(bins, key & 1) + key / 2, 1);
  cluster.sync();
  out[threadIdx.x] = bins[threadIdx.x];
}
KERNEL with_cub(const unsigned char *in, unsigned *out) {
  typedef cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_SORT> histogram;
  __shared__ histogram::TempStorage storage;
  __shared__ unsigned bins[256];
  unsigned char items[4];
  for (int i = 0; i < 4; ++i) items[i] = in[4 * threadIdx.x + i];
  histogram(storage).Histogram(items, bins);
  for (int i = threadIdx.x; i < 256; i += 128) out[i] = bins[i];
}
namespace cub {
static __device__ void add_to(int *bin) { atomicAdd(bin, 1); }
}  // namespace cub
KERNEL inside_cub(int *bins, const int *keys) { cub::add_to(bins + keys[threadIdx.x]); }
KERNEL summed(float *sums, const int *keys) { atomicAdd(&sums[keys[threadIdx.x]], 1.0f); }
