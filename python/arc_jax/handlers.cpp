/* handlers.cpp - what XLA calls: arc_torch's kernels, by JAX's rules for keys (ARC_KEYS_DROP).
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime_api.h>

#include "adders.h"
#include "xla/ffi/api/ffi.h"

row_adder add_rows_i32;

namespace {

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::DataType;
using ffi::Error;

int bytes_of(DataType type) {
  return type == ffi::F64 ? 8 : type == ffi::F16 || type == ffi::BF16 ? 2 : 4;
}

row_adder *adder_of(DataType type) {
  switch (type) {
    case ffi::F32:
      return add_rows_f32;
    case ffi::F64:
      return add_rows_f64;
    case ffi::F16:
      return add_rows_f16;
    case ffi::BF16:
      return add_rows_bf16;
    case ffi::S32:
      return add_rows_i32;
    default:
      return nullptr;
  }
}

row_adder *reproducible_adder_of(DataType type) {
  switch (type) {
    case ffi::F32:
      return add_rows_reproducibly_f32;
    case ffi::F16:
      return add_rows_reproducibly_f16;
    case ffi::BF16:
      return add_rows_reproducibly_bf16;
    default:
      return nullptr;
  }
}

/* operand [rows][width] lies where the result lies; indices [n]; updates [n][width] */
job job_of(AnyBuffer operand, AnyBuffer indices, AnyBuffer updates, bool wraps, bool clips) {
  job j = {};
  j.values = updates.untyped_data();
  j.index = indices.untyped_data();
  j.out = operand.untyped_data();
  j.n = indices.dimensions()[0];
  j.rows = operand.dimensions()[0];
  j.width = j.columns = j.values_stride = j.out_stride = (int)operand.dimensions()[1];
  j.value_bytes = bytes_of(operand.element_type());
  j.has_wide_index = indices.element_type() == ffi::S64;
  j.wraps = wraps;
  j.clips = clips;
  return j;
}

Error run(row_adder *adder, job j, cudaStream_t stream) {
  if (!adder) return Error::InvalidArgument("arc_jax: not a type that arc adds");
  device d = {stream, 0};
  int number = 0;
  cudaError_t error = cudaGetDevice(&number);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&d.multiprocessors, cudaDevAttrMultiProcessorCount, number);
  if (error == cudaSuccess) error = adder(j, d);
  return error == cudaSuccess ? Error::Success() : Error::Internal(cudaGetErrorString(error));
}

Error add(cudaStream_t stream, AnyBuffer operand, AnyBuffer indices, AnyBuffer updates,
          ffi::Result<AnyBuffer>, bool wraps, bool clips) {
  return run(adder_of(operand.element_type()), job_of(operand, indices, updates, wraps, clips),
             stream);
}

/* words: of 64 bits, one for each value of operand, and one more. */
Error add_reproducibly(cudaStream_t stream, AnyBuffer operand, AnyBuffer indices, AnyBuffer updates,
                       ffi::Result<AnyBuffer>, ffi::Result<AnyBuffer> words, bool wraps,
                       bool clips) {
  job j = job_of(operand, indices, updates, wraps, clips);
  j.cleared = j.rows * j.width;
  j.sums = (long long *)words->untyped_data();
  j.largest = (unsigned *)(j.sums + j.cleared);
  const cudaError_t error = cudaMemsetAsync(j.largest, 0, 2 * sizeof(unsigned), stream);
  if (error != cudaSuccess) return Error::Internal(cudaGetErrorString(error));
  return run(reproducible_adder_of(operand.element_type()), j, stream);
}

}  // namespace

/* 0, or an error of CUDA: of a driver that is older than this library. */
extern "C" int arc_jax_error(void) {
  int count = 0;
  return cudaGetDeviceCount(&count);
}

#define ARGUMENTS                               \
  ffi::Ffi::Bind()                              \
      .Ctx<ffi::PlatformStream<cudaStream_t>>() \
      .Arg<AnyBuffer>()                         \
      .Arg<AnyBuffer>()                         \
      .Arg<AnyBuffer>()                         \
      .Ret<AnyBuffer>()
#define ATTRIBUTES Attr<bool>("wraps").Attr<bool>("clips")
XLA_FFI_DEFINE_HANDLER_SYMBOL(arc_jax_add, add, ARGUMENTS.ATTRIBUTES,
                              {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(arc_jax_add_reproducibly, add_reproducibly,
                              ARGUMENTS.Ret<AnyBuffer>().ATTRIBUTES,
                              {ffi::Traits::kCmdBufferCompatible});
