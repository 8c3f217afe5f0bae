/* studies/gaussians/bench: 1 pixel per lane, with 48 registers.
   SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_PIXELS 1
#define BACKWARD_BLOCKS 5
#include "ways.cuh"

backward_launcher way_launcher_1(add_way way, sum_layout layout) {
  return way_launcher_of<1>(way, layout);
}
