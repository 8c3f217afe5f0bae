"""bench_calls.py [OUT.csv] - what a small call of arc_torch costs, back to back, beside PyTorch's.
SPDX-License-Identifier: Apache-2.0

256 rows of 8 floats. Microseconds a call: the least of a few runs of 2000 calls in a row, until the
GPU has done them all. gradients: with those of values needed, and not asked for."""
import pathlib
import sys
import time

from with_operator import arc_torch, torch  # first: skips where there is none
import measure

CALLS, RUNS = 2000, 9


def calls():
    """(what, adder, function)"""
    out = torch.zeros(256, 8, device="cuda")
    index = torch.randint(0, 256, (256,), device="cuda")
    values = torch.rand(256, 8, device="cuda")
    needed = values.clone().requires_grad_()
    for adder, in_place, other in (("pytorch", torch.Tensor.index_add_, torch.index_add),
                                   ("arc", arc_torch.index_add_, arc_torch.index_add)):
        yield "in place", adder, lambda add=in_place: add(out, 0, index, values)
        yield "out of place", adder, lambda add=other: add(out, 0, index, values)
        yield "gradients", adder, lambda add=other: add(out, 0, index, needed)


def run_us(function):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        function()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - begin) / CALLS


def main():
    lines = [f"# {line}" for line in measure.head(arc_torch.include_path(), "key_bits=32")]
    lines.append("call,adder,us")
    its = list(calls())
    runs = [[run_us(function) for *_, function in its] for _ in range(RUNS)]
    for (what, adder, _), times in zip(its, zip(*runs)):
        lines.append(f"{what},{adder},{min(times):.2f}")
        print(f"{what}, {adder}: {min(times):.2f} us")
    for name in sys.argv[1:]:
        pathlib.Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
