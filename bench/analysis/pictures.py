"""pictures.py - the one style of all plots. SPDX-License-Identifier: Apache-2.0"""
import math

import results

# Colour, marker, line (Okabe and Ito's colours): what others would ship is dashed, the papers' ways
# are dotted, arc's solid.
LOOKS = {
    "none": ("#BBBBBB", "", "-"), "plain": ("#000000", "o", "--"),
    "vector": ("#777777", "s", "--"), "cg": ("#8C6D1F", "P", "--"), "cub": ("#D55E00", "X", "--"),
    "cub_batched": ("#56B4E9", "d", "--"), "shuffle_skip": ("#CC79A7", "<", "--"),
    "match_shared": ("#8C6D1F", ">", "--"), "serialized": ("#CC79A7", "v", ":"),
    "butterfly": ("#E69F00", "^", ":"), "atomic": ("#56B4E9", "s", "-"),
    "transposed": ("#009E73", "D", "-"), "tree": ("#D55E00", "p", "-"),
    "auto": ("#0072B2", "o", "-"), "tuned": ("#009E73", "h", "-"), "ARC-SW": ("#000000", "*", ""),
    "ARC-HW": ("#D55E00", "s", ":"), "ARC-always": ("#CC79A7", "D", ":"),
    "ARC-tree": ("#8C6D1F", "p", ":"), "ARC-wide": ("#009E73", "P", ":"),
    "LAB-ideal": ("#56B4E9", "<", ":"), "LAB": ("#777777", ">", ":"), "PHI": ("#000000", "X", ":"),
}
LOOKS.update({"SW-S": LOOKS["serialized"], "SW-B": LOOKS["butterfly"]})


def load():
    """matplotlib.pyplot in this style."""
    try:
        import matplotlib
        new = matplotlib.__version_info__ >= (3, 8)
    except ImportError:
        new = False
    if not new:
        raise results.Skip("no matplotlib 3.8; `python3 -m pip install matplotlib` brings it")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "axes.axisbelow": True, "axes.grid": True, "axes.spines.right": False,
        "axes.spines.top": False, "axes.titlelocation": "left", "axes.titlesize": "medium",
        "axes.titleweight": "bold", "figure.constrained_layout.use": True, "figure.dpi": 110,
        "font.size": 9, "grid.color": "#E5E5E5", "legend.frameon": False, "lines.markersize": 5})
    from matplotlib import pyplot
    return pyplot


def look(name):
    return dict(zip(("color", "marker", "linestyle"), LOOKS.get(name, ("#999999", "*", "-."))))


def logarithmic(axes, axis):
    """Ticks at 1, 2, 5 and so on, written as they are."""
    from matplotlib.ticker import LogLocator, NullLocator
    axes.set(**{f"{axis}scale": "log"})
    axis = getattr(axes, f"{axis}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def draw_rows(axes, rows, title):
    """Times plain atomics: {label of a row: {name: value}}, from above; what is NaN is left out."""
    axes.axvline(1.0, color="#333333", linewidth=1.0)
    points = {name: [] for row in rows.values() for name in row}
    for i, row in enumerate(rows.values()):
        found = [name for name in row if math.isfinite(row[name])]
        for k, name in enumerate(found):
            points[name].append((row[name], i + 0.7 * ((k + 0.5) / len(found) - 0.5)))
    for name, at in points.items():
        axes.plot(*zip(*at), **{**look(name), "linestyle": ""}, label=name)
    logarithmic(axes, "x")
    axes.grid(False, axis="y")
    axes.tick_params(labelbottom=True)
    axes.set(title=title, xlabel="times plain atomics", ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), rows)
    for i in range(0, len(rows), 2):
        axes.axhspan(i - 0.5, i + 0.5, color="#F3F3F3", zorder=0)


def legend(figure):
    """Of all names, once each, above the axes."""
    drawn = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels()):
            drawn.setdefault(name, handle)
    figure.legend(drawn.values(), drawn, loc="outside upper center", ncols=len(drawn))


def save(figure, name):
    def write(partial):
        figure.savefig(partial)
        if name.endswith(".png"):  # of few colours: a third of the bytes
            from PIL import Image  # matplotlib needs it
            Image.open(partial).convert("RGB").quantize(128).save(partial, optimize=True)

    results.write_whole(name, write)
    print(f"written    {name}")
