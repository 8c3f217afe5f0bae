"""scatter_warp.py - a Warp kernel that calls a native function around arc.cuh.
SPDX-License-Identifier: Apache-2.0

Without a GPU it only compiles the kernel."""
import tempfile

import common
import need

wp = need.module("warp")
if tuple(map(int, wp.__version__.split(".")[:2])) < (1, 19):
    need.skip("Warp is older than 1.19: its modules have no include paths")

ADD_ROW = """
const float g[3] = {x, y, z};
arc_target_f32 target = arc_target_f32_rows(rows.data, 3 /* stride */, 3 /* width */);
arc_add_f32(target, key, g, key >= 0);
"""
wp.set_module_options({
    "extra_build_options": wp.ModuleBuildOptions(
        extra_cuda_include_dirs=[common.include_path()], extra_cuda_preamble='#include "arc.cuh"'),
    "enable_backward": False})  # for a gradient, Warp would run the function a second time


@wp.func_native(ADD_ROW)
def add_row3(rows: wp.array2d(dtype=float), key: int, x: float, y: float, z: float): ...


@wp.kernel
def scatter(rows: wp.array2d(dtype=float), keys: wp.array(dtype=int),
            values: wp.array2d(dtype=float)):
    update = wp.tid()
    key, x, y, z = int(-1), float(0.0), float(0.0), float(0.0)
    if update < keys.shape[0]:
        key = keys[update]
        x = values[update, 0]
        y = values[update, 1]
        z = values[update, 2]
    add_row3(rows, key, x, y, z)  # outside the branch: the whole warp calls


if not wp.is_cuda_available():
    with tempfile.TemporaryDirectory() as folder:
        wp.compile_aot_module(__name__, arch=90, module_dir=folder)
    need.skip("Warp sees no CUDA device; it has compiled the kernel for sm_90")

with wp.ScopedDevice("cuda"):
    rows = wp.zeros((common.ROWS, common.WIDTH), dtype=float)
    wp.launch(scatter, dim=common.BLOCKS * common.THREADS, block_dim=common.THREADS,
              inputs=[rows, wp.array(common.KEYS), wp.array(common.VALUES)])
    common.check("scatter_warp", rows.numpy())
