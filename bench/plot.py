#!/usr/bin/env python3
"""plot.py - pictures of arc_sweep's result files. SPDX-License-Identifier: Apache-2.0

usage: plot.py KIND FILE.csv... --out PICTURE.png|.svg [options]
       plot.py all  FILE.csv... --out FOLDER [--format png|svg]

  lanes      time against active lanes, a line a path, with the lanes from which reducing pays
  threshold  time against balancing threshold where warps differ (--lanes mixed)
  heat       threshold x lanes: time over the best threshold for so many lanes
  ratio      time of auto over the best peer, width x lanes, a panel for each workload model
  rows       time against the number of rows; takes several files, one for each number

  --width N        only this width; lanes, threshold, heat, rows take 10 or the nearest there is
  --path NAME      of heat: auto, transposed, ... (auto, if its thresholds were swept)
  --net            without the surrounding kernel (net times; ratio and heat get louder)

Needs Python 3.8 and matplotlib. Exit status: 0 done, 2 bad option or file, 77 skipped: no
matplotlib, or the files do not hold what the picture shows."""
import argparse
import csv
import math
import os
import sys

BAD, SKIPPED = 2, 77
KINDS = ("lanes", "threshold", "heat", "ratio", "rows")
# Okabe and Ito's colours, told apart by all; lines differ in marker and dashes besides. What others
# would ship is dashed, arc's own paths are solid.
LOOKS = {
    "plain": ("#000000", "o", "--"),
    "vector": ("#999999", "s", "--"),
    "cg": ("#D55E00", "P", "--"),
    "cub": ("#E69F00", "X", "--"),
    "cub_batched": ("#56B4E9", "d", "--"),
    "shuffle_skip": ("#CC79A7", "<", "--"),
    "match_shared": ("#8C6D1F", ">", "--"),
    "serialized": ("#CC79A7", "v", ":"),
    "butterfly": ("#E69F00", "^", ":"),
    "atomic": ("#56B4E9", "s", "-"),
    "transposed": ("#009E73", "D", "-"),
    "tree": ("#D55E00", "p", "-"),
    "auto": ("#0072B2", "o", "-"),
}
OTHER_LOOKS = ("#999999", "*", "-.")
OWN_PATHS = ("none", "atomic", "transposed", "tree", "auto", "broken")
CONTENDED = "1"  # ARC_THRESHOLD_CONTENDED
CELL = ("workload", "width", "lanes", "shape", "keys", "layout", "call", "zeros")


class Bad(Exception):
    """A file or an option is not what it must be; the text is the line to print."""


class Skip(Exception):
    """The files do not hold what the picture shows."""


# ---- files ----------------------------------------------------------------------------------


def head_of(lines):
    head = {}
    for line in lines:
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].rstrip("\n").split(": ", 1)
            head.setdefault(key, value)
    return head


def number(row, column, name, line):
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Bad(f"{name}:{line}: column {column}: '{row[column]}' is not a number")
    return value


def size_of(head, key):
    for word in head.get("sizes", "").split():
        if word.startswith(key + "="):
            return int(word[len(key) + 1:])
    return None


def read_file(name):
    """The rows of a file as dictionaries: words as they are, gross and net as numbers."""
    try:
        with open(name, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise Bad(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not lines or lines[0].strip() != "# program: arc_sweep":
        raise Bad(f"{name}: is no result file of arc_sweep, whose first line is "
                  "'# program: arc_sweep'")
    if not lines[-1].endswith("\n"):
        raise Bad(f"{name}: does not end with a whole line; the file is damaged")
    head = head_of(lines)
    first = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    columns = next(csv.reader(lines[first:first + 1]), [])
    model = "model_gross" in columns
    gross, net = ("model_gross", "model_net") if model else ("gross_ms", "net_ms")
    needed = [c for c in CELL if c != "workload"] + ["path", "threshold", gross, net]
    for column in needed:
        if column not in columns:
            raise Bad(f"{name}: has no column '{column}'")
    rows = []
    for i, fields in enumerate(csv.reader(lines[first + 1:])):
        line = first + 2 + i
        if len(fields) != len(columns):
            raise Bad(f"{name}:{line}: {len(fields)} fields where {len(columns)} columns are "
                      "named; the file is damaged")
        row = dict(zip(columns, fields))
        row.setdefault("workload", "axes")
        row["gross"], row["net"] = number(row, gross, name, line), number(row, net, name, line)
        row["rows"] = int(row.get("rows") or size_of(head, "rows") or 0)
        rows.append(row)
    return {"name": name, "head": head, "model": model, "rows": rows}


class Data:
    """All files together."""

    def __init__(self, names, net):
        files = [read_file(name) for name in names]
        if len({file["model"] for file in files}) > 1:
            raise Bad("some of the files hold times, others model clocks; plot them apart")
        self.model = files[0]["model"]
        self.value = "net" if net else "gross"
        self.rows = [row for file in files for row in file["rows"]
                     if row.get("status") != "ERROR"]
        devices = dict.fromkeys(file["head"].get("device", "unknown device").split(",")[0]
                                for file in files)
        dates = dict.fromkeys(file["head"].get("date", "no date")[:10] for file in files)
        self.source = " + ".join(devices) + ", " + " and ".join(dates)
        if self.model:
            self.source = "CPU warp, model of an H200, " + " and ".join(dates)
        what = "kernel" if not net else "adding alone (net)"
        self.unit = (f"{what}, model clocks per 1000 warp updates" if self.model
                     else f"{what}, ms")

    def select(self, **words):
        return [row for row in self.rows if all(row[k] == v for k, v in words.items())]

    def simple(self, **words):
        """One key per warp, lanes 0 to n - 1, garbage in the others: the plain axes."""
        return self.select(workload="axes", keys="1", call="uniform", shape="prefix", zeros="0",
                           **words)


def nearest_width(rows, wanted):
    widths = sorted({int(row["width"]) for row in rows})
    if wanted is not None and wanted not in widths:
        raise Skip(f"width {wanted} was not measured so; widths that were: "
                   + (", ".join(map(str, widths)) or "none"))
    return wanted if wanted is not None else min(widths, key=lambda w: abs(w - 10))


def count(number, thing):
    return f"{number} {thing}" + ("" if str(number) == "1" else "s")


def best_of(rows, value):
    """(value, row) of the fastest row."""
    return min(((row[value], row) for row in rows), key=lambda pair: pair[0])


# ---- drawing --------------------------------------------------------------------------------


def look(path):
    color, marker, line = LOOKS.get(path, OTHER_LOOKS)
    return {"color": color, "marker": marker, "linestyle": line, "markersize": 5, "linewidth": 1.8,
            "label": path}


def begin(width=9.0, height=5.4, panels=1):
    """A figure of panels of this size, two beside each other."""
    columns = min(2, panels)
    lines = -(-panels // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(width * columns, height * lines),
                                squeeze=False, layout="constrained")
    axes = [one for line in grid for one in line]
    for unused in axes[panels:]:
        unused.remove()
    return figure, axes[:panels]


def title(axes, text, data):
    axes.set_title(f"{text}\n", fontsize=12, loc="left", fontweight="bold")
    axes.text(0.0, 1.02, data.source, transform=axes.transAxes, fontsize=9, color="#555555")


def count_axis(axis, ticks):
    """A logarithmic axis with the numbers that were measured."""
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_locator(NullLocator())


def time_axis(axis):
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=30))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
    axis.set_minor_locator(NullLocator())


def legend_by_height(axes):
    """Beside the picture, from the highest end of a line to the lowest."""
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    lines.sort(key=lambda line: -line.get_ydata()[-1])
    axes.legend(handles=lines, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def write(figure, name):
    """The file is whole or not there."""
    base, ending = os.path.splitext(name)
    partial = f"{base}.partial{ending}"
    metadata = {"Date": None} if ending == ".svg" else None
    try:
        figure.savefig(partial, dpi=150, bbox_inches="tight", metadata=metadata)
        os.replace(partial, name)
    except OSError as error:
        raise Bad(f"{name}: cannot be written: {error.strerror}") from None
    finally:
        plt.close(figure)
    print(f"{name}: written")


# ---- the pictures ---------------------------------------------------------------------------


def line_points(rows, by, value):
    """path -> [(x, y)] sorted; a point measured in several sections is their mean."""
    points = {}
    for row in rows:
        points.setdefault(row["path"], {}).setdefault(by(row), []).append(row[value])
    return {path: sorted((x, sum(ys) / len(ys)) for x, ys in found.items())
            for path, found in points.items()}


def crossing(low, high):
    """Where the line `high` meets `low`, which is below it before; in the logarithms of both."""
    a, b = dict(low), dict(high)
    shared = sorted(set(a) & set(b))
    for x0, x1 in zip(shared, shared[1:]):
        before, after = math.log(a[x0] / b[x0]), math.log(a[x1] / b[x1])
        if before < 0.0 <= after:
            return math.exp(math.log(x0) + math.log(x1 / x0) * -before / (after - before))
    return None


def mark_crossing(axes, lines):
    atomic = lines.get("atomic") or lines.get("vector")
    if not atomic or "transposed" not in lines:
        return
    x = crossing([p for p in atomic if p[1] > 0], [p for p in lines["transposed"] if p[1] > 0])
    if x is None:
        return
    axes.axvline(x, color="#333333", linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(f"crossover at {x:.1f} lanes:\nbeyond, one reduction is\nfaster than atomics",
                  xy=(x, 0.98), xycoords=("data", "axes fraction"), xytext=(6, 0),
                  textcoords="offset points", va="top", fontsize=9, color="#333333")


def plot_lanes(data, options):
    rows = [row for row in data.simple() if row["lanes"].isdigit() and int(row["lanes"]) > 0
            and row["threshold"] in ("0", "-", "auto")
            and (row["threshold"] != "auto" or row["path"] == "auto")]
    if not rows:
        raise Skip("no cells with one key and a fixed number of active lanes")
    width = nearest_width(rows, options.width)
    rows = [row for row in rows if int(row["width"]) == width]
    lines = line_points(rows, lambda row: int(row["lanes"]), data.value)
    if len({x for line in lines.values() for x, _ in line}) < 3:
        raise Skip(f"fewer than three numbers of active lanes at width {width}")
    figure, (axes,) = begin()
    for path, points in lines.items():
        shown = [p for p in points if p[1] > 0.0]
        if path == "none":
            axes.plot(*zip(*points), color="#BBBBBB", linewidth=1.2, label="none (no adding)")
        elif shown:
            axes.plot(*zip(*shown), **look(path))
    axes.set(xscale="log", yscale="log", xlabel="active lanes per warp", ylabel=data.unit)
    ticks = {x for line in lines.values() for x, _ in line}
    count_axis(axes.xaxis, sorted(ticks & {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32}))
    time_axis(axes.yaxis)
    axes.grid(True, color="#E5E5E5")
    mark_crossing(axes, lines)
    title(axes, f"{count(width, 'value')} per update, one key per warp", data)
    legend_by_height(axes)
    return figure


def plot_threshold(data, options):
    rows = [row for row in data.rows if row["lanes"] in ("mixed", "model") and row["zeros"] == "0"]
    groups = {}
    for row in rows:
        groups.setdefault((row["workload"], row["width"], row["shape"], row["lanes"]),
                          []).append(row)
    groups = {key: group for key, group in groups.items()
              if len({row["threshold"] for row in group if row["threshold"].isdigit()}) >= 3}
    if not groups:
        raise Skip("no cells with --lanes mixed and several thresholds; measure, for example, "
                   "--lanes mixed --threshold 0-33")
    width = nearest_width([row for group in groups.values() for row in group], options.width)
    workload, _, shape, lanes = key = next(key for key in groups if int(key[1]) == width)
    figure, (axes,) = begin()
    for path, points in line_points([r for r in groups[key] if r["threshold"].isdigit()],
                                    lambda row: int(row["threshold"]), data.value).items():
        axes.plot(*zip(*points), **look(path))
        x, y = min(points, key=lambda p: p[1])
        axes.plot([x], [y], marker="o", markersize=13, fillstyle="none", color=look(path)["color"],
                  label="_")
    for row in groups[key]:
        if row["threshold"] == "auto" and row["path"] == "auto":
            axes.axhline(row[data.value], color=LOOKS["auto"][0], linestyle=(0, (1, 2)))
            axes.annotate("auto, arc's own threshold", xy=(0.99, row[data.value]),
                          xycoords=("axes fraction", "data"), xytext=(0, -4),
                          textcoords="offset points", ha="right", va="top", fontsize=9,
                          color=LOOKS["auto"][0])
    axes.set(yscale="log", xlabel="balancing threshold (lanes); 0 always reduces, 33 never",
             ylabel=data.unit)
    axes.set_xticks([0, 4, 8, 12, 16, 20, 24, 28, 33])
    time_axis(axes.yaxis)
    axes.grid(True, color="#E5E5E5")
    who = ("half of the updates 1-4 active lanes, half 1-32" if lanes == "mixed"
           else f"workload {workload}")
    title(axes, f"{count(width, 'value')} per update; {who}", data)
    legend_by_height(axes)
    return figure


def heat_rows(data, path):
    return [row for row in data.simple(path=path)
            if row["lanes"].isdigit() and int(row["lanes"]) > 0 and row["threshold"].isdigit()]


def enough_for_heat(rows):
    return (len({row["lanes"] for row in rows}) >= 3
            and len({row["threshold"] for row in rows}) >= 3)


def plot_heat(data, options):
    paths = [options.path] if options.path else ["auto", "transposed", "tree", "butterfly",
                                                 "serialized"]
    path = next((path for path in paths if enough_for_heat(heat_rows(data, path))), None)
    if path is None:
        raise Skip("no path with several thresholds at several fixed numbers of lanes; measure, "
                   "for example, --lanes 1-32 --path transposed --threshold 0-33")
    rows = heat_rows(data, path)
    width = nearest_width(rows, options.width)
    rows = [row for row in rows if int(row["width"]) == width]
    lanes = sorted({int(row["lanes"]) for row in rows})
    thresholds = sorted({int(row["threshold"]) for row in rows})
    table = {(int(row["threshold"]), int(row["lanes"])): row[data.value] for row in rows}
    best = {x: min(table[t, x] for t in thresholds if (t, x) in table) for x in lanes}
    cells = [[table.get((t, x), math.nan) / best[x] if best[x] > 0.0 else math.nan for x in lanes]
             for t in thresholds]
    figure, (axes,) = begin(9.0, 6.6)
    image = axes.imshow(cells, origin="lower", aspect="auto", cmap="cividis_r",
                        norm=LogNorm(vmin=1.0, vmax=max(1.01, max(
                            v for line in cells for v in line if not math.isnan(v)))))
    ticked(axes.xaxis, lanes)
    ticked(axes.yaxis, thresholds)
    step_x = [i + half for i in range(len(lanes)) for half in (-0.5, 0.5)]
    step_y = [sum(t <= x for t in thresholds) - 0.5 for x in lanes for _ in (0, 1)]
    axes.plot(step_x, step_y, color="#FFFFFF", linewidth=3.0)
    axes.plot(step_x, step_y, color="#000000", linewidth=1.2)
    axes.set(xlabel="active lanes per warp (below the step: reduced in registers)",
             ylabel="balancing threshold (lanes)")
    bar = figure.colorbar(image, ax=axes, label=f"{data.value} over that of the best threshold")
    time_axis(bar.ax.yaxis)
    title(axes, f"Path {path}, {count(width, 'value')} per update", data)
    return figure


def ticked(axis, numbers):
    """Ticks of an image: as many of the numbers as can be read."""
    step = max(1, math.ceil(len(numbers) / 17))
    axis.set_ticks(range(0, len(numbers), step), [str(n) for n in numbers[::step]])


def ratio_cells(rows, value, line):
    """(width, line) -> (ratio, best peer): auto over the fastest other, the worst of the groups."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[c] for c in CELL), []).append(row)
    cells = {}
    for group in groups.values():
        autos = [r for r in group if r["path"] == "auto" and r["threshold"] == "auto"]
        if group[0]["workload"] == "hot":  # as a caller who knows would call it, where measured
            told = [r for r in group if r["path"] == "auto" and r["threshold"] == CONTENDED]
            autos = told or autos
        peers = [r for r in group if r["path"] not in OWN_PATHS]
        if not autos or not peers:
            continue
        (mine, _), (theirs, peer) = best_of(autos, value), best_of(peers, value)
        if mine <= 0.0 or theirs <= 0.0:
            continue
        at = (int(group[0]["width"]), group[0][line])
        if at not in cells or mine / theirs > cells[at][0]:
            cells[at] = (mine / theirs, peer["path"])
    return cells


def lanes_order(word):
    return int(word) if word.isdigit() else 100 + len(word)


def draw_ratios(axes, cells, line):
    widths = sorted({at[0] for at in cells})
    lanes = list(dict.fromkeys(at[1] for at in cells))[::-1]
    if line == "lanes":
        lanes.sort(key=lanes_order)
    table = [[cells.get((w, x), (math.nan, ""))[0] for w in widths] for x in lanes]
    image = axes.imshow(table, origin="lower", aspect="auto", cmap="PuOr_r",
                        norm=TwoSlopeNorm(1.0, vmin=0.4, vmax=1.6))
    axes.set_xticks(range(len(widths)), widths)
    axes.set_yticks(range(len(lanes)), lanes)
    for (w, x), (ratio, peer) in cells.items():
        color = "#FFFFFF" if ratio < 0.62 or ratio > 1.4 else "#000000"
        axes.text(widths.index(w), lanes.index(x), f"{ratio:.2f}\n", ha="center", va="center",
                  fontsize=9, fontweight="bold", color=color)
        axes.text(widths.index(w), lanes.index(x), f"\n{peer.replace('_', ' ')}", ha="center",
                  va="center", fontsize=6, color=color)
    axes.set(xlabel="values per update",
             ylabel="active lanes per warp" if line == "lanes" else "workload model")
    return image


def ratio_panels(rows, value):
    """title -> (line, cells): the plain axes and models with given lanes by lanes, the models with
    their own occupancy together."""
    panels = {}
    for row in rows:
        own = row["lanes"] == "model"
        name = ("workload models" if own else "one key per warp" if row["workload"] == "axes"
                else f"workload {row['workload']}")
        panels.setdefault(name, ("workload" if own else "lanes", []))[1].append(row)
    cells = {name: (line, ratio_cells(found, value, line))
             for name, (line, found) in panels.items()}
    return {name: (line, found) for name, (line, found) in cells.items() if found}


def plot_ratio(data, options):
    rows = [row for row in data.rows if row["zeros"] == "0"
            and (options.width is None or int(row["width"]) == options.width)
            and (row["workload"] != "axes" or row["keys"] == "1" and row["call"] == "uniform")]
    panels = ratio_panels(rows, data.value)
    if not panels:
        raise Skip("no cells that hold both auto and a peer")
    columns = max(len({at[0] for at in cells}) for _, cells in panels.values())
    figure, all_axes = begin(max(7.0, 1.6 + 0.72 * columns), 5.6, len(panels))
    for axes, (name, (line, cells)) in zip(all_axes, panels.items()):
        image = draw_ratios(axes, cells, line)
        title(axes, f"auto over the best peer: {name}", data)
    figure.colorbar(image, ax=all_axes, extend="both",
                    label=f"{data.value} of auto over the best peer's: below 1 arc is faster")
    return figure


def plot_rows(data, options):
    counts = {row["rows"] for row in data.rows}
    if len(counts) < 2:
        raise Skip("all files have the same number of rows; measure with several --rows, and give "
                   "all the files")
    groups = {}
    for row in data.rows:
        if row["threshold"] in ("0", "-", "auto") and row["path"] != "broken":
            groups.setdefault(tuple(row[c] for c in CELL), []).append(row)
    groups = {k: g for k, g in groups.items() if len({row["rows"] for row in g}) >= 2}
    if not groups:
        raise Skip("no cell was measured with several numbers of rows")
    width = nearest_width([row for group in groups.values() for row in group], options.width)
    key = max((k for k in groups if int(k[1]) == width),
              key=lambda k: (len({row["rows"] for row in groups[k]}), k[2] == "32"))
    figure, (axes,) = begin()
    for path, points in line_points(groups[key], lambda row: row["rows"], data.value).items():
        shown = [p for p in points if p[1] > 0.0]
        if path != "none" and shown:
            axes.plot(*zip(*shown), **look(path))
    axes.set(xscale="log", yscale="log", xlabel="rows of parameters", ylabel=data.unit)
    count_axis(axes.xaxis, sorted({row["rows"] for row in groups[key]}))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    time_axis(axes.yaxis)
    axes.grid(True, color="#E5E5E5")
    cell = dict(zip(CELL, key))
    who = (f"{count(cell['lanes'], 'active lane')}, {count(cell['keys'], 'key')} per warp"
           if cell["workload"] == "axes" else f"workload {cell['workload']}")
    title(axes, f"{count(width, 'value')} per update, {who}", data)
    legend_by_height(axes)
    return figure


PLOTS = {"lanes": plot_lanes, "threshold": plot_threshold, "heat": plot_heat, "ratio": plot_ratio,
         "rows": plot_rows}


# ---- the program ----------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Bad(f"{message}; plot.py --help tells more")


def read_options():
    parser = Parser(prog="plot.py", usage=argparse.SUPPRESS, description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False)
    parser.add_argument("kind", choices=KINDS + ("all",))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int)
    parser.add_argument("--path")
    parser.add_argument("--net", action="store_true")
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    options = parser.parse_args()
    if options.kind != "all" and not options.out.endswith((".png", ".svg")):
        raise Bad(f"--out: '{options.out}' is not legal; legal: a name that ends in .png or .svg")
    return options


def draw(kind, data, options, name):
    write(PLOTS[kind](data, options), name)


def draw_all(data, options):
    os.makedirs(options.out, exist_ok=True)
    drawn = 0
    for kind in KINDS:
        try:
            draw(kind, data, options, os.path.join(options.out, f"{kind}.{options.format}"))
            drawn += 1
        except Skip as reason:
            print(f"skipped: {kind}: {reason}")
    return 0 if drawn else SKIPPED


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else BAD
    try:
        options = read_options()
        data = Data(options.files, options.net)
        load_matplotlib()
        if options.kind == "all":
            return draw_all(data, options)
        draw(options.kind, data, options, options.out)
        return 0
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    except (Bad, OSError) as reason:
        print(f"plot.py: {reason}", file=sys.stderr)
        return BAD


def load_matplotlib():
    global plt, FixedLocator, FuncFormatter, LogLocator, NullLocator, LogNorm, TwoSlopeNorm
    try:
        import matplotlib
    except ImportError:
        raise Skip("no matplotlib; `python3 -m pip install matplotlib` brings it") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "arc", "axes.spines.top": False,
                                "axes.spines.right": False, "axes.axisbelow": True})
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm, TwoSlopeNorm
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator


if __name__ == "__main__":
    sys.exit(main())
