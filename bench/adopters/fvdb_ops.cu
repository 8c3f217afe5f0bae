/* fvdb_ops.cu - fvdb's rasterizer, as it is or with arc, as operators of PyTorch.
   SPDX-License-Identifier: Apache-2.0

   Compiled once a variant by fvdb.py: OPS is the name of the library, and fvdb's files are found in
   the folder of that variant. Of fvdb's JaggedTensor, in which the rasterizer wraps its tensors,
   there is what a single tensor needs: fvdb's own file links half of fvdb. */
#include <fvdb/detail/ops/gsplat/RasterizeScreenSpaceGaussiansBackward.cu>
#include <fvdb/detail/ops/gsplat/RasterizeScreenSpaceGaussiansForward.h>
#include <fvdb/detail/utils/cuda/Prefetch.cpp>

#include <torch/library.h>

using at::Tensor;
using Ref = const Tensor &; /* also of what is written to */
using MaybeRef = const at::optional<Tensor> &;

/* The indices stay empty, as fvdb has them; no kernel of these reads the offsets. */
fvdb::JaggedTensor::JaggedTensor(Tensor data)
    : mData(data),
      mBatchIdx(torch::empty({0}, data.options().dtype(JIdxScalarType))),
      mOffsets(torch::empty({2}, data.options().dtype(JOffsetsScalarType))),
      mListIdx(torch::empty({0, 1}, data.options().dtype(JLIdxScalarType))),
      mNumOuterLists(1) {}

fvdb::JaggedTensor::JaggedTensor(const std::vector<Tensor> &tensors) : JaggedTensor(tensors.at(0)) {
  TORCH_CHECK(tensors.size() == 1);
}

/* Gradients of means, conics, colours and opacities and, if asked for, absgrad. */
static std::vector<Tensor> backward(Ref means, Ref conics, Ref colors, Ref opacities,
                                    MaybeRef backgrounds, MaybeRef masks, int64_t width,
                                    int64_t height, int64_t tile, Ref starts, Ref ids, Ref alphas,
                                    Ref last, Ref v_renders, Ref v_alphas, bool absgrad,
                                    int64_t shared_channels) {
  auto [v_abs, v_means, v_conics, v_colors, v_opacities] =
      fvdb::detail::ops::rasterizeScreenSpaceGaussiansBwd(
          means, conics, colors, opacities, width, height, 0, 0, tile, starts, ids, alphas, last,
          v_renders, v_alphas, absgrad, shared_channels, backgrounds, masks);
  std::vector<Tensor> gradients = {v_means, v_conics, v_colors, v_opacities};
  if (absgrad) gradients.push_back(v_abs);
  return gradients;
}

#ifdef WITH_FORWARD
/* Of the sparse kernels' pixels. */
std::vector<int64_t> fvdb::JaggedTensor::lsizes1() const { return {mData.size(0)}; }

static std::tuple<Tensor, Tensor, Tensor> forward(Ref means, Ref conics, Ref colors, Ref opacities,
                                                  MaybeRef backgrounds, MaybeRef masks,
                                                  int64_t width, int64_t height, int64_t tile,
                                                  Ref starts, Ref ids) {
  return fvdb::detail::ops::rasterizeScreenSpaceGaussiansFwd(means, conics, colors, opacities,
                                                             width, height, 0, 0, tile, starts, ids,
                                                             -1, backgrounds, masks);
}
#endif

#define LIBRARY(name, library) TORCH_LIBRARY(name, library) /* expands the name first */
LIBRARY(OPS, library) {
  library.def("backward", &backward);
#ifdef WITH_FORWARD
  library.def("forward", &forward);
#endif
}
