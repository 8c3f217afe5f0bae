/* arc_forms.cu - adds in two steps, and as one instruction; rows that the block sums.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernel.cuh"

#include "arc/hot.cuh"
#include "arc/papers.cuh"
#include "arc/sums.cuh"

SWEEP_FN void add_atomred(float *rows, int stride, int width, int key, const float *values,
                          bool active) {
  SWEEP_UNROLL
  for (int i = 0; i < width; ++i)
    if (active) arc_atomred_f32(rows + (long long)key * stride + i, values[i]);
}
/* With one key per warp there is one step. */
SWEEP_FN void add_sums(arc_target_f32 target, int key, const float *values, bool active,
                       int one_key) {
  arc_options o = arc_options_default();
  o.promises |= one_key;
  o.threshold = 0;
  arc_sum_f32 sum = arc_sum_begin_with_f32(target, key, values, active, o);
  while (arc_sum_next_f32(&sum)) {
    arc_sum_add_f32(&sum);
    if (one_key) break;
  }
}
SWEEP_PATH(SWEEP_FORM_WIDTHS, sums, add_sums(target, d.key, values, d.active, one_key))

#define ATOMRED_WIDTHS(X, ...) X(1, __VA_ARGS__) X(3, __VA_ARGS__)
SWEEP_PATH(ATOMRED_WIDTHS, atomred, SWEEP_BY_HAND(add_atomred))

#undef SWEEP_BEFORE
#undef SWEEP_AFTER
#define SWEEP_BEFORE(W)                                                                        \
  __shared__ float sums[ARC_HOT_BYTES(sizeof(float), SWEEP_HOT_ROWS, W, 256) / sizeof(float)]; \
  arc_hot_f32 hot = arc_hot_begin_f32(target, sums, 0, SWEEP_HOT_ROWS)
#define SWEEP_AFTER() arc_hot_end_f32(&hot)
SWEEP_FN void add_hot(const arc_hot_f32 *hot, int key, const float *values, bool active,
                      int promises) {
  arc_options o = arc_options_default();
  o.promises |= promises;
  arc_hot_add_with_f32(hot, key, values, active, o);
}
SWEEP_PATH(SWEEP_FORM_WIDTHS, hot, add_hot(&hot, d.key, values, d.active, one_key))

SWEEP_FAMILY(forms, SWEEP_TABLE(sums, SWEEP_PATH_SUMS, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD),
             SWEEP_TABLE(hot, SWEEP_PATH_HOT, SWEEP_ZEROS_NONE, SWEEP_ANY_THRESHOLD),
             SWEEP_ANY_TABLE(atomred, SWEEP_PATH_ATOMRED))
