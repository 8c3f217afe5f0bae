/* gsplat_ops.cu - gsplat's launchers, as they are or with arc, as operators of PyTorch.
   SPDX-License-Identifier: Apache-2.0

   Compiled once a variant by gsplat.py: OPS is the name of the library, and the files below are
   found in the folder of that variant. */
#include "RasterizeToPixels2DGSBwd.cu"
#include "RasterizeToPixels3DGSBwd.cu"
#ifdef WITH_FORWARD
#include "RasterizeToPixels2DGSFwd.cu"
#include "RasterizeToPixels3DGSFwd.cu"
#endif

#include <torch/library.h>

using at::Tensor;
using Maybe = std::optional<Tensor>;

static void backward_3d(const Tensor &means2d, const Tensor &conics, const Tensor &colors,
                        const Tensor &opacities, const Maybe &backgrounds, const Maybe &masks,
                        int64_t width, int64_t height, int64_t tile, const Tensor &tile_offsets,
                        const Tensor &flatten_ids, const Tensor &render_alphas,
                        const Tensor &last_ids, const Tensor &v_colors_out,
                        const Tensor &v_alphas_out, const Maybe &v_means2d_abs,
                        const Tensor &v_means2d, const Tensor &v_conics, const Tensor &v_colors,
                        const Tensor &v_opacities) {
  gsplat::launch_rasterize_to_pixels_3dgs_bwd_kernel<CHANNELS>(
      means2d, conics, colors, opacities, backgrounds, masks, width, height, tile, tile_offsets,
      flatten_ids, render_alphas, last_ids, v_colors_out, v_alphas_out, v_means2d_abs, v_means2d,
      v_conics, v_colors, v_opacities);
}

static void backward_2d(const Tensor &means2d, const Tensor &ray_transforms, const Tensor &colors,
                        const Tensor &opacities, const Tensor &normals, const Tensor &densify,
                        const Maybe &backgrounds, const Maybe &masks, int64_t width,
                        int64_t height, int64_t tile, const Tensor &tile_offsets,
                        const Tensor &flatten_ids, const Tensor &render_colors,
                        const Tensor &render_alphas, const Tensor &last_ids,
                        const Tensor &median_ids, const Tensor &v_colors_out,
                        const Tensor &v_alphas_out, const Tensor &v_normals_out,
                        const Tensor &v_distort_out, const Tensor &v_median_out,
                        const Maybe &v_means2d_abs, const Tensor &v_means2d,
                        const Tensor &v_ray_transforms, const Tensor &v_colors,
                        const Tensor &v_opacities, const Tensor &v_normals,
                        const Tensor &v_densify) {
  gsplat::launch_rasterize_to_pixels_2dgs_bwd_kernel<CHANNELS>(
      means2d, ray_transforms, colors, opacities, normals, densify, backgrounds, masks, width,
      height, tile, tile_offsets, flatten_ids, render_colors, render_alphas, last_ids, median_ids,
      v_colors_out, v_alphas_out, v_normals_out, v_distort_out, v_median_out, v_means2d_abs,
      v_means2d, v_ray_transforms, v_colors, v_opacities, v_normals, v_densify);
}

#ifdef WITH_FORWARD
static void forward_3d(const Tensor &means2d, const Tensor &conics, const Tensor &colors,
                       const Tensor &opacities, const Maybe &backgrounds, const Maybe &masks,
                       int64_t width, int64_t height, int64_t tile, const Tensor &tile_offsets,
                       const Tensor &flatten_ids, const Tensor &renders, const Tensor &alphas,
                       const Tensor &last_ids) {
  gsplat::launch_rasterize_to_pixels_3dgs_fwd_kernel<CHANNELS>(
      means2d, conics, colors, opacities, backgrounds, masks, width, height, tile, tile_offsets,
      flatten_ids, renders, alphas, last_ids);
}

static void forward_2d(const Tensor &means2d, const Tensor &ray_transforms, const Tensor &colors,
                       const Tensor &opacities, const Tensor &normals, const Maybe &backgrounds,
                       const Maybe &masks, int64_t width, int64_t height, int64_t tile,
                       const Tensor &tile_offsets, const Tensor &flatten_ids,
                       const Tensor &renders, const Tensor &alphas, const Tensor &render_normals,
                       const Tensor &distort, const Tensor &median, const Tensor &last_ids,
                       const Tensor &median_ids) {
  gsplat::launch_rasterize_to_pixels_2dgs_fwd_kernel<CHANNELS>(
      means2d, ray_transforms, colors, opacities, normals, backgrounds, masks, width, height, tile,
      tile_offsets, flatten_ids, renders, alphas, render_normals, distort, median, last_ids,
      median_ids);
}
#endif

#define LIBRARY(name, library) TORCH_LIBRARY(name, library) /* expands the name first */
LIBRARY(OPS, library) {
  library.def("backward_3d", &backward_3d);
  library.def("backward_2d", &backward_2d);
#ifdef WITH_FORWARD
  library.def("forward_3d", &forward_3d);
  library.def("forward_2d", &forward_2d);
#endif
}
