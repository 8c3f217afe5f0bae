#!/usr/bin/env python3
"""stalls.py - what the warps of a workload's gradient step wait for, by Nsight Compute: the papers'
figures 8 and 24. SPDX-License-Identifier: Apache-2.0

usage: stalls.py PROGRAM_GPU DATASET,... OUT.csv [--ncu PROGRAM]

Profiles one gradient step of each path that `PROGRAM_GPU --compare-paths` compares, and writes
clocks a warp waits for each instruction issued: in all, and of them for loads, stores and atomics
(lsu) and for shuffles and shared memory (mio); atomic instructions and instructions in all; and
how full the load and store pipe is. Kernels of one step are weighted by their time. Rows go behind
those that OUT.csv has. Exit status: 0 done, 1 a step could not be profiled, 2 bad option, 77
skipped: no ncu, or it may not read the counters."""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/analysis"))
import ncu_profile  # noqa: E402
import results  # noqa: E402

COLUMNS = ["workload", "dataset", "path", "stall_clocks", "lsu_clocks", "mio_clocks", "lsu_share",
           "instructions", "atomics", "lsu_pipe_percent"]
EXTRA = {"smsp__inst_executed.sum": ("issue", "instructions"),
         "smsp__inst_executed_op_global_red.sum": ("l1", "red_instructions"),
         "smsp__inst_executed_op_global_atom.sum": ("l1", "atom_instructions")}
METRICS = {**ncu_profile.METRICS, **EXTRA}


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

    lsu, mio, rest = (mean(lambda launch, g=group: stalls(launch, g))
                      for group in ("stall_lsu", "stall_mio", "stall_rest"))
    clocks = lsu + mio + rest
    busy = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"
    pipe = mean(lambda launch: number(launch, busy))
    instructions = sum(number(launch, "smsp__inst_executed.sum") for launch in launches)
    atomics = sum(number(launch, f"smsp__inst_executed_op_global_{kind}.sum")
                  for launch in launches for kind in ("red", "atom"))
    return [f"{clocks:.2f}", f"{lsu:.2f}", f"{mio:.2f}", f"{lsu / clocks if clocks else 0.0:.3f}",
            f"{instructions:.0f}", f"{atomics:.0f}", f"{pipe:.1f}"]


def measure(options):
    rows, failed = [], 0
    name = os.path.basename(options.workload_program).rsplit("_", 1)[0]
    for dataset in options.datasets.split(","):
        lines, launches = ncu_profile.run_ncu(options.ncu, METRICS, [
            "--profile-from-start", "off", "--clock-control", "none", options.workload_program,
            "--dataset", dataset, "--compare-paths"])
        paths = paths_of(lines)
        if not paths or not launches or len(launches) % len(paths):
            print(f"{name} {dataset}: {len(launches)} kernels for {len(paths)} paths: {lines[-1]}")
            failed += 1
            continue
        each = len(launches) // len(paths)
        for i, path in enumerate(paths):
            row = step_row(launches[i * each:(i + 1) * each])
            rows.append([name, dataset, path, *row])
            print(f"{name} {dataset} {path}: {row[0]} clocks, {float(row[3]):.0%} of them for "
                  f"loads and atomics; {row[4]} instructions, {row[5]} of them atomic")
    return rows, failed


def write(name, rows):
    old = ",".join(COLUMNS) + "\n"
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            old = file.read()
    if old.split("\n", 1)[0] != ",".join(COLUMNS):
        raise results.Bad(f"{name}: is no table of stalls.py")

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
    parser.add_argument("--ncu", default="ncu")
    options = parser.parse_args(words)
    rows, failed = measure(options)
    if rows:
        write(options.out, rows)
    return 1 if failed else 0


if __name__ == "__main__":
    results.run(main)
