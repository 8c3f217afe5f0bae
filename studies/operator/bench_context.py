"""bench_context.py [OUT.csv] - arc_torch.deterministic() beside PyTorch's deterministic mode.
SPDX-License-Identifier: Apache-2.0

brackets: the gradient of x[:, i], x of 64 x 20 000, by 2^20 indices, more of them small. checks:
index_add in the context beside arc_torch.index_add in PyTorch's mode, which looks at no index
before: on the GPU, and of the smallest call on the host, back to back. error: relative to double."""
import contextlib
import sys

from with_operator import arc_torch, torch  # first: skips where there is none
import measure


def brackets():
    x = torch.randn(64, 20_000, device="cuda", requires_grad=True)
    i = (torch.rand(1 << 20, device="cuda") ** 3 * x.shape[1]).long()
    upstream = torch.randn(64, len(i), device="cuda")
    result = x[:, i]
    wanted = torch.zeros(64, 20_000, device="cuda").double().index_add(1, i, upstream.double())

    def gradient():
        return torch.autograd.grad(result, x, upstream, retain_graph=True)[0]
    for adder, context in (("pytorch", contextlib.nullcontext), ("arc", arc_torch.deterministic)):
        with context():
            first = gradient()
            error = ((first - wanted).norm() / wanted.norm()).item()
            repeats = all(torch.equal(first, gradient()) for _ in range(5))
            yield "brackets", adder, measure.medians([gradient], 11)[0], f"{error:.1e}", repeats


def checks():
    for rows, n, width in ((256, 256, 8), (100_000, 1 << 20, 9), (100_000, 1 << 22, 8)):
        out, values = torch.zeros(rows, width, device="cuda"), torch.rand(n, width, device="cuda")
        index = torch.randint(0, rows, (n,), device="cuda")
        for adder, context, add in (
                ("arc", contextlib.nullcontext, arc_torch.index_add_),
                ("context", arc_torch.deterministic, torch.Tensor.index_add_)):
            with context():
                def call():
                    add(out, 0, index, values)
                yield f"checks {n} x {width}", adder, measure.medians([call], 21, 3)[0], "", True
                if n == 256:
                    ms = measure.back_to_back_ms(call)
                    yield f"checks {n} x {width} back to back", adder, ms, "", True


def main(name=None):
    torch.use_deterministic_algorithms(True)
    fails, times = False, {}
    columns = ("case", "adder", "ms", "error", "repeats")
    with measure.table(name, columns, arc_torch.include_path()) as add_row:
        for case, adder, ms, error, repeats in (*brackets(), *checks()):
            times[case, adder] = ms
            fails = fails or not repeats
            add_row(case, adder, f"{ms:.4f}", error, repeats)
            print(f"{case}, {adder}: {ms:.4f} ms {error}", flush=True)
    print(f"brackets: {times['brackets', 'arc'] / times['brackets', 'pytorch']:.3f} of PyTorch's")
    return 1 if fails else 0


sys.exit(main(*sys.argv[1:]))
