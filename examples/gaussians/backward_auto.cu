/* arc example gaussians: arc decides, the threshold is given at run time.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME auto
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  arc_add_uniform_auto_f32(target, key, values, hit, threshold)
#include "render_backward.cuh"
