/* cub.cu - CUB. cub::WarpReduce a value, lane 0 adds; for several keys its segmented reduction.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

#if SIMT_ON_CPU || !__has_include(<cub/warp/warp_reduce.cuh>)
extern const struct sweep_kernel_family sweep_family_cub = {nullptr, 0};
extern const char *const sweep_missing_cub =
    "is unavailable: CUB comes with the CUDA toolkit, not with the CPU warp";
#else
#include <cub/warp/warp_reduce.cuh>

typedef cub::WarpReduce<float> warp_reduce;

SWEEP_FN void add_uniform(float *rows, int stride, int width, int key, const float *values,
                          bool active) {
  __shared__ warp_reduce::TempStorage storage[8];
  if (!__any_sync(SWEEP_ALL_LANES, active)) return;
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = warp_reduce(storage[threadIdx.x / 32]).Sum(active ? values[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(row + i, sum);
  }
}

/* CUB has no keys, but segments of neighbouring lanes: a lane whose left neighbour is inactive or
   holds another key heads a run, and the heads of active runs add. A key in two runs is added
   twice. A warp of runs of one lane has nothing to gain and adds plainly. */
SWEEP_FN void add_keyed(float *rows, int stride, int width, int key, const float *values,
                        bool active) {
  __shared__ warp_reduce::TempStorage storage[8];
  unsigned lane = threadIdx.x % 32, active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  int left_key = __shfl_up_sync(SWEEP_ALL_LANES, key, 1);
  bool left_active = lane > 0 && (active_lanes >> (lane - 1) & 1u);
  bool head = !(active && left_active && left_key == key);
  if (__all_sync(SWEEP_ALL_LANES, head)) {
    sweep_add_plain(rows, stride, width, key, values, active);
    return;
  }
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = warp_reduce(storage[threadIdx.x / 32])
                    .HeadSegmentedSum(active ? values[i] : 0.0f, (int)head);
    if (active && head) atomicAdd(row + i, sum);
  }
}

SWEEP_PATH(SWEEP_WIDTHS, cub, SWEEP_BY_HANDS(add_uniform, add_keyed))
extern const char *const sweep_missing_cub = nullptr;
SWEEP_FAMILY(cub, SWEEP_ANY_TABLE(cub, SWEEP_PATH_CUB))
#endif
