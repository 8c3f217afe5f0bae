#!/usr/bin/env python3
"""paper.py - the papers' tables and figures from a table of --experiment.
SPDX-License-Identifier: Apache-2.0

usage: paper.py TABLE.csv... [--figures FOLDER] [--format png|svg]

prints, for each workload and dataset, the gradient step of every implementation at its best
threshold over plain atomics, what a threshold that does not fit costs, and the means beside the
papers' own (RTX 4090 and 3060). With --figures it draws into FOLDER
  speedup      plain atomics over each implementation: gradient step, end to end, energy
  sensitivity  the gradient step over plain atomics against the balancing threshold
  lanes        warp steps by active lanes, and by different keys
  quality      PSNR of the held-out views about the mean of all trainings with the same seed; only
               of datasets with several seeds

Rows of the CPU warp are *model* and are labelled so. Lines that begin with # are comments.

Needs Python 3.8; for figures matplotlib 3.7. Exit status: 0 done, 2 bad option or file, 77 no
matplotlib."""
import csv
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analysis"))
import results  # noqa: E402

COLUMNS = ("BW implementation", "balance threshold", "dataset", "backward ms",
           "end-to-end training time", "backward mJ", "test PSNR", "seed", "clock", "lanes 0",
           "lanes 32")
RENDERERS = ("gaussians", "environment", "spheres")
CCCL = ("cub", "cg")
OURS = ("auto", "tuned")
DRAWN = ("SW-S", "SW-B", "cub", "cg", "auto", "tuned")  # what all workloads have
# Arithmetic means and best: RTX 4090, then 3060 (section 7.2, figures 22, 26, 27).
PAPERS = (("gradient step over plain", "2.44 (5.7)", "1.74 (3.27)"),
          ("end to end over plain", "1.41 (2.4)", "1.21 (1.71)"),
          ("energy of the gradient step", "2.8", "1.7"),
          ("gradient step over CCCL", "1.58 (1.78)", ""))


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
    sets = in_order(rows, "set")
    renderers = [s for s in sets if s.split()[0] in RENDERERS]
    rest = [s for s in sets if s not in renderers]
    lines = (("backward", ()), ("seconds", ()), ("energy", ()), ("backward", CCCL))
    for (what, others), (title, first, second) in zip(lines, PAPERS):
        print(f"| {title} | {mean_line(rows, renderers, what, others)} | "
              f"{mean_line(rows, rest, what, others)} | {first} | {second} |")


# ---- figures -------------------------------------------------------------------------------------


def grid(plt, count, columns=4):
    lines = (count + columns - 1) // columns
    figure, panels = plt.subplots(lines, min(columns, count), squeeze=False,
                                  figsize=(3.6 * min(columns, count), 3.0 * lines),
                                  constrained_layout=True)
    panels = list(panels.flat)
    for panel in panels[count:]:
        panel.set_axis_off()
    return figure, panels[:count]


def draw_speedup(plt, rows):
    sets = in_order(rows, "set")
    names = [n for n in DRAWN if any(row["BW implementation"] == n for row in rows)]
    whats = {what: title for what, title in
             (("backward", "gradient step"), ("seconds", "end to end"), ("energy", "energy"))
             if any(math.isfinite(row[what]) for row in rows)}
    figure, panels = plt.subplots(len(whats), 1, squeeze=False, constrained_layout=True,
                                  figsize=(1.0 + 0.7 * len(sets), 3 * len(whats)))
    for panel, (what, title) in zip(panels[:, 0], whats.items()):
        for k, name in enumerate(names):
            heights = [ratio(rows, s, what, name) for s in sets]
            panel.bar([i + (k - len(names) / 2) * 0.8 / len(names) for i in range(len(sets))],
                      [h if math.isfinite(h) else 0.0 for h in heights], 0.8 / len(names),
                      color=f"C{k}", label=name)
        panel.set_xticks(range(len(sets)), [s.replace(" ", "\n") for s in sets], fontsize=6)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_ylabel(title + ",\ntimes plain atomics")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center",
                  fontsize="small", ncols=len(names))
    return figure


def draw_sensitivity(plt, rows):
    sets = in_order(rows, "set")
    figure, panels = grid(plt, len(sets))
    for panel, dataset in zip(panels, sets):
        plain = best(rows, dataset, "plain")["backward"]
        for k, name in enumerate(DRAWN):
            here = of(rows, dataset, name)
            points = sorted((int(r["balance threshold"]), r["backward"] / plain) for r in here
                            if r["balance threshold"].isdigit())
            if points:
                panel.plot(*zip(*points), marker="o", markersize=3, color=f"C{k}", label=name)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_title(dataset, fontsize="small")
        panel.set_yscale("log")
    figure.supxlabel("balancing threshold, lanes")
    figure.supylabel("gradient step over plain atomics")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center",
                  fontsize="small", ncols=6)
    return figure


def draw_lanes(plt, rows):
    sets = in_order(rows, "set")
    figure, panels = grid(plt, len(sets))
    for panel, dataset in zip(panels, sets):
        row = next(r for r in rows if r["set"] == dataset)
        whole = sum(row["lanes"]) or 1
        panel.bar(range(33), [100.0 * n / whole for n in row["lanes"]], label="active lanes")
        if any(row["keys"]):
            panel.step(range(33), [100.0 * n / whole for n in row["keys"]], where="mid",
                       color="C1", label="different keys")
        panel.set_title(dataset, fontsize="small")
        panel.set_yscale("symlog", linthresh=0.1)
    figure.supylabel("% of warp steps")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center",
                  fontsize="small", ncols=2)
    return figure


def draw_quality(plt, rows):
    sets, names = in_order(rows, "set"), in_order(rows, "BW implementation")
    figure, panels = grid(plt, len(sets))
    for panel, dataset in zip(panels, sets):
        seeds = {}
        for row in rows:
            if row["set"] == dataset:
                seeds.setdefault(row["seed"], []).append(row["psnr"])
        for k, name in enumerate(names):
            here = [r["psnr"] - sum(seeds[r["seed"]]) / len(seeds[r["seed"]])
                    for r in of(rows, dataset, name)]
            panel.plot([k] * len(here), here, "o", color=f"C{k}", alpha=0.4)
            if here:
                mean = sum(here) / len(here)
                panel.plot([k - 0.3, k + 0.3], [mean, mean], color=f"C{k}")
        panel.set_title(dataset, fontsize="small")
        panel.set_xticks(range(len(names)), names, rotation=60)
    panels[0].set_ylabel("held-out PSNR about the seed's mean, dB")
    return figure


def draw(rows, folder, form):
    if not os.path.isdir(folder):
        raise results.Bad(f"'{folder}' is not a folder; make it first")
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("paper.py: figures are skipped, no matplotlib")
        return results.SKIPPED
    means = over_seeds(rows)
    figures = [("speedup", draw_speedup, means), ("sensitivity", draw_sensitivity, means),
               ("lanes", draw_lanes, means)]
    repeated = [r for r in rows if math.isfinite(r["psnr"])
                and len({o["seed"] for o in rows if o["set"] == r["set"]}) > 1]
    if repeated:
        figures.append(("quality", draw_quality, repeated))
    for name, make, table in figures:
        path = os.path.join(folder, f"{name}.{form}")
        figure = make(plt, table)
        if rows[0]["clock"] != "gpu_events":
            figure.suptitle("*model* from the CPU warp's counts, no GPU's times", fontsize="small")
        figure.savefig(path, dpi=110)
        print("written    " + path)
    return 0


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--figures")
    parser.add_argument("--format", choices=("png", "svg"), default="png")
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
    return draw(rows, options.figures, options.format) if options.figures else 0


if __name__ == "__main__":
    results.run(main)
