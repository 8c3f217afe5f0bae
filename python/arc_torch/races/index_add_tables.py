"""index_add_tables.py FILE.csv [--overview EMBEDDING.csv] - the page index_add.md, from the file
that bench_index_add.py has written; or a row for each mode, skewed keys and gradients of
embeddings, speed and memory, from both programs' files. Speeds are relative: 2.0 is twice as fast.
SPDX-License-Identifier: Apache-2.0

Needs no PyTorch."""
import csv
import pathlib
import re
import sys
from statistics import geometric_mean

from index_add_cases import MORE_KEYS, PAGE_KEYS, ROWS, page_cases, read, size_cases


def over_pytorch(times):
    return times["pytorch"] / times["arc"]


def speed_text(speed):
    return f"{speed:.0f}" if speed >= 9.95 else f"{speed:.{1 if speed >= 1.995 else 2}f}"


def table(names, rows):
    """rows: {columns: cells}"""
    yield "| columns | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for width, cells in rows.items():
        yield f"| {width} | " + " | ".join(cells) + " |"


def rows_of(cases, wanted, type_, mode, cells):
    """Of each width whose wanted cases were all measured: what `cells` makes of their times."""
    rows = {}
    for width in sorted({case.width for case in cases}):
        its = wanted(type_, mode, [width])
        if all(case in cases for case in its):
            rows[width] = cells([cases[case] for case in its])
    return rows


def pytorch_cells(times):
    random, hot = times[2]["pytorch"], times[4]["pytorch"]
    ms = [f"{random:.3f}", f"{hot:.{3 if hot < 10 else 0}f}"]
    return [speed_text(over_pytorch(its)) for its in times] + ms


def read_cells(times):
    return [f"{its['read'] / its['arc']:.2f}" for its in times] + [f"{times[0]['read']:.3f}"]


def size_cells(times):
    """At the large size each, of the others the worst."""
    speeds, n = [over_pytorch(its) for its in times], len(MORE_KEYS)
    return [speed_text(its) for its in [*speeds[:n], min(speeds[n:2 * n]), min(speeds[2 * n:])]]


def key_name(rows, keys):
    return keys if rows == ROWS else f"{keys} over {rows}"


def tables(head, cases):
    """(title, names of columns, {width: cells}) of each table of the page."""
    version = re.search(r"PyTorch \d+\.\d+", head["compiler"])[0]
    page_names = [*PAGE_KEYS, f"{version} random, ms", f"{version} half on one row, ms"]
    size_names = [key_name(*keys) for keys in MORE_KEYS] + ["10^5 rows, worst", "10^4 rows, worst"]
    for type_, mode in (("f32", "fast"), ("f32", "deterministic"), ("f16", "fast"),
                        ("f64", "fast")):
        yield (f"{type_}, {mode}: speed over {version}, ×", page_names,
               rows_of(cases, page_cases, type_, mode, pytorch_cells))
    yield ("f32: speed over reading alone, ×", [*PAGE_KEYS, "reading, ms"],
           rows_of(cases, page_cases, "f32", "fast", read_cells))
    for type_ in ("f32", "bf16", "f64"):
        yield (f"{type_}, sizes: speed over {version}, ×", size_names,
               rows_of(cases, size_cases, type_, "fast", size_cells))


# ---- overview ---------------------------------------------------------------------------------

EVEN, SKEWED = ("random", "sorted", "runs of 8"), ("zipf 1.2", "half on one row")


def read_embedding(path):
    """{mode: {case: {adder: row}}}"""
    modes = {}
    with open(path, encoding="utf-8-sig") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            case = tuple(row[word] for word in ("type", "rows", "width", "n", "keys"))
            modes.setdefault(row.get("mode", "fast"), {}).setdefault(case, {})[row["adder"]] = row
    return modes


def overview_row(name, times, peaks):
    """Where PyTorch allocates nothing, memory has no ratio."""
    speeds = [over_pytorch(its) for its in times]
    memory = [its["arc"] / its["pytorch"] for its in peaks if its.get("pytorch")]
    return (f"| {name} | {len(speeds)} | {speed_text(geometric_mean(speeds))} | "
            f"{speed_text(min(speeds))} | {f'{max(memory):.2f}' if memory else ''} |")


def overview(path, embedding):
    times, peaks = read(path)[1], read(path, "mb")[1]
    yield "| | cases | speed, mean, × | speed, worst, × | memory over PyTorch's, worst |"
    yield "|---|---|---|---|---|"
    for mode in ("fast", "deterministic"):
        for name, keys in ((mode, EVEN), (f"{mode}, skewed keys", SKEWED)):
            its = [case for case in times if case.mode == mode and case.keys in keys]
            if its:
                yield overview_row(name, [times[case] for case in its],
                                   [peaks[case] for case in its if case in peaks])
    for mode, cases in read_embedding(embedding).items():
        columns = [[{adder: float(row[column]) for adder, row in its.items() if row.get(column)}
                    for its in cases.values()] for column in ("ms", "mb")]
        yield overview_row(f"gradients of embeddings, {mode}", *columns)


def page(path):
    head, cases = read(path)
    lines = ["# PyTorch's `index_add_`, by arc: all tables", "",
             f"{head['device'].split(',')[0]}, {head['compiler']}, {head['policy'][:9]}, from",
             f"`{path.name}`, by `index_add_tables.py`; `index_add_cases.py` lists the cases. Large:",
             "2^25 values, but 10^5 to 2^22 rows. Speeds are relative: 2.0 is twice as fast.", ""]
    for title, names, rows in tables(head, cases):
        if rows:
            lines += [f"## {title}", "", *table(names, rows), ""]
    return "\n".join(lines) + "\n"


def main(path, option=None, embedding=None):
    if option == "--overview":
        print("\n".join(overview(path, embedding)))
    else:
        print(page(pathlib.Path(path)), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
