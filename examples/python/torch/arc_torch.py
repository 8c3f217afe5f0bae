"""arc_torch.py - PyTorch's index_add_ and scatter_add along the first dimension, by arc.
SPDX-License-Identifier: Apache-2.0

    import arc_torch
    arc_torch.index_add_(out, 0, index, values)          # as out.index_add_(0, index, values)
    rows = arc_torch.index_select(table, index)          # its gradient is an index_add_

Tensors of two dimensions or more, of float32, float64, float16 or bfloat16, on CUDA; indices of 32
or 64 bits, negative ones and ones beyond the end are errors as in PyTorch. Whatever else comes (a
tensor on the CPU, another dimension or type, columns that do not lie side by side) goes to PyTorch.
With torch.use_deterministic_algorithms(True) sums are formed in 64-bit fixed point and are the same
bits in every run: each value is rounded to a multiple of 2^-(61 - b) of the largest one, where
there are 2^b rows of values, and never finer than 2^-126. float64 then goes to PyTorch.

The first import where there is a GPU builds index_add.cu, which takes a minute or two; it needs
nvcc of PyTorch's CUDA version, a C++ compiler and ninja, and without them PyTorch takes all. With
ARC_TORCH_VERBOSE=1 it shows how."""
import os
import pathlib
import warnings

import torch
from torch.utils import cpp_extension

try:
    from arc_headers import include_path  # installed by `pip install .`
except ImportError:
    def include_path():
        return str(pathlib.Path(__file__).resolve().parents[3])

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)

_library = torch.library.Library("arc", "DEF")
_library.define("index_add_(Tensor(a!) out, Tensor index, Tensor values) -> ()")
_library.define("index_add(Tensor out, Tensor index, Tensor values) -> Tensor")


@torch.library.impl("arc::index_add_", "CPU", lib=_library)
def _on_cpu(out, index, values):
    out.index_add_(0, index, values)


@torch.library.impl("arc::index_add", "CompositeExplicitAutograd", lib=_library)
def _of_a_copy(out, index, values):
    out = out.clone(memory_format=torch.contiguous_format)
    torch.ops.arc.index_add_(out, index, values)
    return out


@torch.library.register_fake("arc::index_add_", lib=_library)
def _(out, index, values):
    pass


@torch.library.register_fake("arc::index_add", lib=_library)
def _(out, index, values):
    return torch.empty_like(out, memory_format=torch.contiguous_format)


def _save_index(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])


def _backward(ctx, gradient):
    (index,) = ctx.saved_tensors
    return gradient, None, gradient.index_select(0, index)


torch.library.register_autograd("arc::index_add", _backward, setup_context=_save_index,
                                lib=_library)


class _InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, out, index, values):
        ctx.save_for_backward(index)
        ctx.mark_dirty(out)
        torch.ops.arc.index_add_(out, index, values)
        return out

    backward = staticmethod(_backward)


class _Select(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx, gradient):
        (index,) = ctx.saved_tensors
        zeros = gradient.new_zeros(ctx.shape)
        return index_add_(zeros, 0, index, gradient), None


def _serves(out, dim, index, values):
    """Whether arc adds; PyTorch takes what is left, and reports what is wrong."""
    return (BUILT and out.dim() >= 2 and dim in (0, -out.dim()) and out.dtype in TYPES
            and values.dtype == out.dtype and index.dim() == 1
            and index.dtype in (torch.int32, torch.int64)
            and values.shape[1:] == out.shape[1:] and values.shape[0] == index.shape[0]
            and out.device == values.device == index.device and out.is_cuda
            and out[0:1].is_contiguous() and out.stride(0) >= out[0:1].numel()
            and max(out.stride(0), values.stride(0)) < 2**28 and out.numel() > 0
            and not (out.dtype == torch.float64 and torch.are_deterministic_algorithms_enabled()))


def _as_matrices(out, values, alpha):
    columns = out[0].numel()
    out = out if out.dim() == 2 else out.view(out.shape[0], columns)
    values = values if values.dim() == 2 else values.reshape(values.shape[0], columns)
    return out, values if alpha == 1 else values * alpha


def index_add_(out, dim, index, values, *, alpha=1):
    """out.index_add_(dim, index, values, alpha=alpha)"""
    if not _serves(out, dim, index, values):
        return out.index_add_(dim, index, values, alpha=alpha)
    matrix, values = _as_matrices(out, values, alpha)
    if torch.is_grad_enabled() and (out.requires_grad or values.requires_grad):
        matrix = _InPlace.apply(matrix, index, values)
        return matrix if out.dim() == 2 else matrix.view(out.shape)
    torch.ops.arc.index_add_(matrix, index, values)
    return out


def index_add(out, dim, index, values, *, alpha=1):
    """torch.index_add(out, dim, index, values, alpha=alpha)"""
    if not _serves(out, dim, index, values):
        return torch.index_add(out, dim, index, values, alpha=alpha)
    matrix, values = _as_matrices(out, values, alpha)
    return torch.ops.arc.index_add(matrix, index, values).view(out.shape)


def scatter_add(out, dim, index, values):
    """torch.scatter_add(out, dim, index, values), where index is one column, expanded to all."""
    rows = index.dim() == 2 and index.stride(1) == 0 and index.shape == values.shape
    if not rows or not _serves(out, dim, index[:, 0], values):
        return torch.scatter_add(out, dim, index, values)
    return torch.ops.arc.index_add(out, index[:, 0], values)


def index_select(table, index):
    """table.index_select(0, index), whose gradient arc adds up."""
    return _Select.apply(table, index)


def build():
    """Builds the kernels, or finds them built."""
    here = pathlib.Path(__file__).resolve().parent
    cpp_extension.load(
        "arc_torch_index_add", [str(here / "index_add.cu")], is_python_module=False,
        extra_include_paths=[include_path()], verbose=os.environ.get("ARC_TORCH_VERBOSE") == "1",
        extra_cuda_cflags=["-O3", "-std=c++17", "-DARC_KEY_BITS=64", "--split-compile=0"])


BUILT = False  # whether arc adds on CUDA
if torch.cuda.is_available():
    if cpp_extension.CUDA_HOME is None or not cpp_extension.is_ninja_available():
        warnings.warn("arc_torch: no CUDA toolkit, or no ninja: PyTorch's own index_add_ is used")
    else:
        build()
        BUILT = True
