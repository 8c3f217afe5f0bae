"""bench_calls.py [OUT.csv] - what a small call of arc_torch costs, back to back, beside PyTorch's.
SPDX-License-Identifier: Apache-2.0

256 rows of 8 floats. Microseconds a call: the least of a few runs of 2000 calls in a row, until the
GPU has done them all. gradients: with those of values needed, and not asked for."""
import sys

from with_operator import arc_torch, torch  # first: skips where there is none
import measure

RUNS = 9


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


def main(name=None):
    its = list(calls())
    runs = [[measure.back_to_back_ms(function) for *_, function in its] for _ in range(RUNS)]
    with measure.table(name, ("call", "adder", "us")) as add_row:
        for (what, adder, _), times in zip(its, zip(*runs)):
            us = f"{1000 * min(times):.2f}"
            add_row(what, adder, us)
            print(f"{what}, {adder}: {us} us")


main(*sys.argv[1:])
