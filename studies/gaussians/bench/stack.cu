/* stack.cu - the trainer's kernel, with its target in a struct and loops around the call, has no
   stack frame and no spill: neither by default nor with both reductions in it.
   SPDX-License-Identifier: Apache-2.0 */
#include "ways.cuh"

#define KERNEL(way) \
  template __global__ void backward<way_sums<way, SUMS_ROWS>, way_arguments>(way_arguments);
KERNEL(ADD_DEFAULT)
KERNEL(ADD_AUTO)
