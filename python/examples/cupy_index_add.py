"""cupy_index_add.py - index_add for CuPy's arrays, by the kernel of arc_torch/add_rows.cuh.
SPDX-License-Identifier: Apache-2.0

    from cupy_index_add import index_add
    index_add(out, index, values)    # out[index[i]] += values[i], as cupyx.scatter_add

out: rows whose values lie side by side, of float32, float64 or float16; index: int32 or int64, from
0 to len(out) - 1, anything else stops the kernel. NVRTC compiles each width once, in seconds; CuPy
keeps it on disk, by source and options: empty ~/.cupy/kernel_cache after an update of arc."""
import functools
import math
import pathlib

import common
import cupy

TYPES = {"float32": "float", "float64": "double", "float16": "__half"}
THREADS, REGISTERS, MOST_BLOCKS = 256, 65536, 8  # of a block; of a multiprocessor
SOURCE = r"""
#include "add_rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
index_add(const void *values, const void *index, void *out, long long n, long long rows,
          int values_stride, int out_stride, int index_bits, long long chunks) {
  job j = {};
  j.values = values, j.index = index, j.out = out;
  j.n = n, j.rows = rows, j.chunks = chunks;
  j.width = COLUMNS, j.values_stride = values_stride, j.out_stride = out_stride;
  j.has_wide_index = index_bits == 64;
  add_rows<VALUE, KEY, COLUMNS, false>(j);
}
"""


def options_for(type_, width, key):
    python = pathlib.Path(__file__).resolve().parents[1]
    return ("-std=c++17", f"-I{python / 'arc_torch'}", f"-I{common.include_path()}",
            f"-DVALUE={type_}", f"-DCOLUMNS={width}", f"-DKEY={key}")


@functools.lru_cache(maxsize=None)
def kernel_for(*what):
    return cupy.RawKernel(SOURCE, "index_add", options=options_for(*what))


def rows_of(array):
    """A matrix whose columns lie side by side, a copy where need be; and its stride in values."""
    matrix = array.reshape(len(array), math.prod(array.shape[1:]))
    if matrix.shape[1] > 1 and matrix.strides[1] != matrix.itemsize:
        matrix = cupy.ascontiguousarray(matrix)
    return matrix, matrix.strides[0] // matrix.itemsize


def index_add(out, index, values):
    """out[index[i]] += values[i]; returns out."""
    if out.dtype != values.dtype or out.dtype.name not in TYPES:
        raise TypeError(f"out and values must share one type of {', '.join(TYPES)}")
    if index.dtype.name not in ("int32", "int64"):
        raise TypeError("index must be int32 or int64")
    if index.ndim != 1 or values.shape != index.shape + out.shape[1:]:
        raise ValueError(f"values must be {index.shape + out.shape[1:]}, are {values.shape}")
    if values.size == 0:
        return out
    target, out_stride = rows_of(out)
    if not cupy.may_share_memory(target, out) or out_stride < target.shape[1]:
        raise ValueError("the columns of out must lie side by side, and rows must not overlap")
    if cupy.may_share_memory(out, values) or cupy.may_share_memory(out, index):
        raise ValueError("out must not share memory with what is added")
    values, values_stride = rows_of(values)
    if max(out_stride, values_stride) >= 2**28:
        raise ValueError("strides must be below 2^28 values")
    index = cupy.ascontiguousarray(index)

    key = "int" if len(out) < 2**31 else "long long"
    kernel = kernel_for(TYPES[out.dtype.name], target.shape[1], key)
    chunks, warps = -(-len(index) // 32), THREADS // 32
    resident = max(1, min(MOST_BLOCKS, REGISTERS // (THREADS * kernel.num_regs)))
    resident *= cupy.cuda.Device().attributes["MultiProcessorCount"]
    of_a_warp = -(-chunks // (warps * min(resident, -(-chunks // warps))))
    arguments = (values, index, target, cupy.int64(len(index)), cupy.int64(len(out)),
                 cupy.int32(values_stride), cupy.int32(out_stride),
                 cupy.int32(8 * index.itemsize), cupy.int64(of_a_warp))
    kernel((-(-chunks // (warps * of_a_warp)),), (THREADS,), arguments)
    return out
