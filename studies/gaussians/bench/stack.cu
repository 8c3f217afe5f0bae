/* stack.cu - the trainer's kernel, with its target in a struct and loops around the call, has no
   stack frame and no spill. SPDX-License-Identifier: Apache-2.0 */
#include "simt/simt.cuh"

#include "../render/backward.cuh"

template __global__ void backward<arc_sums>(backward_arguments);
