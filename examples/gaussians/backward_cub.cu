/* arc example gaussians: cub::WarpReduce for every value, lane 0 adds. GPU only.
   SPDX-License-Identifier: Apache-2.0 */
#include "backward_peers.cuh"

#if !SIMT_ON_CPU
#include <cub/warp/warp_reduce.cuh>

static __device__ __forceinline__ void add_cub(splat_sums sums, bool rows, int key,
                                               const float *values) {
  __shared__ cub::WarpReduce<float>::TempStorage storage[TILE_WARPS];
  UNROLL
  for (int i = 0; i < SPLAT_WIDTH; ++i) {
    float sum = cub::WarpReduce<float>(storage[threadIdx.x >> 5]).Sum(values[i]);
    if ((threadIdx.x & 31u) == 0u) atomicAdd(sum_address(sums, rows, key, i), sum);
  }
}

#define BACKWARD_NAME cub
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  ((void)(hit), add_cub(sums, rows, key, values))
#include "render_backward.cuh"
#endif
