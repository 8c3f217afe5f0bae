/* studies/gaussians/bench: 2 pixels per lane, with 64 registers.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_PIXELS 2
#define BACKWARD_BLOCKS 8
#include "ways.cuh"

backward_launcher way_launcher_2(add_way way, sum_layout layout) {
  return way_launcher_of<2>(way, layout);
}
