/* arc example gaussians: the same kernel with the adding left out: the limit.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_NAME none
#define BACKWARD_BEGIN unsigned kept = 0u;
#define BACKWARD_ADD(target, sums, rows, key, values, hit, threshold) \
  ((void)(hit), kept = keep_values(kept, values))
#define BACKWARD_END(sums) \
  if (kept == 0x6bad5eedu) *sums.means = 0.0f; /* once in 2^32 lanes: nothing the compiler knows */
#include "backward_peers.cuh"
#include "render_backward.cuh"
