#!/usr/bin/env python3
"""model_check.py - the CPU warp's cost model against measured times.
SPDX-License-Identifier: Apache-2.0

usage: model_check.py GPU.csv CPU.csv [--expect PERCENT] [--expect-cells PERCENT]

Both files come from arc_sweep, of the same cells (--preset paths): one has times, the other what the
model (bench/common/model.h) makes of counts. Says how often the model has paths in the right order. Exit
status 1 if fewer pairs than --expect, or fewer cells than --expect-cells, are right.

A cell holds the paths that added the very same values, at threshold 0 or their own. A pair of them
counts if their medians differ by more than their quartile distances together and by more than 2 %;
it is clear if they differ by more than 10 %. Left out: no active lane; the workload `hot`, because
the model has no hot rows."""
import math
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/analysis"))
import results  # noqa: E402

LEAST, CLEAR = 0.02, 0.10


class Sample:
    """In clocks of one scheduler per warp update: what was measured, its noise, and the model's."""

    def __init__(self, row, counts, clocks_per_ms, clocks_per_model):
        self.is_base = row["path"] == "none"
        self.time = row["gross"] * clocks_per_ms
        self.noise = (row["quartile_high"] - row["quartile_low"]) * clocks_per_ms
        self.model = counts["gross"] * clocks_per_model


def scale_of(times):
    """(scheduler clocks per warp update of a millisecond, of model_gross)"""
    multiprocessors = re.search(r"(\d+) multiprocessors", times.head.get("device", ""))
    mhz = re.search(r"(\d+) MHz measured", times.head.get("clocks", ""))
    sizes = [times.head_word("sizes", word) for word in ("blocks", "threads", "updates")]
    if not multiprocessors or not mhz or not all(sizes):
        raise results.Bad(f"{times.name}: the head lacks multiprocessors, clock or sizes")
    schedulers = 4.0 * int(multiprocessors[1])
    blocks, threads, updates = map(int, sizes)
    return (int(mhz[1]) * 1000.0 * schedulers / (blocks * threads / 32.0 * updates),
            schedulers / 1000.0)


def wanted(row):
    own = "auto" if row["path"] == "auto" else "0"
    return (row["lanes"] != "0" and row["workload"] != "hot" and row["status"] != "ERROR"
            and row["path"] != "broken" and row["threshold"] in (own, "-")
            and row["type"] == "f32")


def join(times, counts):
    """Lists of samples, a list a cell."""
    scale = scale_of(times)
    by_cell = {results.cell(row): row for row in counts.rows}
    cells = {}
    for row in times.rows:
        other = by_cell.get(results.cell(row))
        if other and wanted(row):
            cells.setdefault(results.group(row), []).append(Sample(row, other, *scale))
    if len(cells) < 8:
        raise results.Bad(f"{counts.name}: shares fewer than 8 cells with the times")
    return list(cells.values())


def pairs_of(cell):
    """(a, b, clear): the times of a and b differ, a is the faster one."""
    for a in cell:
        for b in cell:
            if a.time < b.time and not a.is_base and not b.is_base:
                if b.time - a.time > max(a.noise + b.noise, LEAST * a.time):
                    yield a, b, b.time - a.time > CLEAR * a.time


def percent(part, whole):
    return 100.0 * part / whole if whole else math.nan


def judge(cells):
    """Prints what it finds; returns the percentages of pairs and of cells that are right."""
    pairs = [[(a.model < b.model, clear) for a, b, clear in pairs_of(cell)] for cell in cells]
    every = [pair for cell in pairs for pair in cell]
    clear = [right for right, is_clear in every if is_clear]
    right = percent(sum(right for right, _ in every), len(every))
    whole = percent(sum(all(right for right, is_clear in cell if is_clear) for cell in pairs),
                    len(pairs))
    paths = [[s for s in cell if not s.is_base] for cell in cells]
    cheapest = sum(min(cell, key=lambda s: s.model).time <= 1.05 * min(s.time for s in cell)
                   for cell in paths if cell)
    error = statistics.median(abs(s.model / s.time - 1.0) for cell in paths for s in cell)
    print(f"{len(cells)} cells; percent\n"
          f"{right:6.1f} of all pairs that differ in the right order\n"
          f"{percent(sum(clear), len(clear)):6.1f} of the clear ones\n"
          f"{whole:6.1f} of the cells with every clear pair in the right order\n"
          f"{percent(cheapest, len(paths)):6.1f} of the cells whose path of fewest clocks is within "
          f"5 % of the fastest\n{100.0 * error:6.1f} off, the median of all figures")
    return right, whole


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("times")
    parser.add_argument("counts")
    parser.add_argument("--expect", type=float, default=0.0)
    parser.add_argument("--expect-cells", type=float, default=0.0)
    options = parser.parse_args(words)
    right, whole = judge(join(results.Results(options.times), results.Results(options.counts)))
    return 1 if right < options.expect or whole < options.expect_cells else 0


if __name__ == "__main__":
    results.run(main)
