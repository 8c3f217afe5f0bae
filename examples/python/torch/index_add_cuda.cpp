/* index_add_cuda.cpp - arc::index_add_ for tensors on CUDA. SPDX-License-Identifier: Apache-2.0 */
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/cub.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <climits>
#include <tuple>

#include "adders.h"
#include "operators.h"

namespace {

using at::Scalar;
using at::Tensor;

constexpr int64_t STRIDES = 1ll << 28; /* of 8 bytes: arc takes less than 2^31 bytes */

/* The deterministic mode clears and reads 8 bytes for each value of out: with more rows of out than
   this to a row of values, PyTorch's is faster, unless a few keys have most of the rows. */
constexpr int64_t MOST_ROWS = 4;

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

enum class way { BY_PYTORCH, BY_ATOMICS, IN_FIXED_POINT, BY_SEGMENTS };

/* What arc does not take, mistakes among it, goes to PyTorch. */
way way_of(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
           const Scalar &alpha, bool round_once) {
  if (!is_served(self, dim, index, source, alpha)) return way::BY_PYTORCH;
  const at::ScalarType type = self.scalar_type();
  const bool reproducibly = at::globalContext().deterministicAlgorithms();
  if (reproducibly && type != at::kDouble && self.size(0) <= MOST_ROWS * source.size(0))
    return way::IN_FIXED_POINT;
  const bool in_order = round_once && at::isReducedFloatingType(type);
  if (in_order && source.size(0) <= INT_MAX) return way::BY_SEGMENTS;
  return reproducibly || in_order ? way::BY_PYTORCH : way::BY_ATOMICS;
}

row_adder *adder_for(at::ScalarType type, way how) {
  const bool fixed = how == way::IN_FIXED_POINT, segments = how == way::BY_SEGMENTS;
  switch (type) {
    case at::kFloat:
      return fixed ? add_rows_reproducibly_f32 : add_rows_f32;
    case at::kHalf:
      return fixed ? add_rows_reproducibly_f16 : segments ? add_segments_f16 : add_rows_f16;
    case at::kBFloat16:
      return fixed ? add_rows_reproducibly_bf16 : segments ? add_segments_bf16 : add_rows_bf16;
    default:
      return add_rows_f64;
  }
}

/* The keys in order, those of a row as they came, and which row of values each belongs to. */
std::pair<Tensor, Tensor> sort_keys(const Tensor &keys, int64_t rows) {
  const Tensor from = at::arange(keys.numel(), keys.options().dtype(at::kInt));
  Tensor sorted = at::empty_like(keys), order = at::empty_like(from);
  at::cuda::cub::radix_sort_pairs(keys.const_data_ptr<int64_t>(),
                                  sorted.mutable_data_ptr<int64_t>(), from.const_data_ptr<int>(),
                                  order.mutable_data_ptr<int>(), keys.numel(), false, 0,
                                  at::cuda::cub::get_num_bits(rows - 1));
  return {sorted, order};
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
  const bool may_have_gaps = has_rows(scaled) && how != way::IN_FIXED_POINT;
  const Tensor values = may_have_gaps ? scaled : scaled.contiguous();
  Tensor keys = index.contiguous(), order, scratch;
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
  if (how == way::IN_FIXED_POINT) {
    scratch = at::zeros({j.rows * j.width + 1}, self.options().dtype(at::kLong));
    j.sums = (long long *)scratch.mutable_data_ptr<int64_t>();
    j.largest = (unsigned *)(j.sums + j.rows * j.width);
  } else if (how == way::BY_SEGMENTS) {
    std::tie(keys, order) = sort_keys(keys.to(at::kLong), j.rows);
    scratch = at::empty({2 * cut_pieces(&j, d) * j.width}, self.options().dtype(at::kFloat));
    j.order = order.const_data_ptr<int>();
    j.parts = scratch.mutable_data_ptr<float>();
  }
  j.index = keys.const_data_ptr();
  j.has_wide_index = keys.scalar_type() == at::kLong;
  C10_CUDA_CHECK(adder_for(self.scalar_type(), how)(j, d));
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("index_add_", index_add_); }
