"""arc_torch.py - PyTorch's index_add_ and what stands on it, along the first dimension, by arc.
SPDX-License-Identifier: Apache-2.0

    import arc_torch
    arc_torch.index_add_(out, 0, index, source)          # as out.index_add_(0, index, source)
    out = arc_torch.index_add(out, 0, index, source)
    out = arc_torch.scatter_add(out, 0, index, src)      # index: one column, expanded to all
    rows = arc_torch.index_select(table, index)          # its gradient is an index_add_
    rows = arc_torch.embedding(weight, index, padding_idx)
    sums = arc_torch.Accumulator(rows, columns)          # see there: float sums that repeat
    with arc_torch.deterministic(): loss().backward()    # see there: PyTorch's functions repeat

arc adds float32, float64, float16 and bfloat16 on CUDA; indices of 32 or 64 bits, negative ones and
ones beyond the end are errors as in PyTorch. Whatever else comes (a tensor on the CPU, another
dimension or type, columns that do not lie side by side, torch.vmap) goes to PyTorch.
With torch.use_deterministic_algorithms(True) sums are formed in 64-bit fixed point and are the same
bits in every run: each value is rounded to a multiple of 2^-(61 - b) of the largest one, where
there are 2^b rows of values, and never finer than 2^-126. float64 then goes to PyTorch.

`python3 -m pip install --no-build-isolation .` in this folder builds the operators. Else the first
import on a machine with a GPU does; both need nvcc of PyTorch's CUDA version, a C++ compiler and
ninja, and without them PyTorch takes all. With ARC_TORCH_VERBOSE=1 the build shows how."""
import contextlib
import importlib.metadata
import os
import pathlib
import re
import sys
import threading
import warnings

import torch
from torch.utils import cpp_extension

HERE = pathlib.Path(__file__).resolve().parent
ROOT = (HERE / "../../..").resolve()  # arc's folder, if this is not installed
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
BUILT_AHEAD = "arc_torch_operators"  # what setup.py builds, to lie beside this file
FLAGS = ["-O3", "-std=c++17"]


def include_path():
    """The folder of arc.cuh."""
    if (ROOT / "arc.cuh").is_file():
        return str(ROOT)
    import arc_headers  # installed by `pip install .` in arc's folder
    return arc_headers.include_path()


def sources(cuda):
    """What is compiled; without CUDA the operators alone, which leave all additions to PyTorch."""
    kept = (".cpp", ".cu") if cuda else ()
    return sorted(str(path) for path in HERE.iterdir()
                  if path.suffix in kept or path.name == "operators.cpp")


def _version():
    policy = ROOT / "arc_policy.cuh"
    if not policy.is_file():
        return importlib.metadata.version("arc_torch")
    return ".".join(re.search(rf"#define ARC_VERSION_{part} (\d+)", policy.read_text())[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


__version__ = _version()


def index_add_(out, dim, index, source, *, alpha=1):
    """out.index_add_(dim, index, source, alpha=alpha)"""
    _by.index_add_(out, dim, index, source, alpha=_number(alpha))
    return out


def index_add(input, dim, index, source, *, alpha=1):
    """torch.index_add(input, dim, index, source, alpha=alpha)"""
    return _by.index_add(input, dim, index, source, alpha=_number(alpha))


def scatter_add(input, dim, index, src):
    """torch.scatter_add(input, dim, index, src); arc adds where index is one column, expanded."""
    return _by.scatter_add(input, dim, index, src)


def embedding(weight, index, padding_idx=None):
    """torch.nn.functional.embedding(index, weight, padding_idx), for rows of any shape."""
    return _by.embedding(weight, index, padding_idx)


def index_select(table, index):
    """table.index_select(0, index), also for an index of more dimensions: [index..., row...]"""
    index = index if index.dim() > 0 else index.reshape(1)
    if table.dim() == 1:
        return _by.embedding(table[:, None], index, None)[..., 0]
    return _by.embedding(table, index, None)


class Accumulator:
    """Sums of float32 rows, on a GPU, that are the same bits whatever the order of the additions:

        sums = arc_torch.Accumulator(rows, columns)
        sums.index_add_(index, source)    # any number of times, on any streams, in any order
        sums.all_reduce()                 # over the ranks of torch.distributed, if there are
        out = sums.read(clear=True)       # float32, each sum rounded once

    The bits depend on what one call adds, of which 32 rows at a time are summed as floats, and on
    nothing else. The words (arc/wide.cuh) hold 2^24 such sums of a value, from 2^-63 to 2^33 in
    magnitude; larger ones count as infinity, smaller ones are rounded to multiples of 2^-86. A value
    takes 50 bytes. As with any tensor, other streams have to wait for the constructor, and read for
    them. An index that is negative or beyond the end stops the kernel."""

    def __init__(self, rows, columns, device="cuda"):
        if not BUILT:
            raise RuntimeError("arc_torch.Accumulator needs a GPU and the operators built for it")
        self.columns = columns
        self.words = torch.zeros(rows, 6 * columns + (columns + 3) // 4, dtype=torch.int64,
                                 device=device)

    def index_add_(self, index, source):
        _by.accumulate_(self.words, self.columns, index, source.detach())
        return self

    def all_reduce(self, group=None):
        torch.distributed.all_reduce(self.words, group=group)
        return self

    def read(self, clear=False):
        return _by.read_words(self.words, self.columns, clear)


class deterministic:
    """A context in which PyTorch's own functions repeat to the last bit, and on CUDA are arc's:

        with arc_torch.deterministic():
            loss = model(batch)
            loss.backward()

    index_add; scatter_add, whatever its index; index_put with accumulate=True; bincount of weights;
    and the gradients of embedding, index_select, gather and of an index in brackets. Float32,
    float16 and bfloat16 also do whatever the order of the rows is. All else is PyTorch's with
    torch.use_deterministic_algorithms(True), which warns where that does not repeat (as the
    gradient of FlashAttention then does not), or refuses it if it did before. As that mode, it is
    the whole process's. It replaces PyTorch's kernels while it lasts; to enter it takes a quarter
    of a millisecond. Needs PyTorch 2.9."""
    _entered = []  # whether the mode was set, how, and the kernels, which the first brings

    def __enter__(self):
        before = torch.are_deterministic_algorithms_enabled()
        warns = torch.is_deterministic_algorithms_warn_only_enabled()
        self._entered.append((before, warns, None if self._entered else _replace_kernels()))
        if not before:
            torch.use_deterministic_algorithms(True, warn_only=True)
        return self

    def __exit__(self, *error):
        before, warns, _ = self._entered.pop()
        torch.use_deterministic_algorithms(before, warn_only=warns)


_inside = threading.local()  # one of the functions below, whose calls of PyTorch's go to PyTorch


def _replace_kernels():
    """Lasts as long as what it returns."""
    library, keys = torch.library.Library("aten", "IMPL"), ["CPU"]
    if torch.cuda.is_available():
        keys.append("CUDA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels of PyTorch's are replaced
        for operator, function in _REPEATED.items():
            for key in keys:
                kernel = _kernel(function, torch.library.get_kernel(operator, key))
                library.impl(operator, kernel, key, with_keyset=True, allow_override=True)
    return library


def _kernel(function, pytorchs):
    def kernel(keys, *arguments, **keywords):
        if getattr(_inside, "function", None):
            return pytorchs.call_boxed(keys, *arguments, **keywords)
        _inside.function = function
        try:
            return function(*arguments, **keywords)
        finally:
            _inside.function = None
    return kernel


def _scatter_add_(out, dim, index, source):
    if index.dim() != out.dim() or index.numel() == 0 or not out.is_contiguous():
        return out.scatter_add_(dim, index, source)
    dim %= max(out.dim(), 1)
    source = source[tuple(map(slice, index.shape))]
    its = list(zip(index.shape, index.stride(), out.shape))[1:]
    if dim == 0 and all(size == all_ and (size == 1 or not stride) for size, stride, all_ in its):
        return index_add_(out, 0, index[(slice(None), *[0] * len(its))], source)
    places = index * out.stride(dim)
    for other, size in enumerate(index.shape):
        if other != dim:
            steps = torch.arange(size, device=out.device) * out.stride(other)
            places = places + steps.view(-1, *[1] * (out.dim() - 1 - other))
    places = torch.where((index >= 0) & (index < out.shape[dim]), places, -1)
    index_add_(out.view(-1), 0, places.flatten(), source.reshape(-1))
    return out


def _index_put_(out, indices, values, accumulate=False, unsafe=False):
    if not accumulate or out.numel() == 0 or not out.is_contiguous() or \
            any(index is None for index in indices):
        return _aten._index_put_impl_(out, indices, values, accumulate, unsafe)
    its = []
    for index in indices:
        is_mask = index.dtype in (torch.bool, torch.uint8)
        its += index.nonzero().unbind(1) if is_mask else [index]
    its = torch.broadcast_tensors(*[index.to(out.device, torch.int64) for index in its])
    places, are_there = 0, True
    for index, size in zip(its, out.shape):
        are_there = (index >= -size) & (index < size) & are_there
        places = places * size + torch.where(index < 0, index + size, index)
    places, rest = torch.where(are_there, places, -1), out.shape[len(its):]
    values = values.to(out.device).expand(*places.shape, *rest).reshape(-1, *rest)
    index_add_(out.view(-1, *rest), 0, places.flatten(), values)
    return out


def _embedding_gradient(gradient, index, rows, padding, scales):
    if scales:
        return _aten.embedding_dense_backward(gradient, index, rows, padding, scales)
    sums = gradient.new_zeros(rows, gradient.shape[-1])
    index_add_(sums, 0, index.reshape(-1), gradient.reshape(-1, gradient.shape[-1]))
    if padding >= 0:
        sums[padding] = 0
    return sums


def _bincount(index, weights=None, minlength=0):
    if weights is None or index.numel() == 0:
        return torch.bincount(index, weights, minlength)
    weights = weights if weights.dtype == torch.float32 else weights.double()
    sums = weights.new_zeros(max(int(index.max()) + 1, minlength))
    return index_add_(sums, 0, index.long(), weights)


def _of_copy(function):
    def out_of_place(out, *arguments, **keywords):
        copy = out.clone(memory_format=torch.contiguous_format)
        return function(copy, *arguments, **keywords)
    return out_of_place


_aten = torch.ops.aten
_REPEATED = {
    _aten.index_add_.default: index_add_, _aten.index_add.default: _of_copy(index_add_),
    _aten.scatter_add_.default: _scatter_add_, _aten.scatter_add.default: _of_copy(_scatter_add_),
    _aten._index_put_impl_.default: _index_put_,  # what index_put and brackets end in
    _aten.embedding_dense_backward.default: _embedding_gradient, _aten.bincount.default: _bincount}


def _number(alpha):
    """PyTorch takes a tensor for a number, where it has no dimensions and needs no gradient."""
    is_number = torch.is_tensor(alpha) and alpha.dim() == 0 and not alpha.requires_grad
    return alpha.item() if is_number else alpha


class _PyTorch:
    """The operators where they are not built."""
    index_add_ = staticmethod(torch.Tensor.index_add_)
    index_add = staticmethod(torch.index_add)
    scatter_add = staticmethod(torch.scatter_add)

    @staticmethod
    def embedding(weight, index, padding_idx=None):
        rows = torch.nn.functional.embedding(index, weight.flatten(1), padding_idx)
        return rows.view(*index.shape, *weight.shape[1:])


_by = _PyTorch
BUILT = False  # whether arc adds on CUDA


def build(cuda):
    """Builds the operators, or finds them built, and takes them into use."""
    global _by, BUILT
    ahead = next(HERE.glob(f"{BUILT_AHEAD}.*.so"), None)
    if ahead is not None:
        torch.ops.load_library(ahead)
    else:
        _compile("arc_torch" if cuda else "arc_torch_cpu", cuda)
    _register_rules()
    _by = torch.ops.arc
    BUILT = torch._C._dispatch_has_kernel_for_dispatch_key("arc::index_add_", "CUDA")


def try_to_build(cuda):
    """Leaves all to PyTorch, with a warning, where that fails."""
    try:
        build(cuda)
    except Exception as error:  # of a compiler, ninja, a folder, a loader
        warnings.warn("arc_torch: the build has failed, PyTorch's own functions are used: "
                      f"{_last_line(error)}")


def _compile(name, cuda):
    folder = pathlib.Path(cpp_extension._get_build_directory(name, verbose=False))
    with _alone_in(folder):
        if not any(folder.glob("*.so")):
            print(f"arc_torch: compiles its operators, once, into {folder}", file=sys.stderr)
        cpp_extension.load(name, sources(cuda), is_python_module=False, extra_cflags=FLAGS,
                           extra_cuda_cflags=FLAGS, extra_include_paths=[include_path()],
                           verbose=os.environ.get("ARC_TORCH_VERBOSE") == "1")


@contextlib.contextmanager
def _alone_in(folder):
    """One build at a time. The system drops this lock when a build is killed; PyTorch's own stays,
    and the next build would wait for it forever: one that is there when nobody builds is dead."""
    import fcntl  # Windows has none: there, PyTorch takes all
    with open(folder / "arc_torch.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("arc_torch: waits for another process, which compiles", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock").unlink(missing_ok=True)
        yield


def _register_rules():
    def fake_index_add(out, dim, index, source, *, alpha=1, round_once=False):
        return torch.index_add(out, dim, index, source, alpha=alpha).contiguous()

    def fake_index_add_(out, dim, index, source, *, alpha=1, round_once=False):
        torch.index_add(out, dim, index, source, alpha=alpha)

    def fake_embedding(weight, index, padding_idx=None):
        return weight.new_empty((*index.shape, *weight.shape[1:]))

    for name, fake in (("index_add", fake_index_add), ("index_add_", fake_index_add_),
                       ("embedding", fake_embedding)):
        torch.library.register_fake(f"arc::{name}", fake)
    torch.library.register_vmap("arc::embedding", _embedding_of_batches)


def _embedding_of_batches(_, in_dims, weight, index, padding_idx=None):
    """torch.vmap's rule: the rows, and where the batch lies in them."""
    batch_of_weight, batch_of_index = in_dims[:2]
    if batch_of_weight is None:
        return torch.ops.arc.embedding(weight, index, padding_idx), batch_of_index
    if batch_of_index is None:  # the batch is one more dimension of a row
        weight = weight.movedim(batch_of_weight, 1)
        return torch.ops.arc.embedding(weight, index, padding_idx), index.dim()
    pairs = zip(weight.unbind(batch_of_weight), index.unbind(batch_of_index))
    return torch.stack([torch.ops.arc.embedding(w, i, padding_idx) for w, i in pairs]), 0


def _last_line(error):
    """The compiler's last error, behind which carets, counts and ninja's words may stand."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    return ([line for line in lines if "error:" in line] or lines)[-1]


if torch.cuda.is_available():
    try_to_build(cuda=True)
