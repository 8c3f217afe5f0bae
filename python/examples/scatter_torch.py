"""scatter_torch.py - a PyTorch extension whose kernel includes arc.cuh, built by load_inline.
SPDX-License-Identifier: Apache-2.0

Needs nvcc of PyTorch's CUDA version, a C++ compiler and ninja; the first build takes a minute."""
import common
import need

torch = need.module("torch")
cpp_extension = need.module("torch.utils.cpp_extension")  # wants setuptools
if not torch.cuda.is_available():
    need.skip("PyTorch sees no CUDA device")
if cpp_extension.CUDA_HOME is None or not cpp_extension.is_ninja_available():
    need.skip("no CUDA toolkit, or no ninja")

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include "arc.cuh"
enum { WIDTH = 3, THREADS = 256 };

__global__ void scatter_kernel(float *rows, const int *keys, const float *values, int updates) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int update = blockIdx.x * blockDim.x + threadIdx.x;
  int key = update < updates ? keys[update] : -1;
  float g[WIDTH];
  for (int i = 0; i < WIDTH; ++i) g[i] = update < updates ? values[WIDTH * update + i] : 0.0f;
  arc_add_f32(target, key, g, key >= 0);  /* the whole warp calls */
}

void scatter(torch::Tensor rows, torch::Tensor keys, torch::Tensor values) {
  int updates = (int)keys.numel();
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  scatter_kernel<<<(updates + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
      rows.data_ptr<float>(), keys.data_ptr<int>(), values.data_ptr<float>(), updates);
}
"""
module = cpp_extension.load_inline(
    "arc_scatter", "void scatter(torch::Tensor rows, torch::Tensor keys, torch::Tensor values);",
    CUDA_SOURCE, functions=["scatter"], extra_include_paths=[common.include_path()])

rows = torch.zeros(common.ROWS, common.WIDTH, device="cuda")
module.scatter(rows, torch.from_numpy(common.KEYS).cuda(), torch.from_numpy(common.VALUES).cuda())
common.check("scatter_torch", rows.cpu().numpy())
