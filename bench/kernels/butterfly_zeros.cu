/* butterfly_zeros.cu - the papers' SW-B, inactive lanes promised to hold zeros.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_INACTIVE_IS_ZERO 1
#define SWEEP_NAME butterfly_zeros
#define SWEEP_ADD_UNIFORM(W) \
  arc_add_uniform_butterfly_f32(target, d.key, values, d.active, a.threshold)
#define SWEEP_ADD_KEYED(W) arc_add_butterfly_f32(target, d.key, values, d.active, a.threshold)
#include "../sweep_kernels.cuh"
