/* studies/gaussians/bench: 4 pixels a lane, with 80 registers. SPDX-License-Identifier: Apache-2.0 */
#define BACKWARD_PIXELS 4
#define BACKWARD_BLOCKS 12
#include "ways.cuh"

backward_launcher way_launcher_4(add_way way, sum_layout layout) {
  return way_launcher_of<4>(way, layout);
}
