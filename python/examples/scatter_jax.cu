/* scatter_jax.cu - the handlers that scatter_jax.py calls. SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime.h>

#include "arc/wide.cuh"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
typedef ffi::Buffer<ffi::S32> keys_buffer;
typedef ffi::Buffer<ffi::F32> values_buffer;
typedef ffi::Buffer<ffi::S64> words_buffer;

enum { WIDTH = 3, THREADS = 256 };

__global__ void scatter_kernel(float *rows, const int *keys, const float *values, int updates) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int update = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int key = update < updates ? keys[update] : -1;
  float g[WIDTH];
  for (int i = 0; i < WIDTH; ++i) g[i] = update < updates ? values[WIDTH * update + i] : 0.0f;
  arc_add_f32(target, key, g, key >= 0); /* the whole warp calls */
}

/* Each lane adds its own values, so that sums do not depend on who shares a warp. */
__global__ void accumulate_kernel(long long *words, const int *keys, const float *values,
                                  int updates) {
  arc_target_wide target = arc_target_wide_rows(words, ARC_WIDE_ROW(WIDTH), WIDTH);
  int update = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int key = update < updates ? keys[update] : -1;
  float g[WIDTH];
  for (int i = 0; i < WIDTH; ++i) g[i] = update < updates ? values[WIDTH * update + i] : 0.0f;
  arc_options options = arc_options_default();
  options.path = ARC_PATH_ATOMIC;
  arc_add_with_wide(target, key, g, key >= 0, options);
}

__global__ void read_kernel(float *sums, const long long *words, int count) {
  int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= count) return;
  sums[k] = arc_wide_to_f32(words + (long long)(k / WIDTH) * ARC_WIDE_ROW(WIDTH), WIDTH, k % WIDTH);
}

static int blocks(int threads) { return (threads + THREADS - 1) / THREADS; }

static ffi::Error launched(void) {
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return ffi::Error::Internal(cudaGetErrorString(status));
  return ffi::Error::Success();
}

static ffi::Error scatter(cudaStream_t stream, keys_buffer keys, values_buffer values,
                          ffi::Result<values_buffer> rows) {
  int updates = (int)keys.element_count();
  cudaMemsetAsync(rows->typed_data(), 0, rows->size_bytes(), stream);
  scatter_kernel<<<blocks(updates), THREADS, 0, stream>>>(rows->typed_data(), keys.typed_data(),
                                                          values.typed_data(), updates);
  return launched();
}

/* The words that it returns are those that it gets (input_output_aliases), with more added. */
static ffi::Error accumulate(cudaStream_t stream, words_buffer, keys_buffer keys,
                             values_buffer values, ffi::Result<words_buffer> words) {
  int updates = (int)keys.element_count();
  accumulate_kernel<<<blocks(updates), THREADS, 0, stream>>>(
      (long long *)words->typed_data(), keys.typed_data(), values.typed_data(), updates);
  return launched();
}

static ffi::Error read(cudaStream_t stream, words_buffer words, ffi::Result<values_buffer> sums) {
  int count = (int)sums->element_count();
  if (words.element_count() != (size_t)(count / WIDTH) * ARC_WIDE_ROW(WIDTH))
    return ffi::Error::InvalidArgument("words must be those of all rows");
  read_kernel<<<blocks(count), THREADS, 0, stream>>>(sums->typed_data(),
                                                     (const long long *)words.typed_data(), count);
  return launched();
}

#define HANDLER(name, function, ...) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(     \
      name, function, ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cudaStream_t>>() __VA_ARGS__)
HANDLER(Scatter, scatter, .Arg<keys_buffer>().Arg<values_buffer>().Ret<values_buffer>());
HANDLER(Accumulate, accumulate,
        .Arg<words_buffer>().Arg<keys_buffer>().Arg<values_buffer>().Ret<words_buffer>());
HANDLER(Read, read, .Arg<words_buffer>().Ret<values_buffer>());
