// simt.cuh -- one header for .cu programs that run on a GPU and on the CPU warp.
// SPDX-License-Identifier: Apache-2.0
//
//   #include "simt/simt.cuh"
//
//   __global__ void sum(float *out) {
//     float v = (float)threadIdx.x;
//     for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
//     if (threadIdx.x == 0) atomicAdd(out, v);
//   }
//
//   SIMT_LAUNCH(sum, 1, 32, 0, 0, out);
//
//   nvcc -I. sum.cu                                      the GPU
//   g++ -std=c++17 -I. -x c++ sum.cu -x none simt/simt.cpp    the CPU warp
//
// Under nvcc this header gives SIMT_LAUNCH, SIMT_DYNAMIC_SHARED, SIMT_ON_CPU 0 and the three poison
// functions, nothing else. Under a host compiler it is the CPU warp, which README.md describes.
#pragma once

#if defined(__CUDACC__)

#include <stdio.h>

#define SIMT_ON_CPU 0

// The arguments of the kernel follow the stream. A kernel with commas in its name needs
// parentheses.
#define SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)

// Declares `type *name`, the dynamic shared memory of the launch, aligned to 16 bytes.
#define SIMT_DYNAMIC_SHARED(type, name)                              \
  extern __shared__ __align__(16) unsigned char simt__dynamic_raw[]; \
  type *name = reinterpret_cast<type *>(simt__dynamic_raw)

// Garbage for inactive lanes: a sum that uses it is wrong; the CPU warp reports the use.
static __host__ __device__ __forceinline__ float simt_poison_f32(void) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(0x7fc5eed5);
#else
  union { unsigned bits; float value; } nan_payload = {0x7fc5eed5u};
  return nan_payload.value;
#endif
}
static __host__ __device__ __forceinline__ int simt_poison_key(void) { return 0x6bad5eed; }
static __host__ __device__ __forceinline__ float *simt_poison_pointer(void) {
  return reinterpret_cast<float *>(0x7bad5eed0000ull);
}

#else

#define SIMT_ON_CPU 1

// A file that is not there is what compilers stop at. CUDA's headers would define all names again.
#if __cplusplus < 201103L
#include "simt.cuh needs -std=c++11 or newer"
#elif defined(ARC__SKIPPED)
#include ARC__SKIPPED
#elif defined(__CUDA_FP16_H__) || defined(__CUDA_BF16_H__) || defined(__CUDA_RUNTIME_H__)
#include "simt.cuh must come before cuda_fp16.h and all headers of CUDA"
#endif

#include "simt_control.h"
#include "simt_math.h"
#include "simt_runtime.h"
#include "simt_types.h"
#include "simt_warp.h"

#endif
