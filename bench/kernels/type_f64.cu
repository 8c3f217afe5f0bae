/* type_f64.cu - doubles. SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME f64
#define SWEEP_S f64
#define SWEEP_T double
#define SWEEP_M double
#define SWEEP_ROWS(width) arc_target_f64_rows((double *)a.rows, a.stride, width)
#define SWEEP_EACH 1
#define SWEEP_PLAIN(at, v, count) atomicAdd(at, (v)[0])
#define SWEEP_HAS_NONE
#include "typed.cuh"
