/* accumulator_cuda.cpp - arc::accumulate_ and arc::read_words for tensors on CUDA.
   SPDX-License-Identifier: Apache-2.0 */
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <climits>
#include <string>

#include "adders.h"
#include "arc_policy.cuh"

namespace {

using at::Tensor;

/* Messages are one string each: PyTorch's stream for several pieces can end in a segmentation fault
   where PyTorch brings a C++ library of its own. */

job job_of(const Tensor &words, int64_t columns) {
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

device device_of() {
  return {at::cuda::getCurrentCUDAStream(),
          at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
}

void accumulate_(const Tensor &words, int64_t columns, const Tensor &index, const Tensor &source) {
  const c10::cuda::CUDAGuard guard(words.device());
  job j = job_of(words, columns);
  TORCH_CHECK(source.scalar_type() == at::kFloat && source.dim() == 2 &&
                  source.size(1) == columns && source.device() == words.device(),
              "arc: the source must be float32 of " + std::to_string(columns) +
                  " columns, beside the words");
  TORCH_CHECK((index.scalar_type() == at::kLong || index.scalar_type() == at::kInt) &&
                  index.dim() == 1 && index.size(0) == source.size(0) &&
                  index.device() == words.device(),
              "arc: the index must be int32 or int64, one for each row of the source");
  if (source.size(0) == 0) return;
  const Tensor values = source.contiguous(), keys = index.contiguous();
  j.values = values.const_data_ptr();
  j.index = keys.const_data_ptr();
  j.has_wide_index = keys.scalar_type() == at::kLong;
  j.n = values.size(0);
  j.value_bytes = (int)sizeof(float);
  j.values_stride = (int)columns;
  C10_CUDA_CHECK(add_rows_to_words(j, device_of()));
}

Tensor read_words_of(const Tensor &words, int64_t columns, bool clears) {
  const c10::cuda::CUDAGuard guard(words.device());
  job j = job_of(words, columns);
  Tensor sums = at::empty({j.rows, columns}, words.options().dtype(at::kFloat));
  j.out = sums.mutable_data_ptr();
  if (j.rows > 0) C10_CUDA_CHECK(read_words(j, device_of(), clears));
  return sums;
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) {
  m.impl("accumulate_", accumulate_);
  m.impl("read_words", read_words_of);
}
