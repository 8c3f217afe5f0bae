/* arc example gaussians: one lane adds up the others one by one, the papers' SW-S.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME serialized
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_serialized_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
