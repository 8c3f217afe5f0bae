/* arc example gaussians: every hit lane adds; vector reductions where rows allow.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME atomic
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_atomic_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
