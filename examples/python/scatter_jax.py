"""scatter_jax.py - a JAX function whose kernel includes arc.cuh, through JAX's FFI.
SPDX-License-Identifier: Apache-2.0

nvcc compiles scatter_jax.cu; JAX brings the headers of its FFI. jax.custom_vjp adds a gradient."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile

import common
import need

try:
    import jax
    jax.devices("gpu")
except (ImportError, RuntimeError) as missing:
    need.skip(missing)
nvcc = shutil.which("nvcc", path=os.pathsep.join((os.environ["PATH"], "/usr/local/cuda/bin")))
if nvcc is None:
    need.skip("no nvcc")

with tempfile.TemporaryDirectory() as folder:
    library = os.path.join(folder, "scatter_jax.so")
    source = pathlib.Path(__file__).with_name("scatter_jax.cu")
    subprocess.run([nvcc, "-std=c++17", "-arch=native", "-shared", "-Xcompiler=-fPIC", source,
                    f"-I{jax.ffi.include_dir()}", f"-I{common.include_path()}", "-o", library],
                   check=True)
    handler = ctypes.CDLL(library).Scatter
jax.ffi.register_ffi_target("arc_scatter", jax.ffi.pycapsule(handler), platform="CUDA")


@jax.jit
def scatter(keys, values):
    rows = jax.ShapeDtypeStruct((common.ROWS, common.WIDTH), values.dtype)
    return jax.ffi.ffi_call("arc_scatter", rows)(keys, values)


common.check("scatter_jax", scatter(common.KEYS, common.VALUES))
