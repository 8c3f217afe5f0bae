/* vector.cu - 16- and 8-byte reductions of every lane, written by hand.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME vector
#define SWEEP_ADD_UNIFORM(W) sweep_add_vector(a.rows, a.stride, W, d.key, values, d.active)
#define SWEEP_ADD_KEYED(W) sweep_add_vector(a.rows, a.stride, W, d.key, values, d.active)
#include "baseline.cuh"
#include "../sweep_kernels.cuh"
