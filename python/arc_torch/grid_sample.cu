/* grid_sample.cu - calls of grid_sample.cuh. SPDX-License-Identifier: Apache-2.0 */
#include "adders.h"
#include "floats.cuh"

#define LAUNCH(kernel, blocks, threads, stream, j) kernel<<<blocks, threads, 0, stream>>>(j)
#include "grid_sample.cuh"

namespace {

template <class T>
cudaError_t sample_any(grid_job j, device d, int axes, int taps) {
  if (axes == 3) return taps == 1 ? sample<T, 3, 1>(j, d) : sample<T, 3, 2>(j, d);
  return taps == 1   ? sample<T, 2, 1>(j, d)
         : taps == 2 ? sample<T, 2, 2>(j, d)
                     : sample<T, 2, 4>(j, d);
}

}  // namespace

#define SAMPLER(name, T)                                       \
  cudaError_t name(grid_job j, device d, int axes, int taps) { \
    return sample_any<T>(j, d, axes, taps);                    \
  }
SAMPLER(sample_f32, float)
SAMPLER(sample_f16, __half)
SAMPLER(sample_bf16, __nv_bfloat16)
