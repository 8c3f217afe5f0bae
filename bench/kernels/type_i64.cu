/* type_i64.cu - integers of 64 bits. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME i64
#define SWEEP_S i64
#define SWEEP_T long long
#define SWEEP_M unsigned long long
#define SWEEP_ROWS(width) arc_target_i64_rows((long long *)a.rows, a.stride, width)
#define SWEEP_EACH 1
#define SWEEP_PLAIN(at, v, count) atomicAdd(at, (unsigned long long)(v)[0])
#define SWEEP_HAS_NONE
#include "typed.cuh"
