/* arc example gaussians: five shuffles a value above the threshold, the papers' SW-B.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME butterfly
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_butterfly_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
