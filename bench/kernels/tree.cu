/* tree.cu - the rank tree.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME tree
#define SWEEP_ADD_UNIFORM(W) arc_add_uniform_tree_f32(target, d.key, values, d.active, a.threshold)
#define SWEEP_ADD_KEYED(W) arc_add_tree_f32(target, d.key, values, d.active, a.threshold)
#include "../sweep_kernels.cuh"
