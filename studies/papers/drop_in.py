#!/usr/bin/env python3
"""drop_in.py - the studies' plain atomics, as they are and behind arc/drop_in.cuh.
SPDX-License-Identifier: Apache-2.0

usage: drop_in.py FILE.csv ROUNDS NAME=FOLDER...

FOLDER: of a build of the studies for a GPU. The first NAME is what the others are compared with;
give the same folder a second name for its own spread. A build behind the flag is configured with
-DCMAKE_CUDA_FLAGS="-include ARC/arc/drop_in.cuh", and -DARC_DROP_IN=ARC_DROP_IN_SUMS if that is
what to measure. The builds take turns. Each time a program launches anew, and what it has learnt is
gone; its time is the median of 15 launches after the first ones. FILE.csv has the medians of the
rounds.

Exit status: 0 done, 1 a program failed, 2 bad usage."""
import csv
import datetime
import os
import statistics
import subprocess
import sys
import tempfile

DATASETS = {
    "hashgrid": ("picture_random", "picture_rays", "distance_random", "distance_rays"),
    "environment": ("diffuse", "specular_29", "lookup")}
GAUSSIANS = "gaussians/bench/bench_gaussians"


def compared(folder, program, dataset):
    """Milliseconds of the way `plain`, which is the first: the others are not waited for."""
    command = ["stdbuf", "-oL", f"{folder}/{program}/{program}_gpu", "--compare-paths", "--dataset",
               dataset]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("plain "):
                process.kill()
                return float(line.split()[2])
    sys.exit(f"drop_in: {' '.join(command)} ended with status {process.returncode}")


def gaussians(folder):
    """The head of a result file, and {dataset: milliseconds}"""
    with tempfile.TemporaryDirectory() as scratch:
        table = scratch + "/table.csv"
        if subprocess.run([f"{folder}/{GAUSSIANS}_gpu", "--experiment", table, "--ways", "plain",
                           "--iterations", "0", "--views", "3"], stdout=subprocess.DEVNULL,
                          check=False).returncode:
            sys.exit(1)
        with open(table, encoding="utf-8") as file:
            lines = file.readlines()
    head = [line for line in lines if line.startswith("#")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return head, {row["dataset"]: float(row["backward ms"]) for row in rows}


def main():
    if len(sys.argv) < 5 or not sys.argv[2].isdigit() or any("=" not in a for a in sys.argv[3:]):
        sys.exit(print(__doc__, file=sys.stderr) or 2)
    builds = dict(argument.split("=", 1) for argument in sys.argv[3:])
    ms, heads = {}, {}
    for _ in range(int(sys.argv[2])):
        for name, folder in builds.items():
            heads[name], times = gaussians(folder)
            for dataset, time in times.items():
                ms.setdefault(("gaussians", dataset), {}).setdefault(name, []).append(time)
        for program, datasets in DATASETS.items():
            for dataset in datasets:
                for name, folder in builds.items():
                    ms.setdefault((program, dataset), {}).setdefault(name, []).append(
                        compared(folder, program, dataset))
    plain = next(iter(builds))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.writelines(
            ["# program: drop_in.py\n",
             f"# date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}\n",
             f"# command: drop_in.py {os.path.basename(sys.argv[1])} {sys.argv[2]} {' '.join(builds)}\n",
             "# how: one build after the other, medians of the rounds; plain: the way plain of "
             "--compare-paths and of bench_gaussians --experiment\n",
             *(line for line in heads[plain] if line.split()[1] in (
                 "device:", "clocks:", "cuda:", "compiler:", "policy:", "headers:")),
             "program,dataset,build,ms,times_plain\n"])
        for (program, dataset), times in ms.items():
            for name, its in times.items():
                median = statistics.median(its)
                out.write(f"{program},{dataset},{name},{median:.4g},"
                          f"{statistics.median(times[plain]) / median:.3f}\n")


main()
