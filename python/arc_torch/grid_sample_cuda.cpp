/* grid_sample_cuda.cpp - arc::grid_sample_backward for tensors on CUDA.
   SPDX-License-Identifier: Apache-2.0 */
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <climits>
#include <tuple>

#include "adders.h"
#include "grid_sample.h"

namespace {

using at::Tensor;

constexpr int64_t BUDGET = 32ll << 20; /* bytes of sums, which then stay in the L2 cache */

/* size: x, y, z. An axis that a picture has not is 1 long. */
lattice lattice_of(const Tensor &t, int axes, int channel, int first) {
  return {t.const_data_ptr(),         t.stride(0),
          t.stride(channel),          axes == 3 ? t.stride(first) : 0,
          t.stride(first + axes - 2), t.stride(first + axes - 1)};
}

void set_size(const Tensor &t, int axes, int *size) {
  for (int d = 0; d < 3; ++d) size[d] = d < axes ? (int)t.size(1 + axes - d) : 1;
}

/* Lines of fewer than 32 samples, as those of points are, are joined where they lie one behind the
   other: a warp takes 32 samples of a line. */
void join_lines(grid_job *j) {
  int *const n = j->samples;
  lattice *const its[] = {&j->gradient, &j->grid};
  for (int axis = 0; axis < 2; ++axis) {
    const bool may_join = std::all_of(its, its + 2, [&](const lattice *l) {
      return n[0] == 1 || (n[0] < 32 && l->y == l->x * n[0]);
    });
    for (lattice *l : its) {
      if (n[0] == 1) l->x = l->y;
      if (may_join || n[1] == 1) l->y = l->z;
    }
    if (!may_join && n[1] > 1) return;
    n[0] *= n[1], n[1] = n[2], n[2] = 1;
  }
}

/* Not filled, as at::empty is in the deterministic mode: all of it will be written. */
Tensor empty(at::IntArrayRef sizes, const at::TensorOptions &options) {
  return Tensor(at::detail::empty_cuda(sizes, options));
}

/* The values of a tensor, each once or more, without gaps: to look for the largest. */
Tensor without_gaps(const Tensor &t) {
  Tensor its = t;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.stride(d) == 0) its = its.narrow(d, 0, 1);
  return its.is_non_overlapping_and_dense() ? its : its.contiguous();
}

row_adder *finder_of(at::ScalarType type) {
  return type == at::kFloat  ? find_largest_f32
         : type == at::kHalf ? find_largest_f16
                             : find_largest_bf16;
}

grid_sampler *sampler_of(at::ScalarType type) {
  return type == at::kFloat ? sample_f32 : type == at::kHalf ? sample_f16 : sample_bf16;
}

/* As aten::grid_sampler_2d_backward and _3d_backward, which have looked at the arguments, of float
   types below 64 bits and of less than 2^31 pixels and samples an image. */
std::tuple<Tensor, Tensor> grid_sample_backward(const Tensor &gradient, const Tensor &input,
                                                const Tensor &grid, int64_t mode, int64_t padding,
                                                bool aligned, bool of_input, bool of_grid) {
  const c10::cuda::CUDAGuard guard(input.device());
  const int axes = (int)input.dim() - 2, taps = mode == 0 ? 2 : mode == 1 ? 1 : 4;
  const device d = {at::cuda::getCurrentCUDAStream(),
                    at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
  Tensor to_input, to_grid = empty(grid.sizes(), grid.options()); /* torch.vmap wants it always */
  if (of_input) to_input = empty(input.sizes(), input.options());
  grid_job j = {};
  set_size(input, axes, j.size);
  set_size(gradient, axes, j.samples);
  j.gradient = lattice_of(gradient, axes, 1, 2);
  j.input = lattice_of(input, axes, 1, 2);
  j.grid = lattice_of(grid, axes, axes + 1, 1);
  join_lines(&j);
  j.images = (int)input.size(0), j.channels = (int)input.size(1);
  j.padding = (int)padding, j.aligned = aligned;
  if (gradient.numel() == 0 || input.numel() == 0) {
    if (of_input) to_input.zero_();
    if (of_grid) to_grid.zero_();
    return {to_input, to_grid};
  }
  if (of_input) j.words = plan_sums(&j, taps, BUDGET);
  const Tensor sums = empty({j.words + 1}, input.options().dtype(at::kLong));
  j.sums = (long long *)sums.mutable_data_ptr<int64_t>();
  j.largest = (unsigned *)(j.sums + j.words);
  C10_CUDA_CHECK(cudaMemsetAsync(j.largest, 0, sizeof(int64_t), d.stream));
  if (of_input) j.out = to_input.mutable_data_ptr();
  if (of_grid) j.out_grid = to_grid.mutable_data_ptr();
  if (of_grid && taps == 1 && !j.by_sample) to_grid.zero_();
  if (of_input && (j.by_sample || taps == 1 || !of_grid)) { /* else slope_samples does this */
    const Tensor values = without_gaps(gradient);
    job look = {};
    look.values = values.const_data_ptr();
    look.n = values.numel(), look.width = 1, look.largest = j.largest;
    look.sums = j.sums, look.cleared = j.words;
    C10_CUDA_CHECK(finder_of(input.scalar_type())(look, d));
  }
  C10_CUDA_CHECK(sampler_of(input.scalar_type())(j, d, axes, taps));
  return {to_input, to_grid};
}

}  // namespace

TORCH_LIBRARY_IMPL(arc, CUDA, m) { m.impl("grid_sample_backward", grid_sample_backward); }
