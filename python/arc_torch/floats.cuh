/* floats.cuh - a value in memory as a float, and back. SPDX-License-Identifier: Apache-2.0 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

__device__ float to_float(float x) { return x; }
__device__ float to_float(__half x) { return __half2float(x); }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ void store(float *at, float x) { *at = x; }
__device__ void store(__half *at, float x) { *at = __float2half_rn(x); }
__device__ void store(__nv_bfloat16 *at, float x) { *at = __float2bfloat16_rn(x); }

__device__ void add(float *at, float x) { atomicAdd(at, x); }
__device__ void add(__half *at, float x) { atomicAdd(at, __float2half_rn(x)); }
__device__ void add(__nv_bfloat16 *at, float x) { atomicAdd(at, __float2bfloat16_rn(x)); }

}  // namespace
