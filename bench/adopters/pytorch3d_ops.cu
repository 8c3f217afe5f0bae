/* pytorch3d_ops.cu - PyTorch3D's mesh rasterizer, as it is or with arc, as operators of PyTorch.
   SPDX-License-Identifier: Apache-2.0

   Compiled once a variant by pytorch3d.py: OPS is the name of the library, and the file below is
   found in the folder of that variant. */
#include "rasterize_meshes.cu"

#include <torch/library.h>

using at::Tensor;

static std::tuple<Tensor, Tensor, Tensor, Tensor> forward(
    const Tensor &face_verts, const Tensor &first_face, const Tensor &face_count,
    const Tensor &neighbours, int64_t height, int64_t width, double blur_radius,
    int64_t faces_per_pixel, bool perspective_correct, bool clip, bool cull) {
  return RasterizeMeshesNaiveCuda(face_verts, first_face, face_count, neighbours,
                                  std::make_tuple((int)height, (int)width), (float)blur_radius,
                                  (int)faces_per_pixel, perspective_correct, clip, cull);
}

#define LIBRARY(name, library) TORCH_LIBRARY(name, library) /* expands the name first */
LIBRARY(OPS, library) {
  library.def("forward", &forward);
  library.def("backward", &RasterizeMeshesBackwardCuda);
}
