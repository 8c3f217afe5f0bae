#!/usr/bin/env python3
"""paper.py - the papers' tables and figures from a table of --experiment.
SPDX-License-Identifier: Apache-2.0

usage: paper.py TABLE.csv... [--figures FOLDER]

prints, for each workload and dataset, the gradient step of every implementation at its best
threshold over plain atomics, what a threshold that does not fit costs, where the time of a training
step goes, and the means beside the papers' own (RTX 4090 and 3060); of datasets with several seeds
also mean and spread of the trainings' times, and the mean PSNR of the held-out views.
With --figures it draws into FOLDER, of a TABLE paper.csv
  paper_speedup.png      plain atomics over each implementation: gradient step, end to end, energy;
                         their means beside the ARC paper's
  paper_sensitivity.png  the gradient step over plain atomics against the balancing threshold
  paper_lanes.png        warp steps by active lanes, and by different keys

Rows with 0 iterations are of a gradient step alone, all others of a training. Rows of the CPU warp
are *model* and are labelled so. Lines that begin with # are comments.

Needs Python 3.8; for figures matplotlib 3.8. Exit status: 0 done, 2 bad option or file, 77 no
matplotlib."""
import csv
import math
import os
import statistics
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(FOLDER, path) for path in ("../../bench/analysis", "../common")]
import pictures  # noqa: E402
import results  # noqa: E402

COLUMNS = ("BW implementation", "balance threshold", "dataset", "forward ms", "backward ms",
           "end-to-end training time", "backward mJ", "test PSNR", "iterations", "seed", "clock",
           "lanes 0", "lanes 32")
RENDERERS = ("gaussians", "environment", "spheres")
CCCL = ("cub", "cg")
OURS = ("auto", "tuned")
THEIRS = ("SW-S", "SW-B")  # the papers' own paths
DRAWN = ("SW-S", "SW-B", *CCCL, "auto")  # tuned stays on top of auto: the tables have it
QUANTITIES = {"backward": "gradient step", "trained": "gradient step in training",
              "seconds": "end to end", "energy": "energy of the gradient step"}
DRAWN_QUANTITIES = ("backward", "seconds", "energy")
# The ARC paper's ARC-SW over plain atomics and CCCL, arithmetic means and best: RTX 4090, then 3060
# (section 7.2, figures 22, 26, 27).
PAPERS = {("backward", ()): ("2.44 (5.7)", "1.74 (3.27)"), ("trained", ()): ("", ""),
          ("seconds", ()): ("1.41 (2.4)", "1.21 (1.71)"),
          ("energy", ()): ("2.8", "1.7"), ("backward", CCCL): ("1.58 (1.78)", ""),
          ("backward", ("cub",)): ("1.58 (1.78)", "")}
PEERS = {(): "plain", CCCL: "CCCL", ("cub",): "CUB alone"}


def number(text):
    return float(text) if text else math.nan


def read_table(path):
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error) as reason:
        raise results.Bad(f"cannot read '{path}': {reason}")
    if not rows or any(column not in rows[0] for column in COLUMNS):
        raise results.Bad(f"'{path}' is not a table of --experiment: it needs rows, and columns "
                          + ", ".join(COLUMNS))
    try:
        for row in rows:
            row["workload"] = row.get("workload", "gaussians")
            row["set"] = row["workload"] + " " + os.path.basename(row["dataset"])
            row["iterations"] = int(row["iterations"])
            row["forward"] = number(row["forward ms"])
            row["backward"] = float(row["backward ms"])
            row["seconds"] = number(row["end-to-end training time"])
            row["energy"] = number(row["backward mJ"])
            row["psnr"] = number(row["test PSNR"])
            row["lanes"] = [int(row[f"lanes {i}"]) for i in range(33)]
            row["keys"] = [int(row.get(f"keys {i}") or 0) for i in range(33)]
    except (TypeError, ValueError, KeyError) as reason:
        raise results.Bad(f"'{path}' has a row that is not whole: {reason}")
    return rows


def mean(values):
    """Of those that were measured; not-a-number without any."""
    values = [value for value in values if math.isfinite(value)]
    return sum(values) / len(values) if values else math.nan


def over_seeds(rows):
    """One row for the steps alone of an implementation and threshold on a dataset, over all seeds;
    what is measured at the best threshold only, it has of the implementation."""
    groups = {}
    for row in rows:
        key = (row["BW implementation"], row["balance threshold"], row["set"])
        if row["iterations"] == 0:
            groups.setdefault(key, []).append(row)
    means = []
    for (name, _, dataset), group in groups.items():
        its = {**group[0], "backward": mean(row["backward"] for row in group)}
        for what in ("seconds", "energy", "psnr"):
            its[what] = mean(row[what] for row in of(rows, dataset, name))
        its["trained"] = mean(row["backward"] for row in of(rows, dataset, name)
                              if row["iterations"] > 0)
        its["lanes"] = [sum(counts) for counts in zip(*(row["lanes"] for row in group))]
        means.append(its)
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


def print_table(title, columns, lines):
    """Of rows of cells; nothing without any."""
    if lines:
        print(f"{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        print(*(f"| {' | '.join(cells)} |" for cells in lines), "", sep="\n")


def shown(value, form):
    return format(value, form) if math.isfinite(value) else ""


def three(value):
    """Three digits; empty for no number."""
    return shown(value, "#.3g").rstrip(".")


def print_steps(rows):
    names, lines = [n for n in in_order(rows, "BW implementation") if n != "plain"], []
    for dataset in in_order(rows, "set"):
        plain = best(rows, dataset, "plain")
        lines.append([dataset, f"{plain['backward']:.4g}"])
        for name in names:
            this = best(rows, dataset, name)
            threshold = "" if this is None or this["balance threshold"] in ("-", "auto") \
                else f" ({this['balance threshold']})"
            lines[-1].append("" if this is None else
                             f"{three(plain['backward'] / this['backward'])}{threshold}")
    print_table("Gradient step before training, ms of plain atomics, and speed of each "
                "implementation at its best threshold, × plain", ["dataset", "plain ms", *names],
                lines)


def print_sensitivity(rows):
    names, lines = ["SW-S", "SW-B", "auto"], []
    for dataset in in_order(rows, "set"):
        plain = best(rows, dataset, "plain")
        lines.append([dataset])
        for name in names:
            worst = min(((plain["backward"] / r["backward"], r["balance threshold"])
                         for r in of(rows, dataset, name) if r["balance threshold"].isdigit()),
                        default=None)
            lines[-1].append("" if worst is None else f"{three(worst[0])} ({worst[1]})")
    print_table("The worst threshold of 0, 8, 16, 24, 32, speed × plain: below 1 it is slower",
                ["dataset", *names], lines)


def print_end_to_end(rows):
    lines = []
    for dataset in in_order(rows, "set"):
        plain, ours = best(rows, dataset, "plain"), best(rows, dataset, *OURS)
        if ours is not None:
            psnr = [shown(row["psnr"], ".2f") for row in (plain, ours)]
            lines.append([dataset, shown(plain["seconds"], ".3f"),
                          shown(ratio(rows, dataset, "seconds", *OURS), ".2f"),
                          shown(ratio(rows, dataset, "energy", *OURS), ".2f"),
                          ", ".join(psnr) if all(psnr) else ""])
    print_table("End to end and energy, plain atomics over auto or tuned, whichever steps faster",
                ["dataset", "plain s", "end to end", "energy", "test PSNR, dB: plain, ours"], lines)


def trainings(rows, dataset, name):
    """Those whose time was measured; the CPU warp's is not."""
    return [row for row in of(rows, dataset, name)
            if row["iterations"] > 0 and math.isfinite(row["seconds"])]


def print_parts(rows):
    lines = []
    for dataset in in_order(rows, "set"):
        cells, shares = [], []
        for its in (trainings(rows, dataset, name) for name in ("plain", "auto")):
            forward, gradient = (mean(row[what] for row in its) for what in ("forward", "backward"))
            whole = mean(1000 * row["seconds"] / row["iterations"] for row in its)
            rest = whole - forward - gradient
            cells += [shown(ms, ".4g") for ms in (forward, gradient, max(rest, 0.0))]
            shares.append(shown(100 * gradient / whole, ".0f"))
        if any(cells):
            lines.append([dataset, *cells, shares[0]])
    print_table("Where the time of a training step goes, ms: forward and loss, gradient, rest",
                ["dataset", "plain: forward", "gradient", "rest", "auto: forward", "gradient",
                 "rest", "gradient of plain, %"], lines)


def print_in_training(rows):
    """Steps of trainings: thresholds fixed before, searched for, tuned, and arc's own."""
    names = [n for n in ("SW-S", "SW-S retuned", "SW-B", "SW-B retuned", "auto", "tuned", "default")
             if any(row["BW implementation"] == n for row in rows)]
    lines = []
    for dataset in in_order(rows, "set"):
        ms = {name: mean(row["backward"] for row in of(rows, dataset, name)
                         if row["iterations"] > 0) for name in ("plain", *names)}
        if math.isfinite(ms["plain"]):
            lines.append([dataset, f"{ms['plain']:.4g}",
                          *(three(ms["plain"] / ms[name]) for name in names)])
    print_table("Gradient step in training, ms of plain atomics, and speed, × plain: at the "
                "threshold that was best before training, searched for every 2000 iterations, "
                "tuned, and arc's own", ["dataset", "plain ms", *names], lines)


def print_by_workload(rows):
    """arc as users get it, without a threshold: least and most over the datasets."""
    lines = []
    for workload in in_order(rows, "workload"):
        cells = []
        for name, trained in (("auto", False), ("default", True)):
            its = []
            for dataset in in_order([r for r in rows if r["workload"] == workload], "set"):
                plain, ours = (mean(r["backward"] for r in of(rows, dataset, way)
                                    if (r["iterations"] > 0) == trained and
                                    (trained or r["balance threshold"] in ("-", "auto")))
                               for way in ("plain", name))
                its += [plain / ours] if math.isfinite(plain / ours) else []
            cells += [three(side(its)) if its else "" for side in (min, max)]
        lines.append([f"{workload}, all datasets", *cells])
    print_table("Speed of the gradient step with arc's default, × plain", [
        "", "before training, least", "most", "in training, least", "most"], lines)


def print_warps(rows):
    """Of the steps in which a lane adds."""
    lines = []
    for dataset in in_order(rows, "set"):
        row = next(r for r in rows if r["set"] == dataset)
        met = sum(row["lanes"][1:])
        if any(row["keys"]):
            lines.append([dataset, f"{100 * row['lanes'][32] / met:.1f}",
                          f"{100 * row['keys'][1] / met:.3f}"])
    print_table("Steps of a warp in which a lane adds: all lanes, one key",
                ["dataset", "full, %", "one key, %"], lines)


def print_spread(rows):
    names, lines = in_order(rows, "BW implementation"), []
    for dataset in in_order(rows, "set"):
        times = [[row["seconds"] for row in trainings(rows, dataset, name)] for name in names]
        cells = [f"{mean(its):.3f}, {statistics.stdev(its):.3f}" if len(its) > 1 else ""
                 for its in times]
        if any(cells):
            lines.append([dataset, *cells])
    print_table("End to end over several seeds, s: mean, standard deviation", ["dataset", *names],
                lines)


def mean_line(rows, sets, what, others, names, middle):
    values = []
    for dataset in sets:
        value = ratio(rows, dataset, what, *names)
        if others:
            value /= ratio(rows, dataset, what, *others)
        values.append(value)
    values = [v for v in values if math.isfinite(v)]
    return f"{middle(values):.2f} ({max(values):.2f})" if values else ""


def print_means(rows):
    renderers, rest = groups(rows)
    ways = {"": (OURS, results.geometric_mean),
            ", by SW-S or SW-B": (THEIRS, mean)}
    print_table("Means (best): of auto or tuned geometric; of SW-S or SW-B, and the papers', "
                "arithmetic",
                ["", "renderers", "other workloads", "papers, RTX 4090", "RTX 3060"],
                [[f"{QUANTITIES[what]} over {PEERS[others]}{by}",
                  *(mean_line(rows, sets, what, others, *way) for sets in (renderers, rest)),
                  *papers] for (what, others), papers in PAPERS.items()
                 for by, way in ways.items()])


def seed_means(rows):
    """The mean PSNR of all trainings that have a seed."""
    seeds = {}
    for row in rows:
        seeds.setdefault(row["seed"], []).append(row["psnr"])
    return {seed: mean(values) for seed, values in seeds.items()}


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
    means = {name: mean(its) for name, its in shifts.items()}
    squares = sum((shift - means[name]) ** 2 for name, its in shifts.items() for shift in its)
    free = len(rows) - len(seeds) - len(shifts) + 1
    deviation = math.sqrt(squares / free) if free > 0 else math.nan
    print_table(f"Held-out PSNR of {rows[0]['set']}",
                ["", "trainings", "mean, dB", "standard error"],
                [[name, f"{len(its)}",
                  f"{mean(r['psnr'] for r in rows if r['BW implementation'] == name):.3f}",
                  f"{deviation / math.sqrt(len(its)):.3f}"] for name, its in shifts.items()])
    low, high = min(means, key=means.get), max(means, key=means.get)
    error = deviation * math.sqrt(1 / len(shifts[low]) + 1 / len(shifts[high]))
    print(f"The largest difference is {means[high] - means[low]:.3f} dB, {high} over {low}; its "
          f"standard error {error:.3f} dB\n")


# ---- figures -------------------------------------------------------------------------------------

def grid(sets, xlabel, ylabel, columns=5):
    """(figure, axes of each dataset) on the same scales."""
    count, lines = len(sets), (len(sets) + columns - 1) // columns
    figure, panels = pictures.load().subplots(
        lines, columns, squeeze=False, sharex=True, sharey=True,
        figsize=(pictures.WIDTH, 1.4 * lines + 0.8))
    for i, (panel, dataset) in enumerate(zip(panels.flat, sets)):
        panel.set_title(dataset.replace(" ", "\n"), fontsize="small")
        panel.tick_params(labelbottom=i + columns >= count)
    for panel in panels.flat[count:]:
        panel.remove()
    figure.supxlabel(xlabel, fontsize="medium")
    figure.supylabel(ylabel, fontsize="medium")
    return figure, panels.flat[:count]


def speedup_rows(rows, what):
    """Each dataset, without numbers where it was not measured; both groups' means; the paper's."""
    table = {}
    for kind, sets in zip(("renderers", "others"), groups(rows)):
        its = {dataset: {name: ratio(rows, dataset, what, name) for name in DRAWN}
               for dataset in sets}
        measured = [row for row in its.values() if math.isfinite(row["auto"])]
        table.update(its)
        if len(measured) > 1:
            table[f"mean of {kind}"] = {
                name: results.geometric_mean(row[name] for row in measured) for name in DRAWN}
        if sets and kind == "renderers":
            for gpu, mean in zip(("RTX 4090", "RTX 3060"), PAPERS[what, ()]):
                table[f"ARC paper, {gpu}"] = {"ARC-SW": float(mean.split()[0])}
    return table


def draw_speedup(rows):
    tables = {QUANTITIES[what].replace(" of ", " of\n"): speedup_rows(rows, what)
              for what in DRAWN_QUANTITIES if any(math.isfinite(row[what]) for row in rows)}
    height = max(map(len, tables.values()))
    figure, panels = pictures.load().subplots(
        1, len(tables), squeeze=False, sharex=True, sharey=True,
        figsize=(pictures.WIDTH, 1.2 + 0.2 * height))
    for panel, (title, table) in zip(panels.flat, tables.items()):
        pictures.draw_rows(panel, table, title)
    figure.supxlabel(pictures.TIMES, fontsize="medium")
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
        panel.set_xticks(range(0, 33, 16))
        pictures.logarithmic(panel, "y", (1,))
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
        panel.set_xticks(range(0, 33, 16))
        panel.set_yscale("symlog", linthresh=0.1)
        panel.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
        panel.set_ylim(0, 100)
    pictures.legend(figure)
    return figure


def draw(rows, folder, table):
    if not os.path.isdir(folder):
        raise results.Bad(f"'{folder}' is not a folder; make it first")
    means = over_seeds(rows)
    for name, make in (("speedup", draw_speedup), ("sensitivity", draw_sensitivity),
                       ("lanes", draw_lanes)):
        figure = make(means)
        if rows[0]["clock"] != "gpu_events":
            figure.suptitle("*model* from the CPU warp's counts, no GPU's times", fontsize="small")
        stem = os.path.splitext(os.path.basename(table))[0]
        pictures.save(figure, os.path.join(folder, f"{stem}_{name}.png"))
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
    print_parts(rows)
    print_in_training(rows)
    print_by_workload(rows)
    print_spread(rows)
    print_warps(rows)
    print_means(means)
    for dataset in in_order(repeated(rows), "set"):
        print_quality([row for row in repeated(rows) if row["set"] == dataset])
    return draw(rows, options.figures, options.tables[0]) if options.figures else 0


if __name__ == "__main__":
    results.run(main)
