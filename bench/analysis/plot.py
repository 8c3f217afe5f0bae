#!/usr/bin/env python3
"""plot.py - pictures of result files. SPDX-License-Identifier: Apache-2.0

usage: plot.py KIND FILE.csv... --out PICTURE.png|.svg [--width N] [--path NAME] [--net]

  lanes      time against active lanes, a line a path, with the lanes from which reducing pays
  threshold  time against balancing threshold where warps differ (--lanes mixed or a workload)
  heat       threshold x lanes: time over the best threshold for so many lanes, of --path (auto)
  ratio      time of auto over the best peer, width x lanes, a panel for each workload
  rows       time against the number of rows; takes several files, one for each number
  profile    warp stalls and pipes by path, from a file of ncu_profile.py

--width: 10 or the nearest there is. --net: without the surrounding kernel.
Needs matplotlib. Exit status: 0 done, 2 bad option or file, 77 skipped: no matplotlib, or the files
do not hold what the picture shows."""
import argparse
import math

import ncu_profile
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
OWN_PATHS = ("none", "atomic", "transposed", "tree", "auto", "broken")
CONTENDED = "1"  # ARC_THRESHOLD_CONTENDED, which callers set on hot rows
STALLS = {"lg_throttle": "#D55E00", "long_scoreboard": "#E69F00", "drain": "#F0E442",
          "membar": "#CC79A7", "mio_throttle": "#0072B2", "short_scoreboard": "#56B4E9",
          "tex_throttle": "#009E73"}
PIPES = {"issue": ("#000000", "o"), "lsu": ("#D55E00", "s"), "alu": ("#0072B2", "^"),
         "fma": ("#009E73", "v"), "xu": ("#CC79A7", "D"), "adu": ("#E69F00", "P")}


class Skip(Exception):
    """The files do not hold what the picture shows."""


class Data:
    """The rows of all files together; their value is what the picture shows."""

    def __init__(self, names, net):
        files = [results.Results(name) for name in names]
        model = files[0].model
        if any(file.model != model for file in files):
            raise results.Bad("some of the files hold times, others model clocks")
        self.rows = []
        for file in files:
            for row in file.rows:
                if row["status"] != "ERROR":
                    row["rows"] = int(file.head_word("sizes", "rows") or 0)
                    row["value"] = row["net" if net else "gross"]
                    self.rows.append(row)
        device = "CPU warp, model of an H200" if model else files[0].head.get("device", "")
        self.source = device.split(",")[0] + ", " + files[0].head.get("date", "")[:10]
        self.unit = (("adding alone (net), " if net else "kernel, ")
                     + ("model clocks per 1000 warp updates" if model else "ms"))

    def plain_axes(self):
        """One key per warp, lanes 0 to n - 1 active, garbage in the others."""
        return [row for row in self.rows if row["workload"] == "axes" and row["keys"] == "1"
                and row["call"] == "uniform" and row["shape"] == "prefix" and row["zeros"] == "0"
                and row["lanes"].isdigit() and row["lanes"] != "0"]


def of_width(rows, wanted, needed):
    """The rows of the wanted width, or of the one nearest to 10."""
    widths = sorted({int(row["width"]) for row in rows})
    if not widths:
        raise Skip(f"no cells with {needed}")
    if wanted is not None and wanted not in widths:
        raise Skip(f"width {wanted} was not measured so; widths that were: "
                   + ", ".join(map(str, widths)))
    width = wanted if wanted is not None else min(widths, key=lambda w: abs(w - 10))
    return width, [row for row in rows if int(row["width"]) == width]


def lines_of(rows, by):
    """path -> [(x, y)] sorted; a point measured several times is its mean."""
    points = {}
    for row in rows:
        points.setdefault(row["path"], {}).setdefault(by(row), []).append(row["value"])
    return {path: sorted((x, sum(ys) / len(ys)) for x, ys in found.items() if sum(ys) > 0.0)
            for path, found in points.items()}


def panels(count, width, height):
    columns = min(2, count)
    figure, grid = plt.subplots(-(-count // columns), columns, squeeze=False, layout="constrained",
                                figsize=(width * columns, height * -(-count // columns)))
    axes = [one for line in grid for one in line]
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def title(axes, text, data):
    axes.set_title(f"{text}\n", fontsize=12, loc="left", fontweight="bold")
    axes.text(0.0, 1.02, data.source, transform=axes.transAxes, fontsize=9, color="#555555")


def draw_lines(axes, lines, ticks):
    for path, points in lines.items():
        color, marker, line = LOOKS.get(path, ("#999999", "*", "-."))
        if points:
            axes.plot(*zip(*points), color=color, marker=marker, linestyle=line, label=path)
    axes.set(yscale="log")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, color="#E5E5E5")
    handles = sorted(axes.get_lines(), key=lambda drawn: -drawn.get_ydata()[-1])
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


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
    own = {"auto": "auto"}
    rows = [row for row in data.plain_axes()
            if row["threshold"] in ("-", own.get(row["path"], "0"))]
    width, rows = of_width(rows, options.width, "one key and a fixed number of active lanes")
    lines = lines_of(rows, lambda row: int(row["lanes"]))
    ticks = sorted({x for points in lines.values() for x, _ in points})
    if len(ticks) < 3:
        raise Skip(f"fewer than three numbers of active lanes at width {width}")
    figure, (axes,) = panels(1, 9.0, 5.4)
    axes.set(xscale="log", xlabel="active lanes per warp", ylabel=data.unit)
    draw_lines(axes, lines, ticks)
    at = crossing(lines.get("atomic") or lines.get("vector") or [], lines.get("transposed") or [])
    if at:
        axes.axvline(at, color="#333333", linewidth=1.2, linestyle="--", zorder=1)
        axes.annotate(f"crossover at {at:.1f} lanes", xy=(at, 0.98), fontsize=9, va="top",
                      xycoords=("data", "axes fraction"), xytext=(6, 0),
                      textcoords="offset points")
    title(axes, f"Values per update: {width}; one key per warp", data)
    return figure


def plot_threshold(data, options):
    drawn = [row for row in data.rows if row["lanes"] in ("mixed", "model") and row["zeros"] == "0"]
    groups = {}
    for row in drawn:
        groups.setdefault(results.group(row), []).append(row)
    swept = [row for rows in groups.values() for row in rows
             if len({row["threshold"] for row in rows if row["threshold"].isdigit()}) >= 3]
    width, rows = of_width(swept, options.width, "--lanes mixed and several thresholds")
    rows = [row for row in rows if results.group(row) == results.group(rows[0])]
    lines = lines_of([row for row in rows if row["threshold"].isdigit()],
                     lambda row: int(row["threshold"]))
    figure, (axes,) = panels(1, 9.0, 5.4)
    axes.set(xlabel="balancing threshold (lanes); 0 always reduces, 33 never", ylabel=data.unit)
    draw_lines(axes, lines, [0, 4, 8, 12, 16, 20, 24, 28, 33])
    for row in rows:
        if row["path"] == "auto" and row["threshold"] == "auto":
            axes.axhline(row["value"], color=LOOKS["auto"][0], linestyle=":")
            axes.annotate("arc's own threshold", xy=(0.99, row["value"]), ha="right", va="top",
                          xycoords=("axes fraction", "data"), fontsize=9)
    title(axes, f"Values per update: {width}; workload {rows[0]['workload']}, "
          f"{rows[0]['lanes']} lanes", data)
    return figure


def plot_heat(data, options):
    path = options.path or "auto"
    rows = [row for row in data.plain_axes() if row["path"] == path and row["threshold"].isdigit()]
    width, rows = of_width(rows, options.width, f"several thresholds of the path {path}")
    table = {(int(row["threshold"]), int(row["lanes"])): row["value"] for row in rows}
    thresholds, lanes = (sorted({at[i] for at in table}) for i in (0, 1))
    if len(thresholds) < 3 or len(lanes) < 3:
        raise Skip("fewer than three thresholds or numbers of lanes; measure, for example, "
                   "--lanes 1-32 --path auto --threshold 0-33")
    best = {x: min(table.get((t, x), math.inf) for t in thresholds) for x in lanes}
    cells = [[table.get((t, x), math.nan) / best[x] for x in lanes] for t in thresholds]
    figure, (axes,) = panels(1, 9.0, 6.6)
    image = axes.imshow(cells, origin="lower", aspect="auto", cmap="cividis_r",
                        norm=colors.LogNorm(1.0, max(v for line in cells for v in line if v == v)))
    axes.set_xticks(range(len(lanes)), lanes, fontsize=7)
    axes.set_yticks(range(len(thresholds)), thresholds, fontsize=7)
    axes.set(xlabel="active lanes per warp", ylabel="balancing threshold (lanes)")
    figure.colorbar(image, ax=axes, label="time over that of the best threshold")
    title(axes, f"Path {path}, values per update: {width}", data)
    return figure


def ratio_of(rows):
    """(auto over the fastest peer, the peer), or None."""
    asked = CONTENDED if rows[0]["workload"] == "hot" else "auto"
    autos = [row["value"] for row in rows if row["path"] == "auto" and row["threshold"] == asked]
    peers = [(row["value"], row["path"]) for row in rows if row["path"] not in OWN_PATHS]
    if not autos or not peers or autos[0] <= 0.0 or min(peers)[0] <= 0.0:
        return None
    return autos[0] / min(peers)[0], min(peers)[1]


def ratio_panels(data, options):
    """name -> {(width, lanes or workload): ratio}"""
    groups, found = {}, {}
    for row in data.rows:
        simple = row["workload"] != "axes" or row["keys"] == "1" and row["call"] == "uniform"
        if row["zeros"] == "0" and simple and options.width in (None, int(row["width"])):
            groups.setdefault(results.group(row), []).append(row)
    for rows in groups.values():
        row, ratio = rows[0], ratio_of(rows)
        own = row["lanes"] == "model"
        name = ("workloads with their own lanes" if own else
                "one key per warp" if row["workload"] == "axes" else f"workload {row['workload']}")
        if ratio:
            at = (int(row["width"]), row["workload" if own else "lanes"])
            found.setdefault(name, {})[at] = max(ratio, found.get(name, {}).get(at, ratio))
    return found


def plot_ratio(data, options):
    found = ratio_panels(data, options)
    if not found:
        raise Skip("no cells that hold both auto and a peer")
    most = max(len({width for width, _ in cells}) for cells in found.values())
    figure, all_axes = panels(len(found), max(7.0, 1.6 + 0.72 * most), 5.6)
    for axes, (name, cells) in zip(all_axes, found.items()):
        widths = sorted({width for width, _ in cells})
        words = sorted({word for _, word in cells}, key=lambda word: (len(word), word))
        table = [[cells.get((w, word), (math.nan,))[0] for w in widths] for word in words]
        image = axes.imshow(table, origin="lower", aspect="auto", cmap="PuOr_r",
                            norm=colors.TwoSlopeNorm(1.0, vmin=0.4, vmax=1.6))
        for (width, word), (ratio, peer) in cells.items():
            axes.text(widths.index(width), words.index(word),
                      f"{ratio:.2f}\n{peer.replace('_', ' ')}", ha="center", va="center",
                      fontsize=7, color="#FFFFFF" if not 0.62 < ratio < 1.4 else "#000000")
        axes.set_xticks(range(len(widths)), widths)
        axes.set_yticks(range(len(words)), words)
        axes.set(xlabel="values per update", ylabel="active lanes per warp, or workload")
        title(axes, f"auto over the best peer: {name}", data)
    figure.colorbar(image, ax=all_axes, extend="both", label="below 1 arc is faster")
    return figure


def plot_rows(data, options):
    groups = {}
    for row in data.rows:
        if row["threshold"] in ("0", "-", "auto"):
            groups.setdefault(results.group(row), []).append(row)
    swept = [row for rows in groups.values() if len({row["rows"] for row in rows}) >= 2
             for row in rows]
    width, rows = of_width(swept, options.width, "several numbers of rows; measure with several "
                           "--rows, and give all the files")
    rows = [row for row in rows if results.group(row) == results.group(rows[-1])]
    figure, (axes,) = panels(1, 9.0, 5.4)
    axes.set(xscale="log", xlabel="rows of parameters", ylabel=data.unit)
    draw_lines(axes, lines_of(rows, lambda row: row["rows"]), sorted({row["rows"] for row in rows}))
    title(axes, f"Values per update: {width}; workload {rows[0]['workload']}, {rows[0]['lanes']} "
          "lanes", data)
    return figure


def draw_stalls(axes, paths):
    left = dict.fromkeys(paths, 0.0)
    for reason in [*STALLS, "all other reasons"]:
        widths = {path: sum(value for (group, name), value in figures.items()
                            if group.startswith("stall_")
                            and (name == reason or name not in STALLS and reason not in STALLS))
                  for path, figures in paths.items()}
        axes.barh(list(paths), list(widths.values()), left=list(left.values()),
                  color=STALLS.get(reason, "#BBBBBB"), label=reason.replace("_", " "))
        left = {path: left[path] + widths[path] for path in paths}
    axes.invert_yaxis()
    axes.set_xlabel("clocks a warp waits per issued instruction")
    axes.legend(frameon=False, fontsize=7)


def draw_pipes(axes, paths):
    for pipe, (color, marker) in PIPES.items():
        points = [(figures["pipe", pipe + "_percent"], path) for path, figures in paths.items()
                  if ("pipe", pipe + "_percent") in figures]
        if points:
            axes.plot(*zip(*points), color=color, marker=marker, linestyle="none", label=pipe)
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="percent of the pipe's peak while active")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def plot_profile(cells):
    figure, axes = panels(2 * len(cells), 6.0, 3.2)
    for i, ((workload, width), paths) in enumerate(cells.items()):
        draw_stalls(axes[2 * i], paths)
        draw_pipes(axes[2 * i + 1], paths)
        axes[2 * i].set_title(f"{workload}, {width} values per update", loc="left")
    return figure


PLOTS = {"lanes": plot_lanes, "threshold": plot_threshold, "heat": plot_heat, "ratio": plot_ratio,
         "rows": plot_rows}


def load_matplotlib():
    global plt, colors
    try:
        import matplotlib
    except ImportError:
        raise Skip("no matplotlib; `python3 -m pip install matplotlib` brings it") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "arc", "axes.axisbelow": True})
    from matplotlib import colors, pyplot as plt


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*PLOTS, "profile"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int)
    parser.add_argument("--path")
    parser.add_argument("--net", action="store_true")
    options = parser.parse_args(words)
    try:
        is_profile = options.kind == "profile"
        data = ncu_profile.read(options.files[0]) if is_profile else Data(options.files, options.net)
        load_matplotlib()
        figure = plot_profile(data) if is_profile else PLOTS[options.kind](data, options)
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
