/* none.cu - the surrounding kernel alone: the base of every net column.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME none
#define SWEEP_ADD_UNIFORM(W) sweep_add_none(lane.setup.never, d.key)
#define SWEEP_ADD_KEYED(W) sweep_add_none(lane.setup.never, d.key)
#include "baseline.cuh"
#include "../sweep_kernels.cuh"
