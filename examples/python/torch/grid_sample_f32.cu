/* grid_sample_f32.cu. SPDX-License-Identifier: Apache-2.0 */
#include "grid_sample_launch.cuh"
cudaError_t sample_f32(grid_job j, device d, int axes, int taps, long long planes) {
  return run_any<float>(j, d, axes, taps, planes);
}
