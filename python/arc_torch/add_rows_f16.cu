/* add_rows_f16.cu. SPDX-License-Identifier: Apache-2.0 */
#include "launch.cuh"
cudaError_t add_rows_f16(job j, device d) { return launch_add<__half, false>(j, d); }
