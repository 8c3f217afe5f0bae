"""test_calls.py [--calls 2400] [--seed 1] - arc_torch.deterministic() gives PyTorch's verdicts.
SPDX-License-Identifier: Apache-2.0

Random calls of what the context replaces, a third of them illegal, with 1 to 4 dimensions or none:
each is refused by the same kind of error as PyTorch's deterministic mode on the same device raises,
or gives equal values (multiples of a quarter, whose sums are exact). Where an index is outside, a
GPU is compared with the CPU's verdict, and the error is an IndexError. Tensors that are added to
lie between others, which must stay as they are."""
import collections
import math
import random
import sys

import testing  # first: skips where there is no PyTorch
import arc_torch
import torch
from testing import DEVICE, GPU, draw_values

testing.need_operators()
MARGIN, POISON = 64, 77
FLOATS = (torch.float32,) * 3 + (torch.float64, torch.float16, torch.bfloat16)
INDICES = (torch.int64, torch.int64, torch.int32)
Call = collections.namedtuple("Call", "name function arguments is_outside added_to")
draw = random.Random(int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 1)
CALLS = int(sys.argv[sys.argv.index("--calls") + 1]) if "--calls" in sys.argv else 2400


def draw_shape(least=0):
    return [draw.randint(1, 5) for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 4)) or least)]


def draw_index(size, shape, low=0):
    """Of these places; now and then one is outside. The index, and whether so."""
    index = torch.randint(low, size, shape, device=DEVICE)
    outside = index.numel() > 0 and draw.random() < 0.12
    if outside:
        index.view(-1)[draw.randrange(index.numel())] = draw.choice(
            (size, -size - 1 if low else -1, 10**6, -(10**6)))
    return index.to(draw.choice(INDICES)), outside


def draw_out(shape, dtype):
    """Between others that must not change."""
    n = math.prod(shape)
    whole = torch.full((n + 2 * MARGIN,), POISON, device=DEVICE, dtype=dtype)
    whole[MARGIN:MARGIN + n] = draw_values(n, dtype=dtype)
    return whole, whole[MARGIN:MARGIN + n].view(shape)


def spoil(shape):
    """A shape that is a little different."""
    shape = list(shape)
    how = draw.choice(("more", "less", "longer", "shorter"))
    if how == "longer" or not shape:
        return [*shape, draw.randint(1, 2)]
    if how == "shorter":
        return shape[:-1]
    at = draw.randrange(len(shape))
    shape[at] = max(0, shape[at] + (1 if how == "more" else -1))
    return shape


def other_type(tensor, is_bad):
    types = (torch.float32, torch.float64, torch.int16, torch.bool)
    return tensor.to(draw.choice(types)) if is_bad else tensor


def call_along(name, shape, dtype, dim, index, its, outside, bad):
    if bad == 3:
        dim = draw.choice((len(shape) + 1, -len(shape) - 2))
    elif draw.random() < 0.3:
        dim -= max(1, len(shape))
    whole, out = draw_out(shape, dtype)
    source = other_type(draw_values(*its, dtype=dtype), bad == 4)
    function = draw.choice((getattr(torch.Tensor, name + "_"), getattr(torch, name)))
    return Call(name, function, (out, dim, other_type(index, bad == 5), source), outside, whole)


def call_of_scatter(bad):
    shape, dtype = draw_shape(), draw.choice(FLOATS)
    dim = draw.randrange(max(1, len(shape)))
    sizes = [draw.randint(1, size) if i != dim else draw.randint(0, 7)
             for i, size in enumerate(shape)]
    index, outside = draw_index((shape or [1])[dim], sizes)
    if draw.random() < 0.3 and shape and dim == 0 and sizes[0] > 0:  # whole rows
        index = index[(slice(None), *[slice(1)] * (len(shape) - 1))]
        index = index.expand(sizes[0], *shape[1:])
        outside = bool(((index < 0) | (index >= shape[0])).any())
    if bad == 6 and len(shape) > 1:  # larger than out where that is not the dimension
        sizes = [size + (i != dim) for i, size in enumerate(shape)]
        index, outside = torch.zeros(sizes, device=DEVICE, dtype=torch.int64), False
    its = [size + draw.randint(0, 1) for size in index.shape]
    if bad == 1:
        its = spoil(its)
    elif bad == 2:
        index = torch.zeros(spoil(index.shape), device=DEVICE, dtype=index.dtype)
        outside = False
    return call_along("scatter_add", shape, dtype, dim, index, its, outside, bad)


def call_of_index_add(bad):
    shape, dtype = draw_shape(), draw.choice(FLOATS)
    dim = draw.choice((0, 0, draw.randrange(max(1, len(shape)))))
    n = draw.randint(0, 7) if shape else 1
    index, outside = draw_index((shape or [1])[dim], [n] if shape or draw.random() < 0.5 else [])
    its = [n if i == dim else size for i, size in enumerate(shape)]
    if bad == 1:
        its = spoil(its)
    elif bad == 2:
        index, outside = torch.zeros(spoil(index.shape), device=DEVICE, dtype=index.dtype), False
    return call_along("index_add", shape, dtype, dim, index, its, outside, bad)


def draw_brackets(shape, bad):
    """For each dimension an index, a part of a mask, or None; whether one is outside."""
    common, its, outside, at = draw_shape()[:2], [], False, 0
    has_mask = draw.random() < 0.2
    while at < len(shape) and (not its or draw.random() < 0.7):
        kind = draw.choice(("index", "index", "slice"))
        if has_mask:
            has_mask, kind, common = False, "mask", []
        if kind == "mask":
            covered = draw.randint(1, len(shape) - at)
            sizes = shape[at:at + covered]
            its.append(torch.rand(spoil(sizes) if bad == 6 else sizes, device=DEVICE) < 0.5)
            at += covered
            continue
        if kind == "slice":
            its.append(None)
        else:
            sizes = [draw.choice((1, size)) for size in common[draw.randint(0, len(common)):]]
            index, is_out = draw_index(shape[at], sizes, -shape[at])
            its.append(index)
            outside = outside or is_out
        at += 1
    if bad == 2 and its:
        its += [torch.zeros(1, device=DEVICE, dtype=torch.int64)] * (len(shape) + 1 - at)
    if bad == 5 and its:
        which = draw.randrange(len(its))
        if its[which] is not None:
            its[which] = its[which].to(draw.choice((torch.float32, torch.int16)))
    return its, outside


def call_of_index_put(bad):
    shape, dtype = draw_shape(1), draw.choice(FLOATS)
    its, outside = draw_brackets(shape, bad)
    whole, out = draw_out(shape, dtype)
    try:  # what the brackets give, where they are legal
        safe = [i if i is None or i.dtype == torch.bool else i.long().clamp(-s, s - 1)
                for i, s in zip(its, shape)]
        sizes = list(torch.ops.aten.index.Tensor(out.cpu(), [
            i if i is None else i.cpu() for i in safe]).shape)
    except (IndexError, RuntimeError):
        sizes = []
    sizes = [draw.choice((size, size, 1)) for size in sizes[draw.choice((0, 0, len(sizes) // 2)):]]
    values = other_type(draw_values(*(spoil(sizes) if bad == 1 else sizes), dtype=dtype), bad == 4)
    function = draw.choice((torch.ops.aten.index_put_, torch.ops.aten.index_put))
    return Call("index_put", function, (out, its, values, True), outside, whole)


def call_of_bincount(bad):
    n = draw.randint(0, 20)
    index = torch.randint(0, 9, (n,), device=DEVICE).to(draw.choice((*INDICES, torch.uint8)))
    weights, least = draw_values(n, dtype=draw.choice(FLOATS)), draw.choice((0, 3, 20))
    if bad == 1:
        weights = draw_values(*spoil(weights.shape))
    elif bad == 2:
        index = index.reshape(-1, 1)
    elif bad == 3:
        least = -draw.randint(1, 5)
    elif bad == 4 and n:
        index = index.long()
        index[draw.randrange(n)] = -1
    elif bad == 5:
        index = index.float()
    return Call("bincount", torch.bincount, (index, weights, least), False, None)


def call_of_embedding_gradient(bad):
    # PyTorch's CUDA writes outside where there are no columns
    rows, width, shape = draw.randint(1, 9), draw.randint(GPU, 5), draw_shape(1)
    index, outside = draw_index(rows, shape)
    gradient = draw_values(*(spoil(shape) if bad == 1 else shape), width,
                           dtype=draw.choice(FLOATS))
    if outside:  # PyTorch does not look; test_index_outside does
        index, outside = index.clamp(0, rows - 1), False
    index = other_type(index, bad in (2, 3, 4, 5))
    return Call("gradient of embedding", torch.ops.aten.embedding_dense_backward,
                (gradient, index, rows, draw.randint(-1, rows - 1), False), outside, None)


def call_of_gradient(bad):
    """Of x[:, i], gather and index_select, whose indices the forward pass has looked at."""
    shape = draw_shape(1)
    weight = draw_values(*shape, dtype=draw.choice(FLOATS)).requires_grad_()
    dim = draw.randrange(len(shape))
    its, _ = draw_brackets(shape, 0)
    its = [slice(None) if i is None else i if i.dtype == torch.bool else i.long() % s
           for i, s in zip(its, shape)]
    index = torch.randint(0, shape[dim], (5,), device=DEVICE)
    wide = torch.randint(0, shape[dim], [draw.randint(1, size) for size in shape], device=DEVICE)
    forward = draw.choice((lambda w: w[tuple(its)], lambda w: w.gather(dim, wide),
                           lambda w: w.index_select(dim, index)))

    def gradient(weight):
        result = forward(weight)
        upstream = torch.arange(result.numel(), device=DEVICE).view(result.shape) % 9 / 4
        upstream = upstream if bad != 1 else upstream[None]
        return torch.autograd.grad(result, weight, upstream.to(weight.dtype))[0]
    return Call("gradient", gradient, (weight,), False, None)


KINDS = (call_of_scatter, call_of_index_add, call_of_index_put, call_of_bincount,
         call_of_embedding_gradient, call_of_gradient)


def copies(value, device):
    if isinstance(value, (list, tuple)):
        return type(value)(copies(each, device) for each in value)
    return value.to(device, copy=True) if torch.is_tensor(value) else value


def verdict(function, arguments):
    """The kind of error, or None; the values."""
    kind = None
    try:
        result = function(*arguments)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        kind, result = type(error), str(error)
    if GPU:
        torch.cuda.synchronize()  # a kernel that has asserted ends the test
    return kind, result


def in_context(call):
    """An index outside may be told of as late as the context's end."""
    def function(*arguments):
        with arc_torch.deterministic(warn_only=True):
            return call.function(*arguments)
    kind, result = verdict(function, call.arguments)
    if kind is None and torch.is_tensor(result):
        result = result.detach().clone()
    return kind, result


def by_pytorch(call):
    """On a GPU its deterministic mode refuses to scatter numbers, which its other mode adds."""
    has_number = call.name == "scatter_add" and any(
        torch.is_tensor(each) and each.dim() == 0 for each in call.arguments)
    on_cpu = GPU and (call.is_outside or has_number)
    arguments = copies(call.arguments, "cpu") if on_cpu else call.arguments
    if not on_cpu and call.added_to is not None:
        arguments = (call.arguments[0].clone(), *call.arguments[1:])
    torch.use_deterministic_algorithms(True, warn_only=True)
    kind, result = verdict(call.function, arguments)
    torch.use_deterministic_algorithms(False)
    return kind, result


def test_calls():
    refused = outside = 0
    for number in range(CALLS):
        bad = draw.randint(1, 6) if draw.random() < 0.5 else 0
        call = draw.choice(KINDS)(bad)
        what = (number, call.name, call.function, bad, [
            (tuple(a.shape), a.dtype) if torch.is_tensor(a) else a for a in call.arguments])
        before = call.added_to.clone() if call.added_to is not None else None
        wanted_kind, wanted = by_pytorch(call)
        kind, got = in_context(call)
        refused += wanted_kind is not None
        outside += call.is_outside
        if GPU and call.is_outside and wanted_kind is not None:
            assert kind in (IndexError, wanted_kind), (what, kind, got, wanted)
        else:
            assert kind == wanted_kind, (what, kind, got, wanted_kind, wanted)
        if kind is None:
            assert got.dtype == wanted.dtype and got.shape == wanted.shape, what
            assert torch.equal(got, wanted.to(got.device)), (what, got, wanted)
        if before is not None:
            beside = torch.cat((call.added_to[:MARGIN], call.added_to[-MARGIN:]))
            assert (beside == POISON).all(), (what, "written outside")
            if kind is not None and not call.is_outside:
                assert torch.equal(before, call.added_to), (what, "refused, and added")
    print(f"{CALLS} calls, {refused} of them refused, {outside} with an index outside")
    assert 3 * refused >= CALLS and refused - outside > CALLS // 8, "too few are illegal"


testing.run("test_calls", [], of_contexts=[test_calls])
