#!/usr/bin/env python3
"""test_paper.py - run.sh runs every workload into one table; paper.py reads it.
SPDX-License-Identifier: Apache-2.0

usage: test_paper.py"""
import os
import subprocess
import sys
import tempfile
import unittest

PAPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "paper")
COUNTS = [f"lanes {i}" for i in range(33)] + [f"keys {i}" for i in range(33)]
COLUMNS = ["workload", "BW implementation", "balance threshold", "dataset", "train PSNR",
           "train L1", "test PSNR", "test L1", "end-to-end training time", "backward ms",
           "backward mJ", "backward error", "iterations", "seed", "clock", *COUNTS]
# Takes --experiment FILE, and adds its name and options to it; a file "fail" beside it: status 3.
STUB = """#!/bin/sh
[ -e "$(dirname "$0")/fail" ] && exit 3
echo "$(basename "$0") $*" >>"$2"
"""
# As ncu prints: what the program says, then a line of names, one of units, one a kernel. Two
# kernels a step: 3 ms with 10 clocks of stalls, 8 of them for atomics, and 1 ms with 2 clocks.
NCU = """#!/bin/sh
echo 'path        threshold        ms  x plain difference'
echo 'plain               -    0.0010    1.000          0'
echo 'auto             auto   2.5e-05    0.500    1.6e-06'
stalled=smsp__average_warps_issue_stalled
n='"ID",a,b,c,d,e,f,'
n="$n${stalled}_lg_throttle_per_issue_active.ratio"
n="$n,${stalled}_wait_per_issue_active.ratio,gpu__time_duration.sum"
echo "$n,smsp__inst_executed.sum,smsp__inst_executed_op_global_red.sum"
echo '"","","","","","","","inst","inst","ns","inst","inst"'
for step in 1 2; do
  echo '"0","a","b","c","d","e","f","8","2","3,000","1,000","100"'
  echo '"1","a","b","c","d","e","f","0","2","1,000","500","10"'
done
"""


def row(workload, name, threshold, dataset, ms, seconds="", energy="", psnr=""):
    counts = ["0"] * 66
    return ",".join([workload, name, threshold, dataset, "", "", psnr, "", seconds, ms, energy, "",
                     "0", "1", "gpu_events", *counts])


ROWS = [row("spheres", "plain", "-", "small", "8", "4", "64", "30.00"),
        row("spheres", "SW-S", "0", "small", "16"), row("spheres", "SW-S", "8", "small", "4"),
        row("spheres", "cg", "-", "small", "4"),
        row("spheres", "auto", "8", "small", "2", "2", "16", "30.25"),
        row("spheres", "auto", "auto", "small", "4", "3", "32", "30.50"),
        row("pagerank", "plain", "-", "edge", "1"), row("pagerank", "auto", "0", "edge", "2"),
        row("gaussians", "plain", "-", "/scenes/fox", "9", "9"),
        row("gaussians", "tuned", "auto", "/scenes/fox", "1", "1")]


class Paper(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def write(self, lines, name="table.csv"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return self.path(name)

    def read(self, *words, status=0):
        done = subprocess.run([sys.executable, "-B", os.path.join(PAPER, "paper.py"), *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def test_figures_of_the_table(self):
        text = self.read(self.write(["# program: x", ",".join(COLUMNS), *ROWS]))
        for line in ("| spheres small | 8 | 0.500 (8) | 0.500 | 0.250 (8) |  |",
                     "| pagerank edge | 1 |  |  | 2.000 (0) |  |",
                     "| gaussians fox | 9 |  |  |  | 0.111 |",
                     "| spheres small | 2.000 (0) |  | 0.250 (8) |",
                     "| spheres small | 4.000 | 2.00 | 4.00 | 30.00, 30.25 |",
                     "| gradient step over plain | 6.00 (9.00) | 0.50 (0.50) | 2.44 (5.7)",
                     "| gradient step over CCCL | 2.00 (2.00) |  | 1.58 (1.78)"):
            self.assertIn("\n" + line, text)

    def test_two_tables_and_old_columns(self):
        old = [name for name in COLUMNS if name != "workload" and not name.startswith("keys")]
        short = [r.split(",")[1:-33] for r in ROWS if r.startswith("gaussians")]
        text = self.read(self.write([",".join(old), *map(",".join, short)], "old.csv"),
                         self.write([",".join(COLUMNS), *ROWS[:6]]))
        self.assertIn("| gradient step over plain | 6.00 (9.00) |", text)

    def test_bad_tables(self):
        self.assertIn("cannot read", self.read(self.path("absent"), status=2))
        self.assertIn("is no table", self.read(self.write(["a,b", "1,2"]), status=2))
        broken = ROWS[0].replace(",8,", ",eight,", 1)
        self.assertIn("not whole", self.read(self.write([",".join(COLUMNS), broken]), status=2))
        other = ROWS[1].replace("gpu_events", "model")
        self.assertIn("one kind",
                      self.read(self.write([",".join(COLUMNS), ROWS[0], other]), status=2))

    def test_figures_are_drawn_or_skipped(self):
        table = self.write([",".join(COLUMNS), *ROWS])
        self.assertIn("is not a folder",
                      self.read(table, "--figures", self.path("absent"), status=2))
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.read(table, "--figures", self.path(), status=77)
            return
        self.read(table, "--figures", self.path())
        for name in ("speedup.png", "sensitivity.png", "lanes.png"):
            self.assertGreater(os.path.getsize(self.path(name)), 1000)

    def run_script(self, *words):
        return subprocess.run(["sh", os.path.join(PAPER, "run.sh"), *words], capture_output=True,
                              text=True, check=False)

    def make_stubs(self):
        for name in ("gaussians", "environment", "spheres", "circles", "hashgrid", "pagerank"):
            os.mkdir(self.path(name))
            for build in ("gpu", "simt"):
                self.write([STUB], os.path.join(name, f"{name}_{build}"))
                os.chmod(self.path(name, f"{name}_{build}"), 0o755)

    def test_all_workloads_into_one_table(self):
        self.make_stubs()
        csv = self.path("paper.csv")
        done = self.run_script(self.path(), "gpu", csv, "/a scene", "/a mesh.obj")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(csv, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual([line.split("_")[0] for line in lines],
                         ["gaussians", "gaussians", "environment", "spheres", "circles",
                          "hashgrid", "pagerank"])
        self.assertIn("--scene /a scene ", lines[1])
        self.assertIn("--mesh /a mesh.obj", lines[2])

    def test_a_workload_that_fails(self):
        self.make_stubs()
        self.write([""], os.path.join("circles", "fail"))
        csv = self.path("paper.csv")
        done = self.run_script(self.path(), "simt", csv, "", "")
        self.assertEqual(done.returncode, 3)
        self.assertIn("circles ended with status 3", done.stderr)
        self.assertFalse(os.path.exists(csv))
        with open(csv + ".partial.csv", encoding="utf-8") as file:
            self.assertEqual(len(file.read().splitlines()), 3)

    def stalls(self, *words, status=0):
        done = subprocess.run([sys.executable, "-B", os.path.join(PAPER, "stalls.py"), *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_stalls(self):
        ncu, out = self.write([NCU], "ncu"), self.path("stalls.csv")
        os.chmod(ncu, 0o755)
        self.assertIn("skipped: no Nsight",
                      self.stalls("x_gpu", "a", out, "--ncu", "/no", status=77))
        text = self.stalls("/b/spheres_gpu", "small,large", out, "--ncu", ncu)
        self.assertIn("spheres large auto: 8.00 clocks, 75% of them for loads and atomics; 1500 "
                      "instructions, 110 of them atomic", text)
        with open(out, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[1], "spheres,small,plain,8.00,6.00,0.00,0.750,1500,110,0.0")
        self.assertEqual(len(lines), 1 + 4)
        self.write(["something else"], "stalls.csv")
        self.assertIn("is no table", self.stalls("/b/x_gpu", "a", out, "--ncu", ncu, status=2))

    def test_wrong_usage(self):
        self.assertEqual(self.run_script("one").returncode, 2)


if __name__ == "__main__":
    unittest.main()
