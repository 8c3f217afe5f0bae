"""bench_index_add.py [OUT.csv] - arc_torch.index_add_ against PyTorch's and against rows added in
bulk. SPDX-License-Identifier: Apache-2.0

int64 indices; which cases is in index_add_cases.py. A time is the median of launches that
take turns, each queued behind a short pause, so that it is the GPU's alone. `bulk N`: the design of
later versions of PyTorch, N rows a warp at once (bulk_rows.cu), where it may be used. `read`: keys
and values over the bandwidth with which a large tensor is copied. All sums but PyTorch's are
checked; status 1 if one is wrong. An OUT.csv that is there is continued."""
import sys

from with_operator import arc_torch, torch  # first: skips where there is none
import bulk_rows
import index_add_cases
import index_add_tables
import measure
from index_add_data import TYPES, Sums, draw_keys, draw_values


def build_bulk():
    """None, and a line that says why, where it cannot be."""
    try:
        return bulk_rows.build()
    except Exception as error:  # of a compiler, ninja, a loader
        print("without bulk rows:", str(error).strip().splitlines()[-1])
        return None


def adders_of(case, bulk, out, index, values):
    adders = {"pytorch": lambda: out.index_add_(0, index, values),
              "arc": lambda: arc_torch.index_add_(out, 0, index, values)}
    if bulk and case.mode == "fast":
        adders.update(bulk_rows.adders(bulk, out, index, values))
    return adders


def wrong_adders(adders, sums, out):
    """Of all but PyTorch; out holds sums of the last one then."""
    for name, add in adders.items():
        if name != "pytorch":
            out.zero_()
            add()
            if sums.wrong(out):
                yield name


def measure_case(case, bulk, bytes_per_ms):
    """{adder: ms}, the names of those that added wrongly, and {adder: MB}."""
    index = draw_keys(case.keys, case.rows, case.n)
    values = draw_values(case.type, case.width, case.n)
    out = torch.zeros(case.rows, case.width, device="cuda", dtype=TYPES[case.type])
    adders = adders_of(case, bulk, out, index, values)
    sums = Sums(case.rows, index, values)
    torch.use_deterministic_algorithms(case.mode == "deterministic")
    wrong = list(wrong_adders(adders, sums, out))
    del sums
    slow = case.mode == "deterministic" and case.keys in ("zipf 1.2", "half on one row")
    times = measure.medians(adders.values(), *((3, 0) if slow else (15, 1)))
    peaks = {name: measure.peak_mb(add) for name, add in adders.items()}
    torch.use_deterministic_algorithms(False)
    times = dict(zip(adders, times), read=(values.nbytes + index.nbytes) / bytes_per_ms)
    return times, wrong, peaks


def measure_all(table, cases):
    """How many sums were wrong."""
    bulk = build_bulk() if any(case.mode == "fast" for case in cases) else None
    bytes_per_ms, failed = measure.copied_bytes_per_ms(), 0
    for case in cases:
        times, wrong, peaks = measure_case(case, bulk, bytes_per_ms)
        for name in wrong:
            print(f"WRONG SUMS: {name}: {index_add_tables.words(case)}")
        failed += len(wrong)
        if not wrong:
            table.add(case, times, peaks)
        print(f"{index_add_tables.words(case)}: " +
              ", ".join(f"{name} {ms:.4f}" for name, ms in times.items()) + " ms; " +
              ", ".join(f"{name} {mb:.1f}" for name, mb in peaks.items()) + " MB", flush=True)
    return failed


def main():
    head = list(measure.head(arc_torch.include_path(), "key_bits=32"))
    try:
        table = index_add_cases.Table(sys.argv[1] if len(sys.argv) > 1 else None, head)
    except ValueError as error:
        print(f"bench_index_add.py: {error}", file=sys.stderr)
        return 2
    cases = [case for case in index_add_cases.plan() if case not in table.cases]
    try:
        failed = measure_all(table, cases)
    except KeyboardInterrupt:
        print("interrupted; what was measured is written")
        return 130
    print("\n".join(index_add_tables.summary(table.cases)))
    return failed > 0


sys.exit(main())
