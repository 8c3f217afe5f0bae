#!/usr/bin/env python3
"""plot.py - a result file as a page or as README's picture. SPDX-License-Identifier: Apache-2.0

usage: plot.py FILE.csv --html PAGE.html
       plot.py FILE.csv --out PICTURE.png|.svg [--width N]

--html: the page that the sweep writes: any browser shows its charts and cells, without a network.
--out: time against active lanes, of four ways to add, named in words; of width 10 or the nearest
there is. Needs matplotlib 3.8.
Exit status: 0 done, 2 bad option or file, 77 skipped: no matplotlib, or the file does not hold what
the picture shows."""
import html
import os

import pictures
import results

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "sweep", "page.")
OVERVIEW = {"plain": "plain atomicAdd", "vector": "vector atomics,\nwritten by hand",
            "butterfly": "the ARC paper's\nreduction (SW-B)", "auto": "arc"}


def text_of(name):
    with open(name, encoding="utf-8-sig", newline="") as file:
        return file.read()


def write_page(file, name):
    csv = html.escape(text_of(file.name), quote=False).replace("&gt;", ">")
    page = text_of(PAGE + "html").replace("@script@", text_of(PAGE + "js")).replace("@csv@", csv)

    def write(partial):
        with open(partial, "w", encoding="utf-8", newline="") as out:
            out.write(page)

    results.write_whole(name, write)
    print(f"written    {name}")


def overview_rows(file, width):
    """Of one key per warp, lanes 0 to n - 1 active, garbage in the others."""
    plain = {"workload": "axes", "keys": "1", "call": "uniform", "shape": "prefix", "zeros": "0",
             "type": "f32"}
    rows = [row for row in file.rows if all(row[word] == plain[word] for word in plain)
            and row["lanes"].isdigit() and row["lanes"] != "0" and row["path"] in OVERVIEW
            and row["threshold"] == {"butterfly": "0", "auto": "auto"}.get(row["path"], "-")]
    if {row["path"] for row in rows} != set(OVERVIEW):
        raise results.Skip("one of the paths " + ", ".join(OVERVIEW) + " was not measured so")
    nearest = min((int(row["width"]) for row in rows), key=lambda its: abs(its - width))
    return [row for row in rows if int(row["width"]) == nearest]


def overview(file, width):
    rows = overview_rows(file, width)
    figure, axes = pictures.load().subplots(figsize=(pictures.WIDTH, 3.5))
    pictures.logarithmic(axes, "y", (1, 2, 5))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks([1, 2, 4, 8, 16, 24, 32], [1, 2, 4, 8, 16, 24, 32])
    for path, name in OVERVIEW.items():
        times = {}
        for row in rows:
            if row["path"] == path:
                times.setdefault(int(row["lanes"]), []).append(row["gross"])
        line = sorted((lanes, sum(all_of) / len(all_of)) for lanes, all_of in times.items())
        axes.plot(*zip(*line), **pictures.look(path), label=path)
        axes.annotate(name, line[-1], (10, 0), textcoords="offset points", va="center",
                      color=pictures.look(path)["color"], fontweight="bold")
    axes.set_ylim(bottom=0.1)
    device = "CPU warp, model of an H200" if file.model else file.head.get("device", "")
    axes.set(xlabel="lanes (threads) of a warp that have something to add",
             ylabel="kernel, model clocks" if file.model else "time of the kernel, ms",
             title=f"Adding {rows[0]['width']} values per lane to one row of sums; "
                   f"{device.split(',')[0]}, {file.head.get('date', '')[:10]}")
    return figure


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("file")
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--html")
    kinds.add_argument("--out")
    parser.add_argument("--width", type=int, default=10)
    options = parser.parse_args(words)
    file = results.Results(options.file)
    if options.html:
        write_page(file, options.html)
    else:
        pictures.save(overview(file, options.width), options.out)
    return 0


if __name__ == "__main__":
    results.run(main)
