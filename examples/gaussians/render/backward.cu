/* arc example gaussians: the backward pass with each kind of sums.
   SPDX-License-Identifier: Apache-2.0 */
#include "backward.cuh"

#include "arc/overloads.cuh"

/* In 64-bit fixed point: the same bits in every run. */
struct fixed_sums {
  static constexpr bool in_units = true;
  arc_target_fixed target;

  explicit __device__ __forceinline__ fixed_sums(const backward_arguments *a)
      : target(arc_target_fixed_rows(a->sums.fixed, SPLAT_ROW, SPLAT_WIDTH, SUM_SCALE_LOG2)) {}
  __device__ __forceinline__ void add(int key, const float *values, bool hit) {
    arc_add_renderer_fixed(target, key, values, hit);
  }
};

/* Either of them, with a threshold that is known at run time. */
template <class sums>
struct by_threshold : sums {
  arc_options options;

  explicit __device__ __forceinline__ by_threshold(const backward_arguments *a)
      : sums(a), options(arc_options_default()) {
    options.promises = ARC_PROMISE_ONE_KEY | ARC_PROMISE_RENDERER;
    options.threshold = a->threshold;
  }
  __device__ __forceinline__ void add(int key, const float *values, bool hit) {
    arc_add_with(this->target, key, values, hit, options);
  }
};

void backward_launch(int tiles, const backward_arguments *a) {
  static void (*const kernels[2][2])(backward_arguments) = {
      {backward<arc_sums>, backward<by_threshold<arc_sums>>},
      {backward<fixed_sums>, backward<by_threshold<fixed_sums>>}};
  const bool is_fixed = a->sums.fixed != nullptr, chosen = a->threshold != ARC_BALANCE_THRESHOLD;
  SIMT_LAUNCH(kernels[is_fixed][chosen], tiles, BLOCK_THREADS, 0, 0, *a);
}
