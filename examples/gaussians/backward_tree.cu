/* arc example gaussians: lanes pair up by rank.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME tree
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_tree_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
