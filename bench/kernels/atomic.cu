/* atomic.cu - arc's atomic path: vector reductions where they fit.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME atomic
#define SWEEP_ADD_UNIFORM(W) \
  arc_add_uniform_atomic_f32(target, d.key, values, d.active, a.threshold)
#define SWEEP_ADD_KEYED(W) arc_add_atomic_f32(target, d.key, values, d.active, a.threshold)
#include "../sweep_kernels.cuh"
