/* auto.cu - auto with a run-time threshold.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME auto
#define SWEEP_ADD_UNIFORM(W) arc_add_uniform_auto_f32(target, d.key, values, d.active, a.threshold)
#define SWEEP_ADD_KEYED(W) arc_add_auto_f32(target, d.key, values, d.active, a.threshold)
#include "../sweep_kernels.cuh"
