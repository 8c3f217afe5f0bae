/* plain_atomics.cu - a plain atomicAdd for each value, called as arc_jax's kernels are.
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

enum { THREADS = 256 };

template <class T, int WIDTH>
__global__ void add(T *out, const int *keys, const T *values, long long count, int rows) {
  const long long i = blockIdx.x * (long long)THREADS + threadIdx.x;
  if (i >= count) return;
  int key = keys[i / WIDTH];
  if (key < 0) key += rows;
  if ((unsigned)key < (unsigned)rows)
    atomicAdd(out + (long long)key * WIDTH + i % WIDTH, values[i]);
}

template <class T>
static void launch(cudaStream_t stream, ffi::AnyBuffer operand, ffi::AnyBuffer indices,
                   ffi::AnyBuffer updates) {
  const long long count = (long long)updates.element_count();
  const unsigned blocks = (unsigned)((count + THREADS - 1) / THREADS);
  const int width = (int)operand.dimensions()[1];
  auto kernel = width == 1    ? add<T, 1>
                : width == 3  ? add<T, 3>
                : width == 16 ? add<T, 16>
                              : add<T, 64>;
  kernel<<<blocks, THREADS, 0, stream>>>(
      (T *)operand.untyped_data(), (const int *)indices.untyped_data(),
      (const T *)updates.untyped_data(), count, (int)operand.dimensions()[0]);
}

static ffi::Error plain_add(cudaStream_t stream, ffi::AnyBuffer operand, ffi::AnyBuffer indices,
                            ffi::AnyBuffer updates, ffi::Result<ffi::AnyBuffer>) {
  if (operand.element_type() == ffi::F32)
    launch<float>(stream, operand, indices, updates);
  else
    launch<__nv_bfloat16>(stream, operand, indices, updates);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? ffi::Error::Success()
                              : ffi::Error::Internal(cudaGetErrorString(error));
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(plain_atomics, plain_add,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cudaStream_t>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>(),
                              {ffi::Traits::kCmdBufferCompatible});
