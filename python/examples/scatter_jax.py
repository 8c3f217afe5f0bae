"""scatter_jax.py - a JAX function whose kernel includes arc.cuh, through JAX's FFI.
SPDX-License-Identifier: Apache-2.0

nvcc compiles scatter_jax.cu; JAX brings the headers of its FFI. jax.custom_vjp adds a gradient.
What `accumulate` adds over many calls has the same bits in any order of them. It keeps words of 64
bits, which jax.lax.psum adds up over devices and `read` makes floats."""
import ctypes
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common
import need

jax = need.module("jax")
try:
    jax.devices("gpu")
except RuntimeError as missing:
    if "no platforms that are instances of gpu" not in str(missing):  # its plugin has failed
        raise
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
    handlers = ctypes.CDLL(library)
for name in ("Scatter", "Accumulate", "Read"):
    jax.ffi.register_ffi_target(f"arc_{name.lower()}",
                                jax.ffi.pycapsule(getattr(handlers, name)), platform="CUDA")
jax.config.update("jax_enable_x64", True)  # words have 64 bits
WORDS = 6 * common.WIDTH + (common.WIDTH + 3) // 4  # ARC_WIDE_ROW


@jax.jit
def scatter(keys, values):
    rows = jax.ShapeDtypeStruct((common.ROWS, common.WIDTH), values.dtype)
    return jax.ffi.ffi_call("arc_scatter", rows, vmap_method="sequential")(keys, values)


@functools.partial(jax.jit, donate_argnums=0)
def accumulate(words, keys, values):
    shape = jax.ShapeDtypeStruct(words.shape, words.dtype)
    return jax.ffi.ffi_call("arc_accumulate", shape, input_output_aliases={0: 0},
                            vmap_method="sequential")(words, keys, values)


@jax.jit
def read(words):
    sums = jax.ShapeDtypeStruct((words.shape[0], common.WIDTH), "float32")
    return jax.ffi.ffi_call("arc_read", sums, vmap_method="sequential")(words)


def accumulated(values, order):
    """The sums of `values`, a part of the updates a call."""
    words = jax.numpy.zeros((common.ROWS, WORDS), "int64")
    for part in common.np.array_split(order, 3):
        words = accumulate(words, common.KEYS[part], values[part])
    return common.np.asarray(read(words))


forward, random = common.np.arange(common.UPDATES), common.np.random.default_rng(1)
values = random.standard_normal(common.VALUES.shape).astype("float32")
if accumulated(values, forward).tobytes() != accumulated(values, forward[::-1]).tobytes():
    sys.exit("scatter_jax: accumulated in another order, sums have other bits")
if (accumulated(common.VALUES, forward) != scatter(common.KEYS, common.VALUES)).any():
    sys.exit("scatter_jax: accumulated sums are not the others")
batches = jax.vmap(scatter)(common.KEYS[None].repeat(2, 0), common.VALUES[None].repeat(2, 0))
if (batches[0] != batches[1]).any():
    sys.exit("scatter_jax: under vmap the sums of two equal batches differ")
common.check("scatter_jax", batches[1])
