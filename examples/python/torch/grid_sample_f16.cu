/* grid_sample_f16.cu. SPDX-License-Identifier: Apache-2.0 */
#include "grid_sample_launch.cuh"
cudaError_t sample_f16(grid_job j, device d, int axes, int taps, long long planes) {
  return run_any<__half>(j, d, axes, taps, planes);
}
