#!/usr/bin/env python3
"""ncu_profile.py - why a path takes its time: warp stalls, L2 traffic and pipes, by Nsight Compute.
SPDX-License-Identifier: Apache-2.0

usage: ncu_profile.py ARC_SWEEP_GPU OUT.csv [--workload W,...] [--path P,...] [--width N]
                      [--sweep "more options for arc_sweep"] [--ncu PROGRAM]

Profiles one launch of each path on each workload, prints what its warps wait for most, and writes
all figures. Exit status: 0 done, 1 a launch could not be profiled, 2 bad option, 77 skipped: no
ncu, or it may not read the counters."""
import csv
import datetime
import shlex
import shutil
import subprocess
import sys

import results

COLUMNS = ["workload", "width", "path", "group", "name", "unit", "value", "metric"]
FIRST_LINE = "# program: arc profile"
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
    "lts__t_requests_op_red.sum": ("l2", "red_requests"),
    "smsp__inst_executed_op_global_red.sum": ("l1", "red_instructions"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": ("l1", "red_requests"),
    **{f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active":
       ("pipe", f"{pipe}_percent")
       for pipe in ("lsu", "alu", "fma", "xu", "adu", "cbu", "uniform")},
    "smsp__issue_active.avg.pct_of_peak_sustained_active": ("pipe", "issue_percent"),
    "gpu__time_duration.sum": ("time", "duration"),
}


def run_ncu(ncu, metrics, words, columns=()):
    """Profiles the program in `words`, which more options of ncu precede. Returns the lines that
    were printed, and {metric or column: (value, unit)} of each kernel, in the order of the
    launches."""
    if not shutil.which(ncu):
        raise results.Skip(f"no Nsight Compute ('{ncu}'); it comes with the CUDA toolkit")
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics",
               ",".join(metrics), *words]
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False).stdout
    if "ERR_NVGPUCTRPERM" in text:
        raise results.Skip("ncu may not read this GPU's counters (ERR_NVGPUCTRPERM)")
    lines = text.splitlines() or ["no output"]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    names, units, *rows = [*csv.reader(lines[start:]), [], []]
    return lines, [{name: (value.replace(",", ""), unit)
                    for name, unit, value in zip(names, units, row)
                    if name in metrics or name in columns}
                   for row in rows if row and len(row) == len(names)]


def profile(options, workload, path):
    """The second launch: the first one is the warm-up. The base kernel runs along."""
    kernels = "regex:^sweep_(uniform|keyed)_" + ("none_" if path == "none" else "[^n]")
    return run_ncu(options.ncu, METRICS, [
        "--kernel-name", kernels, "--launch-skip", "1", "--launch-count", "1",
        options.sweep_program, "--workload", workload, "--width", options.width, "--path", path,
        "--repeat", "1", "--quiet", *shlex.split(options.sweep)])


def words_of(figures):
    waits = [(float(value), name) for group, name, _, value, _ in figures
             if group.startswith("stall_") and name not in ("selected", "not_selected")]
    issue = [value for _, name, _, value, _ in figures if name == "issue_percent"]
    return f"issue {'-'.join(issue)} %" + "".join(
        f", {name} {clocks:.1f} clocks" for clocks, name in sorted(waits, reverse=True)[:3])


def measure(options):
    """(rows, launches that failed)"""
    rows, failed = [], 0
    for workload in options.workload.split(","):
        for path in options.path.split(","):
            lines, launches = profile(options, workload, path)
            figures = [(*METRICS[metric], unit, value, metric) for launch in launches[:1]
                       for metric, (value, unit) in launch.items()]
            rows += [(workload, options.width, path, *figure) for figure in figures]
            failed += not figures
            print(f"{workload}, {path}: {words_of(figures) if figures else 'ERROR: ' + lines[-1]}")
    return rows, failed


def write(name, rows, options):
    with open(name, "w", encoding="utf-8", newline="") as file:
        date = datetime.datetime.now(datetime.timezone.utc)
        file.write(f"{FIRST_LINE}\n# date: {date:%Y-%m-%dT%H:%M:%SZ}\n# sweep: {options.sweep}\n")
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("sweep_program")
    parser.add_argument("out")
    parser.add_argument("--workload", default="tile,spheres,cubemap,hashgrid,pagerank,hot")
    parser.add_argument("--path",
                        default="none,plain,vector,cg,serialized,butterfly,transposed,tree,auto")
    parser.add_argument("--width", default="9")
    parser.add_argument("--sweep", default="")
    parser.add_argument("--ncu", default="ncu")
    options = parser.parse_args(words)
    rows, failed = measure(options)
    if rows:
        results.write_whole(options.out, lambda name: write(name, rows, options))
    return 1 if failed else 0


if __name__ == "__main__":
    results.run(main)
