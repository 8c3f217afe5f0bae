#!/usr/bin/env python3
"""plot.py - pictures of result files. SPDX-License-Identifier: Apache-2.0

usage: plot.py KIND FILE.csv --out PICTURE.png|.svg [--width N] [--type NAME] [--net]

  lanes      time against active lanes, a line a path, with the lanes from which reducing pays
  overview   the same of four ways to add, named in words
  threshold  time against balancing threshold where warps differ (--lanes mixed or a workload)

--width: 10 or the nearest there is. --type: of values and memory (f32). --net: without the
surrounding kernel.
Needs matplotlib. Exit status: 0 done, 2 bad option or file, 77 skipped: no matplotlib, or the file
does not hold what the picture shows."""
import math

import results

# Okabe and Ito's colours; what others would ship is dashed, the papers' paths dotted, arc's solid.
LOOKS = {
    "none": ("#BBBBBB", "", "-"), "plain": ("#000000", "o", "--"),
    "vector": ("#999999", "s", "--"), "cg": ("#D55E00", "P", "--"), "cub": ("#E69F00", "X", "--"),
    "cub_batched": ("#56B4E9", "d", "--"), "shuffle_skip": ("#CC79A7", "<", "--"),
    "match_shared": ("#8C6D1F", ">", "--"), "serialized": ("#CC79A7", "v", ":"),
    "butterfly": ("#E69F00", "^", ":"), "atomic": ("#56B4E9", "s", "-"),
    "transposed": ("#009E73", "D", "-"), "tree": ("#D55E00", "p", "-"),
    "auto": ("#0072B2", "o", "-"),
}
OVERVIEW = {"plain": "plain atomicAdd", "vector": "vector atomics,\nwritten by hand",
            "butterfly": "the ARC paper's\nreduction (SW-B)", "auto": "arc"}


class Skip(Exception):
    """The file does not hold what the picture shows."""


class Data:
    """The rows of the file; their value is what the picture shows."""

    def __init__(self, name, net, kind):
        file = results.Results(name)
        self.rows = [{**row, "value": row["net" if net else "gross"]} for row in file.rows
                     if row["status"] != "ERROR" and row["type"] == kind]
        device = "CPU warp, model of an H200" if file.model else file.head.get("device", "")
        self.source = device.split(",")[0] + ", " + file.head.get("date", "")[:10]
        self.unit = (("adding alone (net), " if net else "kernel, ")
                     + ("model clocks per 1000 warp updates" if file.model else "ms"))

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
        raise Skip(f"no cells with {needed}")
    if wanted is not None and wanted not in widths:
        raise Skip(f"width {wanted} was not measured so; widths that were: "
                   + ", ".join(map(str, widths)))
    width = wanted if wanted is not None else min(widths, key=lambda w: abs(w - 10))
    return [row for row in rows if int(row["width"]) == width]


def title(axes, text, data):
    axes.set_title(f"{text}\n", fontsize=12, loc="left", fontweight="bold")
    axes.text(0.0, 1.02, data.source, transform=axes.transAxes, fontsize=9, color="#555555")


def draw_lines(data, rows, by, **axis):
    """(figure, axes, lines): time against by(row), a line a path."""
    points, lines = {}, {}
    for row in rows:
        points.setdefault(row["path"], {}).setdefault(by(row), []).append(row["value"])
    figure, axes = plt.subplots(figsize=(9.0, 5.4), layout="constrained")
    for path, found in points.items():
        color, marker, line = LOOKS.get(path, ("#999999", "*", "-."))
        lines[path] = sorted((x, sum(ys) / len(ys)) for x, ys in found.items() if sum(ys) > 0.0)
        if lines[path]:
            axes.plot(*zip(*lines[path]), color=color, marker=marker, linestyle=line, label=path)
    ticks = sorted({x for line in lines.values() for x, _ in line})
    axes.set(yscale="log", ylabel=data.unit, **axis)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, color="#E5E5E5")
    handles = sorted(axes.get_lines(), key=lambda drawn: -drawn.get_ydata()[-1])
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    width, workload, call = (rows[0][word] for word in ("width", "workload", "call"))
    title(axes, f"Values per update: {width}; workload {workload}, {call} call", data)
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
    figure, axes, lines = draw_lines(data, rows, lambda row: int(row["lanes"]), xscale="log",
                                     xlabel="active lanes per warp")
    at = crossing(lines.get("atomic") or lines.get("vector") or [], lines.get("transposed") or [])
    if at:
        axes.axvline(at, color="#333333", linewidth=1.2, linestyle="--", zorder=1)
        axes.annotate(f"crossover at {at:.1f} lanes", xy=(at, 0.98), fontsize=9, va="top",
                      xycoords=("data", "axes fraction"))
    return figure


def plot_overview(data, options):
    rows = of_width([row for row in data.plain_axes() if row["path"] in OVERVIEW
                     and row["threshold"] == ("0" if row["path"] == "butterfly" else
                                              "auto" if row["path"] == "auto" else "-")],
                    options.width, "one key and a fixed number of active lanes")
    if len({row["path"] for row in rows}) < len(OVERVIEW):
        raise Skip("one of the paths " + ", ".join(OVERVIEW) + " was not measured so")
    plt.rcParams["font.size"] = 12
    figure, axes, lines = draw_lines(data, rows, lambda row: int(row["lanes"]), xscale="log",
                                     xlabel="lanes (threads) of a warp that have something to add")
    figure.set_size_inches(8.4, 4.4)
    axes.get_legend().remove()
    axes.spines[["top", "right"]].set_visible(False)
    for path, name in OVERVIEW.items():
        axes.annotate(name, lines[path][-1], (10, 0), textcoords="offset points", va="center",
                      color=LOOKS[path][0], fontweight="bold")
    shown = [1, 2, 4, 8, 16, 24, 32]
    axes.set_xticks(shown, shown)
    axes.set_yticks(times := [0.1, 0.2, 0.5, 1, 2, 5, 10], times)
    axes.set(ylabel="time of the kernel, ms")
    axes.set_title(f"Adding {rows[0]['width']} values a lane to one row of sums\n", fontsize=14,
                   loc="left", fontweight="bold")
    return figure


def plot_threshold(data, options):
    swept = [row for rows in data.groups() if not rows[0]["lanes"].isdigit()
             and len({row["threshold"] for row in rows}) >= 5 for row in rows]
    rows = of_width(swept, options.width, "--lanes mixed and several thresholds")
    rows = [row for row in rows if results.group(row) == results.group(rows[0])]
    figure, axes, _ = draw_lines(
        data, [row for row in rows if row["threshold"].isdigit()],
        lambda row: int(row["threshold"]),
        xlabel="balancing threshold (lanes); 0 always reduces, 33 never")
    for row in rows:
        if row["path"] == row["threshold"] == "auto":
            axes.axhline(row["value"], color=LOOKS["auto"][0], linestyle=":")
            axes.annotate("arc's own threshold", xy=(0.99, row["value"]), ha="right", va="top",
                          xycoords=("axes fraction", "data"), fontsize=9)
    return figure


PLOTS = {"lanes": plot_lanes, "overview": plot_overview, "threshold": plot_threshold}


def load_matplotlib():
    global plt
    try:
        import matplotlib
    except ImportError:
        raise Skip("no matplotlib; `python3 -m pip install matplotlib` brings it") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "arc", "axes.axisbelow": True})
    from matplotlib import pyplot as plt


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("kind", choices=PLOTS)
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int)
    parser.add_argument("--type", default="f32")
    parser.add_argument("--net", action="store_true")
    options = parser.parse_args(words)
    try:
        data = Data(options.file, options.net, options.type)
        load_matplotlib()
        figure = PLOTS[options.kind](data, options)
    except Skip as reason:
        print(f"skipped: {reason}")
        return results.SKIPPED
    metadata = {"Date": None} if options.out.endswith(".svg") else None
    results.write_whole(options.out, lambda name: figure.savefig(
        name, dpi=150, bbox_inches="tight", metadata=metadata))
    print(f"{options.out}: written")
    return 0


if __name__ == "__main__":
    results.run(main)
