/* arc example gaussians: the kernel to copy from. arc decides, with its default threshold.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME default
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_f32(target, key, values, hit, ARC_BALANCE_THRESHOLD)
#include "render_backward.cuh"
