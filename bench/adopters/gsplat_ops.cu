/* gsplat_ops.cu - launchers of gsplat's kernels as operators of PyTorch.
   SPDX-License-Identifier: Apache-2.0

   Compiled by gsplat.py once for each variant: it defines gsplat as the namespace of that variant,
   which is the name of the operators, too, and with WITH_FORWARD there is what comes before and
   behind the backward kernels. */
#include <ATen/ATen.h>
#include <torch/library.h>

#include "Projection.h"
#include "Rasterization.h"
#include "RasterizeCSR.cuh"
#include "RasterizeToPixelsFromWorld3DGS.h"
#include "gsplat_lists.cuh"

/* What PyTorch hands over for a parameter of a launcher. */
template <class T>
struct Given {
  using Type = T;
};
template <>
struct Given<Tensor> {
  using Type = Ref;
};
template <>
struct Given<at::optional<Tensor>> {
  using Type = const at::optional<Tensor> &;
};
template <>
struct Given<uint32_t> {
  using Type = int64_t;
};

template <auto LAUNCH>
struct Operator;
template <class... Parameters, void (*LAUNCH)(Parameters...)>
struct Operator<LAUNCH> {
  static void call(typename Given<Parameters>::Type... given) { LAUNCH(given...); }
};

/* From world: a pinhole camera without distortion. */
static auto no_distortion() {
  using Parameters = FThetaCameraDistortionParameters;
  const std::array<float, Parameters::PolynomialDegree> zeros = {};
  return c10::make_intrusive<Parameters>(Parameters::PolynomialType::PIXELDIST_TO_ANGLE, zeros,
                                         zeros, 0.0f, std::array<float, 3>{});
}

static void backward_world(Ref means, Ref quats, Ref scales, Ref colors, Ref opacities,
                           int64_t width, int64_t height, int64_t tile, Ref viewmats, Ref Ks,
                           Ref tile_offsets, Ref flatten_ids, Ref batches_per_tile,
                           Ref batch_offsets, Ref alphas, Ref last_ids, Ref state, Ref v_renders,
                           Ref v_alphas, Ref v_means, Ref v_quats, Ref v_scales, Ref v_colors,
                           Ref v_opacities) {
  gsplat::launch_rasterize_to_pixels_from_world_3dgs_parallel_batch_bwd_kernel(
      means, quats, scales, colors, opacities, {}, {}, width, height, tile, viewmats, {}, Ks,
      gsplat::CameraModelType::PINHOLE, c10::make_intrusive<UnscentedTransformParameters>(),
      ShutterType::GLOBAL, {}, {}, {}, {}, no_distortion(), {}, {}, tile_offsets, flatten_ids,
      false, alphas, last_ids, v_renders, v_alphas, {}, batches_per_tile, batch_offsets,
      state.size(0), state, Tensor(), v_means, v_quats, v_scales, v_colors, v_opacities, {});
}

#ifdef WITH_FORWARD
/* Where each tile's batches begin, and the state that the forward pass leaves at each. */
static std::tuple<Tensor, Tensor, Tensor> batches(Ref tile_offsets, Ref flatten_ids, int64_t tile,
                                                  int64_t channels) {
  const auto options = tile_offsets.options().dtype(at::kFloat);
  const auto [per_tile, offsets, total] = gsplat::compute_batch_csr(
      tile_offsets, flatten_ids.size(0), tile_offsets.numel(), tile * tile, options);
  return {per_tile, offsets,
          at::empty({total, gsplat::FWD_BATCH_STATE_PIX_OFFSET + channels, tile * tile}, options)};
}

static void forward_world(Ref means, Ref quats, Ref scales, Ref colors, Ref opacities,
                          int64_t width, int64_t height, int64_t tile, Ref viewmats, Ref Ks,
                          Ref tile_offsets, Ref flatten_ids, Ref batches_per_tile,
                          Ref batch_offsets, Ref renders, Ref alphas, Ref last_ids, Ref state) {
  gsplat::launch_rasterize_to_pixels_from_world_3dgs_serial_batch_fwd_kernel(
      means, quats, scales, colors, opacities, {}, {}, width, height, tile, viewmats, {}, Ks,
      gsplat::CameraModelType::PINHOLE, c10::make_intrusive<UnscentedTransformParameters>(),
      ShutterType::GLOBAL, {}, {}, {}, {}, no_distortion(), {}, {}, tile_offsets, flatten_ids,
      false, false, batches_per_tile, batch_offsets, state.size(0), renders, alphas, last_ids, {},
      {}, state);
}

/* gsplat's defaults: the smallest blur, depths from 0.01 on, no picture too small. */
static void project(Ref means, Ref quats, Ref scales, Ref opacities, Ref viewmats, Ref Ks,
                    int64_t width, int64_t height, Ref radii, Ref means2d, Ref depths, Ref conics) {
  gsplat::launch_projection_ewa_3dgs_fused_fwd_kernel(
      means, {}, quats, scales, opacities, viewmats, Ks, width, height, 0.3f, 0.01f, 1e10f, 0,
      gsplat::CameraModelType::PINHOLE, radii, means2d, depths, conics, {});
}

static void project_backward(Ref means, Ref quats, Ref scales, Ref viewmats, Ref Ks, int64_t width,
                             int64_t height, Ref radii, Ref conics, Ref v_means2d, Ref v_depths,
                             Ref v_conics, Ref v_means, Ref v_quats, Ref v_scales) {
  gsplat::launch_projection_ewa_3dgs_fused_bwd_kernel(
      means, {}, quats, scales, viewmats, Ks, width, height, 0.3f, gsplat::CameraModelType::PINHOLE,
      radii, conics, {}, v_means2d, v_depths, v_conics, {}, false, v_means, Tensor(), v_quats,
      v_scales, Tensor());
}

static std::tuple<Tensor, Tensor> sort(Ref means2d, Ref radii, Ref depths, Ref conics,
                                       Ref opacities, int64_t tile, int64_t tile_width,
                                       int64_t tile_height) {
  return list_and_sort(means2d, radii, depths, conics, opacities, tile, tile_width, tile_height,
                       [] {});
}
#endif

#define LIBRARY(name, library) TORCH_LIBRARY(name, library) /* expands the name first */
LIBRARY(gsplat, library) {
  using namespace gsplat;
  library.def("backward_3d", &Operator<&launch_rasterize_to_pixels_3dgs_bwd_kernel>::call);
  library.def("backward_sparse", &Operator<&launch_rasterize_to_pixels_sparse_bwd_kernel>::call);
  library.def("backward_2d", &Operator<&launch_rasterize_to_pixels_2dgs_bwd_kernel>::call);
  library.def("backward_world", &backward_world);
#ifdef WITH_FORWARD
  library.def("forward_3d", &Operator<&launch_rasterize_to_pixels_3dgs_fwd_kernel>::call);
  library.def("forward_sparse", &Operator<&launch_rasterize_to_pixels_sparse_fwd_kernel>::call);
  library.def("forward_2d", &Operator<&launch_rasterize_to_pixels_2dgs_fwd_kernel>::call);
  library.def("batches", &batches);
  library.def("forward_world", &forward_world);
  library.def("project", &project);
  library.def("project_backward", &project_backward);
  library.def("sort", &sort);
#endif
}
