"""scatter_cupy.py - a RawModule that includes arc.cuh. SPDX-License-Identifier: Apache-2.0

CuPy hands no named strings to NVRTC: it takes an include path. Its cache on disk knows the source
and the options, not the headers: empty it (~/.cupy/kernel_cache) after an update of arc."""
import common
import need

cupy = need.cupy_with_device()
SOURCE = r"""
#include "arc.cuh"
enum { WIDTH = 3 };

extern "C" __global__ void scatter(float *rows, const int *keys, const float *values, int updates) {
  arc_target_f32 target = arc_target_f32_rows(rows, WIDTH /* stride */, WIDTH);
  int update = blockIdx.x * blockDim.x + threadIdx.x;
  int key = update < updates ? keys[update] : -1;
  float g[WIDTH];
  for (int i = 0; i < WIDTH; ++i) g[i] = update < updates ? values[WIDTH * update + i] : 0.0f;
  arc_add_f32(target, key, g, key >= 0);  /* the whole warp calls */
}
"""
module = cupy.RawModule(code=SOURCE, options=(f"-I{common.include_path()}",))

rows = cupy.zeros((common.ROWS, common.WIDTH), cupy.float32)
arguments = rows, cupy.asarray(common.KEYS), cupy.asarray(common.VALUES), cupy.int32(common.UPDATES)
module.get_function("scatter")((common.BLOCKS,), (common.THREADS,), arguments)
common.check("scatter_cupy", rows.get())
