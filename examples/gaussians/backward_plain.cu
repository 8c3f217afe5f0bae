/* arc example gaussians: an atomicAdd for every value of every pixel that is hit: what arc
   replaces.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME plain
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  add_plain(sums, rows, key, values, hit)
#include "backward_peers.cuh"
#include "render_backward.cuh"
