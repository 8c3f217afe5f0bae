/* auto_default_zeros.cu - auto as users call it, inactive lanes promised to hold zeros.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_INACTIVE_IS_ZERO 1
#define SWEEP_NAME auto_default_zeros
#define SWEEP_ADD_UNIFORM(W) \
  arc_add_uniform_auto_f32(target, d.key, values, d.active, ARC_BALANCE_THRESHOLD)
#define SWEEP_ADD_KEYED(W) arc_add_auto_f32(target, d.key, values, d.active, ARC_BALANCE_THRESHOLD)
#include "../sweep_kernels.cuh"
