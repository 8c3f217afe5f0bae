/* arc example gaussians: five shuffles for every value, lane 0 adds, as rasterizers do it by hand.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME shuffles
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  ((void)(hit), add_shuffles(sums, rows, key, values))
#include "backward_peers.cuh"
#include "render_backward.cuh"
