/* add_rows_bf16.cu. SPDX-License-Identifier: Apache-2.0 */
#include "launch.cuh"
cudaError_t add_rows_bf16(job j, device d) { return launch_add<__nv_bfloat16, false>(j, d); }
