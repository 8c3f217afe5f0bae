/* cub_batched.cu - cub::WarpReduceBatched: all values at once, each sum ends in its own lane.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME cub_batched
#include "peers.cuh"

#if SIMT_ON_CPU
#define SWEEP_MISSING "CUB comes with the CUDA toolkit, not with the CPU warp"
#elif !__has_include(<cub/warp/warp_reduce_batched.cuh>)
#define SWEEP_MISSING \
  "this toolkit's CUB has no WarpReduceBatched: CCCL 3.4, CUDA 13.4 and newer do"
#else
#include <cub/warp/warp_reduce_batched.cuh>

/* Lane i holds the sum of value i, so that one coalesced request adds them all. */
template <int width>
static __device__ __forceinline__ void add_uniform(float *rows, int stride, int key,
                                                   const float (&values)[width], bool active) {
  typedef cub::WarpReduceBatched<float, width> warp_reduce;
  __shared__ typename warp_reduce::TempStorage storage[8];
  if (!__any_sync(SWEEP_ALL_LANES, active)) return;
  float masked[width];
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) masked[i] = active ? values[i] : 0.0f;
  float sum = warp_reduce(storage[threadIdx.x / 32]).Sum(masked);
  int lane = (int)(threadIdx.x % 32);
  if (lane < width) atomicAdd(rows + (long long)key * stride + lane, sum);
}

/* It knows no keys and no runs: one key, or plain atomics. */
template <int width>
static __device__ __forceinline__ void add_keyed(float *rows, int stride, int key,
                                                 const float (&values)[width], bool active) {
  unsigned active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  if (active_lanes == 0) return;
  if (!sweep_one_key(active_lanes, key, active)) {
    sweep_add_plain(rows, stride, width, key, values, active);
    return;
  }
  key = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  add_uniform<width>(rows, stride, key, values, active);
}

#define SWEEP_ADD_UNIFORM(W) add_uniform<W>(a.rows, a.stride, d.key, values, d.active)
#define SWEEP_ADD_KEYED(W) add_keyed<W>(a.rows, a.stride, d.key, values, d.active)
#endif
#include "../sweep_kernels.cuh"
