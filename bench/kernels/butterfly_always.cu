/* butterfly_always.cu - the papers' SW-B with the literal threshold 0.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME butterfly_always
#define SWEEP_ADD_UNIFORM(W) arc_add_uniform_butterfly_f32(target, d.key, values, d.active, 0)
#define SWEEP_ADD_KEYED(W) arc_add_butterfly_f32(target, d.key, values, d.active, 0)
#include "../sweep_kernels.cuh"
