/* index_add_cuda.cpp - arc::index_add_ for tensors on CUDA. SPDX-License-Identifier: Apache-2.0 */
#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "add_rows.h"

namespace {

using at::Scalar;
using at::Tensor;

constexpr int64_t STRIDES = 1ll << 28; /* of 8 bytes: arc takes less than 2^31 bytes */

/* The columns of each row lie side by side. */
bool has_rows(const Tensor &t) {
  int64_t columns = 1;
  for (int64_t i = t.dim() - 1; i > 0; --i) {
    if (t.size(i) != 1 && t.stride(i) != columns) return false;
    columns *= t.size(i);
  }
  return columns < STRIDES && (t.size(0) == 1 || t.stride(0) < STRIDES);
}

int stride_of_rows(const Tensor &t, int64_t columns) {
  return (int)(t.size(0) == 1 ? columns : t.stride(0));
}

bool is_served(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
               const Scalar &alpha, bool reproducibly) {
  const at::ScalarType type = self.scalar_type();
  return self.dim() > 0 && source.dim() == self.dim() && (dim == 0 || dim == -self.dim()) &&
         self.numel() > 0 && source.numel() > 0 &&
         (type == at::kFloat || type == at::kHalf || type == at::kBFloat16 ||
          (type == at::kDouble && !reproducibly)) &&
         source.scalar_type() == type && source.sizes().slice(1) == self.sizes().slice(1) &&
         index.dim() == 1 &&
         (index.scalar_type() == at::kLong || index.scalar_type() == at::kInt) &&
         index.size(0) == source.size(0) && source.device() == self.device() &&
         index.device() == self.device() && has_rows(self) &&
         (self.size(0) == 1 || self.stride(0) >= self.numel() / self.size(0)) &&
         (alpha.isFloatingPoint() || alpha.isIntegral(false));
}

row_adder *adder_for(at::ScalarType type, bool reproducibly) {
  switch (type) {
    case at::kFloat:
      return reproducibly ? add_rows_reproducibly_f32 : add_rows_f32;
    case at::kHalf:
      return reproducibly ? add_rows_reproducibly_f16 : add_rows_f16;
    case at::kBFloat16:
      return reproducibly ? add_rows_reproducibly_bf16 : add_rows_bf16;
    default:
      return add_rows_f64;
  }
}

/* What arc does not take, mistakes among it, goes to PyTorch. */
void index_add_(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                const Scalar &alpha) {
  const bool reproducibly = at::globalContext().deterministicAlgorithms();
  if (!is_served(self, dim, index, source, alpha, reproducibly)) {
    Tensor(self).index_add_(dim, index, source, alpha);
    return;
  }
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  const c10::cuda::CUDAGuard guard(self.device());
  const Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
  const Tensor values = has_rows(scaled) && !reproducibly ? scaled : scaled.contiguous();
  const Tensor keys = index.contiguous();
  const int64_t columns = values.numel() / values.size(0);

  job j = {};
  j.values = values.const_data_ptr();
  j.index = keys.const_data_ptr();
  j.out = self.mutable_data_ptr();
  j.n = values.size(0);
  j.rows = self.size(0);
  j.width = (int)columns;
  j.value_bytes = (int)self.element_size();
  j.values_stride = stride_of_rows(values, columns);
  j.out_stride = stride_of_rows(self, columns);
  j.has_wide_index = keys.scalar_type() == at::kLong;
  Tensor sums;
  if (reproducibly) {
    sums = at::zeros({j.rows * j.width + 1}, self.options().dtype(at::kLong));
    j.sums = (long long *)sums.mutable_data_ptr<int64_t>();
    j.largest = (unsigned *)(j.sums + j.rows * j.width);
  }
  const device d = {at::cuda::getCurrentCUDAStream(),
                    at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
  C10_CUDA_CHECK(adder_for(self.scalar_type(), reproducibly)(j, d));
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("index_add_", index_add_); }
