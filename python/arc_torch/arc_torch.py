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
    with arc_torch.fast(): loss().backward()             # see there: they take less time

arc adds float32, float64, float16 and bfloat16 on CUDA; indices of 32 or 64 bits, negative ones and
ones beyond the end are errors as in PyTorch. Whatever else comes (a tensor on the CPU, another
dimension or type, columns that do not lie side by side, torch.vmap) goes to PyTorch.
With torch.use_deterministic_algorithms(True) sums are formed in 64-bit fixed point and are the same
bits in every run: each value is rounded to a multiple of 2^-(61 - b) of the largest one, where
there are 2^b rows of values, and never finer than 2^-126. float64 then goes to PyTorch.

`python3 -m pip install --no-build-isolation .` in this folder builds the operators. Else the first
import on a machine with a GPU does; both need nvcc of PyTorch's CUDA version, a C++ compiler and
ninja, and without them PyTorch takes all. With ARC_TORCH_VERBOSE=1 the build shows how."""
import collections
import contextlib
import ctypes
import functools
import importlib.metadata
import os
import pathlib
import re
import sys
import threading
import warnings

import torch
from torch._decomp import decomposition_table
from torch._prims_common import suggest_memory_format

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]  # arc's folder, if this is not installed
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
GPU = torch.cuda.is_available()
BUILT_AHEAD = "arc_torch_operators"  # what setup.py builds, to lie beside this file
FLAGS = ["-O3"]  # PyTorch adds the C++ of its headers


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
    if table.dim() == 0:
        return table.index_select(0, index)
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
    magnitude; larger ones count as infinity, smaller ones are rounded to multiples of 2^-86. A
    value takes 50 bytes. As with any tensor, other streams have to wait for the constructor, and
    read for them. An index that is negative or beyond the end stops the kernel."""

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


class deterministic(contextlib.ContextDecorator):
    """A context in which PyTorch's own functions repeat to the last bit, and on CUDA are arc's:

        with arc_torch.deterministic():
            loss = model(batch)
            loss.backward()

    README.md lists the functions that arc computes. In float32, float16 and bfloat16 their sums are
    the same bits whatever the order of the rows. All else is PyTorch's with
    torch.use_deterministic_algorithms(True), which refuses what does not repeat (README.md has a
    list), or only warns of it with warn_only=True. If that mode was on before, it stays as it was.
    As that mode, the context is the whole process's. It replaces PyTorch's kernels while it lasts;
    to enter it takes a quarter of a millisecond. Needs PyTorch 2.9.

    arc takes calls that PyTorch takes; PyTorch gets all others, and refuses them in its words. An
    index outside is an IndexError, on CUDA of the next call here or of the context's end, which
    waits for the GPU: what was added there is then wrong, but nothing beside it is written."""
    _entered, _kernels = [], None  # all that are entered, on any thread
    _users = False, False  # the mode that the first of them has found: whether it is set, and warns

    def __init__(self, warn_only=False):
        if callable(warn_only):
            raise TypeError("write @arc_torch.deterministic(), with brackets")
        self.warn_only = warn_only

    def __enter__(self):
        with _lock:
            _outside.prepare()
            if not self._entered:
                deterministic._kernels = _replace_kernels(
                    {"CPU": _REPEATED, "CUDA": {**_REPEATED, **_REPEATED_ON_CUDA}}, _kernel)
                deterministic._users = (torch.are_deterministic_algorithms_enabled(),
                                        torch.is_deterministic_algorithms_warn_only_enabled())
            self._entered.append(self)
            self._set_mode()
        return self

    @classmethod
    def _set_mode(cls):
        """The innermost counts, or, on threads, who entered last; the user's own mode stays."""
        is_set, warns = cls._users
        if cls._entered and not is_set:
            is_set, warns = True, cls._entered[-1].warn_only
        torch.use_deterministic_algorithms(is_set, warn_only=warns)

    def __exit__(self, kind, error, _):
        with _lock:
            del self._entered[-1 - self._entered[::-1].index(self)]  # its last
            if not self._entered:
                deterministic._kernels = None
                fast.update()
            self._set_mode()
        is_refused = kind is RuntimeError and "torch.use_deterministic_algorithms" in str(error)
        if is_refused and not self._users[0]:
            error.args = (f"{error}\narc_torch.deterministic(warn_only=True) only warns of this",)
        try:
            _outside.wait()
        except IndexError:
            if kind is None:  # else that is raised
                raise


class fast(contextlib.ContextDecorator):
    """PyTorch's own functions, by arc where they are faster so, on CUDA:

        with arc_torch.fast():    # or, for the rest of the process, without `with`
            model(batch).sum().backward()

    README.md lists the functions, and from which sizes on arc computes them. The context replaces
    PyTorch's kernels while it lasts, in the whole process; those get all other calls, and all calls
    in PyTorch's deterministic mode. In deterministic() it begins when that ends. Sums are as those
    of arc_torch.index_add_; gradients in 16 bits are rounded once. Needs PyTorch 2.9."""
    _entered, _kernels, _keys = 0, None, ("CUDA",)

    def __init__(self):
        self._mine, self._is_begun = 0, False  # entries; of these the first is not `with`'s
        self._count(1)
        self._is_begun = True

    def __call__(self, function):
        self.__exit__()  # a decorator is on in the function alone
        return super().__call__(function)

    def __enter__(self):
        with _lock:
            if not self._is_begun:
                self._count(1)
            self._is_begun = False
        return self

    def __exit__(self, *error):
        with _lock:
            self._is_begun = False
            if self._mine:
                self._count(-1)

    def _count(self, change):
        with _lock:
            fast._entered += change
            try:
                self.update()
            except RuntimeError:
                fast._entered -= change
                raise
            self._mine += change

    @classmethod
    def update(cls):
        """deterministic() calls the kernels that it has found: these stay as they are meanwhile."""
        if deterministic._entered:
            return
        if not cls._entered or _by is _PyTorch:
            cls._kernels = None
        elif cls._kernels is None:
            cls._kernels = _replace_kernels({key: _FASTER for key in cls._keys},
                                            functools.partial(_kernel, is_fasts=True))


class _Outside:
    """Whether an index was. Kernels set the flag, in the host's memory, and nobody waits for it."""
    def __init__(self):
        self.flag = None
        self.forget()

    def forget(self):
        self.seen, self.devices = ctypes.c_int(), set()

    def prepare(self):
        if BUILT and self.flag is None and not torch.cuda._is_in_bad_fork():
            self.flag = torch.zeros(1, dtype=torch.int32, pin_memory=True)
            self.seen = ctypes.c_int.from_address(self.flag.data_ptr())

    def keep_within(self, index, size, wraps=False):
        """The index, on CUDA 0 for what is outside. On the CPU PyTorch looks for itself."""
        if index.is_cuda and BUILT and size > 0:
            self.devices.add(index.device)
            return torch.ops.arc.keep_within(index, size, wraps, self.flag)
        index = torch.where(index < 0, index + size, index) if wraps else index
        if index.is_cuda and not _lies_within(index, size):
            raise IndexError(f"arc_torch.deterministic: an index is out of range: there are {size}")
        return index

    def look(self):
        if self.seen.value:
            self.seen.value = 0
            raise IndexError("arc_torch.deterministic: an index of an earlier call was out of "
                             "range; what that call added is wrong")

    def wait(self):
        if self.devices and not torch.cuda.is_current_stream_capturing():
            devices, self.devices = self.devices, set()
            for device in devices:
                torch.cuda.synchronize(device)
        self.look()


_lock = threading.RLock()  # of the contexts' states
_outside = _Outside()
if hasattr(os, "register_at_fork"):  # a child, as of a DataLoader, has no GPU, nor these errors
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release,
                        after_in_child=lambda: (_outside.forget(), _lock.release()))
_inside = threading.local()  # one of the functions below, whose calls of PyTorch's go to PyTorch


# Another thread may have looked a kernel up and call it after the context has ended. PyTorch does
# not count such calls, so the kernels of the last contexts stay: 1024 take a second to go by.
_lately = collections.deque(maxlen=1024)


def _replace_kernels(by_key, kernel_of):
    """Lasts as long as what it returns."""
    if not hasattr(torch.library, "get_kernel"):
        raise RuntimeError("arc_torch.deterministic and arc_torch.fast need PyTorch 2.9, this is "
                           f"{torch.__version__}")
    library, kept = torch.library.Library("aten", "IMPL"), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels of PyTorch's are replaced
        for key, functions in by_key.items():
            for operator, function in functions.items() if key == "CPU" or GPU else ():
                kernel = kernel_of(function, torch.library.get_kernel(operator, key))
                library.impl(operator, kernel, key, with_keyset=True, allow_override=True)
                kept.append(torch.library.get_kernel(operator, key))
    _lately.append(kept)
    return library


def _kernel(function, pytorchs, is_fasts=False):
    """Where the function gives None, or may not be asked, PyTorch's."""
    def kernel(keys, *arguments, **keywords):
        result = None
        if not getattr(_inside, "function", None) and \
                not (is_fasts and torch.are_deterministic_algorithms_enabled()):
            if not is_fasts:
                _outside.look()
            _inside.function = function
            try:
                result = function(*arguments, **keywords)
            finally:
                _inside.function = None
        return pytorchs.call_boxed(keys, *arguments, **keywords) if result is None else result
    return kernel


def _may_add(out, index, source):
    """Whether source may be added to out, as far as types, devices and memory go."""
    return index.dtype in _INDICES and source.dtype == out.dtype and \
        index.device == source.device == out.device and \
        out.untyped_storage().data_ptr() not in (source.untyped_storage().data_ptr(),
                                                 index.untyped_storage().data_ptr())


def _place_of(out, dim):
    """Which dimension that is, as PyTorch counts them; -1: none."""
    dimensions = max(out.dim(), 1)
    return dim % dimensions if -dimensions <= dim < dimensions else -1


def _shape(tensor):
    """A number has one place, as for PyTorch."""
    return tuple(tensor.shape) or (1,)


def _index_add_(out, dim, index, source, *, alpha=1):
    at, wanted = _place_of(out, dim), list(_shape(out))
    if at >= 0 and index.dim() <= 1 and _may_add(out, index, source):
        wanted[at] = index.numel()
        if tuple(wanted) == _shape(source):
            index = _outside.keep_within(index, _shape(out)[at])
    return index_add_(out, dim, index, source, alpha=alpha)


def _lies_within(index, size):
    """Waits for the GPU."""
    return index.numel() == 0 or (int(index.min()) >= 0 and int(index.max()) < size)


def _keys_of_rows(index, shape):
    """Of rows of this shape, if the index is a column of keys, expanded; else None."""
    if all(size == columns and (size == 1 or not stride) for size, stride, columns in
           zip(index.shape[1:], index.stride()[1:], shape[1:])):
        return index[(slice(None), *[0] * (index.dim() - 1))]
    return None


def _scatter_add_(out, dim, index, source):
    at, its, sizes, all_ = _place_of(out, dim), _shape(out), _shape(index), _shape(source)
    fits = at >= 0 and len(its) == len(sizes) == len(all_) and index.numel() > 0 and \
        all(size <= whole for size, whole in zip(sizes, all_)) and \
        all(size <= whole for i, (size, whole) in enumerate(zip(sizes, its)) if i != at)
    if not fits or not _may_add(out, index, source):
        return out.scatter_add_(dim, index, source)
    many, rank = index.expand(sizes), len(its)
    keys = _keys_of_rows(many, its) if at == 0 else None
    whole_rows = keys is not None
    keys = _outside.keep_within(keys if whole_rows else many, its[at])
    is_arcs = out.is_contiguous() and out.dtype in TYPES
    if not is_arcs or not (keys.is_cuda or _lies_within(keys, its[at])):
        keys = keys.view(-1, *[1] * (rank - keys.dim())).expand(sizes) if whole_rows else keys
        return out.scatter_add_(dim, keys.view(index.shape) if rank == 1 else keys, source)
    source = source.expand(all_)[tuple(map(slice, sizes))]
    if whole_rows:
        index_add_(out.view(its), 0, keys, source)
        return out
    steps = out.view(its).stride()
    places = keys.long() * steps[at]
    for other, size in enumerate(sizes):
        if other != at:
            along = torch.arange(size, device=out.device) * steps[other]
            places = places + along.view(-1, *[1] * (rank - 1 - other))
    index_add_(out.view(-1), 0, places.flatten(), source.reshape(-1))
    return out


def _indices_of(out, indices):
    """One for each dimension, or None; of a mask as many as it has. None: PyTorch refuses them."""
    its = []
    for index in indices:
        if index is None:
            its.append(None)
        elif index.device.type != "cpu" and index.device != out.device:
            return None
        elif index.dtype in (torch.bool, torch.uint8):
            if index.dim() == 0 or index.shape != out.shape[len(its):len(its) + index.dim()]:
                return None
            its += index.to(out.device).nonzero().unbind(1)
        else:
            its.append(index.to(out.device))
    return its if len(its) <= out.dim() else None


def _index_put_(out, indices, values, accumulate=False, unsafe=False):
    its = _indices_of(out, indices) if accumulate and out.numel() else None
    named = [d for d, index in enumerate(its or ()) if index is not None]
    if named and out.is_contiguous() and _put(out, its, named, values):
        return out
    if named and out.is_cuda and all(its[d].dtype in _INDICES for d in named):
        indices = [index if index is None else _outside.keep_within(index, size, wraps=True)
                   for index, size in zip(its, out.shape)]
    return _aten._index_put_impl_(out, indices, values, accumulate, unsafe)


def _put(out, its, named, values):
    """Whether arc has added. What is indexed moves to the front: rows of what is not."""
    rest = [d for d in range(out.dim()) if d not in named]
    kept = [out.shape[d] for d in rest]
    first = named[0] if named[-1] - named[0] < len(named) else 0  # where PyTorch puts the index
    try:
        shape = torch.broadcast_shapes(*[its[d].shape for d in named])
        values = values.to(out.device) if values.dim() == 0 else values
        values = values.expand((*kept[:first], *shape, *kept[first:]))
    except RuntimeError:
        return False
    if out.dtype not in TYPES or not all(_may_add(out, its[d], values) for d in named):
        return False
    if shape.numel() == 0:  # nobody looks at indices that add nothing
        return True
    places = 0
    for d in named:
        index = _outside.keep_within(its[d], out.shape[d], wraps=True)
        if not index.is_cuda and not _lies_within(index, out.shape[d]):
            return False
        places = places * out.shape[d] + index.long()
    order, last = named + rest, first + len(shape)
    values = values.permute((*range(first, last), *range(first), *range(last, values.dim())))
    rows = out.permute(order).contiguous()  # out itself, if the index is in front
    index_add_(rows.view(-1, *kept), 0, places.expand(shape).flatten(),
               values.reshape(shape.numel(), *kept))
    if order != sorted(order):
        out.copy_(rows.permute([order.index(d) for d in range(out.dim())]))
    return True


def _sums_of_tokens(gradient, index, rows, padding, **how):
    sums = gradient.new_zeros(rows, gradient.shape[-1])
    _by.index_add_(sums, 0, index.reshape(-1), gradient.reshape(-1, gradient.shape[-1]), **how)
    if 0 <= padding < rows:
        sums[padding] = 0
    return sums


def _embedding_gradient(gradient, index, rows, padding, scales):
    fits = gradient.dim() > 0 and gradient.numel() == index.numel() * gradient.shape[-1]
    if fits and gradient.shape[-1] == 0 and index.dtype in _INDICES:
        return gradient.new_zeros(rows, 0)  # PyTorch's CUDA writes all the same
    fits = fits and rows > 0 and gradient.numel() > 0
    if fits and _may_add(gradient.new_empty(0), index, gradient):
        index = _outside.keep_within(index, rows)
        if not scales and (index.is_cuda or _lies_within(index, rows)):
            return _sums_of_tokens(gradient, index, rows, padding)
    return _aten.embedding_dense_backward(gradient, index, rows, padding, scales)


def _bincount(index, weights=None, minlength=0):
    if weights is None or index.dim() != 1 or index.numel() == 0 or \
            index.shape != weights.shape or \
            index.dtype not in _WHOLE or weights.is_complex() or minlength < 0 or \
            weights.device != index.device or int(index.min()) < 0:
        return torch.bincount(index, weights, minlength)
    weights = weights if weights.dtype == torch.float32 else weights.double()
    sums = weights.new_zeros(max(int(index.max()) + 1, minlength))
    return index_add_(sums, 0, index.long(), weights)


def _put_(out, index, source, accumulate=False):
    if index.dtype != torch.int64 or index.numel() != source.numel() or out.numel() == 0 or \
            not _may_add(out, index, source):
        return out.put_(index, source, accumulate)
    flat = out.reshape(-1)  # a copy, where it has to be one
    _index_put_(flat, [index.reshape(-1)], source.reshape(-1), accumulate)
    return out if out.is_contiguous() else out.copy_(flat.view(out.shape))


def _gradient_of_pool(operator, dims, keeps_layout=False):
    def gradient_of_pool(gradient, input, *how):
        index, planes = how[-1], input.shape[:-dims]
        if len(planes) not in (1, 2) or not gradient.shape == index.shape or \
                index.shape[:-dims] != planes or index.dtype != torch.int64 or \
                not index.numel() or not _may_add(input, index, gradient):
            return operator(gradient, input, *how)
        sums = gradient.new_zeros(planes.numel(), input.shape[-dims:].numel())
        _scatter_add_(sums, 1, index.reshape(len(sums), -1), gradient.reshape(len(sums), -1))
        sums = sums.view(input.shape)
        is_kept = keeps_layout and len(planes) == 2
        return sums.contiguous(memory_format=suggest_memory_format(input)) if is_kept else sums
    return gradient_of_pool


def _bag_gradient(gradient, indices, bags, sizes, most, rows, scales, mode, *rest):
    if mode != 2 or gradient.dim() != 2 or most.shape != gradient.shape or not most.numel():
        return _aten._embedding_bag_dense_backward(gradient, indices, bags, sizes, most, rows,
                                                   scales, mode, *rest)
    named = (most >= 0) & (sizes[:len(most), None] > 0)  # not of empty bags
    return _scatter_add_(gradient.new_zeros(rows, gradient.shape[1]), 0,
                         torch.where(named, most, 0).long(), torch.where(named, gradient, 0))


def _gradients_of_grid_sample(operator, axes):
    def gradients_of_grid_sample(gradient, input, grid, mode, padding, aligned, wanted):
        fits = BUILT and mode in (0, 1, 2)[:5 - axes] and \
            input.dim() == grid.dim() == gradient.dim() == axes + 2 and \
            input.dtype in TYPES and torch.float64 != input.dtype == grid.dtype == \
            gradient.dtype and input.device == grid.device == gradient.device and \
            gradient.shape == (*input.shape[:2], *grid.shape[1:-1]) and \
            grid.shape[0] == input.shape[0] and grid.shape[-1] == axes and \
            0 < input.shape[2:].numel() < 2**31 and gradient.shape[2:].numel() < 2**31
        if not fits:
            return operator(gradient, input, grid, mode, padding, aligned, wanted)
        return torch.ops.arc.grid_sample_backward(gradient, input, grid, mode, padding, aligned,
                                                  *wanted)
    return gradients_of_grid_sample


_gradients_of_pictures = _gradients_of_grid_sample(torch.ops.aten.grid_sampler_2d_backward, 2)


def _gradients_of_cudnn(input, grid, gradient):
    """What is not arc's PyTorch refuses then; cuDNN's it takes, though the sums differ."""
    return _gradients_of_pictures(gradient, input, grid, 0, 0, True, (True, True))


def _nll_loss_of_pictures(input, target, weight, reduction, ignored):
    operator = _aten.nll_loss2d_forward
    fits = input.dim() == 4 and target.dtype == torch.int64 and input.dtype in TYPES and \
        target.shape == input.shape[:1] + input.shape[2:] and target.device == input.device and \
        (weight is None or weight.shape == input.shape[1:2] and weight.dtype == input.dtype) and \
        (input.is_cuda or _lies_within(torch.where(target == ignored, 0, target), input.shape[1]))
    by = decomposition_table[operator.default] if fits else operator
    return by(input, target, weight, reduction, ignored)


def _of_copy(function):
    def out_of_place(out, *arguments, **keywords):
        copy = out.clone(memory_format=torch.contiguous_format)
        return function(copy, *arguments, **keywords)
    return out_of_place


def _pays(out, source):
    """By studies/results/h200/index_add.csv; rows of out that arc takes."""
    return source.numel() >= 10**6 and out.dim() > 0 and out.is_contiguous() and \
        0 < out.shape[1:].numel() <= (99 if out.dtype == torch.float64 else 1024) and \
        out.dtype in TYPES and source.dtype == out.dtype


def _faster_index_add(in_place):
    def faster_index_add(out, dim, index, source, *, alpha=1):
        if not _pays(out, source) or dim not in (0, -out.dim()) or index.dim() != 1 or \
                source.shape != (len(index), *out.shape[1:]) or not _may_add(out, index, source):
            return None
        return index_add_(out if in_place else out.clone(), 0, index, source, alpha=alpha)
    return faster_index_add


def _faster_scatter_add(in_place):
    def faster_scatter_add(out, dim, index, source):
        if not _pays(out, source) or dim not in (0, -out.dim()) or \
                index.shape != source.shape or index.dim() != out.dim() or \
                out.dtype == torch.float64 or len(index) < 2**14 or \
                not _may_add(out, index, source):
            return None
        keys = _keys_of_rows(index, out.shape)
        if keys is None:
            return None
        return index_add_(out if in_place else out.clone(), 0, keys, source)
    return faster_scatter_add


def _faster_index_put_(out, indices, values, accumulate=False, unsafe=False):
    if not accumulate or not _pays(out, values) or not 0 < len(indices) <= out.dim() or \
            any(i is None or i.dtype not in _INDICES or i.device != out.device for i in indices):
        return None
    places, rank = 0, len(indices)
    for index, size in zip(indices, out.shape):
        index = torch.where(index < 0, index + size, index).long()
        is_within = (index >= 0) & (index < size)  # else it might name another row
        places = torch.where(is_within, places * size + index, -1) if rank > 1 else index
    rows = out.view(-1, *out.shape[rank:])
    if values.shape != (*places.shape, *out.shape[rank:]) or not _may_add(out, places, values):
        return None
    _by.index_add_(rows, 0, places.reshape(-1), values.reshape(-1, *out.shape[rank:]),
                   round_once=True)
    return out


def _faster_embedding_gradient(gradient, index, rows, padding, scales):
    if scales or index.dtype not in _INDICES or gradient.dim() == 0 or rows == 0 or \
            gradient.numel() != index.numel() * gradient.shape[-1]:
        return None
    columns = min(gradient.shape[-1], 1024)  # wide ones pay as well: h200/embedding.csv
    if not _pays(gradient.new_empty(0, columns), gradient):
        return None
    return _sums_of_tokens(gradient, index, rows, padding, round_once=True)


_aten = torch.ops.aten
_INDICES = (torch.int64, torch.int32)
_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
_REPEATED = {
    _aten.index_add_.default: _index_add_, _aten.index_add.default: _of_copy(_index_add_),
    _aten.scatter_add_.default: _scatter_add_, _aten.scatter_add.default: _of_copy(_scatter_add_),
    _aten._index_put_impl_.default: _index_put_,  # what index_put and brackets end in
    _aten.embedding_dense_backward.default: _embedding_gradient, _aten.bincount.default: _bincount,
    _aten.put_.default: _put_,  # the gradient of take as well
    _aten._embedding_bag_dense_backward.default: _bag_gradient,
    _aten.nll_loss2d_forward.default: _nll_loss_of_pictures}
_REPEATED.update({how[0].default: _gradient_of_pool(*how) for how in (
    (_aten.adaptive_max_pool2d_backward, 2, True), (_aten.adaptive_max_pool3d_backward, 3),
    (_aten.fractional_max_pool2d_backward, 2), (_aten.fractional_max_pool3d_backward, 3),
    (_aten.max_pool3d_with_indices_backward, 3, True))})
_REPEATED_ON_CUDA = {
    _aten.grid_sampler_2d_backward.default: _gradients_of_pictures,
    _aten.grid_sampler_3d_backward.default: _gradients_of_grid_sample(
        _aten.grid_sampler_3d_backward, 3),
    _aten.cudnn_grid_sampler_backward.default: _gradients_of_cudnn}


_FASTER = {
    _aten.index_add_.default: _faster_index_add(in_place=True),
    _aten.index_add.default: _faster_index_add(in_place=False),
    _aten.scatter_add_.default: _faster_scatter_add(in_place=True),
    _aten.scatter_add.default: _faster_scatter_add(in_place=False),
    _aten._index_put_impl_.default: _faster_index_put_,
    _aten.embedding_dense_backward.default: _faster_embedding_gradient}


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
    if not hasattr(torch.library, "register_vmap"):
        raise RuntimeError(f"arc_torch needs PyTorch 2.5, this is {torch.__version__}")
    ahead = next(HERE.glob(f"{BUILT_AHEAD}.*.so"), None)
    if ahead is not None:
        try:
            torch.ops.load_library(ahead)
        except OSError as error:
            raise RuntimeError("arc_torch was built for another PyTorch, reinstall it: "
                               f"{_first_line(error)}") from error
    else:
        _compile(build_name(cuda), cuda)
    _register_rules()
    _by = torch.ops.arc
    BUILT = torch._C._dispatch_has_kernel_for_dispatch_key("arc::index_add_", "CUDA")


def build_name(cuda):
    """Of the folder of what is compiled: what one PyTorch has built another cannot load."""
    return re.sub(r"\W", "_", f"arc_torch{'' if cuda else '_cpu'}_{torch.__version__}")


def try_to_build(cuda):
    """Leaves all to PyTorch, with a warning, where that fails."""
    try:
        build(cuda)
    except Exception as error:  # of a compiler, ninja, a folder, a loader
        warnings.warn("arc_torch: the build has failed, PyTorch's own functions are used: "
                      f"{_first_line(error)}")


def _compile(name, cuda):
    from torch.utils import cpp_extension  # needs setuptools, which a Python may not have
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


def _first_line(error):
    """The compiler's first error, around which notes, carets and ninja's words may stand."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    return next((line for line in lines if "error:" in line), lines[-1])


if GPU:
    try_to_build(cuda=True)
