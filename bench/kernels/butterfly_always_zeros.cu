/* butterfly_always_zeros.cu - the papers' SW-B with the literal threshold 0, inactive lanes promised to hold zeros.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_INACTIVE_IS_ZERO 1
#define SWEEP_NAME butterfly_always_zeros
#define SWEEP_ADD_UNIFORM(W) arc_add_uniform_butterfly_f32(target, d.key, values, d.active, 0)
#define SWEEP_ADD_KEYED(W) arc_add_butterfly_f32(target, d.key, values, d.active, 0)
#include "../sweep_kernels.cuh"
