#!/usr/bin/env python3
"""plot.py - the papers' figures from a table of gaussians --experiment.
SPDX-License-Identifier: Apache-2.0

usage: plot.py TABLE.csv FOLDER [--format png|svg]

writes into FOLDER
  speedup      plain atomics over each implementation at its best threshold, a group of bars a
               dataset: backward pass, end to end and, where it was measured, energy
  sensitivity  milliseconds of the backward pass against the balancing threshold, a panel a dataset
  lanes        how many warp steps had so many lanes to add, a panel a dataset
  quality      PSNR of the held-out views about the mean of all trainings with the same seed: a dot
               a training, a bar at the mean, a panel a dataset; if any views were held out
All but the last show means over the seeds. Lines that begin with # are comments.

Needs Python 3.8 and matplotlib 3.7. Exit status: 0 done, 2 bad option or file, 77 skipped: no
matplotlib."""
import argparse
import csv
import math
import os
import sys

BAD, SKIPPED = 2, 77
COLUMNS = ("BW implementation", "balance threshold", "dataset", "backward ms",
           "end-to-end training time", "backward mJ", "test PSNR", "seed", "lanes 0", "lanes 32")


def fail(line):
    print("plot.py: " + line, file=sys.stderr)
    sys.exit(BAD)


def read_table(path):
    try:
        with open(path, newline="") as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error) as reason:
        fail(f"cannot read '{path}': {reason}")
    if not rows or any(column not in rows[0] for column in COLUMNS):
        fail(f"'{path}' is no table of gaussians --experiment: it needs rows, and the columns "
             + ", ".join(COLUMNS))
    try:
        for row in rows:
            row["backward"] = float(row["backward ms"])
            row["seconds"] = float(row["end-to-end training time"])
            row["energy"] = float(row["backward mJ"] or "nan")
            row["psnr"] = float(row["test PSNR"])
            row["lanes"] = [int(row[f"lanes {i}"]) for i in range(33)]
    except (TypeError, ValueError, KeyError) as reason:
        fail(f"'{path}' has a row that is not whole: {reason}")
    return rows


def over_seeds(rows):
    """One row for all seeds of an implementation and threshold on a dataset."""
    groups = {}
    for row in rows:
        key = (row["BW implementation"], row["balance threshold"], row["dataset"])
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


def best(rows, dataset, name):
    fitting = [r for r in rows if r["dataset"] == dataset and r["BW implementation"] == name]
    return min(fitting, key=lambda r: r["backward"], default=None)


def draw_speedup(plt, rows):
    datasets, names = in_order(rows, "dataset"), in_order(rows, "BW implementation")
    whats = {"backward": "backward pass", "seconds": "end to end"}
    if all(row["energy"] > 0.0 for row in rows):
        whats["energy"] = "energy of the backward pass"
    figure, panels = plt.subplots(1, len(whats), figsize=(5.5 * len(whats), 4),
                                  constrained_layout=True)
    for panel, (what, title) in zip(panels, whats.items()):
        for k, name in enumerate(names):
            for d, dataset in enumerate(datasets):
                plain, this = best(rows, dataset, "plain"), best(rows, dataset, name)
                if plain is None or this is None or this[what] <= 0.0:
                    continue
                panel.bar(d + (k - len(names) / 2) * 0.8 / len(names), plain[what] / this[what],
                          0.8 / len(names), color=f"C{k}", label=name if d == 0 else None)
        panel.set_xticks(range(len(datasets)), datasets)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_title(title)
        panel.set_ylabel("times plain atomics")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center",
                  fontsize="small", ncols=len(names))
    return figure


def draw_sensitivity(plt, rows):
    datasets = in_order(rows, "dataset")
    figure, panels = plt.subplots(1, len(datasets), figsize=(4.5 * len(datasets), 4), squeeze=False,
                                  constrained_layout=True)
    for panel, dataset in zip(panels[0], datasets):
        for name in in_order(rows, "BW implementation"):
            here = [r for r in rows if r["dataset"] == dataset and r["BW implementation"] == name]
            points = sorted((int(r["balance threshold"]), r["backward"]) for r in here
                            if r["balance threshold"].isdigit())
            if points:
                panel.plot(*zip(*points), marker="o", label=name)
            elif here:
                panel.axhline(here[0]["backward"], linestyle="--", color="grey")
                panel.annotate(name, (0, here[0]["backward"]), fontsize="small")
        panel.set_title(dataset)
        panel.set_xlabel("balancing threshold, lanes")
        panel.set_yscale("log")
    panels[0][0].set_ylabel("backward pass, ms")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center",
                  fontsize="small", ncols=len(in_order(rows, "BW implementation")))
    return figure


def draw_lanes(plt, rows):
    datasets = in_order(rows, "dataset")
    figure, panels = plt.subplots(1, len(datasets), figsize=(4.5 * len(datasets), 4), squeeze=False,
                                  constrained_layout=True)
    for panel, dataset in zip(panels[0], datasets):
        lanes = next(r["lanes"] for r in rows if r["dataset"] == dataset)
        whole = sum(lanes) or 1
        panel.bar(range(33), [100.0 * n / whole for n in lanes])
        panel.set_title(dataset)
        panel.set_xlabel("lanes with something to add")
    panels[0][0].set_ylabel("% of warp steps")
    return figure


def draw_quality(plt, rows):
    datasets, names = in_order(rows, "dataset"), in_order(rows, "BW implementation")
    figure, panels = plt.subplots(1, len(datasets), figsize=(4.5 * len(datasets), 4), squeeze=False,
                                  constrained_layout=True)
    for panel, dataset in zip(panels[0], datasets):
        seeds = {}
        for row in rows:
            if row["dataset"] == dataset:
                seeds.setdefault(row["seed"], []).append(row["psnr"])
        for k, name in enumerate(names):
            here = [r["psnr"] - sum(seeds[r["seed"]]) / len(seeds[r["seed"]]) for r in rows
                    if r["dataset"] == dataset and r["BW implementation"] == name]
            panel.plot([k] * len(here), here, "o", color=f"C{k}", alpha=0.4)
            if here:
                mean = sum(here) / len(here)
                panel.plot([k - 0.3, k + 0.3], [mean, mean], color=f"C{k}")
        panel.set_title(dataset)
        panel.set_xticks(range(len(names)), names, rotation=60)
    panels[0][0].set_ylabel("held-out PSNR about the seed's mean, dB")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("folder")
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    options = parser.parse_args()
    rows = read_table(options.table)
    if not os.path.isdir(options.folder):
        fail(f"'{options.folder}' is not a folder; make it first")
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("plot.py: skipped, no matplotlib")
        sys.exit(SKIPPED)
    means = over_seeds(rows)
    figures = [("speedup", draw_speedup, means), ("sensitivity", draw_sensitivity, means),
               ("lanes", draw_lanes, means)]
    if all(math.isfinite(row["psnr"]) for row in rows):
        figures.append(("quality", draw_quality, rows))
    for name, draw, table in figures:
        path = os.path.join(options.folder, f"{name}.{options.format}")
        figure = draw(plt, table)
        if rows[0].get("clock") == "host_emulation":
            figure.suptitle("times of the emulation on the CPU, not of a GPU", fontsize="small")
        figure.savefig(path, dpi=120)
        print("written    " + path)


if __name__ == "__main__":
    main()
