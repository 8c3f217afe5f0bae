#!/usr/bin/env python3
"""model_fit.py - the CPU warp's cost model against measured times.
SPDX-License-Identifier: Apache-2.0

usage: model_fit.py GPU.csv CPU.csv [--fit] [--expect PERCENT] [--expect-cells PERCENT]

Both files come from arc_sweep, of the same cells (--preset paths): one has times, the other counts.
Says how often the model that CPU.csv was written with (common/model.h) has paths in the right order.
--fit finds constants that do it best, and holds them out: fitted to every other cell, judged on the
cells between. Exit status 1 if fewer pairs than --expect, or fewer cells than --expect-cells, are
right.

    issue  = base + S shuffles + V votes + M matches + B scans + R requests
    unit   = U shuffles + W requests
    memory = max(Q requests, T sectors + C conflicts)
    time   = max(issue, unit, memory)           clocks of one scheduler per warp update

M and U are held at what was measured apart (../NOTES.md): these cells do not tell them from V and W.
base, the kernel around, is fitted to the path `none` first. The others go up and down, one
constant at a time, so that the sum of two falls: the mean of |log(model / time)|, outliers beyond
a factor of 4.5 counted as that; and 5 times the mean over cells of how far, as a logarithm, the
worst clear pair is from standing 2 % apart in the right order.

A cell holds the paths that added the very same values, at threshold 0 or their own. A pair of them
counts if their medians differ by more than their quartile distances together and by more than 2 %;
it is clear if they differ by more than 10 %. Left out: no active lane; the workload `hot`, because
the model has no hot rows; match_shared, because shared atomics are not counted."""
import math
import re
import statistics

import results

COUNTS = ("shuffles", "votes", "matches", "scans", "requests", "sectors", "conflicts")
# What it is, where the search starts; held: not fitted.
CONSTANTS = {"a shuffle, issue": 2.0, "a vote": 6.0, "a scan": 4.0, "a request, issue": 4.0,
             "a request, its unit": 4.0, "a request, memory": 12.0, "a sector": 12.0,
             "a lane on an address hit already": 12.0}
HELD_MATCH, HELD_SHUFFLE_UNIT = 6.0, 5.0
LEAST, CLEAR, MARGIN = 0.02, 0.10, 0.02
MOST_ERROR, MOST_DISORDER, ORDER_WEIGHT, ROUNDS = math.log(4.5), math.log(1.35), 5.0, 40


class Sample:
    def __init__(self, path, row, counts, clocks_per_ms, clocks_per_model):
        self.path, self.is_base = path, path == "none"
        self.width = float(row["width"])
        self.keyed = 1.0 if row["call"] == "keyed" else 0.0
        self.counts = [float(counts[name]) for name in COUNTS]
        self.time = row["gross"] * clocks_per_ms
        self.noise = (row["quartile_high"] - row["quartile_low"]) * clocks_per_ms
        self.column = counts["gross"] * clocks_per_model


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
            and row["path"] not in ("broken", "match_shared") and row["threshold"] in (own, "-")
            and row["type"] == "f32")


def join(times, counts):
    """Lists of samples, a list a cell."""
    scale = scale_of(times)
    counts.need(COUNTS)
    by_cell = {results.cell(row): row for row in counts.rows}
    cells = {}
    for row in times.rows:
        other = by_cell.get(results.cell(row))
        if other and wanted(row):
            cells.setdefault(results.group(row), []).append(
                Sample(row["path"], row, other, *scale))
    if len(cells) < 8:
        raise results.Bad(f"{counts.name}: shares fewer than 8 cells with the times")
    return list(cells.values())


def base_of(base, s):
    return base[0] + base[1] * s.width + base[2] * s.keyed


def model_of(base, fit, s):
    shuffles, votes, matches, scans, requests, sectors, conflicts = s.counts
    issue = (base_of(base, s) + fit[0] * shuffles + fit[1] * votes + HELD_MATCH * matches
             + fit[2] * scans + fit[3] * requests)
    return max(issue, HELD_SHUFFLE_UNIT * shuffles + fit[4] * requests, fit[5] * requests,
               fit[6] * sectors + fit[7] * conflicts)


def pairs_of(cell):
    """(a, b, clear): the times of a and b differ, a is the faster one."""
    for a in cell:
        for b in cell:
            if a.time < b.time and not a.is_base and not b.is_base:
                if b.time - a.time > max(a.noise + b.noise, LEAST * a.time):
                    yield a, b, b.time - a.time > CLEAR * a.time


# ---- fitting --------------------------------------------------------------------------------


def descend(loss, constants):
    constants, steps = list(constants), [0.3] * len(constants)
    best = loss(constants)
    for _ in range(ROUNDS):
        for i, size in enumerate(steps):
            for by in (size, -size):
                tried = constants[:]
                tried[i] = max(0.0, tried[i] * (1.0 + by) + (by * 0.1 if tried[i] < 0.001 else 0.0))
                now = loss(tried)
                if now < best:
                    best, constants = now, tried
                    break
            else:
                steps[i] = max(0.6 * size, 1e-4)
    return constants


def fit(cells):
    """(base, constants)"""
    nones = [s for cell in cells for s in cell if s.is_base]
    others = [s for cell in cells for s in cell if not s.is_base]
    clear = [[(a, b) for a, b, is_clear in pairs_of(cell) if is_clear] for cell in cells]

    def error(value, s):
        return min(MOST_ERROR, abs(math.log(max(value, 1e-9) / s.time)))

    def base_loss(base):
        return sum(error(base_of(base, s), s) for s in nones) / len(nones)

    def loss(constants):
        logs = {s: math.log(max(model_of(base, constants, s), 1e-9)) for s in others}
        errors = sum(min(MOST_ERROR, abs(logs[s] - math.log(s.time))) for s in others)
        orders = sum(min(MOST_DISORDER, max([MARGIN - logs[b] + logs[a] for a, b in pairs] + [0.0]))
                     for pairs in clear)
        return errors / len(others) + ORDER_WEIGHT * orders / len(cells)

    base = descend(base_loss, [40.0, 1.0, 5.0])
    return base, descend(loss, CONSTANTS.values())


# ---- judging --------------------------------------------------------------------------------


def percent(part, whole):
    return 100.0 * part / whole if whole else math.nan


def judge(name, cells, value):
    """Prints a line; returns the percentages of pairs and of cells that are right."""
    pairs = [[(value(a) < value(b), clear) for a, b, clear in pairs_of(cell)] for cell in cells]
    every = [pair for cell in pairs for pair in cell]
    clear = [right for right, is_clear in every if is_clear]
    right = percent(sum(right for right, _ in every), len(every))
    whole = percent(sum(all(right for right, is_clear in cell if is_clear) for cell in pairs),
                    len(pairs))
    paths = [[s for s in cell if not s.is_base] for cell in cells]
    cheapest = sum(min(cell, key=value).time <= 1.05 * min(s.time for s in cell)
                   for cell in paths if cell)
    error = statistics.median(abs(value(s) / s.time - 1.0) for cell in paths for s in cell)
    print(f"  {name:<36} {right:11.1f} {percent(sum(clear), len(clear)):11.1f} {whole:11.1f} "
          f"{percent(cheapest, len(paths)):11.1f} {100.0 * error:11.1f}")
    return right, whole


def judge_fitted(name, fitted_to, judged_on):
    base, constants = fit(fitted_to)
    judge(name, judged_on, lambda s: model_of(base, constants, s))
    return base, constants


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("times")
    parser.add_argument("counts")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--expect", type=float, default=0.0)
    parser.add_argument("--expect-cells", type=float, default=0.0)
    options = parser.parse_args(words)
    cells = join(results.Results(options.times), results.Results(options.counts))
    print(f"{len(cells)} cells; percent\n  {'':<36} {'pairs':>11} {'clear pairs':>11} "
          f"{'cells clear':>11} {'cheapest':>11} {'error':>11}")
    right, whole = judge("as written in the file of counts", cells, lambda s: s.column)
    if options.fit:
        base, constants = judge_fitted("fitted to all cells", cells, cells)
        judge_fitted("fitted to even, judged on odd cells", cells[::2], cells[1::2])
        judge_fitted("fitted to odd, judged on even cells", cells[1::2], cells[::2])
        print("\nscheduler clocks\n" + "".join(
            f"  {what:<36} {value:8.2f}\n" for what, value in zip(CONSTANTS, constants))
              + f"  the kernel around {base[0]:.1f} + {base[1]:.2f} a value + {base[2]:.1f} keyed")
    print("pairs: of all that differ, in the right order; cells clear: every clear pair is;\n"
          "cheapest: the path that the model calls cheapest is within 5 % of the cheapest;\n"
          "error: median of all figures")
    return 1 if right < options.expect or whole < options.expect_cells else 0


if __name__ == "__main__":
    results.run(main)
