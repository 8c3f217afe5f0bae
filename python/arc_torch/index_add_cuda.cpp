/* index_add_cuda.cpp - arc's sums for tensors on CUDA: what the kernels are told.
   SPDX-License-Identifier: Apache-2.0 */
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
#include <string>
#include <tuple>

#include "adders.h"
#include "arc_policy.cuh"
#include "operators.h"

namespace {

using at::Scalar;
using at::Tensor;

constexpr int64_t STRIDES = 1ll << 28; /* of 8 bytes: arc takes less than 2^31 bytes */

device current_device() {
  return {at::cuda::getCurrentCUDAStream(),
          at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
}

bool is_index(const Tensor &t) {
  return t.scalar_type() == at::kLong || t.scalar_type() == at::kInt;
}

void set_keys(job *j, const Tensor &keys) {
  j->index = keys.const_data_ptr();
  j->has_wide_index = keys.scalar_type() == at::kLong;
}

/* In the deterministic mode, whether sorting the keys, which moves 12 bytes of each three times to
   and fro, in a few launches, costs less than 8 bytes for each value of out, cleared and read. */
bool sorting_pays(const Tensor &self, int64_t n) {
  return n <= INT_MAX && 16 * self.numel() > 72 * n + (60ll << 20);
}

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
         index.dim() == 1 && is_index(index) && index.size(0) == source.size(0) &&
         source.device() == self.device() && index.device() == self.device() && has_rows(self) &&
         (self.size(0) == 1 || self.stride(0) >= self.numel() / self.size(0)) &&
         has_type(alpha, type);
}

/* Whether so many wide rows go to each of out that reading them in order beats adding them. */
bool has_many(const Tensor &self, const Tensor &source) {
  return source.size(0) >= 8 * self.size(0) && self.numel() >= 128 * self.size(0);
}

enum class way { BY_PYTORCH, BY_ATOMICS, IN_FIXED_POINT, BY_SEGMENTS, BY_FIXED_SEGMENTS };

/* What arc does not take, mistakes among it, goes to PyTorch. */
way way_of(const Tensor &self, int64_t dim, const Tensor &index, const Tensor &source,
           const Scalar &alpha, bool round_once) {
  if (!is_served(self, dim, index, source, alpha)) return way::BY_PYTORCH;
  const at::ScalarType type = self.scalar_type();
  const bool reproducibly = at::globalContext().deterministicAlgorithms();
  if (reproducibly && type != at::kDouble)
    return sorting_pays(self, source.size(0)) ? way::BY_FIXED_SEGMENTS : way::IN_FIXED_POINT;
  const bool is_reduced = round_once && at::isReducedFloatingType(type);
  const bool in_order = is_reduced || (round_once && type == at::kFloat && has_many(self, source));
  if (in_order && source.size(0) <= INT_MAX) return way::BY_SEGMENTS;
  return reproducibly || is_reduced ? way::BY_PYTORCH : way::BY_ATOMICS;
}

/* Of a type: by ways BY_ATOMICS to BY_FIXED_SEGMENTS, and what the last does before it sorts. */
struct adders {
  row_adder *by[4], *find_scale;
};

#define ADDERS(type)                                                     \
  {                                                                      \
    {add_rows_##type, add_rows_reproducibly_##type, add_segments_##type, \
     add_fixed_segments_##type},                                         \
        find_scale_##type                                                \
  }

adders adders_of(at::ScalarType type) {
  if (type == at::kFloat) return ADDERS(f32);
  if (type == at::kHalf) return ADDERS(f16);
  if (type == at::kBFloat16) return ADDERS(bf16);
  return {{add_rows_f64}, nullptr};
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
  const device d = current_device();
  const Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
  const bool in_fixed_point = how == way::IN_FIXED_POINT || how == way::BY_FIXED_SEGMENTS;
  const bool may_have_gaps = has_rows(scaled) && !in_fixed_point;
  const Tensor values = may_have_gaps ? scaled : scaled.contiguous();
  const adders its = adders_of(self.scalar_type());
  Tensor keys = index.contiguous(), order, sums, parts;
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
  set_keys(&j, keys);
  if (in_fixed_point) { /* the sums, unless they are formed by segments, and `largest` */
    const int64_t count = how == way::IN_FIXED_POINT ? j.rows * j.width : 0;
    sums = at::zeros({count + 1}, self.options().dtype(at::kLong));
    j.sums = (long long *)sums.mutable_data_ptr<int64_t>();
    j.largest = (unsigned *)(j.sums + count);
  }
  if (how == way::BY_FIXED_SEGMENTS) C10_CUDA_CHECK(its.find_scale(j, d));
  if (how == way::BY_SEGMENTS || how == way::BY_FIXED_SEGMENTS) {
    std::tie(keys, order) = sort_keys(keys.to(at::kLong), j.rows);
    set_keys(&j, keys);
    parts = at::empty({2 * cut_pieces(&j, d) * j.width},
                      self.options().dtype(in_fixed_point ? at::kLong : at::kFloat));
    j.order = order.const_data_ptr<int>();
    j.parts = parts.mutable_data_ptr();
  }
  C10_CUDA_CHECK(its.by[(int)how - (int)way::BY_ATOMICS](j, d));
}

/* `outside`: an int, pinned in the host's memory, that the kernel sets. */
Tensor keep_keys_within(const Tensor &index, int64_t size, bool wraps, const Tensor &outside) {
  TORCH_CHECK(
      is_index(index) && size > 0 && outside.scalar_type() == at::kInt && outside.numel() == 1,
      "arc::keep_within: an index of int32 or int64, a size above 0, and one int32");
  const c10::cuda::CUDAGuard guard(index.device());
  const Tensor keys = index.contiguous();
  const Tensor kept = at::empty(index.sizes(), index.options().dtype(at::kLong));
  job j = {};
  set_keys(&j, keys);
  j.out = kept.mutable_data_ptr();
  j.n = keys.numel();
  j.rows = size;
  if (j.n > 0)
    C10_CUDA_CHECK(keep_within(j, current_device(), wraps, outside.mutable_data_ptr<int>()));
  return kept;
}

/* ---- Accumulator ---------------------------------------------------------------------------- */

/* Messages are one string each: PyTorch's stream for several pieces can end in a segmentation fault
   where PyTorch brings a C++ library of its own. */

job job_of_words(const Tensor &words, int64_t columns) {
  const std::string count = std::to_string(columns);
  TORCH_CHECK(columns > 0 && columns < (1 << 24), "arc: 1 to 2^24 - 1 columns, not " + count);
  TORCH_CHECK(words.scalar_type() == at::kLong && words.dim() == 2 && words.is_contiguous() &&
                  words.size(1) == ARC_WIDE_ROW(columns),
              "arc: the words of " + count + " columns are rows of " +
                  std::to_string(ARC_WIDE_ROW(columns)) + " contiguous int64");
  job j = {};
  j.sums = (long long *)words.mutable_data_ptr<int64_t>();
  j.rows = words.size(0);
  j.width = (int)columns;
  return j;
}

void accumulate_(const Tensor &words, int64_t columns, const Tensor &index, const Tensor &source) {
  const c10::cuda::CUDAGuard guard(words.device());
  job j = job_of_words(words, columns);
  TORCH_CHECK(source.scalar_type() == at::kFloat && source.dim() == 2 &&
                  source.size(1) == columns && source.device() == words.device(),
              "arc: the source must be float32 of " + std::to_string(columns) +
                  " columns, beside the words");
  TORCH_CHECK(is_index(index) && index.dim() == 1 && index.size(0) == source.size(0) &&
                  index.device() == words.device(),
              "arc: the index must be int32 or int64, one for each row of the source");
  if (source.size(0) == 0) return;
  const Tensor values = source.contiguous(), keys = index.contiguous();
  j.values = values.const_data_ptr();
  set_keys(&j, keys);
  j.n = values.size(0);
  j.value_bytes = (int)sizeof(float);
  j.values_stride = (int)columns;
  C10_CUDA_CHECK(add_rows_to_words(j, current_device()));
}

Tensor read_words_of(const Tensor &words, int64_t columns, bool clears) {
  const c10::cuda::CUDAGuard guard(words.device());
  job j = job_of_words(words, columns);
  Tensor sums = at::empty({j.rows, columns}, words.options().dtype(at::kFloat));
  j.out = sums.mutable_data_ptr();
  if (j.rows > 0) C10_CUDA_CHECK(read_words(j, current_device(), clears));
  return sums;
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) {
  m.impl("index_add_", index_add_);
  m.impl("keep_within", keep_keys_within);
  m.impl("accumulate_", accumulate_);
  m.impl("read_words", read_words_of);
}
