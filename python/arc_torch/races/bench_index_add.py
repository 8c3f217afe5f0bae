"""bench_index_add.py [OUT.csv] - arc_torch.index_add_ against PyTorch's.
SPDX-License-Identifier: Apache-2.0

int64 indices; which cases is in index_add_cases.py. A time is the median of launches that
take turns, each queued behind a short pause, so that it is the GPU's alone. `read`: keys and values
over the bandwidth with which a large tensor is copied. arc's sums are checked; status 1 if one is
wrong. An OUT.csv that is there is continued."""
import sys

from with_operator import arc_torch, torch  # first: skips where there is none
import index_add_cases
import measure
from index_add_data import TYPES, Sums, draw_keys, draw_values


def measure_case(case, bytes_per_ms):
    """{adder: ms}, whether arc's sums are wrong, and {adder: MB}."""
    index = draw_keys(case.keys, case.rows, case.n)
    values = draw_values(case.type, case.width, case.n)
    out = torch.zeros(case.rows, case.width, device="cuda", dtype=TYPES[case.type])
    adders = {"pytorch": lambda: out.index_add_(0, index, values),
              "arc": lambda: arc_torch.index_add_(out, 0, index, values)}
    sums = Sums(case.rows, index, values)
    torch.use_deterministic_algorithms(case.mode == "deterministic")
    adders["arc"]()
    is_wrong = sums.wrong(out) > 0
    del sums
    slow = case.mode == "deterministic" and case.keys in ("zipf 1.2", "half on one row")
    times = measure.medians(adders.values(), *((3, 0) if slow else (15, 1)))
    peaks = {name: measure.peak_mb(add) for name, add in adders.items()}
    torch.use_deterministic_algorithms(False)
    times = dict(zip(adders, times), read=(values.nbytes + index.nbytes) / bytes_per_ms)
    return times, is_wrong, peaks


def measure_all(table, cases):
    """In how many cases sums were wrong."""
    bytes_per_ms, failed = measure.copied_bytes_per_ms(), 0
    for case in cases:
        times, is_wrong, peaks = measure_case(case, bytes_per_ms)
        failed += is_wrong
        words = ", ".join(map(str, case))
        if is_wrong:
            print(f"WRONG SUMS: {words}")
        else:
            table.add(case, times, peaks)
        print(f"{words}: " +
              ", ".join(f"{name} {ms:.4f}" for name, ms in times.items()) + " ms; " +
              ", ".join(f"{name} {mb:.1f}" for name, mb in peaks.items()) + " MB", flush=True)
    return failed


def main():
    head = list(measure.head())
    try:
        table = index_add_cases.Table(sys.argv[1] if len(sys.argv) > 1 else None, head)
    except ValueError as error:
        print(f"bench_index_add.py: {error}", file=sys.stderr)
        return 2
    cases = [case for case in index_add_cases.plan() if case not in table.cases]
    try:
        return measure_all(table, cases) > 0
    except KeyboardInterrupt:
        print("interrupted; what was measured is written")
        return 130


sys.exit(main())
