#!/usr/bin/env python3
"""profile_plot.py - a picture of what profile.sh wrote. SPDX-License-Identifier: Apache-2.0

usage: profile_plot.py PROFILE.csv --out PICTURE.png|.svg

A line of panels for each workload: what warps wait for, by path (clocks per issued instruction,
waits for loads, stores and reductions first); the reductions' traffic to the L2; what share of
their peak the pipes are busy. Needs matplotlib; exit status 0, 2 bad file, 77 skipped."""
import csv
import os
import sys

BAD, SKIPPED = 2, 77
COLUMNS = ["workload", "width", "path", "group", "name", "unit", "value", "metric"]
# Okabe and Ito's colours: waits for memory warm, shuffles blue, the rest grey.
STALLS = {"lg_throttle": "#D55E00", "long_scoreboard": "#E69F00", "drain": "#F0E442",
          "membar": "#CC79A7", "mio_throttle": "#0072B2", "short_scoreboard": "#56B4E9",
          "tex_throttle": "#009E73"}
REST = {"stall_rest": "#BBBBBB"}
PIPES = {"issue_percent": ("#000000", "o"), "lsu_percent": ("#D55E00", "s"),
         "alu_percent": ("#0072B2", "^"), "fma_percent": ("#009E73", "v"),
         "xu_percent": ("#CC79A7", "D"), "adu_percent": ("#E69F00", "P")}


class Bad(Exception):
    """The text is the line to print."""


def read(name):
    try:
        with open(name, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Bad(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not lines or lines[0] != "# program: arc profile":
        raise Bad(f"{name}: is no file of profile.sh, whose first line is '# program: arc profile'")
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    if not rows or rows[0] != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise Bad(f"{name}: its columns are not {','.join(COLUMNS)}; the file is damaged")
    cells = {}
    for row in (dict(zip(COLUMNS, row)) for row in rows[1:]):
        cell = cells.setdefault((row["workload"], row["width"]), {}).setdefault(row["path"], {})
        try:
            cell[row["group"], row["name"]] = float(row["value"])
        except ValueError:
            raise Bad(f"{name}: '{row['value']}' of {row['metric']} is not a number") from None
    if not cells:
        raise Bad(f"{name}: holds no figures")
    return head, cells


def draw_stalls(axes, paths):
    names = list(paths)
    left = [0.0] * len(names)
    for reason, color in list(STALLS.items()) + list(REST.items()):
        width = []
        for path in names:
            cell = paths[path]
            width.append(sum(v for (group, name), v in cell.items()
                             if group.startswith("stall_")
                             and (name == reason or group == reason)))
        if any(width):
            label = "all other reasons" if reason == "stall_rest" else reason.replace("_", " ")
            axes.barh(names, width, left=left, color=color, label=label, height=0.7,
                      edgecolor="white", linewidth=0.5)
            left = [a + b for a, b in zip(left, width)]
    axes.invert_yaxis()
    axes.set_xlabel("clocks a warp waits per issued instruction")
    axes.legend(frameon=False, fontsize=7, loc="best")


def draw_traffic(axes, paths):
    names = list(paths)
    sectors = [paths[p].get(("l2", "red_sectors"), paths[p].get(("l1", "red_sectors"), 0.0))
               for p in names]
    requests = [paths[p].get(("l1", "red_requests"), 0.0) for p in names]
    axes.barh([i - 0.2 for i in range(len(names))], sectors, height=0.38, color="#D55E00",
              label="sectors reduced in the L2")
    axes.barh([i + 0.2 for i in range(len(names))], requests, height=0.38, color="#56B4E9",
              label="reduction requests")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    if any(sectors + requests):
        axes.set_xscale("log")
    axes.set_xlabel("per launch")
    axes.legend(frameon=False, fontsize=7, loc="best")


def draw_pipes(axes, paths):
    names = list(paths)
    for pipe, (color, marker) in PIPES.items():
        points = [(paths[p]["pipe", pipe], i) for i, p in enumerate(names)
                  if ("pipe", pipe) in paths[p]]
        if points:
            axes.plot(*zip(*points), color=color, marker=marker, linestyle="none", markersize=6,
                      label=pipe.replace("_percent", ""))
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.grid(axis="y", color="#E5E5E5")
    axes.set_xlabel("percent of the pipe's peak while active")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw(name, picture):
    head, cells = read(name)
    try:
        import matplotlib
    except ImportError:
        print("skipped: the plot: no matplotlib; `python3 -m pip install matplotlib` brings it")
        return SKIPPED
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "arc", "axes.spines.top": False,
                                "axes.spines.right": False, "axes.axisbelow": True})
    import matplotlib.pyplot as plt
    figure, grid = plt.subplots(len(cells), 3, figsize=(15, 0.9 + 3.2 * len(cells)), squeeze=False,
                                layout="constrained")
    for line, ((workload, width), paths) in zip(grid, cells.items()):
        for axes, panel in zip(line, (draw_stalls, draw_traffic, draw_pipes)):
            panel(axes, paths)
        line[0].set_title(f"{workload}, {width} values per update", loc="left", fontweight="bold")
    figure.suptitle(f"{head.get('device', 'unknown device')}, {head.get('date', 'no date')[:10]}",
                    fontsize=10, color="#555555", x=0.01, ha="left")
    base, ending = os.path.splitext(picture)
    partial = f"{base}.partial{ending}"
    figure.savefig(partial, dpi=150, metadata={"Date": None} if ending == ".svg" else None)
    os.replace(partial, picture)
    print(f"{picture}: written")
    return 0


def main():
    words = sys.argv[1:]
    if len(words) != 3 or words[1] != "--out" or not words[2].endswith((".png", ".svg")):
        print("usage: profile_plot.py PROFILE.csv --out PICTURE.png|.svg", file=sys.stderr)
        return BAD
    try:
        return draw(words[0], words[2])
    except (Bad, OSError) as reason:
        print(f"profile_plot.py: {reason}", file=sys.stderr)
        return BAD


if __name__ == "__main__":
    sys.exit(main())
