"""test_arc_torch.py - arc_torch does what PyTorch does, on the GPU or else the CPU.
SPDX-License-Identifier: Apache-2.0

Values are multiples of a quarter whose sums all types represent, so that results must be equal."""
import subprocess
import sys
import warnings

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import arc_torch

GPU = torch.cuda.is_available()
if GPU and not arc_torch.BUILT:
    print("skipped: no CUDA toolkit, or no ninja")
    sys.exit(77)

DEVICE = "cuda" if GPU else "cpu"
WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 31, 32, 33, 48, 64,
          100, 128, 129, 200, 256]
torch.manual_seed(1)


def draw_keys(kind, rows, n):
    keys = torch.randint(0, rows, (n,), device=DEVICE)
    if kind == "sorted":
        return keys.sort().values
    if kind == "hot":
        return torch.where(torch.rand(n, device=DEVICE) < 0.5, 3 % rows, keys)
    if kind == "runs":
        return keys[:(n + 7) // 8].repeat_interleave(8)[:n]
    return keys


def draw_values(*shape, dtype=torch.float32):
    return (torch.randint(-4, 5, shape, device=DEVICE) / 4).to(dtype)


def same(got, wanted, *what):
    if not torch.equal(got, wanted):
        wrong = (got != wanted).nonzero()
        raise AssertionError(f"{what}: {len(wrong)} values wrong, first at {wrong[0].tolist()}: "
                             f"{got[tuple(wrong[0])]} must be {wanted[tuple(wrong[0])]}")


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
    values = draw_values(400, 9)
    wide = index[:, None].expand(400, 9)
    out = draw_values(50, 9)
    same(arc_torch.scatter_add(out, 0, wide, values), out.scatter_add(0, wide, values), "scatter")
    wide = torch.randint(0, 50, (400, 9), device=DEVICE)
    same(arc_torch.scatter_add(out, 0, wide, values), out.scatter_add(0, wide, values), "scatter")
    same(arc_torch.index_add(out, 1, index[:9] % 9, out[:, :9]),
         out.index_add(1, index[:9] % 9, out[:, :9]), "columns")


def test_errors():
    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    for bad in ((out, 0, index[:7], values), (out, 0, index, values[:, :5]),
                (out, 0, index, values.double()), (out, 0, index.float(), values),
                (out[:1].expand(50, 9), 0, index, values), (out, 2, index, values)):
        for function in (arc_torch.index_add_, torch.Tensor.index_add_):
            try:
                function(*bad)
            except (RuntimeError, IndexError):
                continue
            raise AssertionError(f"{function}: no error for {[x for x in bad[1:2]]}")
    for key in (-1, 50):  # on CUDA what follows is lost: a process of its own
        program = (f"import torch, arc_torch; out = torch.zeros(50, 9, device='{DEVICE}')\n"
                   f"arc_torch.index_add_(out, 0, torch.tensor([1, {key}], device='{DEVICE}'), "
                   f"torch.ones(2, 9, device='{DEVICE}')); print(out.sum().item())")
        run = subprocess.run([sys.executable, "-B", "-c", program], cwd=sys.path[0], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        named = "assert" in run.stdout or "bounds" in run.stdout
        assert run.returncode != 0 and named, run.stdout


def test_gradients():
    index = torch.tensor([2, 0, 2, 3, 2], device=DEVICE)
    out = torch.randn(4, 3, device=DEVICE, dtype=torch.float64, requires_grad=True)
    values = torch.randn(5, 3, device=DEVICE, dtype=torch.float64, requires_grad=True)
    functions = [lambda o, v: arc_torch.index_add(o, 0, index, v, alpha=3),
                 lambda o, v: arc_torch.index_add_(o * 2, 0, index, v),
                 lambda o, v: arc_torch.index_add_(o.view(4, 3, 1) * 2, 0, index, v.view(5, 3, 1)),
                 lambda o, v: arc_torch.index_select(o, index) * v]
    for function in functions:
        assert torch.autograd.gradcheck(function, (out, values))
    assert torch.autograd.gradgradcheck(functions[0], (out, values))
    for op in (torch.ops.arc.index_add, torch.ops.arc.index_add_):
        torch.library.opcheck(op, (draw_values(4, 3), index, draw_values(5, 3)))
    torch.library.opcheck(torch.ops.arc.index_add, (out, index, values))


def test_compile():
    def step(out, index, values):
        total = arc_torch.index_add(out, 0, index, values * 2) + 1
        return arc_torch.index_add_(total, 0, index, values)

    out, index, values = draw_values(50, 9), draw_keys("random", 50, 400), draw_values(400, 9)
    compiled = torch.compile(step, fullgraph=True)
    same(compiled(out, index, values), step(out, index, values), "torch.compile")
    values.requires_grad_()
    (wanted,) = torch.autograd.grad(step(out, index, values).square().sum(), values)
    (got,) = torch.autograd.grad(compiled(out, index, values).square().sum(), values)
    same(got, wanted, "gradients by torch.compile")


def deterministic(function, *arguments):
    torch.use_deterministic_algorithms(True)
    try:
        return function(*arguments)
    finally:
        torch.use_deterministic_algorithms(False)


def test_deterministic():
    infinity, none = float("inf"), float("nan")
    for dtype in arc_torch.TYPES:
        rows, n, width = 60, 5000, 9
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
        assert (error[wanted < 3.4e38] < 2e-7).all(), size
        assert (got[wanted > 3.5e38] == infinity).all(), size


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


tests = [test_values, test_shapes, test_errors, test_gradients, test_deterministic]
tests += [test_streams_and_graphs, test_beyond_31_bits] if GPU else []
tests += [test_compile]
warnings.filterwarnings("ignore")
for test in tests:
    test()
    print(f"{test.__name__}: passed", flush=True)
print(f"test_arc_torch: {len(tests)} tests on the {DEVICE}: passed")
