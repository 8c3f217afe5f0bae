"""test_cupy_index_add.py - sums by cupy_index_add against CuPy's and NumPy's; without a GPU the
kernel is compiled alone. SPDX-License-Identifier: Apache-2.0"""
import common
import need

cupy = need.module("cupy")
from cupy_index_add import SOURCE, TYPES, index_add, options_for  # noqa: E402

nvrtc = cupy.cuda.nvrtc
nvrtc.compileProgram(nvrtc.createProgram(SOURCE, "index_add.cu", (), ()), (
    "-arch=sm_90", f"-I{cupy.cuda.get_cuda_path()}/include", *options_for("float", 3, "int")))
need.cupy_with_device()
keys = common.KEYS >= 0
rows = cupy.zeros((common.ROWS, common.WIDTH), cupy.float32)
index = cupy.asarray(common.KEYS[keys])
values = cupy.asarray(common.VALUES[keys])
for type_ in TYPES:
    for width in (1, 3, 4, 17):
        out = cupy.zeros((50, width), type_)
        ones = cupy.ones((len(index), width + 2), type_)
        index_add(out[::2], index.astype(cupy.int64) % 25, ones[:, 1:-1])
        counts = cupy.bincount(index % 25, minlength=25)
        assert (out[::2] == counts[:, None]).all() and (out[1::2] == 0).all(), (type_, width)
common.check("cupy_index_add", index_add(rows, index, values).get())
