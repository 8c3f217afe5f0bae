/* shuffle_skip.cu - rasterizers' reduction: skip empty warps, five shuffles a value, lane 0 adds.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME shuffle_skip
#define SWEEP_ADD_UNIFORM(W) sweep_add_shuffle_skip(a.rows, a.stride, W, d.key, values, d.active)
#define SWEEP_ADD_KEYED(W) \
  sweep_add_shuffle_skip_keyed(a.rows, a.stride, W, d.key, values, d.active)
#include "peers.cuh"
#include "../sweep_kernels.cuh"
