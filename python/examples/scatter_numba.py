"""scatter_numba.py - a Numba kernel that calls a device function of CUDA C around arc.cuh.
SPDX-License-Identifier: Apache-2.0

numba-cuda-mlir compiles the function with NVRTC, to PTX or LTO-IR, and links it; where it is not,
its forerunner numba-cuda does, with a numpy older than 2.5."""
import importlib.util

import common
import need

np = common.np
if importlib.util.find_spec("numba_cuda_mlir"):
    from numba_cuda_mlir import cuda, types
    from numba_cuda_mlir.cuda import CUSource, config
else:
    need.module("numba_cuda")
    if not hasattr(np, "row_stack"):
        need.skip("numba-cuda needs a numpy older than 2.5; numba-cuda-mlir takes any")
    from numba import config, cuda, types
    from numba.cuda import CUSource

if not cuda.is_available():
    need.skip("Numba sees no CUDA device")

SOURCE = r"""
#include "arc.cuh"

/* A result is left in *result; the function itself returns 0, which is no exception to Numba.
   __cvta: of an integer no compiler knows that it is an address in global memory. */
extern "C" __device__ int arc_add_row3(int *result, long long rows, int key, float x, float y,
                                       float z) {
  const float g[3] = {x, y, z};
  arc_target_f32 target =
      arc_target_f32_rows((float *)__cvta_global_to_generic(rows), 3 /* stride */, 3 /* width */);
  arc_add_f32(target, key, g, key >= 0);
  *result = 0;
  return 0;
}
"""
config.CUDA_NVRTC_EXTRA_SEARCH_PATHS = common.include_path()
signature = types.int32(types.int64, types.int32, types.float32, types.float32, types.float32)
add_row3 = cuda.declare_device("arc_add_row3", signature, link=CUSource(SOURCE))


@cuda.jit
def scatter(rows, keys, values):
    update = cuda.grid(1)
    key, x, y, z = -1, 0.0, 0.0, 0.0
    if update < keys.size:
        key, x, y, z = keys[update], values[update, 0], values[update, 1], values[update, 2]
    add_row3(rows, key, x, y, z)  # outside the branch: the whole warp calls


rows = cuda.to_device(np.zeros((common.ROWS, common.WIDTH), np.float32))
address = np.int64(rows.__cuda_array_interface__["data"][0])
keys, values = cuda.to_device(common.KEYS), cuda.to_device(common.VALUES)
scatter[common.BLOCKS, common.THREADS](address, keys, values)
common.check("scatter_numba", rows.copy_to_host())
