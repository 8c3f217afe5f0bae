/* cub.cu - CUB. cub::WarpReduce a value, lane 0 adds, for several keys its segmented reduction; and
   cub::WarpReduceBatched, all values at once, each sum in its own lane.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

#if SIMT_ON_CPU || !__has_include(<cub/warp/warp_reduce.cuh>)
#define MISSING "is unavailable: CUB comes with the CUDA toolkit, not with the CPU warp"
extern const struct sweep_kernel_family sweep_family_cub = {nullptr, 0};
extern const char *const sweep_missing_cub = MISSING, *const sweep_missing_cub_batched = MISSING;
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
#define CUB_TABLE SWEEP_ANY_TABLE(cub, SWEEP_PATH_CUB)
extern const char *const sweep_missing_cub = nullptr;

#if !__has_include(<cub/warp/warp_reduce_batched.cuh>)
extern const char *const sweep_missing_cub_batched =
    "is unavailable: this toolkit's CUB has no WarpReduceBatched: CCCL 3.4, CUDA 13.4 and newer do";
SWEEP_FAMILY(cub, CUB_TABLE)
#else
extern const char *const sweep_missing_cub_batched = nullptr;
#include <cub/warp/warp_reduce_batched.cuh>

/* Lane i holds the sum of value i, so that one coalesced request adds them all. */
template <int width>
SWEEP_FN void add_batched(float *rows, int stride, int, int key, const float (&values)[width],
                          bool active) {
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

/* It has neither keys nor segments: one key, or plain atomics. */
template <int width>
SWEEP_FN void add_batched_keyed(float *rows, int stride, int, int key, const float (&values)[width],
                                bool active) {
  unsigned active_lanes = __ballot_sync(SWEEP_ALL_LANES, active);
  if (active_lanes == 0) return;
  if (!sweep_one_key(active_lanes, key, active)) {
    sweep_add_plain(rows, stride, width, key, values, active);
    return;
  }
  key = __shfl_sync(SWEEP_ALL_LANES, key, __ffs((int)active_lanes) - 1);
  add_batched(rows, stride, width, key, values, active);
}

SWEEP_PATH(SWEEP_WIDTHS, cub_batched, SWEEP_BY_HANDS(add_batched, add_batched_keyed))
SWEEP_FAMILY(cub, CUB_TABLE, SWEEP_ANY_TABLE(cub_batched, SWEEP_PATH_CUB_BATCHED))
#endif
#endif
