"""arc_jax.py - JAX's scatter-add and segment_sum, along the first dimension, by arc.
SPDX-License-Identifier: Apache-2.0

    import arc_jax
    out = arc_jax.scatter_add(operand, indices, updates)   # as operand.at[indices].add(updates)
    sums = arc_jax.segment_sum(data, segment_ids, num_segments)     # as jax.ops.segment_sum
    out = arc_jax.scatter_add(operand, indices, updates, deterministic=True)

arc adds float32, bfloat16, float16, float64 and int32 on CUDA, by integer indices of any shape,
with JAX's modes and negative indices. JAX takes or refuses all else. jit, vmap (one launch: one
more dimension of the indices), all gradients, scan, shard_map and donated buffers work as JAX's.

With deterministic=True sums have the same bits in every run, and whatever the order of the updates:
they are formed in 64-bit fixed point, where each value is rounded to a multiple of 2^-(61 - b) of
the largest one, with 2^b updates, and never finer than 2^-126. float64, or all without the kernels,
is sorted by keys instead, and the order of a key's updates counts.

The first call on a machine with a GPU builds the kernels by nvcc, once, into ~/.cache/arc_jax (or
$ARC_JAX_CACHE), unless pip has built them (setup.py). Without a GPU or the kernels JAX's own
operations add, and one warning says so."""
import atexit
import concurrent.futures
import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching, mlir

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "arc_torch"
BUILT_AHEAD = "arc_jax_handlers"  # what setup.py builds, to lie beside this file
REPRODUCIBLE = ("float32", "bfloat16", "float16")
TYPES = (*REPRODUCIBLE, "float64", "int32")
MODES = jax.lax.GatherScatterMode


def scatter_add(operand, indices, updates, *, mode=None, deterministic=False):
    """operand.at[indices].add(updates, mode=mode)"""
    operand = jnp.asarray(operand)
    return _add(operand, indices, updates, mode, True, deterministic,
                lambda: operand.at[indices].add(updates, mode=mode))


def segment_sum(data, segment_ids, num_segments=None, indices_are_sorted=False,
                unique_indices=False, bucket_size=None, mode=None, *, deterministic=False):
    """jax.ops.segment_sum of the same arguments; ids outside are dropped, negative ones too."""
    by_jax = functools.partial(jax.ops.segment_sum, data, segment_ids, num_segments,
                               indices_are_sorted, unique_indices, bucket_size, mode)
    is_known = isinstance(segment_ids, (jax.Array, np.ndarray)) and segment_ids.size > 0
    if num_segments is None and is_known and not isinstance(segment_ids, jax.core.Tracer):
        num_segments = int(np.max(segment_ids)) + 1
    is_count = isinstance(num_segments, (int, np.integer)) and num_segments >= 0
    if np.ndim(data) == 0 or bucket_size is not None or not is_count:
        return _left_to_jax(by_jax, segment_ids, deterministic)
    data = jnp.asarray(data)
    zeros = jnp.zeros((num_segments, *data.shape[1:]), data.dtype)
    return _add(zeros, segment_ids, data, mode, False, deterministic, by_jax)


def _add(operand, indices, updates, mode, wraps, deterministic, by_jax):
    keys = _as_keys(indices, operand.shape[0] if operand.ndim else 0)
    takes = (keys is not None and operand.ndim and operand.dtype in TYPES
             and isinstance(updates, (jax.Array, np.ndarray, float, int, np.generic))
             and jnp.result_type(operand, updates) == operand.dtype
             and _fits(operand, keys.shape + operand.shape[1:], np.shape(updates)))
    rounds = bool(deterministic) and jnp.issubdtype(operand.dtype, jnp.inexact)
    if takes and (is_ready() or rounds):
        wraps = wraps and jnp.issubdtype(jnp.result_type(indices), jnp.signedinteger)
        return _scatter(operand, keys, updates, wraps=wraps, deterministic=rounds,
                        clips=MODES.from_any(mode) == MODES.CLIP)
    return _left_to_jax(by_jax, indices, deterministic)


def _left_to_jax(by_jax, indices, deterministic):
    sums = by_jax()
    if deterministic and jnp.issubdtype(sums.dtype, jnp.inexact) and sums.size and np.size(indices):
        raise TypeError(f"arc_jax: deterministic sums are of {', '.join(TYPES)}, by integers as "
                        "indices, of sizes that are known, and without bucket_size")
    return sums


def _as_keys(indices, rows):
    """In 32 or 64 bits; None if they are no integers, or ones that JAX would cut to fewer bits."""
    is_number = type(indices) is int and -2**31 <= indices < 2**31
    if not is_number and not isinstance(indices, (jax.Array, np.ndarray, np.integer)):
        return None
    keys = jnp.asarray(indices)
    if not jnp.issubdtype(keys.dtype, jnp.integer):
        return None
    if not isinstance(indices, (jax.Array, int)) and np.any(indices.astype(keys.dtype) != indices):
        return None
    kind = "int64" if keys.dtype.itemsize == 8 else "int32"
    return keys.astype(kind) if isinstance(rows, int) and rows <= jnp.iinfo(kind).max else None


def _fits(operand, whole, shape):
    """Whether updates of that shape are one for each of `whole`, or broadcast."""
    if not all(isinstance(size, int) for size in (*operand.shape, *whole, *shape)):
        return False  # one that jax.export leaves open
    try:
        is_broadcast = np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False
    return is_broadcast and 0 not in whole and 0 < operand.size < len(operand) << 28  # of 8 bytes


@functools.partial(jax.jit, inline=True, static_argnames=("wraps", "clips", "deterministic"))
def _scatter(operand, keys, updates, wraps, clips, deterministic):
    columns = operand.size // len(operand)
    updates = jnp.broadcast_to(jnp.asarray(updates, operand.dtype), keys.shape + operand.shape[1:])
    arrays = (operand.reshape(-1, columns), keys.reshape(-1), updates.reshape(-1, columns))
    return _rows.bind(*_varying_alike(arrays), wraps=wraps, clips=clips,
                      deterministic=deterministic).reshape(operand.shape)


def _varying_alike(arrays):
    """In shard_map: along all mesh axes along which one of them varies."""
    axes = [its.mat.varying if hasattr(its, "mat") else getattr(its, "vma", frozenset())
            for its in map(jax.typeof, arrays)]  # JAX has renamed it
    missing = [tuple(frozenset().union(*axes) - its) for its in axes]
    vary = getattr(jax.lax, "pcast", None) or (lambda array, axes, to: jax.lax.pvary(array, axes))
    return [vary(array, its, to="varying") if its else array for array, its in zip(arrays, missing)]


# ---- the primitive: operand [rows, columns], keys [n], updates [n, columns] ----------------------

_rows = jax.extend.core.Primitive("arc_scatter_add")
_rows.def_abstract_eval(lambda operand, keys, updates, **how: operand)
_rows.def_impl(jax.disable_jit(False)(lambda *arrays, **how: _scatter(*arrays, **how)))


def _rows_of(keys, rows, wraps, clips):
    """Of keys; `rows` where out has none."""
    if wraps:
        keys = jnp.where(keys < 0, keys + rows, keys)
    if clips:
        keys = jnp.clip(keys, 0, rows - 1)
    return jnp.where((keys < 0) | (keys >= rows), rows, keys)


def _by_jax(operand, keys, updates, *, wraps, clips, deterministic):
    keys = _rows_of(keys, len(operand), wraps, clips)
    return operand.at[keys].add(updates, mode="drop")


def _in_order(operand, keys, updates, *, wraps, clips, deterministic):
    """Sorted by keys, each key's sum formed in an order that its updates fix."""
    if not deterministic:
        return _by_jax(operand, keys, updates, wraps=wraps, clips=clips, deterministic=False)
    rows = len(operand)
    keys = _rows_of(keys, rows, wraps, clips)
    order = jnp.argsort(keys, stable=True)
    keys, updates = keys[order], updates[order]
    edges = jnp.concatenate([jnp.ones(1, bool), keys[1:] != keys[:-1], jnp.ones(1, bool)])

    def join(left, right):
        return left[0] | right[0], jnp.where(right[0], right[1], left[1] + right[1])

    _, sums = jax.lax.associative_scan(join, (edges[:-1, None], updates))
    return operand.at[jnp.where(edges[1:], keys, rows)].add(sums, mode="drop")


def _by_arc(operand, keys, updates, *, wraps, clips, deterministic):
    if 0 in (operand.size, keys.size):  # an empty batch
        return operand
    if deterministic and operand.dtype not in REPRODUCIBLE:
        return _in_order(operand, keys, updates, wraps=wraps, clips=clips, deterministic=True)
    outs = [jax.ShapeDtypeStruct(operand.shape, operand.dtype),  # words: handlers.cpp
            jax.ShapeDtypeStruct((2 + 2 * operand.size * deterministic,), "int32")]
    call = jax.ffi.ffi_call("arc_jax_add", outs, input_output_aliases={0: 0})
    return call(operand, keys, updates, wraps=wraps, clips=clips, in_fixed_point=deterministic)[0]


def _lower(by, platform=None):
    mlir.register_lowering(_rows, mlir.lower_fun(by, multiple_results=False), platform=platform)


def _jvp(primals, tangents, **how):
    operand, keys, updates = primals
    of_operand, _, of_updates = tangents
    out = _rows.bind(operand, keys, updates, **how)
    if type(of_updates) is ad.Zero:
        return out, of_operand
    return out, _rows.bind(ad.instantiate_zeros(of_operand), keys, ad.instantiate_zeros(of_updates),
                           **how)


def _transpose(cotangent, operand, keys, updates, *, wraps, clips, deterministic):
    of_updates = None
    if ad.is_undefined_primal(updates):
        of_updates = ad.Zero(updates.aval)
        if type(cotangent) is not ad.Zero:
            rows = _rows_of(keys, len(cotangent), wraps, clips)
            of_updates = cotangent.at[rows].get(mode="fill", fill_value=0)
    return cotangent if ad.is_undefined_primal(operand) else None, None, of_updates


def _batch(arrays, dims, **how):
    """One call: rows and keys of all, one after the other."""
    size = next(array.shape[dim] for array, dim in zip(arrays, dims) if dim is not None)
    operand, keys, updates = (batching.bdim_at_front(array, dim, size)
                              for array, dim in zip(arrays, dims))
    rows, columns = operand.shape[1:]
    if size * rows > jnp.iinfo(keys.dtype).max:
        return jax.lax.map(lambda its: _rows.bind(*its, **how), (operand, keys, updates)), 0
    keys = _rows_of(keys, rows, how["wraps"], how["clips"])
    keys = jnp.where(keys < rows, keys + rows * jnp.arange(size, dtype=keys.dtype)[:, None],
                     size * rows)
    out = _rows.bind(operand.reshape(-1, columns), keys.reshape(-1), updates.reshape(-1, columns),
                     wraps=False, clips=False, deterministic=how["deterministic"])
    return out.reshape(operand.shape), 0


_lower(_in_order)
_lower(_by_jax, "cpu")
ad.primitive_jvps[_rows] = _jvp
ad.primitive_transposes[_rows] = _transpose
batching.primitive_batchers[_rows] = _batch


# ---- the kernels --------------------------------------------------------------------------------

_lock = threading.Lock()


def is_ready():
    """Whether arc adds on CUDA; at first builds what does, or warns why it cannot."""
    with _lock:
        return _load()


@functools.cache
def _load():
    try:
        jax.devices("cuda")
    except RuntimeError:
        return _warn("no GPU")
    try:
        built = sorted(HERE.glob(BUILT_AHEAD + "*.so"))
        library = ctypes.CDLL(str(built[0] if built else _build_once(architectures())))
        if error := library.arc_jax_error():
            return _warn(f"error {error} of CUDA: a driver older than nvcc's CUDA?")
        jax.ffi.register_ffi_target("arc_jax_add", jax.ffi.pycapsule(library.arc_jax_add),
                                    platform="CUDA")
    except Exception as error:  # of nvcc, the loader, an FFI of another version
        return _warn(error)
    _lower(_by_arc, "cuda")
    return True


def _warn(problem):
    warnings.warn(f"arc_jax: {problem}; JAX's own operations add", stacklevel=6)
    return False


def include_path():
    """The folder of arc.cuh."""
    if (HERE.parents[1] / "arc.cuh").is_file():
        return str(HERE.parents[1])
    import arc_headers  # installed by `pip install .` in arc's folder
    return arc_headers.include_path()


def sources():
    return [HERE / "handlers.cpp", HERE / "add_rows_i32.cu", *sorted(KERNELS.glob("add_rows_*.cu"))]


def architectures():
    return sorted({gpu.compute_capability.replace(".", "") for gpu in jax.devices("cuda")})


def _build_once(named):
    """In a folder that its sources and tools name; in one of this process, if none can be there."""
    headers = pathlib.Path(include_path())
    files = sorted([pathlib.Path(__file__), *sources(), *KERNELS.glob("*.*h"), headers / "arc.cuh",
                    headers / "arc_policy.cuh", *(headers / "arc").glob("*.cuh")])
    tools = f"{jax.lib.__version__} {named} {_nvcc()}"
    name = hashlib.sha256(b"".join([tools.encode(), *(file.read_bytes() for file in files)]))
    folder = pathlib.Path(os.environ.get("ARC_JAX_CACHE") or "~/.cache/arc_jax").expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        folder = pathlib.Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = folder / f"{name.hexdigest()[:16]}.so"
    if not library.exists():
        print("arc_jax: compiles its kernels, once", file=sys.stderr)
        build(library, named)
    return library


def _nvcc():
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    if path := shutil.which("nvcc", path=f"{os.environ['PATH']}{os.pathsep}{toolkit}/bin"):
        return path
    raise RuntimeError("no nvcc")


def build(library, architectures):
    """Who builds at the same time builds the same; the last one's stays."""
    flags = ["-std=c++17", "-O3", "-Xcompiler=-fPIC", "-DARC_KEYS_DROP",
             *(f"-gencode=arch=compute_{each},code=sm_{each}" for each in architectures),
             *(f"-I{folder}" for folder in (KERNELS, include_path(), jax.ffi.include_dir()))]
    nvcc = _nvcc()

    def call(*arguments):
        done = subprocess.run([nvcc, *flags, *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            lines = done.stdout.strip().splitlines() or ["nvcc fails"]
            raise RuntimeError(next((line for line in lines if "error" in line), lines[-1]))

    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        objects = [pathlib.Path(folder) / f"{source.stem}.o" for source in sources()]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda source, to: call("-c", source, "-o", to), sources(), objects))
        linked = pathlib.Path(folder) / "linked.so"
        call("-shared", *objects, "-o", linked)
        linked.replace(library)
