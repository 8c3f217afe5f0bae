"""figure.py - what hardware.csv says: tables, and a figure as the ARC paper's figures 18 and 19.

usage: figure.py hardware.csv [--sweep SWEEP.csv] [--measured PAPER.csv] [--simulated PAPERS.csv]
                 [--figure hardware.png]

--sweep: a measured default sweep of an H200, whose order of paths is compared with the model's.
--measured: the papers' table of an H200, with whose energies the model's are compared.
--simulated: slices in the papers' simulator. All else that is printed is the model's.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import math
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(FOLDER, path) for path in ("../../bench/analysis", "../common")]
import pictures  # noqa: E402
import results  # noqa: E402

SHOWN = ("ARC-HW", "ARC-always", "ARC-tree", "ARC-wide", "LAB-ideal", "LAB", "PHI", "SW-B", "auto")
DRAWN = SHOWN[:-2] + ("ARC-SW", "auto")
PAPERS = {"4090-Sim": {"ARC-HW": 2.06, "LAB-ideal": 1.40, "LAB": 1.40 / 1.05, "PHI": 1.01},
          "3060-Sim": {"ARC-HW": 1.73, "LAB-ideal": 1.20, "LAB": 1.20 / 1.05, "PHI": 1.03}}
OVER_SOFTWARE = {"4090-Sim": 1.13, "3060-Sim": 1.14}
MOST = {"4090-Sim": {"ARC-HW": 8.59, "LAB-ideal": 3.05, "ARC-SW": 7.2},
        "3060-Sim": {"ARC-HW": 3.77, "LAB-ideal": 1.56}}
LESS_STALLS = {"4090-Sim": {"ARC-HW": 2.43, "LAB-ideal": 1.43},
               "3060-Sim": {"ARC-HW": 2.28, "LAB-ideal": 1.19}}
OF_MEAN = 7  # workloads nearest to the papers'
MULTIPROCESSORS = {"4090-Sim": 128, "3060-Sim": 28, "H200": 132}
LESS_ENERGY = {"4090-Sim": 3.9, "3060-Sim": 2.55}
# Nanojoules of each event, and watts a multiprocessor: README.md says whence.
NANOJOULES = {"instructions": 0.783, "packets": 0.338, "sectors": 0.0861 + 0.0688 + 0.2697,
              "reduced": 0.400}
WATTS = (32.33 + 18.62 + 31 * 0.645) / 80
SIMULATED = {"4090-Sim": (8, 2.24), "3060-Sim": (7, 1.32), "H200": (11, 1.98)}  # scaled; GHz
MEASURED = {"small": ("gaussians", "small"), "medium": ("gaussians", "medium"),
            "large": ("gaussians", "large"), "specular": ("environment", "specular_08"),
            "diffuse": ("environment", "diffuse"), "spheres": ("spheres", "small"),
            "lookup": ("environment", "lookup"), "pagerank": ("pagerank", "edge")}
TRANSISTORS_M, TREE_ADDERS = 0.07, 31  # of an adder; of a tree
CLEAR = 1.15
# Of the slices, the last one of no mean; where an address's partition is hashed; paths by name.
SLICES = ("fox", "medium", "specular", "diffuse", "spheres", "pagerank")
HASHED = (("3060-Sim", "specular"), ("3060-Sim", "diffuse"))
PATHS = {"serialized": "ARC-SW", "butterfly": "ARC-SW", "automatic": "auto", "none": "none"}
COLUMNS = ("ARC-HW", "ARC-HW-busy", "ARC-always", "LAB-ideal", "LAB", "PHI", "ARC-SW", "auto",
           "none")


def read(file):
    """{machine: {workload: {mechanism: {figure: number}}}}"""
    machines = {}
    with open(file, encoding="utf-8-sig") as lines:
        for cell in csv.DictReader(line for line in lines if not line.startswith("#")):
            where = [cell.pop(word) for word in ("machine", "workload", "mechanism")]
            workloads = machines.setdefault(where[0], {})
            workloads.setdefault(where[1], {})[where[2]] = {k: float(v) for k, v in cell.items()}
    return machines


def read_slices(file):
    """{machine: {workload: {mechanism: speed over plain atomics}}}; of several thresholds the best."""
    machines = {name: {workload: {} for workload in SLICES} for name in PAPERS}
    with open(file, encoding="utf-8-sig") as lines:
        for cell in csv.DictReader(line for line in lines if not line.startswith("#")):
            where = cell["machine"], cell["workload"]
            if cell["model"] == ("no_wait_hashed" if where in HASHED else "no_wait"):
                name = PATHS.get(cell["path"], cell["mechanism"])
                row = machines[where[0]][where[1]]
                row[name] = min(float(cell["cycles"]), row.get(name, math.inf))
    return {machine: {workload: {name: row["plain"] / cycles for name, cycles in row.items()}
                      for workload, row in rows.items()} for machine, rows in machines.items()}


def speed(row, mechanism, over="baseline"):
    return row[over]["clocks"] / row[mechanism]["clocks"]


def stalls(row, mechanism):
    return row[mechanism]["atomic_stalls"] + 1


def nanojoules(name, cell):
    multiprocessors, ghz = SIMULATED[name]
    return sum(each * cell[event] for event, each in NANOJOULES.items()) + \
        WATTS * multiprocessors * cell["clocks"] / ghz


def watts(name, cell):
    """Of the whole chip."""
    multiprocessors, ghz = SIMULATED[name]
    scale = MULTIPROCESSORS[name] / multiprocessors
    return nanojoules(name, cell) / cell["clocks"] * ghz * scale


def saving(name, row, mechanism):
    return nanojoules(name, row["baseline"]) / nanojoules(name, row[mechanism])


def near(rows):
    return list(rows.values())[:OF_MEAN]


def mean(rows, ratio):
    """The papers take arithmetic means."""
    return sum(map(ratio, near(rows))) / len(near(rows))


# ---- tables ------------------------------------------------------------------------------------


def print_machine(name, rows):
    mechanisms = list(next(iter(rows.values())))[1:]
    print(f"model: {name}, speed over plain atomics\n  {'workload':<10}"
          + "".join(f" {mechanism:>10}" for mechanism in mechanisms))
    for workload, row in rows.items():
        print(f"  {workload:<10}" + "".join(f" {speed(row, m):10.2f}" for m in mechanisms))
    print(f"  {f'mean of {OF_MEAN}':<10}" + "".join(
        f" {mean(rows, lambda row, m=m: speed(row, m)):10.2f}" for m in mechanisms) + "\n")


def over_software(row, mechanism):
    """ARC-SW: the better of the two paths, each at its best threshold."""
    return min(speed(row, mechanism, path) for path in ("SW-S", "SW-B"))


def claims_of(name, rows):
    """(what, modelled, the papers') of each figure that the papers state."""
    def speeds(mechanism):
        return [speed(row, mechanism) for row in near(rows)]
    claims = []
    for mechanism in ("ARC-HW", "LAB-ideal", "PHI"):
        claims.append((mechanism, sum(speeds(mechanism)) / OF_MEAN, PAPERS[name][mechanism]))
        if mechanism in MOST[name]:
            claims.append((f"{mechanism}, most", max(speeds(mechanism)), MOST[name][mechanism]))
    claims.append(("LAB-ideal over LAB", mean(rows, lambda row: speed(row, "LAB-ideal", "LAB")),
                   1.05))
    claims.append(("ARC-HW over ARC-SW", mean(rows, lambda row: over_software(row, "ARC-HW")),
                   OVER_SOFTWARE[name]))
    waits = {m: sum(row[m]["atomic_stalls"] for row in near(rows))
             for m in ("baseline", *LESS_STALLS[name])}
    claims += [(f"atomic stalls, plain over {m}", waits["baseline"] / waits[m], papers)
               for m, papers in LESS_STALLS[name].items()]
    return claims + [("energy, plain over ARC-HW", mean(
        rows, lambda row: saving(name, row, "ARC-HW")), LESS_ENERGY[name])]


def print_papers(machines):
    claims = [claims_of(name, machines[name]) for name in PAPERS]
    print("model: beside the papers' figures, in bold where they are more than 25 % apart\n\n| |"
          + "".join(f" {name}, papers | |" for name in PAPERS) + "\n|---|---|---|---|---|")
    close = 0
    for line in zip(*claims):
        cells = [line[0][0]]
        for _, modelled, papers in line:
            off = modelled / papers - 1
            close += abs(off) <= 0.25
            text = f"{100 * off:+.0f} %".replace("-", "\u2212")
            cells += [f"{modelled:.2f}, {papers:.2f}", text if abs(off) <= 0.25 else f"**{text}**"]
        print(f"| {' | '.join(cells)} |")
    print(f"\nmodel: {close} of {sum(map(len, claims))} figures within 25 %")
    for name in PAPERS:
        means = {m: mean(machines[name], lambda row, m=m: speed(row, m)) for m in PAPERS[name]}
        means["ARC-SW"] = mean(machines[name], lambda row: speed(row, "ARC-HW")
                               / over_software(row, "ARC-HW"))
        order = sorted(means, key=means.get, reverse=True)
        print(f"model: {name}: " + " > ".join(f"{m} {means[m]:.2f}" for m in order))


def print_energy(machines):
    print("\nmodel: energy of plain atomics over theirs, means\n\n| |"
          + "".join(f" {m} |" for m in SHOWN) + "\n" + "|---" * (len(SHOWN) + 1) + "|")
    for name in SIMULATED:
        print(f"| {name} | " + " | ".join(
            f"{mean(machines[name], lambda row, m=m: saving(name, row, m)):.2f}"
            for m in SHOWN) + " |")


def print_measured(rows, file):
    """Watts, and energy of plain atomics over SW-B's; in bold where more than 35 % apart."""
    with open(file, encoding="utf-8-sig") as lines:
        measured = {(row["workload"], row["dataset"], row["BW implementation"]):
                    (float(row["backward mJ"]), float(row["backward ms"]))
                    for row in csv.DictReader(line for line in lines if not line.startswith("#"))
                    if row["iterations"] == "0" and row["backward mJ"]}
    close = 0
    print("\nmodel: the H200's energy, beside a GPU's")
    for workload, where in MEASURED.items():
        row = rows[workload]
        plain, reduced = (measured[(*where, way)] for way in ("plain", "SW-B"))
        pairs = [(watts("H200", row["baseline"]), plain[0] / plain[1], ".0f"),
                 (watts("H200", row["SW-B"]), reduced[0] / reduced[1], ".0f"),
                 (saving("H200", row, "SW-B"), plain[0] / reduced[0], ".2f")]
        cells = []
        for modelled, real, digits in pairs:
            near_it = abs(modelled / real - 1) <= 0.35
            cells.append(f"{modelled:{digits}}, *{real:{digits}}*" if near_it
                         else f"**{modelled:{digits}}**, *{real:{digits}}*")
        close += near_it
        print(f"| {workload} | {' | '.join(cells)} |")
    print(f"model: energy over SW-B's: {close} of {len(MEASURED)} within 35 %")


def print_question(name, rows):
    print(f"model: {name}, speed over arc's auto; in brackets, the atomic stalls of auto over it")
    for workload, row in rows.items():
        print(f"  {workload:<10}" + "".join(
            f"  {m} {speed(row, m, 'auto'):5.2f} ({stalls(row, 'auto') / stalls(row, m):7.3g})"
            for m in SHOWN[:4]) + f"  limit {speed(row, 'none', 'auto'):5.2f}")
    area = 4 * MULTIPROCESSORS[name] * TRANSISTORS_M
    print(f"  area: serial {area:.1f} M transistors, tree {area * TREE_ADDERS:.1f} M\n")


def print_order(cells, sweep):
    """Pairs of paths of a cell whose measured times are clearly apart: are the model's, too?"""
    clear = right = 0
    measured = {}
    for row in results.Results(sweep).rows:
        if results.group(row) == ("-", "axes", row["width"], "literal", row["lanes"], "prefix", "1",
                                  "contiguous", "uniform", "0", row["padding"], "f32"):
            name = f"width {row['width']} lanes {row['lanes']}"
            measured.setdefault(name, {}).setdefault(row["path"], row["gross"])
    for name, its in cells.items():
        for a, b in ((a, b) for a in its for b in its):
            times = measured.get(name, {})
            if a not in times or b not in times or times[b] < CLEAR * times[a]:
                continue
            clear, agrees = clear + 1, its[a]["clocks"] < its[b]["clocks"]
            right += agrees
            if not agrees:
                print(f"  {name}: {a} is {times[b] / times[a]:.2f} times as fast as {b}, modelled "
                      f"{its[b]['clocks'] / its[a]['clocks']:.2f}")
    if not clear:
        raise results.Bad("the model and the sweep have no cells in common: one of them is older")
    print(f"model: {right} of {clear} clear pairs (15 % apart) of the sweep in the measured order, "
          f"{100 * right / clear:.0f} %\n")


def modelled(row):
    its = {name: speed(row, name) for name in row}
    return its | {"ARC-SW": max(its["SW-S"], its["SW-B"])}


def papers(machine):
    return PAPERS[machine] | {"ARC-SW": PAPERS[machine]["ARC-HW"] / OVER_SOFTWARE[machine]}


def mean_and_most(rows, name):
    speeds = [rows[workload].get(name, math.nan) for workload in SLICES[:-1]]
    return [sum(speeds) / len(speeds), max(speeds)] if all(map(math.isfinite, speeds)) else []


def print_slices(machines, slices):
    def joined(numbers, mark):
        return mark.join(f"{number:.2f}" for number in numbers) or "\u2013"
    model = {machine: {workload: modelled(row) for workload, row in machines[machine].items()}
             for machine in slices}
    print("\nspeed over plain atomics, simulated / modelled\n| |", " | ".join(COLUMNS), "|")
    for machine, rows in slices.items():
        for workload, row in rows.items():
            cells = [joined((of[name] for of in (row, model[machine][workload])
                             if name in row and name in of), " / ") for name in COLUMNS]
            print(f"| {workload}, {machine} |", " | ".join(cells), "|")
    print("\nmeans of all but the last one, and most: simulated, modelled, the paper's")
    for name in COLUMNS:
        cells = [joined(numbers, ", ") for machine in slices for numbers in (
            mean_and_most(slices[machine], name), mean_and_most(model[machine], name),
            [of[name] for of in (papers(machine), MOST[machine]) if name in of])]
        print(f"| {name} |", " | ".join(cells), "|")


def print_over_software(slices):
    """ARC-HW over ARC-SW."""
    lines = {workload: [rows[workload]["ARC-HW"] / rows[workload]["ARC-SW"]
                        for rows in slices.values()] for workload in SLICES[:-1]}
    others = [its for workload, its in lines.items() if workload != "spheres"]
    for name, means in (("mean", [*lines.values()]), ("mean without spheres", others)):
        lines[name] = [sum(its) / len(its) for its in zip(*means)]
    print("\nARC-HW over ARC-SW, simulated\n| |", " | ".join(slices), "|")
    for name, its in lines.items():
        print(f"| {name} |", " | ".join(f"{quotient:.2f}" for quotient in its), "|")


# ---- the figure ----------------------------------------------------------------------------------


def rows_of(machines, machine):
    rows = {name: {way: modelled(row)[way] for way in DRAWN}
            for name, row in machines[machine].items()}
    rows[f"mean of first {OF_MEAN}"] = {
        way: mean(machines[machine], lambda row, way=way: modelled(row)[way]) for way in DRAWN}
    rows["ARC paper's mean"] = papers(machine) if machine in PAPERS else {}
    return rows


def slice_rows(rows, machine):
    ways = [way for way in DRAWN if way in COLUMNS]
    means = {way: (mean_and_most(rows, way) or [math.nan])[0] for way in ways}
    rows = {name: {way: row.get(way, math.nan) for way in ways} for name, row in rows.items()}
    return rows | {"mean of first 5": means, "ARC paper's mean": papers(machine)}


def draw(machines, slices):
    figure, panels = pictures.load().subplots(
        2, len(SIMULATED), sharex="col", sharey="row", figsize=(pictures.WIDTH, 8),
        height_ratios=(len(machines["H200"]) + 2, len(SLICES) + 2))
    for axes, machine in zip(panels[0], SIMULATED):
        pictures.draw_rows(axes, rows_of(machines, machine), f"{machine} (model)")
        axes.tick_params(labelbottom=True)
    for axes, machine in zip(panels[1], slices):
        pictures.draw_rows(axes, slice_rows(slices[machine], machine), f"{machine} (simulated)")
    for axes in panels[1][len(slices):]:
        axes.axis("off")
    figure.supxlabel(pictures.TIMES, fontsize="medium")
    pictures.legend(figure)
    return figure


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("csv")
    parser.add_argument("--sweep")
    parser.add_argument("--measured")
    parser.add_argument("--simulated")
    parser.add_argument("--figure")
    options = parser.parse_args(words)
    machines = read(options.csv)
    if options.sweep:
        print_order(machines.get("H200 sweep", {}), options.sweep)
    for name in MULTIPROCESSORS:
        print_machine(name, machines[name])
        print_question(name, machines[name])
    print_papers(machines)
    print_energy(machines)
    if options.measured:
        print_measured(machines["H200"], options.measured)
    slices = read_slices(options.simulated) if options.simulated else {}
    if slices:
        print_slices(machines, slices)
        print_over_software(slices)
    if options.figure:
        pictures.save(draw(machines, slices), options.figure)
    return 0


if __name__ == "__main__":
    results.run(main)
