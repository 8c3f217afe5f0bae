/* stack.cu - the trainer's kernel, whose target lies in a struct and whose loops are around the call:
   by no way to add has it a stack frame or a spill. SPDX-License-Identifier: Apache-2.0 */
#include "ways.cuh"

#define KERNEL(way) \
  template __global__ void backward<way_sums<way, SUMS_ROWS>, way_arguments>(way_arguments);
KERNEL(ADD_DEFAULT)
KERNEL(ADD_AUTO)
KERNEL(ADD_BUTTERFLY)
KERNEL(ADD_SERIALIZED)
