/* bench/drop_in: compiled once a variant, as -DVARIANT=plain, with its flags.
   SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

namespace {

__device__ int first_of(int *step) {
  *step = (int)(gridDim.x * blockDim.x);
  return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ float work(float v) { /* a few instructions, as a kernel has around its atomics */
  for (int i = 0; i < 8; ++i) v = v * 1.0001f + 0.5f;
  return v;
}

__global__ void __launch_bounds__(DROP_IN_THREADS)
    one_value(void *out, const int *keys, const float *values) {
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step)
    atomicAdd((float *)out + keys[i], work(values[i]));
}
__global__ void __launch_bounds__(DROP_IN_THREADS)
    four_corners(void *out, const int *keys, const float *values) {
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step) {
    float *corner = (float *)out + keys[i];
    const float v = values[i];
    atomicAdd(corner, v);
    atomicAdd(corner + 1, v * 0.5f);
    atomicAdd(corner + 64, v * 0.25f);
    atomicAdd(corner + 65, v * 0.125f);
  }
}
__global__ void __launch_bounds__(DROP_IN_THREADS)
    counts(void *out, const int *keys, const float *values) {
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step)
    if (values[i] > 0.0f) atomicAdd((unsigned *)out + keys[i], 1u);
}
__global__ void __launch_bounds__(DROP_IN_THREADS)
    doubles(void *out, const int *keys, const float *values) {
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step)
    atomicAdd((double *)out + keys[i], (double)work(values[i]));
}
__global__ void __launch_bounds__(DROP_IN_THREADS)
    one_block(void *out, const int *keys, const float *values) {
  for (int i = (int)threadIdx.x; i < DROP_IN_N / 16; i += DROP_IN_THREADS)
    atomicAdd((float *)out + keys[i], work(values[i]));
}
template <class V>
__global__ void __launch_bounds__(DROP_IN_THREADS)
    vectors(void *out, const int *keys, const float *values) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* before, there are no such atomics */
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step) {
    const float v = work(values[i]);
    alignas(V) const float vector[4] = {v, v * 0.5f, v * 0.25f, v * 0.125f};
    atomicAdd((V *)out + keys[i], *(const V *)vector);
  }
#endif
}
/* Each lane walks a way of its own length. */
__global__ void __launch_bounds__(DROP_IN_THREADS)
    uneven(void *out, const int *keys, const float *values) {
  int step;
  for (int i = first_of(&step); i < DROP_IN_N; i += step)
    for (int k = i & 3; k >= 0; --k)
      if (i + k < DROP_IN_N) atomicAdd((float *)out + keys[i + k], values[i]);
}

const drop_in_launch launches[DROP_IN_KERNELS] = {
    {"one value", 1056, one_value},    {"four corners", 1056, four_corners},
    {"counts", 1056, counts},          {"doubles", 1056, doubles},
    {"uneven ways", 1056, uneven},     {"one block", 1, one_block},
    {"float2", 1056, vectors<float2>}, {"float4", 1056, vectors<float4>}};

#if defined(ARC_DROP_IN_CUH) && ARC_DROP_IN == ARC_DROP_IN_LEARNS
arc__learnt nothing;
void forget() { cudaMemcpyToSymbol(arc__learnt_here, &nothing, sizeof nothing); }
#else
void forget() {}
#endif

}  // namespace

#define DROP_IN_NAME(x) #x
#define DROP_IN_STRING(x) DROP_IN_NAME(x)
extern const drop_in_variant VARIANT;
const drop_in_variant VARIANT = {DROP_IN_STRING(VARIANT), launches, forget};
