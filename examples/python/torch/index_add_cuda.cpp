/* index_add_cuda.cpp - arc::index_add_ for tensors on CUDA. SPDX-License-Identifier: Apache-2.0 */
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/cub.h>
#include <ATen/ops/mul.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <climits>

#include "adders.h"
#include "operators.h"

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

bool has_type(const Scalar &alpha, at::ScalarType type) {
  if (!alpha.isFloatingPoint() && !alpha.isIntegral(false)) return false;
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "arc::index_add_", [&] {
    return !c10::overflows<scalar_t, double>(alpha.toDouble());
  });
}

bool is_served(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
               const Scalar &alpha) {
  const at::ScalarType type = self.scalar_type();
  return self.dim() > 0 && source.dim() == self.dim() && (dim == 0 || dim == -self.dim()) &&
         self.numel() > 0 && source.numel() > 0 &&
         (type == at::kFloat || type == at::kHalf || type == at::kBFloat16 ||
          type == at::kDouble) &&
         source.scalar_type() == type && source.sizes().slice(1) == self.sizes().slice(1) &&
         index.dim() == 1 &&
         (index.scalar_type() == at::kLong || index.scalar_type() == at::kInt) &&
         index.size(0) == source.size(0) && source.device() == self.device() &&
         index.device() == self.device() && has_rows(self) &&
         (self.size(0) == 1 || self.stride(0) >= self.numel() / self.size(0)) &&
         has_type(alpha, type);
}

enum class way { BY_PYTORCH, BY_ATOMICS, BY_SEGMENTS };

/* What arc does not take, mistakes among it, goes to PyTorch, as do, where the order of additions
   must not matter, float64 and what int does not count. */
way way_of(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
           const Scalar &alpha, bool round_once) {
  if (!is_served(self, dim, index, source, alpha)) return way::BY_PYTORCH;
  const at::ScalarType type = self.scalar_type();
  const bool is_exact = at::globalContext().deterministicAlgorithms() ||
                        (round_once && at::isReducedFloatingType(type));
  if (!is_exact) return way::BY_ATOMICS;
  const bool is_counted = self.size(0) <= INT_MAX && source.size(0) <= INT_MAX;
  return type != at::kDouble && is_counted ? way::BY_SEGMENTS : way::BY_PYTORCH;
}

row_adder *adder_for(at::ScalarType type, way how) {
  const bool segments = how == way::BY_SEGMENTS;
  switch (type) {
    case at::kFloat:
      return segments ? add_segments_f32 : add_rows_f32;
    case at::kHalf:
      return segments ? add_segments_f16 : add_rows_f16;
    case at::kBFloat16:
      return segments ? add_segments_bf16 : add_rows_bf16;
    default:
      return add_rows_f64;
  }
}

/* Tensors would be filled in deterministic mode. */
at::DataPtr allocate(size_t bytes) {
  return c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
}

/* Sorts the keys of a job, each with its row; what holds both then. */
at::DataPtr sort_keys(job *j, device d) {
  const at::DataPtr memory = allocate(2 * j->n * sizeof(int));
  at::DataPtr sorted = allocate(2 * j->n * sizeof(int));
  int *const keys = (int *)memory.get(), *const rows = keys + j->n;
  int *const to = (int *)sorted.get(), *const order = to + j->n;
  C10_CUDA_CHECK(number_rows(*j, keys, rows, d));
  at::cuda::cub::radix_sort_pairs(keys, to, rows, order, j->n, false, 0,
                                  at::cuda::cub::get_num_bits(j->rows - 1));
  j->index = to;
  j->has_wide_index = false;
  j->order = order;
  return sorted;
}

void index_add_(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
                const Scalar &alpha, bool round_once) {
  const way how = way_of(self, dim, index, source, alpha, round_once);
  if (how == way::BY_PYTORCH) {
    add_by_pytorch_(self, dim, index, source, alpha, round_once);
    return;
  }
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  const c10::cuda::CUDAGuard guard(self.device());
  const device d = {at::cuda::getCurrentCUDAStream(),
                    at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
  const Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
  const Tensor values = has_rows(scaled) ? scaled : scaled.contiguous();
  const Tensor keys = index.contiguous();
  const int64_t columns = values.numel() / values.size(0);

  job j = {};
  j.values = values.const_data_ptr();
  j.out = self.mutable_data_ptr();
  j.n = values.size(0);
  j.rows = self.size(0);
  j.width = (int)columns;
  j.value_bytes = (int)self.element_size();
  j.values_stride = stride_of_rows(values, columns);
  j.out_stride = stride_of_rows(self, columns);
  j.index = keys.const_data_ptr();
  j.has_wide_index = keys.scalar_type() == at::kLong;
  at::DataPtr sorted, words;
  if (how == way::BY_SEGMENTS) {
    sorted = sort_keys(&j, d);
    words = allocate(segment_bytes(j, d));
    j.sums = (long long *)words.get();
  }
  C10_CUDA_CHECK(adder_for(self.scalar_type(), how)(j, d));
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("index_add_", index_add_); }
