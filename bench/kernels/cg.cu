/* cg.cu - cooperative groups: reduce() a value over the warp, or over the lanes of each key.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "by_hand.cuh"

#if SIMT_ON_CPU
extern const struct sweep_kernel_family sweep_family_cg = {nullptr, 0};
extern const char *const sweep_missing_cg =
    "is unavailable: cooperative groups come with the CUDA toolkit, not with the CPU warp";
#else
extern const char *const sweep_missing_cg = nullptr;

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

/* As rasterizers do: a vote to skip warps without an active lane, then the whole warp. */
SWEEP_FN void add_uniform(float *rows, int stride, int width, int key, const float *values,
                          bool active) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  if (!warp.any(active)) return;
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = cooperative_groups::reduce(warp, active ? values[i] : 0.0f,
                                           cooperative_groups::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(row + i, sum);
  }
}

/* The active lanes, parted by key; the first of each part adds. */
SWEEP_FN void add_keyed(float *rows, int stride, int width, int key, const float *values,
                        bool active) {
  if (!active) return;
  auto group = cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), key);
  float *row = rows + (long long)key * stride;
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i) {
    float sum = cooperative_groups::reduce(group, values[i], cooperative_groups::plus<float>());
    if (group.thread_rank() == 0) atomicAdd(row + i, sum);
  }
}

SWEEP_PATH(SWEEP_WIDTHS, cg, SWEEP_BY_HANDS(add_uniform, add_keyed))
SWEEP_FAMILY(cg, SWEEP_ANY_TABLE(cg, SWEEP_PATH_CG))
#endif
