/* drawing_ops.cu - a frame by gsplat's forward pass, and one by its inference renderer HiGS, as
   operators of PyTorch. SPDX-License-Identifier: Apache-2.0 */
#include <memory>

#include "Projection.h"
#include "Rasterization.h"
#include "SphericalHarmonics.h"
#include "drawing_stages.cuh"
#include "experimental/render/kernels/cuda/csrc/gaussian_inference/Projection.h"
#include "gsplat_lists.cuh"
#define private public /* no function returns the count of pairs */
#include "experimental/render/kernels/cuda/csrc/gaussian_inference/IntersectMTFused.h"
#undef private

/* Milliseconds of placing, sorting, painting and all; pairs; the picture. */
typedef std::tuple<std::vector<double>, int64_t, Tensor> Frame;

static const float BLUR = 0.3f, NEAREST = 0.2f, FARTHEST = 1e10f; /* NEAREST: as arc and FlashGS */
static const auto PINHOLE = gsplat::CameraModelType::PINHOLE;
enum { DEGREE = 3, TILE = 16 };

/* What gsplat::rasterization launches for one camera, unpacked.
   model: means, quaternions, scales, opacities, harmonics. */
static Frame gsplat_frame(at::TensorList model, Ref view, Ref K, int64_t width, int64_t height) {
  const auto floats = model[0].options(), ints = floats.dtype(at::kInt);
  const int64_t n = model[0].size(0);
  const auto room = [&](at::IntArrayRef shape) { return at::empty(shape, floats); };
  Stages stages;
  Tensor radii = at::empty({1, n, 2}, ints), means2d = room({1, n, 2}), depths = room({1, n});
  Tensor conics = room({1, n, 3}), colours = room({1, n, 3}), opacities = model[3].unsqueeze(0);
  gsplat::launch_projection_ewa_3dgs_fused_fwd_kernel(
      model[0], {}, model[1], model[2], model[3], view, K, width, height, BLUR, NEAREST, FARTHEST,
      0, PINHOLE, radii, means2d, depths, conics, {});
  gsplat::launch_assemble_proj_features_unpacked_fwd_kernel(
      1, 1, n, DEGREE, 3, 0, /* plus 0.5, not below 0 */ 2, 0, false, false, false, model[0], view,
      {}, model[4], {}, {}, radii.gt(0).all(-1), colours, {});
  const auto [starts, ids] =
      list_and_sort(means2d, radii, depths, conics, opacities, TILE, (width + TILE - 1) / TILE,
                    (height + TILE - 1) / TILE, [&] { stages.then(); });
  stages.then();
  Tensor picture = room({1, height, width, 3}), alphas = room({1, height, width, 1});
  gsplat::launch_rasterize_to_pixels_3dgs_fwd_kernel(means2d, conics, colours, opacities, {}, {},
                                                     width, height, TILE, starts, ids, picture,
                                                     alphas, at::empty({1, height, width}, ints));
  stages.then();
  return {stages.read(), ids.numel(), picture};
}

static std::unique_ptr<IntersectMTFused> lists; /* whose room stays from frame to frame */

static void higs_reset() { lists = std::make_unique<IntersectMTFused>(); }

/* What render_gaussian_inference_scene launches for harmonics of degree 3, not compressed.
   model: means, quaternions with scales and opacities, harmonics. state: which are visible,
   centres, depths, conics, colours; the background. */
static Frame higs_frame(at::TensorList model, at::TensorList state, Ref view, Ref K, int64_t width,
                        int64_t height, int64_t tile, Tensor picture) {
  Stages stages;
  higs::launch_projection_sh_fused_kernel(
      model[0], {}, model[1], view.unsqueeze(0), K.unsqueeze(0), width, height, BLUR, NEAREST,
      FARTHEST, 0, PINHOLE, DEGREE, model[2], 0.5f, 0.0f, SHCompressionMode::NONE, nullptr,
      state[0], state[1], state[2], state[3], state[4], {});
  stages.then();
  lists->execute(state[1], state[2], state[3], state[0], tile, (width + tile - 1) / tile,
                 (height + tile - 1) / tile, at::cuda::getCurrentCUDAStream());
  stages.then();
  lists->rasterize(state[1], state[3], state[4], state[5], width, height, picture);
  stages.then();
  return {stages.read(), lists->m_nMacroIsects, picture};
}

LIBRARY(OPS, library) {
  library.def("gsplat_frame", &gsplat_frame);
  library.def("higs_reset", &higs_reset);
  library.def("higs_frame", &higs_frame);
}
