/* fixed.cuh - floats into 64-bit fixed point; the file that includes it has a name for it. By hand,
   each lane rounds and adds 64-bit integers. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_S fixed
#define SWEEP_T float
#define SWEEP_M unsigned long long
#define SWEEP_ROWS(width) \
  arc_target_fixed_rows((long long *)a.rows, a.stride, width, SWEEP_SCALE_LOG2)
#define SWEEP_EACH 1
#define SWEEP_PLAIN(at, v, count) \
  atomicAdd(at, (unsigned long long)__float2ll_rn((v)[0] * (float)(1ll << SWEEP_SCALE_LOG2)))
#include "typed.cuh"
