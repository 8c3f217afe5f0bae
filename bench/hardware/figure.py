"""Draws hardware.csv: speed over plain atomics by workload, as the ARC paper's figures 18 and 19.

usage: figure.py hardware.csv hardware.png
SPDX-License-Identifier: Apache-2.0
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

SHOWN = ("ARC-HW", "ARC-always", "ARC-tree", "ARC-wide", "LAB-ideal", "LAB", "PHI", "SW-B", "auto")
PAPERS = {"4090-Sim": {"ARC-HW": 2.06, "LAB-ideal": 1.40, "LAB": 1.40 / 1.05, "PHI": 1.01},
          "3060-Sim": {"ARC-HW": 1.73, "LAB-ideal": 1.20, "LAB": 1.20 / 1.05, "PHI": 1.03}}
OF_MEAN = 7  # workloads nearest to the papers'


def read(file):
    with open(file, encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def draw(axes, rows, machine):
    speeds = {(r["workload"], r["mechanism"]): float(r["speedup"]) for r in rows
              if r["machine"] == machine}
    names = list(dict.fromkeys(workload for workload, _ in speeds))
    for i, mechanism in enumerate(SHOWN):
        values = [speeds[name, mechanism] for name in names]
        values.append(sum(values[:OF_MEAN]) / OF_MEAN)
        places = [k + (i - len(SHOWN) / 2 + 0.5) * 0.09 for k in range(len(values))]
        axes.bar(places, values, 0.09, label=mechanism)
        if mechanism in PAPERS.get(machine, {}):
            axes.plot(places[-1], PAPERS[machine][mechanism], "k_", markersize=7)
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.5)
    axes.set_xticks(range(len(names) + 1), names + [f"mean of {OF_MEAN}"], fontsize=7)
    axes.set_ylabel(f"{machine}\nspeed over plain", fontsize=7)
    axes.tick_params(axis="y", labelsize=7)


def main():
    rows = read(sys.argv[1])
    figure, parts = pyplot.subplots(3, 1, figsize=(9, 6.5))
    for axes, machine in zip(parts, ("3060-Sim", "4090-Sim", "H200")):
        draw(axes, rows, machine)
    parts[0].legend(ncol=len(SHOWN), fontsize=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    parts[0].set_title("model; black marks: means of the ARC paper's figures 18 and 19",
                       fontsize=8, pad=20)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=110)


if len(sys.argv) != 3:
    sys.exit("figure.py: takes hardware.csv hardware.png")
main()
