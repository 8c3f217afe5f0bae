"""pictures.py - the one style of all plots. SPDX-License-Identifier: Apache-2.0"""
import math

import results

WIDTH = 6.8  # inches; at 600 pixels a letter is 8 high

# Colour, marker, line; the colours are those of the sweep's page (bench/sweep/page.html). What others
# would ship is dashed, the papers' ways are dotted, arc's solid.
BLACK, BLUE, SKY, GREEN, ORANGE = "#1b1f24", "#0a4fb0", "#1a7fb5", "#00795a", "#b86e00"
RED, PINK, OLIVE, GREY, DIM = "#b5261e", "#b0307f", "#7a5c00", "#858c93", "#66707a"
LOOKS = {
    "none": (GREY, "", "-"), "plain": (BLACK, "o", "--"), "vector": (DIM, "s", "--"),
    "cg": (OLIVE, "P", "--"), "cub": (RED, "X", "--"), "shuffle_skip": (PINK, "<", "--"),
    "serialized": (PINK, "v", ":"), "butterfly": (ORANGE, "^", ":"), "atomic": (SKY, "s", "-"),
    "transposed": (GREEN, "D", "-"), "tree": (RED, "p", "-"), "auto": (BLUE, "o", "-"),
    "tuned": (GREEN, "h", "-"), "ARC-SW": (BLACK, "*", ""),
    "ARC-HW": (RED, "s", ":"), "ARC-always": (PINK, "D", ":"), "ARC-tree": (OLIVE, "p", ":"),
    "ARC-wide": (GREEN, "P", ":"), "LAB-ideal": (SKY, "<", ":"), "LAB": (DIM, ">", ":"),
    "PHI": (ORANGE, "X", ":"),
}
LOOKS.update({"SW-S": LOOKS["serialized"], "SW-B": LOOKS["butterfly"]})
TIMES = "times as fast as plain atomics"


def load():
    """matplotlib.pyplot in this style."""
    try:
        import matplotlib
        new = matplotlib.__version_info__ >= (3, 8)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":  # it is there, and broken
            raise
        new = False
    if not new:
        raise results.Skip("no matplotlib 3.8; `python3 -m pip install matplotlib` brings it")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "axes.axisbelow": True, "axes.grid": True, "axes.spines.right": False,
        "axes.spines.top": False, "axes.titlelocation": "left", "axes.titlesize": "medium",
        "axes.titleweight": "bold", "figure.constrained_layout.use": True, "font.size": 9,
        "grid.color": "#E5E5E5", "legend.frameon": False, "lines.markersize": 5,
        "savefig.dpi": 150})
    from matplotlib import pyplot
    return pyplot


def look(name):
    return dict(zip(("color", "marker", "linestyle"), LOOKS.get(name, (GREY, "*", "-."))))


def logarithmic(axes, axis, steps):
    """Ticks at these steps of each decade, written as they are."""
    from matplotlib.ticker import LogLocator, NullLocator
    axes.set(**{f"{axis}scale": "log"})
    axis = getattr(axes, f"{axis}axis")
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def draw_rows(axes, rows, title):
    """{label of a row: {name: how many times as fast as plain atomics}}, from above; what is NaN is
    left out."""
    axes.axvline(1.0, color="#333333", linewidth=1.0)
    points = {name: [] for row in rows.values() for name in row}
    for i, row in enumerate(rows.values()):
        found = [name for name in row if math.isfinite(row[name])]
        for k, name in enumerate(found):
            points[name].append((row[name], i + 0.7 * ((k + 0.5) / len(found) - 0.5)))
    for name, at in points.items():
        axes.plot(*zip(*at), **{**look(name), "linestyle": ""}, label=name)
    logarithmic(axes, "x", (1, 3))
    axes.grid(False, axis="y")
    axes.set(title=title, ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), rows)
    for i in range(0, len(rows), 2):
        axes.axhspan(i - 0.5, i + 0.5, color="#F3F3F3", zorder=0)


def legend(figure):
    """Of all names, once each, above the axes."""
    drawn = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels()):
            drawn.setdefault(name, handle)
    lines = math.ceil(len(drawn) / 6)
    figure.legend(drawn.values(), drawn, loc="outside upper center",
                  ncols=math.ceil(len(drawn) / lines))


def save(figure, name):
    def write(partial):
        figure.savefig(partial)
        if name.endswith(".png"):  # of few colours: a third of the bytes
            from PIL import Image  # matplotlib needs it
            Image.open(partial).convert("RGB").quantize(128).save(partial, optimize=True)

    results.write_whole(name, write)
    print(f"written    {name}")
