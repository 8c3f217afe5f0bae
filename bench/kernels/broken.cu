/* broken.cu - plain, but lane 31 adds nothing: only to show that the result check bites.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME broken
#define SWEEP_ADD_UNIFORM(W) \
  sweep_add_plain(a.rows, a.stride, W, d.key, values, d.active && threadIdx.x % 32 != 31)
#define SWEEP_ADD_KEYED(W) SWEEP_ADD_UNIFORM(W)
#include "baseline.cuh"
#include "../sweep_kernels.cuh"
