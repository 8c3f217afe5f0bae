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

GAUSSIANS = "gaussians/bench/bench_gaussians"
DATASETS = {
    GAUSSIANS: ("small", "medium", "large"),
    "hashgrid/hashgrid": ("picture_random", "picture_rays", "distance_random", "distance_rays"),
    "environment/environment": ("diffuse", "specular_29", "lookup")}
COPIED = ("device", "clocks", "cuda", "compiler", "policy", "headers")  # lines of a program's head


def failed(command, status):
    sys.exit(f"drop_in: {' '.join(command)} ended with status {status}")


def compared(program, dataset):
    """Milliseconds of the way `plain`, which is the first: the others are not waited for."""
    command = ["stdbuf", "-oL", program, "--compare-paths", "--dataset", dataset]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("plain "):
                process.kill()
                return float(line.split()[2])
    return failed(command, process.returncode)


def gaussians(program, dataset):
    """The head of a table, and milliseconds of the trainer's kernel by the way `plain`."""
    with tempfile.TemporaryDirectory() as scratch:
        table = scratch + "/table.csv"
        command = [program, "--experiment", table, "--ways", "plain", "--datasets", dataset,
                   "--iterations", "0", "--views", "3"]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        if status:
            failed(command, status)
        with open(table, encoding="utf-8") as file:
            lines = file.readlines()
    rows = csv.DictReader(line for line in lines if line[0] != "#")
    return [line for line in lines if line[0] == "#"], float(next(rows)["backward ms"])


def main():
    if len(sys.argv) < 5 or not sys.argv[2].isdigit() or any("=" not in a for a in sys.argv[3:]):
        sys.exit(print(__doc__, file=sys.stderr) or 2)
    builds, head = dict(argument.split("=", 1) for argument in sys.argv[3:]), None
    plain = next(iter(builds))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for program, dataset in ((p, d) for p, datasets in DATASETS.items() for d in datasets):
            ms = {name: [] for name in builds}
            for _ in range(int(sys.argv[2])):
                for name, folder in builds.items():
                    if program == GAUSSIANS:
                        its, time = gaussians(f"{folder}/{program}_gpu", dataset)
                        head = head or its
                    else:
                        time = compared(f"{folder}/{program}_gpu", dataset)
                    ms[name].append(time)
            if out.tell() == 0:
                out.writelines([
                    "# program: drop_in.py\n",
                    f"# date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}\n",
                    f"# command: drop_in.py {os.path.basename(sys.argv[1])} {sys.argv[2]} "
                    f"{' '.join(builds)}\n",
                    "# how: builds in turns, medians of the rounds; plain: the way plain of "
                    "--compare-paths and of bench_gaussians --experiment\n",
                    *(line for line in head if line[2:].split(":")[0] in COPIED),
                    "program,dataset,build,ms,times_plain\n"])
            for name, its in ms.items():
                median = statistics.median(its)
                out.write(f"{os.path.basename(program)},{dataset},{name},{median:.4g},"
                          f"{statistics.median(ms[plain]) / median:.3f}\n")
            out.flush()


main()
