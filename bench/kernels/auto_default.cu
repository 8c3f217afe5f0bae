/* auto_default.cu - auto as users call it, with the literal threshold.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME auto_default
#define SWEEP_ADD_UNIFORM(W) \
  arc_add_uniform_auto_f32(target, d.key, values, d.active, ARC_BALANCE_THRESHOLD)
#define SWEEP_ADD_KEYED(W) arc_add_auto_f32(target, d.key, values, d.active, ARC_BALANCE_THRESHOLD)
#include "../sweep_kernels.cuh"
