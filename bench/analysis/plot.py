#!/usr/bin/env python3
"""plot.py - pictures of result files. SPDX-License-Identifier: Apache-2.0

usage: plot.py KIND FILE.csv --out PICTURE.png|.svg [--width N] [--type NAME]

  lanes      time against active lanes, a line a path, with the lanes from which reducing pays
  overview   the same of four ways to add, named in words
  threshold  time against balancing threshold where warps differ (--lanes mixed or a workload)

--width: 10 or the nearest there is. --type: of values and memory (f32).
Needs matplotlib 3.8. Exit status: 0 done, 2 bad option or file, 77 skipped: no matplotlib, or the
file does not hold what the picture shows."""
import math

import pictures
import results

OVERVIEW = {"plain": "plain atomicAdd", "vector": "vector atomics,\nwritten by hand",
            "butterfly": "the ARC paper's\nreduction (SW-B)", "auto": "arc"}


class Data:
    """The rows of the file, and what their times are."""

    def __init__(self, name, kind):
        file = results.Results(name)
        self.rows = [row for row in file.rows if row["status"] != "ERROR" and row["type"] == kind]
        device = "CPU warp, model of an H200" if file.model else file.head.get("device", "")
        self.source = device.split(",")[0] + ", " + file.head.get("date", "")[:10]
        self.unit = "kernel, " + ("model clocks per 1000 warp updates" if file.model else "ms")

    def plain_axes(self):
        """One key per warp, lanes 0 to n - 1 active, garbage in the others."""
        return [row for row in self.rows if row["workload"] == "axes" and row["keys"] == "1"
                and row["call"] == "uniform" and row["shape"] == "prefix" and row["zeros"] == "0"
                and row["lanes"].isdigit() and row["lanes"] != "0"]

    def groups(self):
        found = {}
        for row in self.rows:
            found.setdefault(results.group(row), []).append(row)
        return list(found.values())


def of_width(rows, wanted, needed):
    """The rows of the wanted width, or of the one nearest to 10."""
    widths = sorted({int(row["width"]) for row in rows})
    if not widths:
        raise results.Skip(f"no cells with {needed}")
    if wanted is not None and wanted not in widths:
        raise results.Skip(f"width {wanted} was not measured so; widths that were: "
                   + ", ".join(map(str, widths)))
    width = wanted if wanted is not None else min(widths, key=lambda w: abs(w - 10))
    return [row for row in rows if int(row["width"]) == width]


def draw_lines(data, rows, by, xlabel):
    """(figure, axes, lines): time against by(row), a line a path."""
    points, lines = {}, {}
    for row in rows:
        points.setdefault(row["path"], {}).setdefault(by(row), []).append(row["gross"])
    figure, axes = pictures.load().subplots(figsize=(9.0, 5.4))
    for path, found in points.items():
        lines[path] = sorted((x, sum(ys) / len(ys)) for x, ys in found.items() if sum(ys) > 0.0)
        if lines[path]:
            axes.plot(*zip(*lines[path]), **pictures.look(path), label=path)
    pictures.logarithmic(axes, "y")
    axes.set(ylabel=data.unit, xlabel=xlabel)
    handles = sorted(axes.get_lines(), key=lambda drawn: -drawn.get_ydata()[-1])
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5))
    width, workload, call = (rows[0][word] for word in ("width", "workload", "call"))
    axes.set_title(f"Values per update: {width}; workload {workload}, {call} call; {data.source}")
    return figure, axes, lines


def draw_by_lanes(data, rows, xlabel):
    figure, axes, lines = draw_lines(data, rows, lambda row: int(row["lanes"]), xlabel)
    axes.set_xscale("log")
    axes.minorticks_off()
    shown = [1, 2, 4, 8, 16, 24, 32]
    axes.set_xticks(shown, shown)
    return figure, axes, lines


def crossing(low, high):
    """Where `high` meets `low`, which is below it before; in the logarithms of both."""
    a, b = dict(low), dict(high)
    shared = sorted(set(a) & set(b))
    for x0, x1 in zip(shared, shared[1:]):
        before, after = math.log(a[x0] / b[x0]), math.log(a[x1] / b[x1])
        if before < 0.0 <= after:
            return x0 * (x1 / x0) ** (-before / (after - before))
    return None


def plot_lanes(data, options):
    rows = [row for row in data.plain_axes()
            if row["threshold"] in ("-", "auto" if row["path"] == "auto" else "0")]
    rows = of_width(rows, options.width, "one key and a fixed number of active lanes")
    figure, axes, lines = draw_by_lanes(data, rows, "active lanes per warp")
    at = crossing(lines.get("atomic") or lines.get("vector") or [], lines.get("transposed") or [])
    if at:
        axes.axvline(at, color="#333333", linewidth=1.2, linestyle="--", zorder=1)
        axes.annotate(f"crossover at {at:.1f} lanes", (at, 0.98), (4, 0), va="top",
                      xycoords=("data", "axes fraction"), textcoords="offset points")
    return figure


def plot_overview(data, options):
    rows = [row for row in data.plain_axes() if row["path"] in OVERVIEW
            and row["threshold"] == {"butterfly": "0", "auto": "auto"}.get(row["path"], "-")]
    if len({row["path"] for row in rows}) < len(OVERVIEW):
        raise results.Skip("one of the paths " + ", ".join(OVERVIEW) + " was not measured so")
    rows = of_width(rows, options.width, "one key and a fixed number of active lanes")
    figure, axes, lines = draw_by_lanes(
        data, rows, "lanes (threads) of a warp that have something to add")
    figure.set_size_inches(6.8, 3.5)
    pictures.load().rcParams["savefig.dpi"] = 150
    axes.get_legend().remove()
    for path, name in OVERVIEW.items():
        axes.annotate(name, lines[path][-1], (10, 0), textcoords="offset points", va="center",
                      color=pictures.look(path)["color"], fontweight="bold")
    axes.set_ylim(bottom=0.1)
    axes.set_ylabel("time of the kernel, ms")
    axes.set_title(f"Adding {rows[0]['width']} values a lane to one row of sums; {data.source}")
    return figure


def plot_threshold(data, options):
    swept = [row for rows in data.groups() if not rows[0]["lanes"].isdigit()
             and len({row["threshold"] for row in rows}) >= 5 for row in rows]
    rows = of_width(swept, options.width, "--lanes mixed and several thresholds")
    rows = [row for row in rows if results.group(row) == results.group(rows[0])]
    figure, axes, _ = draw_lines(
        data, [row for row in rows if row["threshold"].isdigit()],
        lambda row: int(row["threshold"]),
        "balancing threshold (lanes); 0 always reduces, 33 never")
    for row in rows:
        if row["path"] == row["threshold"] == "auto":
            axes.axhline(row["gross"], color=pictures.look("auto")["color"], linestyle=":")
            axes.annotate("arc's own threshold", xy=(0.99, row["gross"]), ha="right", va="top",
                          xycoords=("axes fraction", "data"))
    return figure


PLOTS = {"lanes": plot_lanes, "overview": plot_overview, "threshold": plot_threshold}


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("kind", choices=PLOTS)
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int)
    parser.add_argument("--type", default="f32")
    options = parser.parse_args(words)
    data = Data(options.file, options.type)
    pictures.save(PLOTS[options.kind](data, options), options.out)
    return 0


if __name__ == "__main__":
    results.run(main)
