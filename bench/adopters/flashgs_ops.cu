/* flashgs_ops.cu - a frame by FlashGS's functions, in the order of its example.py, as an operator
   of PyTorch. SPDX-License-Identifier: Apache-2.0 */
#include "drawing_stages.cuh"
#include "ops.h"

using at::Tensor;

template <class T>
static T *data(const Tensor &tensor) {
  return (T *)tensor.data_ptr();
}

static int64_t sort_bytes(int64_t pairs) { return flashgs::get_sort_buffer_size((int)pairs); }

/* model: positions, harmonics, opacities, covariances. room: of pairs keys and numbers, both
   sorted; the sort's own; ranges; the count of pairs; of Gaussians centres, colours, conics.
   pose: of the camera, position and rotation, on the host. Milliseconds of placing, sorting,
   painting and all; pairs; the picture. */
static std::tuple<std::vector<double>, int64_t, Tensor> frame(
    at::TensorList model, at::TensorList room, const Tensor &pose, double fx, double fy,
    int64_t width, int64_t height, int64_t tile, const Tensor &picture) {
  auto *keys = data<uint64_t>(room[0]), *sorted_keys = data<uint64_t>(room[2]);
  auto *numbers = data<uint32_t>(room[1]), *sorted = data<uint32_t>(room[3]);
  auto *centres = data<float2>(room[7]);
  auto *colours = data<float4>(room[8]), *conics = data<float4>(room[9]);
  auto *paint = tile == 32 ? flashgs::render_32x16 : flashgs::render_16x16;
  auto *at = data<glm::vec3>(pose);
  Stages stages;
  room[6].zero_();
  flashgs::preprocess(model[2].numel(), data<glm::vec3>(model[0]),
                      data<flashgs::shs_deg3_t>(model[1]), data<float>(model[2]),
                      data<flashgs::cov3d_t>(model[3]), width, height, tile, 16, at[0],
                      glm::mat3(at[1], at[2], at[3]), fx, fy, 100.0f, 0.01f, centres, colours,
                      conics, keys, numbers, data<int>(room[6]));
  const int pairs = room[6].item<int>();
  TORCH_CHECK(pairs < room[0].numel(), "FlashGS has no room for ", pairs, " pairs");
  stages.then();
  flashgs::sort_gaussian(pairs, width, height, tile, 16, data<char>(room[4]), room[4].numel(), keys,
                         numbers, sorted_keys, sorted);
  stages.then();
  paint(pairs, width, height, centres, colours, conics, sorted_keys, sorted, data<int2>(room[5]),
        float3{0.0f, 0.0f, 0.0f}, data<uchar3>(picture), nullptr);
  stages.then();
  return {stages.read(), pairs, picture};
}

LIBRARY(OPS, library) {
  library.def("sort_bytes", &sort_bytes);
  library.def("frame", &frame);
}
