/* add_rows_f64.cu. SPDX-License-Identifier: Apache-2.0 */
#include "launch.cuh"
cudaError_t add_rows_f64(job j, device d) { return launch_add<double, false>(j, d); }
