#!/usr/bin/env python3
"""stalls.py - what the warps of a workload's gradient step wait for, and what the L2 is asked for,
by Nsight Compute: the ARC paper's figures 8 and 24, FlashGS's 14 and 15.
SPDX-License-Identifier: Apache-2.0

usage: stalls.py PROGRAM_GPU DATASET,... OUT.csv [--options "more of the program's"] [--draw]
                 [--ncu PROGRAM]

Profiles one gradient step of each path that PROGRAM_GPU compares; with --draw, one picture of each
step of drawing that bench_gaussians_gpu compares, where DATASET is a name and --options say what is
drawn. Writes clocks a warp waits for each instruction issued: in all, and of them for loads, stores
and atomics (lsu) and for shuffles and shared memory (mio); instructions, and atomic ones; how full
the load and store pipe is; sectors of the L2 that were asked for, the share of them in atomics, and
the hits in percent; bytes of DRAM; pairs of a Gaussian and a list, of drawing alone. Kernels of one
step are weighted by their time. Rows go behind those that OUT.csv has. Exit status: 0 done, 1 a
step could not be profiled, 2 bad option, 77 skipped: no ncu, or it may not read the counters."""
import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/analysis"))
import results  # noqa: E402

COLUMNS = ["workload", "dataset", "path", "stall_clocks", "lsu_clocks", "mio_clocks", "lsu_share",
           "instructions", "atomics", "lsu_pipe_percent", "l2_sectors", "l2_atomic_share",
           "l2_hit_percent", "dram_bytes", "pairs"]
# Stalls: clocks a warp waits for this reason per instruction issued. lsu waits for loads, stores
# and reductions, mio for shuffles, shared memory and special functions.
STALLS = {"stall_lsu": "lg_throttle long_scoreboard drain membar",
          "stall_mio": "mio_throttle short_scoreboard tex_throttle",
          "stall_rest": "barrier branch_resolving dispatch_stall gmma imc_miss math_pipe_throttle "
                        "misc no_instruction not_selected selected sleeping wait"}
METRICS = {
    **{f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": (group, reason)
       for group, reasons in STALLS.items() for reason in reasons.split()},
    "lts__t_sectors_op_red.sum": ("l2", "red_sectors"),
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": ("pipe", "lsu_percent"),
    "gpu__time_duration.sum": ("time", "duration"),
    "smsp__inst_executed.sum": ("issue", "instructions"),
    "smsp__inst_executed_op_global_red.sum": ("l1", "red_instructions"),
    "smsp__inst_executed_op_global_atom.sum": ("l1", "atom_instructions"),
    "lts__t_sectors.sum": ("l2", "sectors"),
    "lts__t_sectors_op_atom.sum": ("l2", "atom_sectors"),
    "lts__t_sector_hit_rate.pct": ("l2", "hit_percent"),
    "dram__bytes.sum": ("dram", "bytes")}
# Of drawing: those that make the pairs, and the one that paints; not those that sort.
PLACING, PAINTING = ("project", "place", "emit_pairs"), ("paint",)


def run_ncu(ncu, words):
    """Profiles the program in `words`, which more options of ncu precede. Returns the lines that
    were printed, and {metric: (value, unit)} of each kernel, in the order of the launches."""
    if not shutil.which(ncu):
        raise results.Skip(f"no Nsight Compute ('{ncu}'); it comes with the CUDA toolkit")
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics",
               ",".join(METRICS), *words]
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False).stdout
    if "ERR_NVGPUCTRPERM" in text:
        raise results.Skip("ncu may not read this GPU's counters (ERR_NVGPUCTRPERM)")
    lines = text.splitlines() or ["no output"]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    names, units, *rows = [*csv.reader(lines[start:]), [], []]
    return lines, [{name: (value.replace(",", ""), unit)
                    for name, unit, value in zip(names, units, row)
                    if name in METRICS or name == "Kernel Name"}
                   for row in rows if row and len(row) == len(names)]


def paths_of(lines):
    """The first words of the table that --compare-paths prints."""
    start = next((i for i, line in enumerate(lines) if line.split()[:2] == ["path", "threshold"]),
                 len(lines))
    paths = []
    for line in lines[start + 1:]:
        words = line.split()
        if len(words) == 5 and words[2].replace(".", "").replace("e-", "").isdigit():
            paths.append(words[0])
    return paths


def paths_of_table(name):
    """Of --experiment's file."""
    with open(name, encoding="utf-8-sig") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return list(dict.fromkeys(row["BW implementation"] for row in rows))


def pairs_of(lines):
    """{step: pairs}, of those whose kernels --draw times one by one."""
    rows = (line.split() for line in lines)
    return {row[0]: row[1] for row in rows
            if len(row) == 10 and all(re.fullmatch(r"[0-9.]+", word) for word in row[1:])}


def steps_of(launches):
    """The kernels of each step, which an empty one ends."""
    steps = [[]]
    for launch in launches:
        if launch["Kernel Name"][0] == "step_ends":
            steps.append([])
        else:
            steps[-1].append(launch)
    return steps[:-1]


def number(launch, metric):
    return float(launch.get(metric, (0.0,))[0] or 0.0)


def stalls(launch, group):
    return sum(number(launch, metric) for metric, (of, name) in METRICS.items()
               if of == group and name not in ("selected", "not_selected"))


def step_row(launches):
    """The figures of one step's kernels, weighted by their time where they are ratios."""
    times = [number(launch, "gpu__time_duration.sum") for launch in launches]
    whole = sum(times) or 1.0

    def mean(figure):
        return sum(t * figure(launch) for t, launch in zip(times, launches)) / whole

    def total(*metrics):
        return sum(number(launch, metric) for launch in launches for metric in metrics)

    lsu, mio, rest = (mean(lambda launch, g=group: stalls(launch, g))
                      for group in ("stall_lsu", "stall_mio", "stall_rest"))
    clocks = lsu + mio + rest
    busy = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"
    pipe = mean(lambda launch: number(launch, busy))
    instructions = total("smsp__inst_executed.sum")
    atomics = total("smsp__inst_executed_op_global_red.sum",
                    "smsp__inst_executed_op_global_atom.sum")
    sectors = total("lts__t_sectors.sum")
    hits = sum(number(launch, "lts__t_sectors.sum") * number(launch, "lts__t_sector_hit_rate.pct")
               for launch in launches)
    adding = total("lts__t_sectors_op_red.sum", "lts__t_sectors_op_atom.sum")
    return [f"{clocks:.2f}", f"{lsu:.2f}", f"{mio:.2f}", f"{lsu / clocks if clocks else 0.0:.3f}",
            f"{instructions:.0f}", f"{atomics:.0f}", f"{pipe:.1f}", f"{sectors:.0f}",
            f"{adding / (sectors or 1.0):.4f}", f"{hits / (sectors or 1.0):.2f}",
            f"{total('dram__bytes.sum'):.0f}"]


def parts_of(steps, pairs):
    for (path, count), step in zip(pairs.items(), steps):
        for part, names in (("place", PLACING), ("paint", PAINTING)):
            yield f"{path} {part}", count, [k for k in step if k["Kernel Name"][0] in names]


def profile(options, dataset):
    """[(path, pairs, its kernels)], and the last line that was printed."""
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        words, kernels = ["--dataset", dataset, "--compare-paths"], []
        if options.draw:
            words = ["--draw"]
            kernels = ["--kernel-name", f"regex:^({'|'.join(PLACING + PAINTING)}|step_ends)$"]
        elif "bench_gaussians" in options.workload_program:
            words = ["--experiment", table, "--iterations", "0", "--datasets", dataset]
        lines, launches = run_ncu(options.ncu, [
            "--profile-from-start", "off", "--clock-control", "none", "--print-kernel-base",
            "function", *kernels, options.workload_program, *words,
            *shlex.split(options.options)])
        steps, pairs = steps_of(launches), pairs_of(lines) if options.draw else {}
        paths = pairs or (paths_of_table(table) if os.path.exists(table) else paths_of(lines))
    errors = [line for line in lines if "returned an error code" in line]  # of the program
    if errors or len(steps) != len(paths):
        return [], (errors or lines)[-1]
    return list(parts_of(steps, pairs)) if options.draw else \
        [(path, "", step) for path, step in zip(paths, steps)], lines[-1]


def measure(options):
    rows, failed = [], 0
    name = os.path.basename(options.workload_program).rsplit("_", 1)[0].replace("bench_", "")
    name = "drawing" if options.draw else name
    for dataset in options.datasets.split(","):
        steps, last = profile(options, dataset)
        failed += not steps
        if not steps:
            print(f"{name} {dataset}: not one profile for each path: {last}")
        for path, pairs, launches in steps:
            row = step_row(launches)
            rows.append([name, dataset, path, *row, pairs])
            print(f"{name} {dataset} {path}: {row[0]} clocks, {float(row[3]):.0%} of them for "
                  f"loads and atomics; {row[4]} instructions, {row[5]} of them atomic; "
                  f"L2 {row[9]} % hits, {float(row[8]):.0%} atomics", flush=True)
    return rows, failed


def write(name, rows):
    old = ",".join(COLUMNS) + "\n"
    if os.path.exists(name):
        with open(name, encoding="utf-8-sig") as file:
            old = file.read()
    if old.split("\n", 1)[0] != ",".join(COLUMNS):
        raise results.Bad(f"{name}: is not a table of stalls.py")

    def write_to(partial):
        with open(partial, "w", encoding="utf-8", newline="") as file:
            file.write(old)
            csv.writer(file, lineterminator="\n").writerows(rows)
    results.write_whole(name, write_to)


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("workload_program")
    parser.add_argument("datasets")
    parser.add_argument("out")
    parser.add_argument("--options", default="")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--ncu", default="ncu")
    options = parser.parse_args(words)
    rows, failed = measure(options)
    if rows:
        write(options.out, rows)
    return 1 if failed else 0


if __name__ == "__main__":
    results.run(main)
