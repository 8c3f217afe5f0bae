/* plain.cu - one scalar atomicAdd a value and lane: what everybody writes first.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME plain
#define SWEEP_ADD_UNIFORM(W) sweep_add_plain(a.rows, a.stride, W, d.key, values, d.active)
#define SWEEP_ADD_KEYED(W) sweep_add_plain(a.rows, a.stride, W, d.key, values, d.active)
#include "baseline.cuh"
#include "../sweep_kernels.cuh"
