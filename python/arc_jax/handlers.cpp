/* handlers.cpp - what XLA calls: arc_torch's kernels, by JAX's rules for keys (ARC_KEYS_DROP).
   SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime_api.h>

#include "adders.h"
#include "xla/ffi/api/ffi.h"

row_adder add_rows_i32;

namespace {

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::Error;

row_adder *adder_of(ffi::DataType type, bool in_fixed_point) {
  if (type == ffi::F32) return in_fixed_point ? add_rows_reproducibly_f32 : add_rows_f32;
  if (type == ffi::F16) return in_fixed_point ? add_rows_reproducibly_f16 : add_rows_f16;
  if (type == ffi::BF16) return in_fixed_point ? add_rows_reproducibly_bf16 : add_rows_bf16;
  return in_fixed_point ? nullptr : type == ffi::F64 ? add_rows_f64 : add_rows_i32;
}

/* operand [rows][width], which lies where the result lies; indices [n]; updates [n][width]; words
   of 64 bits: one, and in fixed point one for each value of operand. */
Error add(cudaStream_t stream, AnyBuffer operand, AnyBuffer indices, AnyBuffer updates,
          ffi::Result<AnyBuffer>, ffi::Result<AnyBuffer> words, bool wraps, bool clips,
          bool in_fixed_point) {
  job j = {};
  j.values = updates.untyped_data();
  j.index = indices.untyped_data();
  j.out = operand.untyped_data();
  j.n = indices.dimensions()[0];
  j.rows = operand.dimensions()[0];
  j.width = j.columns = j.values_stride = j.out_stride = (int)operand.dimensions()[1];
  j.value_bytes = (int)(operand.size_bytes() / operand.element_count());
  j.has_wide_index = indices.element_type() == ffi::S64;
  j.wraps = wraps;
  j.clips = clips;
  row_adder *const adder = adder_of(operand.element_type(), in_fixed_point);
  if (!adder) return Error::InvalidArgument("arc_jax: not a type of fixed point");

  device d = {stream, 0};
  int number = 0;
  cudaError_t error = cudaGetDevice(&number);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&d.multiprocessors, cudaDevAttrMultiProcessorCount, number);
  if (in_fixed_point) {
    j.cleared = j.rows * j.width;
    j.sums = (long long *)words->untyped_data();
    j.largest = (unsigned *)(j.sums + j.cleared);
    if (error == cudaSuccess) error = cudaMemsetAsync(j.largest, 0, sizeof(long long), stream);
  }
  if (error == cudaSuccess) error = adder(j, d);
  return error == cudaSuccess ? Error::Success() : Error::Internal(cudaGetErrorString(error));
}

}  // namespace

/* 0, or an error of CUDA: of a driver that is older than this library. */
extern "C" int arc_jax_error(void) {
  int count = 0;
  return cudaGetDeviceCount(&count);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(arc_jax_add, add,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cudaStream_t>>()
                                  .Arg<AnyBuffer>()
                                  .Arg<AnyBuffer>()
                                  .Arg<AnyBuffer>()
                                  .Ret<AnyBuffer>()
                                  .Ret<AnyBuffer>()
                                  .Attr<bool>("wraps")
                                  .Attr<bool>("clips")
                                  .Attr<bool>("in_fixed_point"),
                              {ffi::Traits::kCmdBufferCompatible});
