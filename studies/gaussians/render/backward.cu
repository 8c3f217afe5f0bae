/* arc study gaussians: the backward pass with each kind of sums.
   SPDX-License-Identifier: Apache-2.0 */
#include "backward.cuh"

#include "arc/overloads.cuh"

enum { TAKE_THREADS = 256 };

/* Words by exponent: the same bits in every run. */
struct wide_sums {
  arc_target_wide target;

  explicit __device__ __forceinline__ wide_sums(const backward_arguments *a)
      : target(arc_target_wide_rows(a->sums.words, SPLAT_WORDS, SPLAT_WIDTH)) {}
  __device__ __forceinline__ void add(int key, const float *values, bool hit) {
    arc_add_renderer_wide(target, key, values, hit);
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

/* Moves the sums of the splats that are seen to the rows of floats. One thread a number. */
static __global__ void __launch_bounds__(TAKE_THREADS)
    take_sums(const splat *splats, splat_sums sums) {
  size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = k / SPLAT_WIDTH;
  int value = (int)(k % SPLAT_WIDTH);
  if (i >= (size_t)sums.count || splats[i].limit < 0.0f) return;
  sums.rows[SPLAT_ROW * i + value] =
      arc_wide_take_f32(sums.words + SPLAT_WORDS * i, SPLAT_WIDTH, value);
}

void backward_launch(int tiles, const backward_arguments *a) {
  static void (*const kernels[2][2])(backward_arguments) = {
      {backward<arc_sums>, backward<by_threshold<arc_sums>>},
      {backward<wide_sums>, backward<by_threshold<wide_sums>>}};
  const bool is_wide = a->sums.words != nullptr, chosen = a->threshold != ARC_BALANCE_THRESHOLD;
  SIMT_LAUNCH(kernels[is_wide][chosen], tiles, BLOCK_THREADS, 0, 0, *a);
  const size_t numbers = (size_t)a->sums.count * SPLAT_WIDTH;
  if (is_wide)
    SIMT_LAUNCH(take_sums, (unsigned)((numbers + TAKE_THREADS - 1) / TAKE_THREADS), TAKE_THREADS, 0,
                0, a->render.splats, a->sums);
}
