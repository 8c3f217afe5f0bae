"""Draws hardware.csv: speed over plain atomics by workload, as the ARC paper's figures 18 and 19.

usage: figure.py hardware.csv hardware.png
SPDX-License-Identifier: Apache-2.0
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analysis"))
import pictures  # noqa: E402
import results  # noqa: E402

SHOWN = ("ARC-HW", "ARC-always", "ARC-tree", "ARC-wide", "LAB-ideal", "LAB", "PHI", "SW-B", "auto")
PAPERS = {"4090-Sim": {"ARC-HW": 2.06, "LAB-ideal": 1.40, "LAB": 1.40 / 1.05, "PHI": 1.01},
          "3060-Sim": {"ARC-HW": 1.73, "LAB-ideal": 1.20, "LAB": 1.20 / 1.05, "PHI": 1.03}}
OF_MEAN = 7  # workloads nearest to the papers'


def read(file):
    with open(file, encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def rows_of(cells, machine):
    rows = {}
    for cell in cells:
        if cell["machine"] == machine:
            rows.setdefault(cell["workload"], {})[cell["mechanism"]] = float(cell["speedup"])
    rows = {name: {way: row[way] for way in SHOWN} for name, row in rows.items()}
    first = list(rows.values())[:OF_MEAN]
    rows[f"mean of first {OF_MEAN}"] = {way: sum(row[way] for row in first) / OF_MEAN
                                        for way in SHOWN}
    if machine in PAPERS:
        rows["ARC paper's mean"] = PAPERS[machine]
    return rows


def draw(cells):
    machines = ("3060-Sim", "4090-Sim", "H200")
    figure, panels = pictures.load().subplots(1, len(machines), figsize=(11, 5.2))
    for axes, machine in zip(panels, machines):
        pictures.draw_rows(axes, rows_of(cells, machine), f"{machine} (model)")
    pictures.legend(figure)
    return figure


def main(words):
    if len(words) != 2:
        raise results.Bad("takes hardware.csv hardware.png")
    pictures.save(draw(read(words[0])), words[1])
    return 0


if __name__ == "__main__":
    results.run(main)
