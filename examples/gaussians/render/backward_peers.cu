/* arc example gaussians: the backward pass by the papers' paths and by other people's reductions.
   SPDX-License-Identifier: Apache-2.0 */
#include "backward.cuh"

void backward_launch_peer(add_way way, int tiles, const backward_arguments *a, int pixels) {
  switch (way) {
    case ADD_SERIALIZED:
      backward_launch_way<ADD_SERIALIZED>(tiles, a, pixels);
      break;
    case ADD_BUTTERFLY:
      backward_launch_way<ADD_BUTTERFLY>(tiles, a, pixels);
      break;
    case ADD_SHUFFLES:
      backward_launch_way<ADD_SHUFFLES>(tiles, a, pixels);
      break;
#if !SIMT_ON_CPU
    case ADD_CUB:
      backward_launch_way<ADD_CUB>(tiles, a, pixels);
      break;
#endif
    default:
      break;
  }
}
