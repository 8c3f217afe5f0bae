/* match_shared.cu - match, shared-memory float atomics at the leader's slot, the leader adds.
   SPDX-License-Identifier: Apache-2.0 */
#define SWEEP_NAME match_shared
#define SWEEP_ADD_UNIFORM(W) sweep_add_match_shared(a.rows, a.stride, W, d.key, values, d.active)
#define SWEEP_ADD_KEYED(W) SWEEP_ADD_UNIFORM(W)
#include "peers.cuh"
#include "../sweep_kernels.cuh"
