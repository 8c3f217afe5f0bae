/* arc example gaussians: the backward pass through arc, by plain atomics, with nothing added.
   SPDX-License-Identifier: Apache-2.0 */
#include "backward.cuh"

bool backward_has(add_way way) { return way != ADD_CUB || !SIMT_ON_CPU; }

void backward_launch(add_way way, int tiles, const backward_arguments *a, int pixels) {
  switch (way) {
    case ADD_DEFAULT:
      backward_launch_way<ADD_DEFAULT>(tiles, a, pixels);
      break;
    case ADD_AUTO:
      backward_launch_way<ADD_AUTO>(tiles, a, pixels);
      break;
    case ADD_PLAIN:
      backward_launch_way<ADD_PLAIN>(tiles, a, pixels);
      break;
    case ADD_NONE:
      backward_launch_way<ADD_NONE>(tiles, a, pixels);
      break;
    case ADD_COUNT:
      backward_launch_way<ADD_COUNT>(tiles, a, pixels);
      break;
    default:
      backward_launch_peer(way, tiles, a, pixels);
  }
}
