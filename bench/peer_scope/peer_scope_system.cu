/* peer_scope_system.cu - the kernels of peer_scope.cu with ARC_SCOPE_SYSTEM.
   SPDX-License-Identifier: Apache-2.0 */
#define ARC_SCOPE ARC_SCOPE_SYSTEM
#include "peer_scope_kernels.cuh"

void peer_launch_system(const peer_work *work, cudaStream_t stream) { launch_any(work, stream); }
