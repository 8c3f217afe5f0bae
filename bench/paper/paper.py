#!/usr/bin/env python3
"""paper.py - the papers' tables and figures from a table of --experiment.
SPDX-License-Identifier: Apache-2.0

usage: paper.py TABLE.csv... [--figures FOLDER]

prints, for each workload and dataset, the gradient step of every implementation at its best
threshold over plain atomics, what a threshold that does not fit costs, and the means beside the
papers' own (RTX 4090 and 3060); of datasets with several seeds also the mean PSNR of the held-out
views. With --figures it draws into FOLDER
  speedup      plain atomics over each implementation: gradient step, end to end, energy; their
               means beside the ARC paper's
  sensitivity  the gradient step over plain atomics against the balancing threshold
  lanes        warp steps by active lanes, and by different keys
  quality      PSNR of the held-out views about the mean of all trainings with the same seed; only
               of datasets with several seeds

Rows of the CPU warp are *model* and are labelled so. Lines that begin with # are comments.

Needs Python 3.8; for figures matplotlib 3.8. Exit status: 0 done, 2 bad option or file, 77 no
matplotlib."""
import csv
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analysis"))
import pictures  # noqa: E402
import results  # noqa: E402

COLUMNS = ("BW implementation", "balance threshold", "dataset", "backward ms",
           "end-to-end training time", "backward mJ", "test PSNR", "seed", "clock", "lanes 0",
           "lanes 32")
RENDERERS = ("gaussians", "environment", "spheres")
CCCL = ("cub", "cg")
OURS = ("auto", "tuned")
DRAWN = ("SW-S", "SW-B", *CCCL, "auto")  # tuned stays on top of auto: the tables have it
QUANTITIES = {"backward": "gradient step", "seconds": "end to end",
              "energy": "energy of the gradient step"}
# The ARC paper's ARC-SW over plain atomics and CCCL, arithmetic means and best: RTX 4090, then 3060
# (section 7.2, figures 22, 26, 27).
PAPERS = {("backward", ()): ("2.44 (5.7)", "1.74 (3.27)"),
          ("seconds", ()): ("1.41 (2.4)", "1.21 (1.71)"),
          ("energy", ()): ("2.8", "1.7"), ("backward", CCCL): ("1.58 (1.78)", "")}


def number(text):
    return float(text) if text else math.nan


def read_table(path):
    try:
        with open(path, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error) as reason:
        raise results.Bad(f"cannot read '{path}': {reason}")
    if not rows or any(column not in rows[0] for column in COLUMNS):
        raise results.Bad(f"'{path}' is no table of --experiment: it needs rows, and the columns "
                          + ", ".join(COLUMNS))
    try:
        for row in rows:
            row["workload"] = row.get("workload", "gaussians")
            row["set"] = row["workload"] + " " + os.path.basename(row["dataset"])
            row["backward"] = float(row["backward ms"])
            row["seconds"] = number(row["end-to-end training time"])
            row["energy"] = number(row["backward mJ"])
            row["psnr"] = number(row["test PSNR"])
            row["lanes"] = [int(row[f"lanes {i}"]) for i in range(33)]
            row["keys"] = [int(row.get(f"keys {i}") or 0) for i in range(33)]
    except (TypeError, ValueError, KeyError) as reason:
        raise results.Bad(f"'{path}' has a row that is not whole: {reason}")
    return rows


def over_seeds(rows):
    """One row for all seeds of an implementation and threshold on a dataset."""
    groups = {}
    for row in rows:
        key = (row["BW implementation"], row["balance threshold"], row["set"])
        groups.setdefault(key, []).append(row)
    means = []
    for group in groups.values():
        mean = dict(group[0])
        for what in ("backward", "seconds", "energy"):
            mean[what] = sum(row[what] for row in group) / len(group)
        mean["lanes"] = [sum(counts) for counts in zip(*(row["lanes"] for row in group))]
        means.append(mean)
    return means


def in_order(rows, column):
    return list(dict.fromkeys(row[column] for row in rows))


def groups(rows):
    """The datasets of the renderers, and all others."""
    sets = [s for workload in in_order(rows, "workload") for s in in_order(rows, "set")
            if s.split()[0] == workload]
    return ([s for s in sets if s.split()[0] in RENDERERS],
            [s for s in sets if s.split()[0] not in RENDERERS])


def of(rows, dataset, *names):
    return [r for r in rows if r["set"] == dataset and r["BW implementation"] in names]


def best(rows, dataset, *names):
    return min(of(rows, dataset, *names), key=lambda r: r["backward"], default=None)


def ratio(rows, dataset, what, *names):
    """Plain atomics over the implementation that is fastest; not-a-number without either."""
    plain, this = best(rows, dataset, "plain"), best(rows, dataset, *names)
    if plain is None or this is None or not this[what] > 0.0:
        return math.nan
    return plain[what] / this[what]


# ---- text ----------------------------------------------------------------------------------------


def print_steps(rows):
    names = [n for n in in_order(rows, "BW implementation") if n != "plain"]
    print("Gradient step, ms of plain atomics, and each implementation at its best threshold over "
          "them\n")
    print("| dataset | plain ms | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    for dataset in in_order(rows, "set"):
        cells = []
        for name in names:
            this, plain = best(rows, dataset, name), best(rows, dataset, "plain")
            threshold = "" if this is None or this["balance threshold"] in ("-", "auto") \
                else f" ({this['balance threshold']})"
            cells.append("" if this is None else
                         f"{this['backward'] / plain['backward']:.3f}{threshold}")
        print(f"| {dataset} | {plain['backward']:.4g} | " + " | ".join(cells) + " |")


def print_sensitivity(rows):
    print("\nThe worst threshold of 0, 8, 16, 24, 32, over plain atomics: above 1 it is a "
          "slowdown\n\n| dataset | SW-S | SW-B | auto |\n|---|---|---|---|")
    for dataset in in_order(rows, "set"):
        plain, cells = best(rows, dataset, "plain"), []
        for name in ("SW-S", "SW-B", "auto"):
            worst = max((r for r in of(rows, dataset, name) if r["balance threshold"].isdigit()),
                        key=lambda r: r["backward"], default=None)
            cells.append("" if worst is None else f"{worst['backward'] / plain['backward']:.3f} "
                                                  f"({worst['balance threshold']})")
        print(f"| {dataset} | " + " | ".join(cells) + " |")


def print_end_to_end(rows):
    print("\nEnd to end and energy, plain atomics over auto or tuned, whichever steps faster\n\n"
          "| dataset | plain s | end to end | energy | test PSNR, dB: plain, ours |\n"
          "|---|---|---|---|---|")
    for dataset in in_order(rows, "set"):
        plain, ours = best(rows, dataset, "plain"), best(rows, dataset, *OURS)
        if ours is None:
            continue
        cells = [f"{value:.{digits}f}" if math.isfinite(value) else "" for value, digits in (
            (plain["seconds"], 3), (ratio(rows, dataset, "seconds", *OURS), 2),
            (ratio(rows, dataset, "energy", *OURS), 2))]
        psnr = f"{plain['psnr']:.2f}, {ours['psnr']:.2f}" if math.isfinite(plain["psnr"]) else ""
        print(f"| {dataset} | " + " | ".join(cells) + f" | {psnr} |")


def mean_line(rows, sets, what, others):
    values = []
    for dataset in sets:
        value = ratio(rows, dataset, what, *OURS)
        if others:
            value /= ratio(rows, dataset, what, *others)
        values.append(value)
    values = [v for v in values if math.isfinite(v)]
    return f"{results.geometric_mean(values):.2f} ({max(values):.2f})" if values else ""


def print_means(rows):
    print("\nMeans (best): ours geometric, auto or tuned; the papers' arithmetic\n")
    print("| | renderers | other workloads | papers, RTX 4090 | RTX 3060 |\n|---|---|---|---|---|")
    renderers, rest = groups(rows)
    for (what, others), (first, second) in PAPERS.items():
        print(f"| {QUANTITIES[what]} over {'CCCL' if others else 'plain'} | "
              f"{mean_line(rows, renderers, what, others)} | "
              f"{mean_line(rows, rest, what, others)} | {first} | {second} |")


def seed_means(rows):
    """The mean PSNR of all trainings that have a seed."""
    seeds = {}
    for row in rows:
        seeds.setdefault(row["seed"], []).append(row["psnr"])
    return {seed: sum(values) / len(values) for seed, values in seeds.items()}


def repeated(rows):
    """Those of datasets with several seeds, where the PSNR was measured."""
    return [r for r in rows if math.isfinite(r["psnr"])
            and len({o["seed"] for o in rows if o["set"] == r["set"]}) > 1]


def print_quality(rows):
    """How far a training lies from its seed's mean is compared, so that the seed's own effect
    cancels. Thresholds are pooled: like another run, they change no more than the order of
    additions. The error is of one training about what its seed and its implementation explain."""
    seeds, shifts = seed_means(rows), {}
    for row in rows:
        shifts.setdefault(row["BW implementation"], []).append(row["psnr"] - seeds[row["seed"]])
    means = {name: sum(its) / len(its) for name, its in shifts.items()}
    squares = sum((shift - means[name]) ** 2 for name, its in shifts.items() for shift in its)
    free = len(rows) - len(seeds) - len(shifts) + 1
    deviation = math.sqrt(squares / free) if free > 0 else math.nan
    print(f"\nHeld-out PSNR of {rows[0]['set']}\n\n| | trainings | mean, dB | standard error |\n"
          "|---|---|---|---|")
    for name, its in shifts.items():
        mean = sum(row["psnr"] for row in rows if row["BW implementation"] == name) / len(its)
        print(f"| {name} | {len(its)} | {mean:.3f} | {deviation / math.sqrt(len(its)):.3f} |")
    low, high = min(means, key=means.get), max(means, key=means.get)
    error = deviation * math.sqrt(1 / len(shifts[low]) + 1 / len(shifts[high]))
    print(f"\nThe largest difference is {means[high] - means[low]:.3f} dB, {high} over {low}; its "
          f"standard error {error:.3f} dB")


# ---- figures -------------------------------------------------------------------------------------

def grid(sets, xlabel, ylabel, columns=6, size=(1.75, 1.7)):
    """(figure, axes of each dataset) on the same scales."""
    count, lines = len(sets), (len(sets) + columns - 1) // columns
    figure, panels = pictures.load().subplots(
        lines, columns, squeeze=False, sharex=True, sharey=True,
        figsize=(size[0] * columns, size[1] * lines + 0.8))
    for i, (panel, dataset) in enumerate(zip(panels.flat, sets)):
        panel.set_title(dataset.replace(" ", "\n"))
        panel.tick_params(labelbottom=i + columns >= count)
    for panel in panels.flat[count:]:
        panel.remove()
    figure.supxlabel(xlabel, fontsize="medium")
    figure.supylabel(ylabel, fontsize="medium")
    return figure, panels.flat[:count]


def speedup_rows(rows, sets, what):
    """The row of each dataset that was measured, of their mean, and of the ARC paper's."""
    table = {dataset: {name: ratio(rows, dataset, what, name) for name in DRAWN}
             for dataset in sets if math.isfinite(ratio(rows, dataset, what, *OURS))}
    if len(table) > 1:
        table["geometric mean"] = {
            name: results.geometric_mean(row[name] for row in table.values()) for name in DRAWN}
    if table and sets[0].split()[0] in RENDERERS:
        for gpu, mean in zip(("RTX 4090", "RTX 3060"), PAPERS[what, ()]):
            table[f"ARC paper, {gpu}"] = {"ARC-SW": float(mean.split()[0])}
    return table


def draw_speedup(rows):
    whats = [what for what in QUANTITIES if any(math.isfinite(row[what]) for row in rows)]
    kinds = {kind: sets for kind, sets in zip(("renderers", "others"), groups(rows)) if sets}
    tables = [[speedup_rows(rows, sets, what) for sets in kinds.values()] for what in whats]
    heights = [max(map(len, line)) for line in tables]
    figure, panels = pictures.load().subplots(
        len(whats), len(kinds), squeeze=False, sharex=True, height_ratios=heights,
        figsize=(4.7 * len(kinds), 1.0 + sum(0.24 * height + 0.5 for height in heights)))
    for what, line, axes in zip(whats, tables, panels):
        for kind, table, panel in zip(kinds, line, axes):
            pictures.draw_rows(panel, table, f"{QUANTITIES[what]}, {kind}")
    pictures.legend(figure)
    return figure


def draw_sensitivity(rows):
    sets = sum(groups(rows), [])
    figure, panels = grid(sets, "balancing threshold, lanes",
                          "gradient step over plain atomics")
    for panel, dataset in zip(panels, sets):
        plain = best(rows, dataset, "plain")["backward"]
        for name in ("SW-S", "SW-B", "auto"):
            points = sorted((int(r["balance threshold"]), r["backward"] / plain)
                            for r in of(rows, dataset, name) if r["balance threshold"].isdigit())
            panel.plot(*zip(*points), **pictures.look(name), label=name)
        panel.axhline(1.0, color="#333333", linewidth=1.0)
        panel.set_xticks(range(0, 33, 8))
        pictures.logarithmic(panel, "y")
    pictures.legend(figure)
    return figure


def draw_lanes(rows):
    sets = sum(groups(rows), [])
    figure, panels = grid(sets, "active lanes (bars), different keys (line)", "warp steps, %")
    for panel, dataset in zip(panels, sets):
        row = next(r for r in rows if r["set"] == dataset)
        whole = sum(row["lanes"]) or 1
        panel.bar(range(33), [100.0 * n / whole for n in row["lanes"]], color="#9FC9E4",
                  label="active lanes")
        if any(row["keys"]):
            panel.step(range(33), [100.0 * n / whole for n in row["keys"]], where="mid",
                       color="#000000", label="different keys")
        panel.set_xticks(range(0, 33, 8))
        panel.set_yscale("symlog", linthresh=0.1)
        panel.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
        panel.set_ylim(0, 100)
    pictures.legend(figure)
    return figure


def draw_quality(rows):
    sets, names = in_order(rows, "set"), in_order(rows, "BW implementation")
    figure, panels = grid(sets, "", "held-out PSNR about the seed's mean, dB", len(sets),
                          (4, 2.5))
    for panel, dataset in zip(panels, sets):
        seeds = seed_means([row for row in rows if row["set"] == dataset])
        for k, name in enumerate(names):
            here = [r["psnr"] - seeds[r["seed"]] for r in of(rows, dataset, name)]
            panel.plot([k] * len(here), here, **{**pictures.look(name), "linestyle": ""})
            if here:
                panel.plot(k, sum(here) / len(here), "_k", markersize=18)
        panel.set_xticks(range(len(names)), names, rotation=90)
    return figure


def draw(rows, folder):
    if not os.path.isdir(folder):
        raise results.Bad(f"'{folder}' is not a folder; make it first")
    means = over_seeds(rows)
    figures = [("speedup", draw_speedup, means), ("sensitivity", draw_sensitivity, means),
               ("lanes", draw_lanes, means)]
    if repeated(rows):
        figures.append(("quality", draw_quality, repeated(rows)))
    for name, make, table in figures:
        figure = make(table)
        if rows[0]["clock"] != "gpu_events":
            figure.suptitle("*model* from the CPU warp's counts, no GPU's times", fontsize="small")
        pictures.save(figure, os.path.join(folder, f"{name}.png"))
    return 0


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--figures")
    options = parser.parse_args(words)
    rows = [row for table in options.tables for row in read_table(table)]
    if any(row["clock"] != rows[0]["clock"] for row in rows):
        raise results.Bad("the tables are of a GPU and of the CPU warp; ask for one kind")
    means = over_seeds(rows)
    if rows[0]["clock"] != "gpu_events":
        print("*model*: from the CPU warp's counts, no GPU's times\n")
    print_steps(means)
    print_sensitivity(means)
    print_end_to_end(means)
    print_means(means)
    for dataset in in_order(repeated(rows), "set"):
        print_quality([row for row in repeated(rows) if row["set"] == dataset])
    return draw(rows, options.figures) if options.figures else 0


if __name__ == "__main__":
    results.run(main)
