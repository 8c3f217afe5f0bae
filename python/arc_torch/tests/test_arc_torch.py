"""test_arc_torch.py - arc_torch does what PyTorch does, on the GPU or else the CPU.
SPDX-License-Identifier: Apache-2.0

Values are multiples of a quarter whose sums all types represent, so that results must be equal."""
import ctypes
import itertools
import multiprocessing
import pathlib
import re
import subprocess
import sys
from unittest import mock

import testing  # first: skips where there is no PyTorch
import arc_torch
import torch
from testing import DEVICE, GPU, draw_keys, draw_values, gradient_of, same

testing.need_operators()
OPERATORS = torch.ops.arc
WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 31, 32, 33, 48, 64,
          100, 128, 129, 200, 256, 384]


def add(out, index, values, alpha=1):
    """By arc, and by PyTorch in double precision."""
    wanted = out.double().index_add(0, index, values.double(), alpha=alpha).to(out.dtype)
    result = arc_torch.index_add_(out, 0, index, values, alpha=alpha)
    assert result is out
    return out, wanted


def test_values():
    for dtype in arc_torch.TYPES:
        for width in WIDTHS:
            for kind in ("random", "sorted", "runs", "hot"):
                rows, n = (40, 300) if dtype == torch.bfloat16 else (100, 2000)
                index = draw_keys(kind, rows, n).to(torch.int32 if width % 2 else torch.int64)
                values = draw_values(n, width, dtype=dtype) / (8 if kind == "hot" else 1)
                if dtype in (torch.bfloat16, torch.float16) and kind == "hot":
                    values[torch.arange(n, device=DEVICE) % 16 > 0] = 0
                same(*add(draw_values(rows, width, dtype=dtype), index, values), dtype, width, kind)


def test_shapes():
    index = draw_keys("random", 50, 400)
    same(*add(draw_values(50, 3, 5), index, draw_values(400, 3, 5)), "three dimensions")
    same(*add(draw_values(50, 8), index, draw_values(8, 400).t()), "values transposed")
    same(*add(draw_values(50, 8), index, draw_values(400, 20)[:, 4:12]), "values with a stride")
    same(*add(draw_values(50, 8), index, draw_values(800, 8)[::2]), "every second row")
    same(*add(draw_values(50, 8), index, draw_values(1, 8).expand(400, 8)), "one row, expanded")
    same(*add(draw_values(8, 50).t(), index, draw_values(400, 8)), "out transposed")
    whole = draw_values(50, 20)
    before = whole.clone()
    same(*add(whole[:, 3:11], index, draw_values(400, 8)), "out with a stride")
    same(whole[:, :3], before[:, :3], "columns beside")
    same(whole[:, 11:], before[:, 11:], "columns beside")
    same(*add(draw_values(50, 8), index.repeat_interleave(2)[::2], draw_values(400, 8)), "index")
    same(*add(draw_values(50, 9), index, draw_values(400, 9), alpha=-0.5), "alpha")
    same(*add(draw_values(50, 9), index[:0], draw_values(0, 9)), "no rows")
    same(*add(draw_values(50, 0), index, draw_values(400, 0)), "no columns")
    same(*add(draw_values(50), index, draw_values(400)), "one dimension")
    out = draw_values(50, 9)
    same(arc_torch.index_add(out, 1, index[:9] % 9, out[:, :9]),
         out.index_add(1, index[:9] % 9, out[:, :9]), "columns")


class Calls(torch.utils._python_dispatch.TorchDispatchMode):
    """The names of all operators that are called."""
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.names.append(str(function))
        return function(*arguments, **keywords or {})


def test_scatter_add():
    """One column of keys is arc's, whether it is expanded or the only one; others are PyTorch's."""
    keys = draw_keys("random", 50, 400)
    column = keys[:, None]
    for shape, index in (((9,), column.expand(400, 9)), ((1,), column), ((), keys),
                         ((1,), keys.repeat_interleave(2)[::2, None]),
                         ((3, 5), column[:, :, None].expand(400, 3, 5)),
                         ((3, 1), column[:, :, None].expand(400, 3, 1))):
        out, values = draw_values(50, *shape), draw_values(400, *shape)
        with Calls() as calls:
            got = arc_torch.scatter_add(out, 0, index, values)
        assert "arc.index_add.default" in calls.names, (shape, calls.names)
        same(got, out.scatter_add(0, index, values), "scatter_add", shape)
    out, values = draw_values(50, 9), draw_values(400, 9)
    assert GPU or raises(arc_torch.scatter_add, out[:0], 0, column.expand(400, 9), values)
    for dim, index, source in ((0, torch.randint(0, 50, (400, 9), device=DEVICE), values),
                               (0, column.expand(400, 7), values),
                               (0, column.expand(400, 7), values[:, :7]),
                               (0, keys[:70, None].expand(70, 9), values),
                               (1, torch.randint(0, 9, (50, 9), device=DEVICE), values)):
        same(arc_torch.scatter_add(out, dim, index, source), out.scatter_add(dim, index, source))


def deterministic(function, *arguments, mode=True, **keywords):
    torch.use_deterministic_algorithms(mode)
    try:
        return function(*arguments, **keywords)
    finally:
        torch.use_deterministic_algorithms(False)


def test_embedding_gradients():
    """Each sum is rounded once, however many tokens a row has; in all modes."""
    rows = 200
    for dtype, width, kind in itertools.product(
            (torch.float32, torch.float16, torch.bfloat16), (1, 5, 8, 100, 768),
            ("random", "sorted", "runs", "hot")):
        for n, type_ in ((1, torch.int64), (50, torch.int32), (5000, torch.int64)):
            index = draw_keys(kind, rows, n).to(type_)
            upstream, weight = draw_values(n, width).abs().to(dtype), draw_values(rows, width)
            zeros = torch.zeros(rows, width, device=DEVICE, dtype=torch.float64)
            wanted = zeros.index_add(0, index, upstream.double()).to(dtype)
            for function in (arc_torch.embedding, arc_torch.index_select):
                got = gradient_of(function, weight.to(dtype), index, upstream)
                same(got, wanted, dtype, width, kind, n)
                got = deterministic(gradient_of, function, weight.to(dtype), index, upstream)
                same(got, wanted, "deterministic", dtype, width, kind, n)
    weight = weight.to(dtype)
    got = torch.func.vmap(lambda i, u: torch.func.vjp(
        lambda w: arc_torch.embedding(w, i), weight)[1](u)[0])(index[None], upstream[None])
    same(got[0], wanted, "vmap")
    compiled = torch.compile(arc_torch.embedding, backend="aot_eager")
    same(gradient_of(compiled, weight, index, upstream), wanted, "compiled")
    one, ones = torch.full((10_000,), 3, device=DEVICE), torch.ones_like(weight[0])
    got = gradient_of(arc_torch.embedding, weight, one, ones.expand(10_000, width))
    assert (got[3] == 9984).all() and got.count_nonzero() == width, got[3]


def raises(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except (RuntimeError, IndexError, TypeError):
        return True
    return False


def test_arguments():
    """Names, numbers and shapes that PyTorch takes or refuses."""
    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    same(arc_torch.index_add(input=out, dim=0, index=index, source=values, alpha=2),
         torch.index_add(input=out, dim=0, index=index, source=values, alpha=2), "names")
    same(arc_torch.scatter_add(input=out, dim=0, index=index[:, None].expand(400, 9), src=values),
         out.index_add(0, index, values), "names")
    copy = out.clone()
    same(arc_torch.index_add_(copy, dim=0, index=index, source=values, alpha=torch.tensor(2)),
         out.index_add(0, index, values, alpha=2), "a tensor for a number")
    numbers = [2, -0.5, True, 1j, 1e5, 1e39, 1e300, float("inf"), torch.tensor(0.5),
               torch.tensor(1e300, dtype=torch.float64), torch.tensor([2.0]), torch.ones(2),
               torch.tensor(2.0, requires_grad=True), "2", None]
    for alpha, dtype in itertools.product(numbers, arc_torch.TYPES):
        for mode in (False, True):
            arguments = out.abs().to(dtype), 0, index, values.abs().to(dtype)
            def add(by): return deterministic(by.index_add, *arguments, mode=mode, alpha=alpha)
            refused = raises(add, testing.ByTorch)
            assert raises(add, arc_torch) == refused, (alpha, dtype, mode, refused)
            if not refused:
                assert torch.allclose(add(arc_torch), add(testing.ByTorch), equal_nan=True,
                                      rtol=8 * torch.finfo(dtype).eps), (alpha, dtype, mode)
    for function in (arc_torch.embedding, testing.ByTorch.embedding):
        for weight in (draw_values(50), draw_values()):
            assert raises(function, weight, index), (function, weight.shape)


def test_autocast():
    """scatter_add takes two types where PyTorch's does, and gives what it gives."""
    keys = draw_keys("random", 50, 400)
    types = (torch.float32, torch.float16, torch.bfloat16)
    for of_out, of_values, lower in itertools.product(types, types, types[1:]):
        out, values = draw_values(50, 9, dtype=of_out), draw_values(400, 9, dtype=of_values)
        index = keys[:, None].expand(400, 9)
        with torch.autocast(DEVICE, dtype=lower):
            if raises(torch.scatter_add, out, 0, index, values):
                assert raises(arc_torch.scatter_add, out, 0, index, values), (of_out, of_values)
                continue
            wanted = torch.scatter_add(out, 0, index, values)
            got = arc_torch.scatter_add(out, 0, index, values)
        assert got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
        same(got, wanted, of_out, of_values, lower)


def test_errors():
    """What PyTorch refuses is refused, by the raw operators too, and nothing has been added."""
    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    shared = draw_values(500, 9)
    bad = [(out, 0, index[:7], values), (out, 0, index, values[:, :5]), (out, 2, index, values),
           (out, 0, index, values.double()), (out, 0, index.float(), values),
           (out, 0, index.short(), values), (out, 0, index, draw_values(400, 12)),
           (out, 0, index.repeat(2), values), (out.long(), 0, index, values),
           (out, 0, index[:, None], values), (out, 0, index, values[:, :, None]),
           (out[:1].expand(50, 9), 0, index, values), (shared[:50], 0, index, shared[40:440])]
    if GPU:
        bad += [(out, 0, index.cpu(), values), (out, 0, index, values.cpu())]
    for arguments in bad:
        before = [x.clone() if torch.is_tensor(x) else x for x in arguments]
        for function in (arc_torch.index_add_, OPERATORS.index_add_, torch.Tensor.index_add_):
            what = [(x.shape, x.dtype) for x in arguments if torch.is_tensor(x)]
            assert raises(function, *arguments), f"{function}: no error for {what}"
        same(arguments[0], before[0], "left alone", what)
    assert raises(arc_torch.index_add_, out, 0, index, values, alpha=1j)
    for padding in (50, -51):
        assert raises(arc_torch.embedding, out, index, padding)
    for key in (-1, 50):  # on CUDA what follows is lost: a process of its own
        program = ("import testing, torch, arc_torch; testing.need_operators()\n"
                   f"out = torch.zeros(50, 9, device='{DEVICE}')\n"
                   f"arc_torch.index_add_(out, 0, torch.tensor([1, {key}], device='{DEVICE}'), "
                   f"torch.ones(2, 9, device='{DEVICE}')); print(out.sum().item())")
        run = subprocess.run([sys.executable, "-B", "-c", program], cwd=sys.path[0], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        named = "assert" in run.stdout or "bounds" in run.stdout or "out of range" in run.stdout
        assert run.returncode != 0 and named, run.stdout


def test_leaf():
    """An add into a leaf that requires a gradient raises before anything is added."""
    index, values = draw_keys("random", 50, 400), draw_values(400, 9)
    leaf = draw_values(50, 9).requires_grad_()
    before = leaf.detach().clone()
    for out in (leaf, leaf[:], leaf.view(50, 3, 3).view(50, 9)):
        assert raises(arc_torch.index_add_, out, 0, index, values)
        same(leaf.detach(), before, "a leaf")
    with torch.no_grad():
        arc_torch.index_add_(leaf, 0, index, values)
    same(leaf.detach(), before.index_add(0, index, values), "without gradients")


def test_versions():
    """Autograd knows of the change; in inference mode there is nothing to know."""
    index, values, out = draw_keys("random", 50, 400), draw_values(400, 9), draw_values(50, 9)
    for change in range(3):
        version = out._version
        arc_torch.index_add_(out, 0, index, values)
        assert out._version == version + 1
    factor = draw_values(50, 9).requires_grad_()
    product = factor * out  # needs out in its gradient
    arc_torch.index_add_(out, 0, index, values)
    assert raises(product.sum().backward)
    with torch.inference_mode():
        wanted = out.index_add(0, index, values)
        same(arc_torch.index_add(out, 0, index, values), wanted, "in inference mode")
        same(arc_torch.index_add_(out.clone(), 0, index, values), wanted, "in inference mode")


def test_deterministic():
    infinity, none = float("inf"), float("nan")
    # the last: so large an out for so few rows that keys are sorted
    shapes = (60, 5000, 9), (60, 5000, 192), (30000, 300, 192)
    for dtype, (rows, n, width) in itertools.product(arc_torch.TYPES, shapes):
        index, values = draw_keys("hot", rows, n), torch.randn(n, width, device=DEVICE).to(dtype)
        out = torch.randn(rows, width, device=DEVICE).to(dtype)
        wanted = out.double().index_add(0, index, values.double())
        first = deterministic(arc_torch.index_add, out, 0, index, values)
        bound = torch.finfo(dtype).eps * wanted.abs().clamp(min=1e-2)
        if GPU and dtype != torch.float64:
            assert ((first.double() - wanted).abs() <= bound).all(), dtype
        for _ in range(10):
            order = torch.randperm(n, device=DEVICE)
            if dtype == torch.float64 or not GPU:
                order = torch.arange(n, device=DEVICE)
            again = deterministic(arc_torch.index_add, out, 0, index[order], values[order])
            same(again, first, dtype, "run after run, in any order")
        for special in ([infinity], [none], [infinity, -infinity], [infinity, infinity, none]):
            values = draw_values(n, width, dtype=dtype) / 4
            for i, x in enumerate(special):
                values[(index == 3).nonzero()[7 * i], 5] = x
            got = deterministic(arc_torch.index_add, out, 0, index, values)
            plain = torch.index_add(out, 0, index, values)
            same(got[3, 5].isnan(), plain[3, 5].isnan(), dtype, special)
            if not got[3, 5].isnan():
                same(got[3, 5], plain[3, 5], dtype, special)
            assert got.isfinite().sum() == got.numel() - 1, (dtype, special)
    for size in (1e-30, 1.0, 1e30, 3e38):
        index, values = draw_keys("random", 7, 20), torch.rand(20, 3, device=DEVICE) * size
        got = deterministic(arc_torch.index_add, torch.zeros(7, 3, device=DEVICE), 0, index, values)
        wanted = torch.zeros(7, 3, device=DEVICE).double().index_add(0, index, values.double())
        error = ((got.double() - wanted.float().double()).abs() / wanted.clamp(min=size / 100))
        bound = 2e-7 + 20 * 2.0 ** -127 / (size / 100)  # a scale is 2^126 at most
        assert (error[wanted < 3.4e38] < bound).all(), size
        assert (got[wanted > 3.5e38] == infinity).all(), size


def calls_of(dtype, draw, n=400):
    """PyTorch's functions: {name: function of an order of the rows}."""
    rows = 50
    index, column = draw_keys("hot", rows, n), torch.randint(0, 9, (n,), device=DEVICE)
    places = torch.randint(0, rows, (n, 9), device=DEVICE)
    out, values = draw(rows, 9).to(dtype), draw(n, 9).to(dtype)
    volume = draw(2, 3, 5, 7, 8).to(dtype, memory_format=torch.channels_last_3d)
    picture = draw(2, 3, 7, 9).to(dtype, memory_format=torch.channels_last)
    f, by, bags = torch.nn.functional, testing.ByTorch, torch.arange(0, n, 7, device=DEVICE)
    where = torch.rand(2, 3, 3, device=DEVICE)
    bags[3] = bags[2]  # an empty one

    def pooled(pool, x, *how, **keywords):
        upstream = draw(*pool(x, *how, **keywords).shape).to(dtype)
        return lambda o: gradient_of(lambda w, _: pool(w, *how, **keywords), x, None, upstream)

    upstream = draw(len(bags), 9).to(dtype)
    return {
        "adaptive_max_pool2d": pooled(f.adaptive_max_pool2d, picture, (5, 4)),
        "adaptive_max_pool3d": pooled(f.adaptive_max_pool3d, volume[0], 3),
        "max_pool3d": pooled(f.max_pool3d, volume, 3, 1),
        "fractional_max_pool2d": pooled(
            f.fractional_max_pool2d, picture, 3, (3, 4), _random_samples=where[..., :2].to(dtype)),
        "fractional_max_pool3d": pooled(
            f.fractional_max_pool3d, volume, 2, (3, 4, 4), _random_samples=where.to(dtype)),
        "embedding_bag by max": lambda o: gradient_of(
            lambda w, i: f.embedding_bag(i, w, bags, mode="max"), out, index, upstream),
        "embedding_bag by max, with an end": lambda o: gradient_of(
            lambda w, i: f.embedding_bag(i, w, bags, mode="max", include_last_offset=True),
            out, index, upstream[1:]),
        "put_": lambda o: out.t().clone().put_(places[o] - rows, values[o], accumulate=True),
        "take": lambda o: gradient_of(lambda w, i: w.take(i), out, places[o], values[o]),
        "index_add_": lambda o: out.clone().index_add_(0, index[o], values[o]),
        "index_add": lambda o: out.index_add(-2, index[o], values[o], alpha=2),
        "scatter_add_": lambda o: out.clone().scatter_add_(
            0, index[o, None].expand(-1, 9), values[o]),
        "scatter_add of elements": lambda o: out.scatter_add(0, places[o, :7], values[o]),
        "scatter_add of columns": lambda o: out.t().contiguous().scatter_add_(
            1, places.t()[:, o], values.t()[:, o]),
        "index_put_": lambda o: out.clone().index_put_((index[o] - rows,), values[o], True),
        "index_put of places": lambda o: out.index_put(
            (index[o], column[o]), values[o, 0], accumulate=True),
        "index_put of a number": lambda o: out.index_put(
            (index[o, None], column[o][:3]), values[0, 0], accumulate=True),
        "index_put of a mask": lambda o: out.index_put((out > 0,), values[0, 0], accumulate=True),
        "bincount": lambda o: torch.bincount(index[o], values[o, 0], 60),
        "embedding": lambda o: gradient_of(by.embedding, out, index[o], values[o]),
        "embedding, padded": lambda o: gradient_of(
            lambda w, i: by.embedding(w, i, 3), out, index[o].view(2, -1),
            values[o].view(2, -1, 9)),
        "index_select": lambda o: gradient_of(by.index_select, out, index[o], values[o]),
        "gather": lambda o: gradient_of(lambda w, i: w.gather(0, i), out, places[o], values[o]),
        "brackets": lambda o: gradient_of(lambda w, i: w[i], out, index[o], values[o])}


def keep_busy():
    """The GPU, on another stream."""
    with torch.cuda.stream(torch.cuda.Stream()):
        a = torch.rand(512, 512, device=DEVICE)
        for _ in range(20):
            a = a.sin() + a.t()


def test_context():
    """What PyTorch's functions give, by arc, and on the GPU the same bits in any order."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        for name, call in calls_of(dtype, draw_values).items():
            order = torch.arange(400, device=DEVICE)
            try:
                wanted = call(order)
            except NotImplementedError as error:  # by PyTorch's CUDA, as embedding_bag's maximum
                assert GPU and dtype == torch.bfloat16, (name, dtype, error)
                continue
            with mock.patch("arc_torch._by", wraps=arc_torch._by) as by:
                with arc_torch.deterministic():
                    got = call(order)
                added = by.index_add_.call_count
                assert added > 0, name
                call(order)
                assert by.index_add_.call_count == added, f"{name}: behind the context, too"
            assert not torch.are_deterministic_algorithms_enabled()
            same(got, wanted, "deterministic", name, dtype)
            assert got.dtype == wanted.dtype, (name, dtype, got.dtype)
            assert got.stride() == wanted.stride(), (name, dtype, got.stride())

        def draw(*shape):
            return torch.randn(shape, device=DEVICE)
        for name, call in calls_of(dtype, draw).items() if GPU and dtype != torch.float64 else ():
            in_double = name == "bincount" and dtype != torch.float32
            with arc_torch.deterministic():
                first = call(order)
                for _ in range(6):
                    keep_busy()
                    is_ordered = in_double or "number" in name
                    other = order if is_ordered else torch.randperm(400, device=DEVICE)
                    same(call(other), first, "in any order", name)
    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    huge, one = torch.empty(2**16, 2**15 + 1, dtype=torch.float16), torch.ones(1).half()
    huge[-1, 0] = huge[-1, -1] = 0  # 4 GiB, of which the rest is not touched
    last = [torch.tensor([size - 1], dtype=torch.int32) for size in huge.shape]
    with arc_torch.deterministic():
        huge.index_put_(last, one, accumulate=True).scatter_add_(0, last[0][None], one[None])
        none = torch.ops.aten.embedding_dense_backward(draw_values(2, 0), index[:2], 5, -1, False)
    assert huge[-1, 0] == huge[-1, -1] == 1, "indices of 32 bits"
    assert none.shape == (5, 0), "no columns"
    with arc_torch.deterministic(), arc_torch.deterministic():
        got = gradient_of(lambda w, i: w[:, i], out, index % 9, values.t()[:1].expand(50, 400))
        same(got[7], torch.zeros(9, device=DEVICE).index_add(0, index % 9, values[:, 0]), "columns")


def gradients_of_grid_sample(input, grid, upstream, **how):
    input, grid = input.detach().requires_grad_(), grid.detach().requires_grad_()
    result = torch.nn.functional.grid_sample(input, grid, **how)
    return torch.autograd.grad(result, (input, grid), upstream)


def test_grid_sample():
    """Both gradients, as in double precision; the same bits in any order of the samples."""
    shapes = {2: ((2, 9, 11), (2, 13, 40)), 3: ((2, 5, 6, 7), (2, 3, 4, 35))}
    for axes, mode, padding, aligned, dtype in itertools.product(
            shapes, ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"),
            (False, True), arc_torch.TYPES):
        if axes == 3 and mode == "bicubic":
            continue
        how = dict(mode=mode, padding_mode=padding, align_corners=aligned)
        of_input, of_grid = shapes[axes]
        of_input = of_input[0], 3 if aligned else 6, *of_input[1:]
        input = torch.randn(of_input, device=DEVICE).to(dtype)
        input = input.movedim(1, -1).contiguous().movedim(-1, 1)  # channels last
        grid = (2.4 * torch.rand(*of_grid, axes, device=DEVICE) - 1.2).to(dtype)
        upstream = torch.randn(*of_input[:2], *of_grid[1:], device=DEVICE).to(dtype)
        wanted = gradients_of_grid_sample(*(x.double().cpu() for x in (input, grid, upstream)),
                                          **how)
        if dtype == torch.float64:
            with arc_torch.deterministic():
                assert raises(gradients_of_grid_sample, input, grid, upstream, **how), how
            continue
        with arc_torch.deterministic():
            got = gradients_of_grid_sample(input, grid, upstream, **how)
            for _ in range(3):
                keep_busy()
                order = torch.randperm(of_grid[-1], device=DEVICE)
                again = gradients_of_grid_sample(input.contiguous(), grid[..., order, :],
                                                 upstream[..., order], **how)
                same(again[0], got[0], "in any order", how, dtype)
                same(again[1], got[1][..., order, :], "of the grid", how, dtype)
        bound = 2e-5 if dtype == torch.float32 else 4 * torch.finfo(dtype).eps
        for a, b in zip(got, wanted):
            error = (a.double().cpu() - b).abs() / (1 + b.abs())
            assert error.max() <= bound * (1 if a.shape == input.shape else 50), (how, dtype)
    points, one = torch.rand(2, 500, 1, 2, device=DEVICE) - 0.5, torch.randn(2, 3, 500, 1)
    picture, one = torch.randn(2, 3, 8, 8, device=DEVICE), one.to(DEVICE)
    wanted = gradients_of_grid_sample(picture, points, one, align_corners=False)
    with arc_torch.deterministic():
        for grid, upstream in ((points, one), (points.mT.contiguous().mT, one),
                               (points.movedim(2, 1), one.mT)):
            got = gradients_of_grid_sample(picture, grid, upstream, align_corners=False)
            assert torch.allclose(got[0], wanted[0], atol=1e-4), "points"
            assert torch.allclose(got[1].reshape(-1), wanted[1].reshape(-1), atol=1e-4), "points"
        got = gradients_of_grid_sample(picture, points, torch.ones(1, device=DEVICE).expand(
            2, 3, 500, 1), align_corners=False)
        assert abs(got[0].sum() - 3000) < 1e-2, "an expanded gradient"
        empty = gradients_of_grid_sample(picture, points[:, :0], one[:, :, :0], align_corners=True)
        assert not empty[0].any() and empty[1].shape == (2, 0, 1, 2)


def test_example():
    run = subprocess.run([sys.executable, "-B", "fit_flow.py", "48", "6"], cwd=arc_torch.HERE,
                         stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0 and run.stdout.count("the same") >= 1 + (not GPU), run.stdout


def test_fast():
    """What PyTorch gives: by arc where it is faster, else by PyTorch, and behind the context."""
    big = 10**6 // 9 + 1
    out, index, places = draw_values(50, 9), draw_keys("hot", 50, big), draw_keys("hot", 9, big)
    values, all_ = draw_values(big, 9), calls_of(torch.float32, draw_values, big)
    calls = {name: all_[name] for name in ("index_add_", "index_add", "scatter_add_", "index_put_",
                                           "embedding, padded", "index_select", "brackets")}
    calls["scatter_add"] = lambda o: out.scatter_add(0, index[o, None].expand(-1, 9), values[o])
    calls["index_put of two"] = lambda o: out[:, :, None].repeat(1, 1, 9).index_put(
        (index[o] - 50, places[o]), values[o], accumulate=True)
    left = {
        "a scatter of doubles": lambda: out.double().scatter_add(
            0, index[:, None].expand(big, 9), values.double()),
        "too many columns": lambda: out.t().repeat(1, 30).index_add(
            0, places[:1000], values[:1, :1].expand(1000, 1500)),
        "another dimension": lambda: out.index_add(1, places, values[:1, :1].expand(50, big)),
        "few rows": lambda: out.repeat(1, 100).scatter_add(
            0, index[:1250, None].expand(1250, 900), values[:1250, :1].expand(1250, 900)),
        "whole numbers": lambda: out.long().index_add(0, index, values.long()),
        "put": lambda: out.index_put((index[:2],), values[:2])}
    with mock.patch.object(arc_torch.fast, "_keys", ("CUDA" if GPU else "CPU",)), \
            mock.patch("arc_torch._by", wraps=arc_torch._by) as ours:
        for name, call in calls.items():
            for its, times in ((slice(big), 1), (slice(big - 2), 0)):
                wanted = call(its)
                with arc_torch.fast():
                    ours.reset_mock()
                    got = call(its)
                    assert ours.index_add_.call_count == times, (name, its)
                    assert (deterministic(call, its) == wanted).all(), name
                    assert ours.index_add_.call_count == times, (name, "PyTorch's mode is its own")
                same(got, wanted, name, its)
        for name, call in left.items():
            wanted = call()
            with arc_torch.fast(), arc_torch.fast():
                ours.reset_mock()
                same(call(), wanted, name)
                assert not ours.index_add_.called, name
        with arc_torch.fast(), arc_torch.deterministic():
            same(calls["index_add_"](slice(big)), calls["index_add_"](slice(big)), "in both")
        with arc_torch.deterministic():
            inside = arc_torch.fast()
            assert ours.index_add_.call_count == 2
            calls["index_add"](slice(2))
        calls["index_add"](slice(2))
        assert ours.index_add_.call_count == 3, "few, behind the context"
        calls["index_add"](slice(big))
        assert ours.index_add_.call_count == 4, "many"
        inside.__exit__()
        assert raises(out.index_add, 0, index, values[:, :3])
        line, many = torch.zeros(5, device=DEVICE), torch.zeros(10**6, device=DEVICE)
        for its in ([many.long()] * 2, []):
            with arc_torch.fast():
                assert raises(torch.ops.aten.index_put, line, its, many, True), len(its)
        wide, keys = torch.zeros(9, 1100, device=DEVICE), places[:1000] % 9
        with arc_torch.fast():
            gradient_of(testing.ByTorch.embedding, wide, keys, wide[:1].expand(1000, 1100))
        assert ours.index_add_.call_count == 5, "a wide embedding"
        ours.index_add_.reset_mock()
        for bad in (9, -10) if not GPU else ():  # an index of another row, if nobody looked
            both = index - 50, torch.where(index == 3, bad, places)
            with arc_torch.fast():
                assert raises(torch.zeros(50, 9, 9).index_put, both, values, accumulate=True), bad
        calls["index_add"](slice(big))
        assert not arc_torch.fast._entered and ours.index_add_.call_count == 2 * (not GPU)


def test_fast_in_16_bits():
    """Gradients are as near to those of doubles as PyTorch's. Atomics round in any order, so that two
    runs of PyTorch's differ in their largest error by some per cent, too."""
    f = torch.nn.functional
    functions = {"brackets": lambda w, i: w[i], "index_select": lambda w, i: w.index_select(0, i),
                 "embedding": lambda w, i: f.embedding(i, w),
                 "gather": lambda w, i: w.gather(0, i[:, None].expand(len(i), w.shape[1]))}
    with mock.patch.object(arc_torch.fast, "_keys", ("CUDA" if GPU else "CPU",)):
        for (rows, width), dtype, (name, function) in itertools.product(
                ((529, 16), (2, 9), (50, 64)), (torch.bfloat16, torch.float16), functions.items()):
            index = torch.randint(0, rows, (10**6 // width + 1,), device=DEVICE)
            upstream = torch.rand(len(index), width, device=DEVICE).to(dtype) / 64
            weight = draw_values(rows, width, dtype=dtype)
            wanted = gradient_of(function, weight.double(), index, upstream.double())
            plain = gradient_of(function, weight, index, upstream)
            with arc_torch.fast():
                got = gradient_of(function, weight, index, upstream)
            error, bound = ((x.double() - wanted).abs().max() for x in (got, plain))
            least = torch.finfo(dtype).eps * wanted.max()
            assert error <= max(1.5 * bound, least), (rows, width, dtype, name, error, bound)


def test_nll_loss_of_pictures():
    f, picture = torch.nn.functional, draw_values(2, 5, 6, 7)
    table, operator = arc_torch.decomposition_table, torch.ops.aten.nll_loss2d_forward.default
    target = torch.randint(0, 5, (2, 6, 7), device=DEVICE)
    target[0, 0] = 3
    for reduction, weight, ignored in itertools.product(
            ("none", "mean", "sum"), (None, draw_values(5).abs() + 1), (-100, 3)):
        def loss():
            x = picture.clone().requires_grad_()
            value = f.nll_loss(x, target, weight, None, ignored, reduction=reduction)
            return value.detach(), *torch.autograd.grad(value.sum(), x)
        wanted = loss()
        by = mock.Mock(wraps=table[operator])
        with mock.patch.dict(table, {operator: by}), arc_torch.deterministic():
            got = loss()
            assert all(map(torch.equal, loss(), got)), (reduction, weight, ignored)
        assert by.called
        for a, b in zip(got, wanted):
            assert torch.allclose(a, b, rtol=1e-6), (reduction, weight, ignored)
    with arc_torch.deterministic():
        assert raises(f.nll_loss, picture, target[:, :5])
        try:
            f.nll_loss(picture.cpu(), target.cpu() + 3)
            raise AssertionError("a target is outside")
        except IndexError:  # as PyTorch's
            pass


def test_refusal():
    """PyTorch's error, and one line that brings the warning back; the user's own mode stays."""
    def refused():
        pooled = torch.nn.functional.max_pool2d(draw_values(1, 1, 4, 4), 2, return_indices=True)
        return torch.nn.functional.max_unpool2d(*pooled, 2)

    def message(**keywords):
        try:
            with arc_torch.deterministic(**keywords):
                refused()
        except RuntimeError as error:
            return str(error).splitlines()
        return []
    enabled, warns = (torch.are_deterministic_algorithms_enabled,
                      torch.is_deterministic_algorithms_warn_only_enabled)
    first, *_, last = message()
    assert "max_unpool" in first and "deterministic(warn_only=True)" in last, (first, last)
    assert not message(warn_only=True) and not enabled()
    for warn_only in (True, False):
        torch.use_deterministic_algorithms(True, warn_only=warn_only)
        lines = message(warn_only=not warn_only)
        assert bool(lines) != warn_only and not any("arc_torch" in line for line in lines), lines
        assert enabled() and warns() == warn_only
        torch.use_deterministic_algorithms(False)
    with arc_torch.deterministic():
        with arc_torch.deterministic(warn_only=True):  # the innermost counts
            refused()
        assert raises(refused)


def test_index_outside():
    """An IndexError of the next call or of the end; nothing beside is written; all goes on."""
    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    bad = index.clone()
    bad[7] = 50
    calls = {"index_add": lambda i: out.index_add(0, i, values),
             "columns": lambda i: out.t().contiguous().index_add(1, i, values.t()),
             "double": lambda i: out.double().index_add(0, i, values.double()),
             "whole numbers": lambda i: out.long().index_add(0, i, values.long()),
             "embedding": lambda i: torch.ops.aten.embedding_dense_backward(
                 values, i, 50, -1, False),
             "scatter_add": lambda i: out.scatter_add(0, i[:, None].expand(400, 9), values),
             "elements": lambda i: out.scatter_add(0, i[:, None].repeat(1, 9), values),
             "index_put": lambda i: out.index_put((i,), values, accumulate=True),
             "slice": lambda i: torch.ops.aten.index_put(
                 out.t().contiguous(), (None, i), values.t(), True)}
    for name, call in calls.items():
        for again in (False, True) if GPU or name != "embedding" else ():  # the CPU leaves it out
            try:
                with arc_torch.deterministic():
                    call(bad)
                    if again and GPU:
                        torch.cuda.synchronize()
                        call(index)
                        raise AssertionError(f"{name}: the next call says nothing")
                raise AssertionError(f"{name}: nothing is said")
            except (IndexError, RuntimeError) as error:
                assert not GPU or isinstance(error, IndexError), (name, error)
        with arc_torch.deterministic():
            same(call(index), call(index), name, "goes on")
    kept = []
    with mock.patch("arc_torch._by", wraps=arc_torch._by) as by:
        try:
            with mock.patch.object(arc_torch._outside, "wait", side_effect=IndexError), \
                    arc_torch.deterministic():
                pass
        except IndexError as error:
            kept.append(error)
        out.index_add(0, index, values)
        assert kept and not by.index_add_.called, "an error that is kept keeps the context"
    with arc_torch.deterministic(), \
            mock.patch.object(arc_torch._outside, "seen", ctypes.c_int(1)):
        child = multiprocessing.get_context("fork").Process(
            target=lambda: torch.zeros(3).index_add(0, torch.tensor([1]), torch.ones(1)))
        child.start()
        child.join()
        assert child.exitcode == 0, "a child looks at its parent's flag"
    if GPU:
        copy, graph = out.clone(), torch.cuda.CUDAGraph()
        with arc_torch.deterministic():
            copy.index_add_(0, index, values)
            with torch.cuda.graph(graph):
                copy.index_add_(0, index, values)
            index[3] = -1
            graph.replay()
            torch.cuda.synchronize()
            assert raises(copy.index_add_, 0, bad, values), "of a graph"


def calls_that_are_refused():
    f, picture = torch.nn.functional, torch.rand(2, 3, 8, 8, device=DEVICE)
    volume, row = torch.rand(2, 3, 4, 8, 8, device=DEVICE), torch.rand(20, device=DEVICE)
    where = torch.tensor([1, 2], device=DEVICE)

    def gradient(function, x):
        x = x.clone().requires_grad_()
        return lambda: function(x).sum().backward()

    return {
        "gradient of interpolate": gradient(
            lambda x: f.interpolate(x, 12, mode="bicubic"), picture),
        "gradient of pad by reflection": gradient(
            lambda x: f.pad(x, (1, 1), mode="reflect"), picture[0]),
        "gradient of grid_sample in float64": gradient(lambda x: f.grid_sample(
            x, torch.rand(2, 2, 5, 5, 3, device=DEVICE).double(), align_corners=False),
            volume.double()),
        "gradient of adaptive_avg_pool2d": gradient(lambda x: f.adaptive_avg_pool2d(x, 3), picture),
        "gradient of adaptive_avg_pool3d": gradient(lambda x: f.adaptive_avg_pool3d(x, 3), volume),
        "gradient of avg_pool3d": gradient(lambda x: f.avg_pool3d(x, 2), volume),
        "gradient of ctc_loss": gradient(lambda x: f.ctc_loss(
            x.log_softmax(2), torch.ones(2, 2, dtype=torch.long, device=DEVICE), (6, 6), (2, 2)),
            torch.rand(6, 2, 5, device=DEVICE)),
        "index_reduce": lambda: row.index_reduce(0, where, row[:2], "prod"),
        "scatter_reduce by prod": lambda: row.scatter_reduce(0, where, row[:2], "prod"),
        "max_unpool": lambda: f.max_unpool2d(*f.max_pool2d(picture, 2, return_indices=True), 2),
        "histc": lambda: row.histc(5)}


def test_page():
    """README lists what is refused, and nothing else."""
    page = pathlib.Path(arc_torch.HERE, "README.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^- \*\*refused\*\*[^:]*: (.*?)\.$", page, re.M | re.S)
    assert " ".join(listed.split()).split(", ") == list(calls_that_are_refused()), listed


def test_refused_ones():
    """PyTorch refuses them, and so does the context, unless it warns."""
    calls = calls_that_are_refused()
    wrong = [name for name, call in calls.items() if not deterministic(raises, call)]
    for name, call in calls.items():
        with arc_torch.deterministic(warn_only=True):
            wrong += [f"{name} by warn_only"] if raises(call) else []
        with arc_torch.deterministic():
            wrong += [] if raises(call) else [f"{name} in the context"]
    assert not wrong, wrong


def test_deterministic_of_few():
    """Into so many more rows than are added, without an image of out in 64 bits."""
    for dtype in arc_torch.TYPES:
        index, values = draw_keys("hot", 2**16, 8), draw_values(8, 64, dtype=dtype)
        out = draw_values(2**16, 64, dtype=dtype)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        got = deterministic(arc_torch.index_add_, out.clone(), 0, index, values)
        needed = torch.cuda.max_memory_allocated() - before
        same(got, out.index_add(0, index, values), dtype)
        assert needed < 2 * out.nbytes, (dtype, needed)
        weight = out.clone().requires_grad_()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        got = deterministic(gradient_of, arc_torch.embedding, weight, index, values)
        needed = torch.cuda.max_memory_allocated() - before
        same(got, torch.zeros_like(out).index_add(0, index, values), "embedding", dtype)
        assert needed < 2 * out.nbytes, ("embedding", dtype, needed)


def test_streams_and_graphs():
    out, index, values = draw_values(500, 9), draw_keys("random", 500, 4000), draw_values(4000, 9)
    wanted = out.index_add(0, index, values)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        late = values + 0
        result = arc_torch.index_add(out, 0, index, late)
    stream.synchronize()
    same(result, wanted, "on another stream")
    for mode in (False, True):
        torch.use_deterministic_algorithms(mode)
        copy, graph = out.clone(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            arc_torch.index_add_(copy, 0, index, values)
        copy.copy_(out)
        graph.replay()
        torch.use_deterministic_algorithms(False)
        same(copy, wanted, "in a CUDA graph, deterministic", mode)


def test_beyond_31_bits():
    rows, width = 2**25, 80  # 2.7e9 values
    out = torch.zeros(rows, width, dtype=torch.float16, device=DEVICE)
    index, values = torch.randint(0, rows, (1000,), device=DEVICE), draw_values(1000, width).half()
    arc_torch.index_add_(out, 0, index, values)
    keys, inverse = index.unique(return_inverse=True)
    sums = torch.zeros(len(keys), width, device=DEVICE).index_add(0, inverse, values.float())
    same(out[keys], sums.half(), "rows of out")
    assert out.count_nonzero() == sums.count_nonzero()
    del out
    values, index = torch.ones(rows, width, device=DEVICE), torch.arange(rows, device=DEVICE) % 7
    out = arc_torch.index_add(torch.zeros(7, width, device=DEVICE), 0, index, values)
    same(out, index.bincount(minlength=7)[:, None].expand(7, width).float(), "rows of values")


def test_many_rows():
    """So many that a warp takes rows in runs, or finds that their keys differ."""
    for columns in (1, 3, 4, 8, 16, 64):
        n = 2**23 // max(columns, 4)
        for kind in ("sorted", "runs", "random", "different"):
            rows = n if kind == "different" else 5000
            index = torch.randperm(n, device=DEVICE)
            index = index if kind == "different" else draw_keys(kind, rows, n)
            out, values = draw_values(rows, columns), draw_values(n, columns)
            with arc_torch.deterministic():
                bits = arc_torch.index_add(out, 0, index, values)
            result, wanted = add(out, index, values)
            same(result, wanted, columns, kind)
            same(bits, wanted, columns, kind, "deterministic")


def test_adder():
    """arc's kernel runs where it should: what it leaves to PyTorch would pass all other tests."""
    index, values, out = draw_keys("random", 50, 400), draw_values(400, 9), draw_values(50, 9)
    column, flat = index[:, None], draw_values(50)
    calls = {"in place": lambda: arc_torch.index_add_(out, 0, index, values),
             "out of place": lambda: arc_torch.index_add(out, -2, index.int(), values, alpha=2),
             "one dimension": lambda: arc_torch.index_add(flat, 0, index, values[:, 0]),
             "one column": lambda: arc_torch.scatter_add(flat[:, None], 0, column, values[:, :1]),
             "rounded once": lambda: gradient_of(arc_torch.embedding, out.half(), index,
                                                 values.half()),
             "many wide rows": lambda: gradient_of(arc_torch.embedding, draw_values(50, 128), index,
                                                   draw_values(400, 128)),
             "deterministic": lambda: deterministic(arc_torch.index_add_, out, 0, index, values),
             "deterministic, sorted": lambda: deterministic(
                 arc_torch.index_add_, draw_values(2**20, 9), 0, index, values)}

    def kernels_of(call):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            call()
            torch.cuda.synchronize()
        return [event.key for event in profile.key_averages()]
    if not any("elementwise" in kernel for kernel in kernels_of(lambda: out * 2)):
        print("test_adder: the profiler sees no kernels here")
        return
    for name, call in calls.items():
        kernels = kernels_of(call)
        sorts = name in ("rounded once", "many wide rows", "deterministic, sorted")
        ending = "_pieces" if sorts else ""
        ours = [kernel for kernel in kernels if kernel.endswith("(job)")]
        assert any(ending in kernel for kernel in ours), (name, kernels)


def test_accumulator():
    """The same bits in any order of calls, on any streams; sums rounded once; read and cleared."""
    rows, parts = 50, 16
    for columns in (1, 3, 9, 33, 64, 130):
        index = draw_keys("hot", rows, 400 * parts).chunk(parts)
        values = (torch.randn(400 * parts, columns, device=DEVICE) *
                  10.0 ** torch.randint(-6, 6, (columns,), device=DEVICE)).chunk(parts)
        sums = arc_torch.Accumulator(rows, columns, DEVICE)
        first = None
        for order in (range(parts), reversed(range(parts)), torch.randperm(parts).tolist()):
            torch.cuda.synchronize()
            for part in order:
                with torch.cuda.stream(torch.cuda.Stream()):
                    keys = index[part].int() if part % 2 else index[part]
                    sums.index_add_(keys, values[part])
            torch.cuda.synchronize()
            assert torch.equal(sums.read(), sums.read()), "reading changes sums"
            got = sums.read(clear=True)
            assert not sums.words.any(), "cleared"
            assert first is None or torch.equal(got, first), (columns, "order")
            first = got
        exact = torch.zeros(rows, columns, dtype=torch.float64, device=DEVICE)
        size = exact.clone()
        for part in range(parts):
            exact.index_add_(0, index[part], values[part].double())
            size.index_add_(0, index[part], values[part].double().abs())
        assert ((first.double() - exact).abs() <= 2e-5 * size + 1e-20).all(), columns
    values = torch.tensor([[1.0, float("inf")], [float("nan"), 2.0]], device=DEVICE)
    sums, keys = arc_torch.Accumulator(2, 2, DEVICE), torch.tensor([0, 1], device=DEVICE)
    got = sums.index_add_(keys, values).read()
    assert torch.allclose(got, values, rtol=0, atol=0, equal_nan=True), "NaN reaches one value"
    for index, source in ((index[0], values), (keys, values.double()), (keys, values[:, :1])):
        assert raises(sums.index_add_, index, source)


tests = [test_values, test_shapes, test_scatter_add, test_embedding_gradients,
         test_arguments, test_autocast, test_errors, test_leaf, test_versions, test_deterministic,
         test_page]
tests += [test_adder, test_streams_and_graphs, test_beyond_31_bits, test_accumulator] if GPU else []
of_contexts = [test_context, test_fast, test_fast_in_16_bits, test_example,
               test_nll_loss_of_pictures, test_refusal, test_index_outside]
of_contexts += [test_grid_sample, test_many_rows, test_refused_ones,
                test_deterministic_of_few] if GPU else []
testing.run("test_arc_torch", tests, of_contexts)
