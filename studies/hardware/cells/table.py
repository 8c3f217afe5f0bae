"""table.py - what result files of cells say: what auto costs, and where thresholds would lie.

usage: table.py FILE.csv ...

SPDX-License-Identifier: Apache-2.0
"""
import csv
import math
import os
import sys

LANES = (1, 2, 4, 8, 16, 32)
SHUFFLES = {1: 5, 4: 6, 9: 12, 16: 16}  # of the transposed reduction


def read(file):
    """{model: {(call, path, width, lanes, keys): cycles}}; each sum was right, or this fails."""
    models = {}
    with open(file, encoding="utf-8-sig") as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            where = row["call"], row["path"], int(row["width"]), int(row["lanes"]), int(row["keys"])
            assert row["sums"] == "ok", row
            models.setdefault(row["model"], {})[where] = int(row["cycles"])
    return models


def over_best(cells, lanes, keys):
    """Automatic over the best path of each cell that has all of them."""
    ratios = []
    for (call, path, width, *place), cycles in cells.items():
        if path == "automatic" and place == [lanes, keys] and call == ("one", "keyed")[keys > 1]:
            others = [c for (k, _, w, *at), c in cells.items()
                      if (k, w, at) == (call, width, place)]
            ratios.append(cycles / min(others))
    return ratios


def crossing(cells, width, call):
    """Lanes from which the transposed reduction beats plain atomics, interpolated."""
    gain = [cells["one", "plain", width, n, 1] - cells[call, "transposed", width, n, 1]
            for n in LANES]
    if gain[0] > 0 or max(gain) <= 0:
        return "1" if gain[0] > 0 else "never"
    i = next(i for i, g in enumerate(gain) if g > 0)
    return f"{LANES[i - 1] - gain[i - 1] * (LANES[i] - LANES[i - 1]) / (gain[i] - gain[i - 1]):.1f}"


def print_tables(name, cells):
    print(f"\n{name}: {len(cells)} cells; automatic over the best path: lanes on one key | keys\n")
    for lanes, keys in [(n, 1) for n in LANES] + [(32, k) for k in (2, 8, 32)]:
        ratios = over_best(cells, lanes, keys)
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{lanes:2} lanes, {keys:2} keys: mean {mean:.2f}, worst {max(ratios):.2f}")
    for n in sorted({width for _, _, width, _, _ in cells}):
        reduce, match = (50 + 5 * n) // (10 * n) + 1, (120 + 10 * SHUFFLES[n]) // (10 * n)
        print(f"width {n:2}: to reduce {crossing(cells, n, 'one'):>5}, arc {reduce:2};"
              f" to match {crossing(cells, n, 'keyed'):>5}, arc {match:2}")


for argument in sys.argv[1:]:
    for model, cells_of_model in read(argument).items():
        print_tables(f"{os.path.basename(argument)}, {model}", cells_of_model)
