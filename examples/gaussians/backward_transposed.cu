/* arc example gaussians: all values at once, each sum ends in its own lane.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME transposed
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_transposed_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
