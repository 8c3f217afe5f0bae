"""bulk_rows.py - builds bulk_rows.cu and calls it. SPDX-License-Identifier: Apache-2.0"""
import ctypes
import pathlib

import torch
from torch.utils import cpp_extension

STEPS = (1, 4, 16)  # rows a warp takes at once
MAX_STEP_BYTES = 16384


class Job(ctypes.Structure):
    """bulk_job of bulk_rows.cu."""
    _fields_ = [("values", ctypes.c_void_p), ("index", ctypes.c_void_p), ("out", ctypes.c_void_p),
                ("n", ctypes.c_longlong), ("rows", ctypes.c_longlong),
                ("row_bytes", ctypes.c_int), ("stages", ctypes.c_int)]


def build():
    """The function of the library. An exception says why there is none."""
    if torch.cuda.get_device_capability() < (9, 0):
        raise RuntimeError("bulk reductions need sm_90 or newer")
    source = pathlib.Path(__file__).with_name("bulk_rows.cu")
    path = cpp_extension.load("bulk_rows", [str(source)], is_python_module=False,
                              extra_cuda_cflags=["-O3", "-std=c++17"])
    function = ctypes.CDLL(path).bulk_rows
    function.argtypes = [ctypes.POINTER(Job), ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    return function


def adders(function, out, index, values):
    """{name: function that adds} for one row a warp and several, where the design may be used."""
    row_bytes = values.stride(0) * values.element_size()
    if values.dtype not in (torch.float32, torch.bfloat16) or row_bytes % 16:
        return {}
    job = Job(values.data_ptr(), index.data_ptr(), out.data_ptr(), len(index), len(out), row_bytes)
    is_bf16, stream = values.dtype == torch.bfloat16, torch.cuda.current_stream().cuda_stream

    def add(step):
        error = function(ctypes.byref(job), is_bf16, step, stream)
        if error:
            raise RuntimeError(f"bulk_rows: CUDA error {error}")

    return {f"bulk {step}": lambda step=step: add(step)
            for step in STEPS if step * row_bytes <= MAX_STEP_BYTES}
