/* add_rows_i32.cu. SPDX-License-Identifier: Apache-2.0 */
#include "launch.cuh"
cudaError_t add_rows_i32(job j, device d) { return launch_add<int, false>(j, d); }
