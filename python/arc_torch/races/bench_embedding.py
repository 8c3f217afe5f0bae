"""bench_embedding.py [OUT.csv] - gradients of arc_torch.embedding beside F.embedding's.
SPDX-License-Identifier: Apache-2.0

A time is the median of launches that take turns, of the backward pass alone, which clears the
gradient, too. error: of the ten rows with most tokens, together, relative to sums in double
precision. clear: of the gradient alone; read: tokens and upstream gradients over the bandwidth with
which a large tensor is copied. mb: the most memory at once, the gradient's among it."""
import collections
import sys

from with_operator import arc_torch, torch  # first: skips where there is none
import measure
from index_add_data import TYPES, draw_keys, draw_values

Case = collections.namedtuple("Case", "type mode rows width n keys")
TABLES = ((50_257, 768, (2048, 16_384, 131_072, 1_000_000)),
          (128_256, 4096, (2048, 16_384, 131_072)))
KEYS = ("random", "zipf 1.05")
BUSY = 10  # rows whose error is measured


def plan():
    return [Case(type_, mode, rows, width, n, keys) for type_ in ("f32", "f16", "bf16")
            for mode in ("fast", "deterministic") for rows, width, tokens in TABLES
            for n in tokens for keys in KEYS]


def busy_sums(case, index, upstream):
    """The rows with most tokens, and their sums in double precision."""
    rows = torch.bincount(index, minlength=case.rows).topk(BUSY).indices
    return rows, torch.stack([upstream[index == row].double().sum(0) for row in rows])


def measure_case(case, bytes_per_ms):
    """{adder: (ms, error, MB)}"""
    index = draw_keys(case.keys, case.rows, case.n)
    upstream = draw_values(case.type, case.width, case.n)
    weight = torch.zeros(case.rows, case.width, device=index.device, dtype=TYPES[case.type],
                         requires_grad=True)
    outputs = {"pytorch": torch.nn.functional.embedding(index, weight),
               "arc": arc_torch.embedding(weight, index)}

    def gradient(adder):
        return torch.autograd.grad(outputs[adder], weight, upstream, retain_graph=True)[0]

    rows, wanted = busy_sums(case, index, upstream)
    torch.use_deterministic_algorithms(case.mode == "deterministic")
    errors = {adder: ((gradient(adder)[rows].double() - wanted).norm() / wanted.norm()).item()
              for adder in outputs}
    functions = [lambda adder=adder: gradient(adder) for adder in outputs]
    functions.append(lambda: torch.zeros_like(weight))
    peaks = {adder: measure.peak_mb(lambda adder=adder: gradient(adder)) for adder in outputs}
    results = {adder: (ms, errors.get(adder), peaks.get(adder))
               for adder, ms in zip((*outputs, "clear"), measure.medians(functions, 11))}
    torch.use_deterministic_algorithms(False)
    results["read"] = ((upstream.nbytes + index.nbytes) / bytes_per_ms, None, None)
    return results


def main(name=None):
    bytes_per_ms = measure.copied_bytes_per_ms()
    columns = (*Case._fields, "adder", "ms", "error", "mb")
    with measure.table(name, columns) as add_row:
        for case in plan():
            results = measure_case(case, bytes_per_ms)
            for adder, (ms, error, mb) in results.items():
                more = ("", "") if error is None else (f"{error:.3e}", f"{mb:.3f}")
                add_row(*case, adder, f"{ms:.4f}", *more)
            print(f"{', '.join(map(str, case))}: " + ", ".join(
                f"{adder} {ms:.4f} ms" + (f" ({mb:.0f} MB, error {error:.1e})" if mb else "")
                for adder, (ms, error, mb) in results.items()), flush=True)


sys.exit(main(*sys.argv[1:]))
