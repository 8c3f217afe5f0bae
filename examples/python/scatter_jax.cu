/* scatter_jax.cu - the handler that scatter_jax.py calls. SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime.h>

#include "arc.cuh"
#include "xla/ffi/api/ffi.h"

enum { WIDTH = 3, THREADS = 256 };

__global__ void scatter_kernel(float *rows, const int *keys, const float *values, int updates) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int update = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int key = update < updates ? keys[update] : -1;
  float g[WIDTH];
  for (int i = 0; i < WIDTH; ++i) g[i] = update < updates ? values[WIDTH * update + i] : 0.0f;
  arc_add_f32(target, key, g, key >= 0); /* the whole warp calls */
}

static xla::ffi::Error scatter(cudaStream_t stream, xla::ffi::Buffer<xla::ffi::S32> keys,
                               xla::ffi::Buffer<xla::ffi::F32> values,
                               xla::ffi::ResultBuffer<xla::ffi::F32> rows) {
  int updates = (int)keys.element_count();
  cudaMemsetAsync(rows->typed_data(), 0, rows->size_bytes(), stream);
  scatter_kernel<<<(updates + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
      rows->typed_data(), keys.typed_data(), values.typed_data(), updates);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return xla::ffi::Error::Internal(cudaGetErrorString(status));
  return xla::ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(Scatter, scatter,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::PlatformStream<cudaStream_t>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>());
