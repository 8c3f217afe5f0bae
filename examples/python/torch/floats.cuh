/* floats.cuh - a value in memory as a float, and back. SPDX-License-Identifier: Apache-2.0 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

__device__ float to_float(float x) { return x; }
__device__ float to_float(__half x) { return __half2float(x); }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ void store(float *at, double x) { *at = (float)x; }
__device__ void store(__half *at, double x) { *at = __double2half(x); }
__device__ void store(__nv_bfloat16 *at, double x) { *at = __double2bfloat16(x); }

}  // namespace
