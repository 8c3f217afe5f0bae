/* grid_sample_bf16.cu. SPDX-License-Identifier: Apache-2.0 */
#include "grid_sample_launch.cuh"
cudaError_t sample_bf16(grid_job j, device d, int axes, int taps, long long planes) {
  return run_any<__nv_bfloat16>(j, d, axes, taps, planes);
}
