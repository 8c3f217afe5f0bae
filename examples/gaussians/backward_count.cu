/* arc example gaussians: counts the hit lanes of each warp step instead of adding.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME count
#define BACKWARD_VISITS_EMPTY 1
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) count_lanes(a->histogram, hit)
#include "backward_peers.cuh"
#include "render_backward.cuh"
