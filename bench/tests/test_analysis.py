"""test_analysis.py ARC_SWEEP_SIMT - the reader of result files and what is built on it.
SPDX-License-Identifier: Apache-2.0"""
import re
import sys
import unittest

from bench_test import H200, HAS_MATPLOTLIB, Test

import compare
import results

SWEEP = sys.argv.pop(1)
PATHS = H200 + "/paths.csv"
with open(PATHS, encoding="utf-8") as paths_file:
    TEXT = paths_file.read()
# Files of 0.1 had fewer columns: no form, padding and type. Padding was a word of the head.
OLDER = (r"(?m)^((?:[^#\n,][^,\n]*,){3})[^,]*,((?:[^,]*,){6})[^,]*,[^,]*,", r"\1\2")
GROSS = r"(\n(?:[^,\n]*,){14})[^,]*(,.*\n)$"  # of the last line
# What is changed in paths.csv, once, and what the reader says.
DAMAGED = [(r"(?s)\n.*", "\n", "ends before its columns"), ("^", "x\n", "no result file of arc_sw"),
           ("\n$", "", "whole line"), (",ok\n$", "\n", r"fields where 28 columns"),
           (",gross_ms", ",g", "no column"), (GROSS, r"\1fast\2", "not a number"),
           (GROSS, r"\g<1>99\2", "its quartiles")]
# Times of b, median and quartiles, where those of a are 1, 0.99 and 1.
JUDGED = [((0.9, 0.89, 0.91), "FASTER"), ((1.1, 1.09, 1.11), "SLOWER"), ((1.5, 1.4, 1.6), "SLOWER"),
          ((1.01, 1.005, 1.015), "SAME"), ((1.04, 0.995, 1.05), "UNCLEAR")]
FAKE_NCU = """#!/bin/sh
case "$*" in *--path\\ cg*) echo "arc_sweep: 'cg' is unavailable"; exit 2 ;; esac
[ -z "$FORBIDDEN" ] || { echo "==ERROR== ERR_NVGPUCTRPERM"; exit 1; }
echo '"ID","gpu__time_duration.sum","smsp__issue_active.avg.pct_of_peak_sustained_active"'
echo '"","ns","%"'
echo '"0","1,234","80.5"'
"""


class Analysis(Test):
    def sweep(self, name, words):
        self.call(0, SWEEP, *words.split(), "--quiet", "--csv", self.path(name))
        return self.path(name)

    def test_reader(self):
        old = re.sub(*OLDER, TEXT).replace("# sizes: ", "# sizes: padding=2 ")
        rows = results.Results(self.write(old, "old.csv")).rows
        self.assertEqual({(row["form"], row["padding"]) for row in rows}, {("literal", "2")})
        self.assertEqual([row["gross"] for row in rows],
                         [row["gross"] for row in results.Results(PATHS).rows])
        for pattern, by, needle in DAMAGED:
            with self.assertRaisesRegex(results.Bad, needle):
                results.Results(self.write(re.sub(pattern, by, TEXT, count=1), "a.csv"))

    def test_compare(self):
        for b, verdict in JUDGED:
            self.assertEqual(compare.judge((1.0, 0.99, 1.0), b, 2.0)[2], verdict, b)
        faster = self.write(re.sub(
            r"(,auto,[^,]*,)([^,]*)((?:,[^,]*){3},)([^,]*),([^,]*)",
            lambda m: f"{m[1]}{float(m[2]) * 0.8}{m[3]}{float(m[4]) * 0.8},{float(m[5]) * 0.8}",
            TEXT), "faster.csv")
        for a, b, status, needle in (
                (PATHS, PATHS, 0, r"auto +0 +0 +385 +0 +1.0000"), (faster, PATHS, 1, "SLOWER"),
                (PATHS, faster, 0, r"auto +385 +0 +0 +0 +0.8000"),
                (f"{PATHS},{faster},{PATHS}", f"{faster},{PATHS},{faster}", 0, "auto .* 0.8000"),
                (PATHS, self.path("none"), 2, "^compare.py: .*none: cannot be read.*\n$"),
                (PATHS, H200 + "/types.csv", 2, "no cell in common")):
            self.assertRegex(self.call(status, "analysis/compare.py", a, b, "--quiet", "--path",
                                       "transposed" if "types" in b else "auto",
                                       "--fail-if-slower"), needle)

    def test_model_orders_the_paths(self):
        counts = self.sweep("counts", "--preset paths --updates 16")
        words = ["analysis/model_check.py", PATHS, counts, "--expect", "92", "--expect-cells"]
        self.call(0, *words, "83")
        self.call(1, *words, "99")

    def test_plots(self):
        self.write("raise ImportError\n", "none", "matplotlib.py")
        words = ["analysis/plot.py", "--out", self.path("a.svg")]
        self.assertRegex(self.call(77, *words, "lanes", PATHS, PYTHONPATH=self.path("none")),
                         "^skipped: no matplotlib")
        if not HAS_MATPLOTLIB:
            return
        self.write("svg.fonttype: none\n", "matplotlibrc")
        for kind, says in (("lanes", r"crossover at \d"), ("overview", "plain atomicAdd"),
                           ("threshold", "s own threshold")):
            self.call(0, *words, kind, PATHS, MATPLOTLIBRC=self.folder)
            self.assertRegex(self.read("a.svg"), says)

    def test_profile(self):
        ncu = self.write(FAKE_NCU, "ncu", mode=0o755)
        words = ["analysis/ncu_profile.py", "arc_sweep_gpu", self.path("out"), "--workload", "tile",
                 "--ncu"]
        self.call(77, *words, ncu, FORBIDDEN="1")
        self.call(1, *words, ncu, "--path", "none,cg,auto")
        self.assertIn("tile,9,auto,time,duration,ns,1234,gpu__time_duration.sum", self.read("out"))


if __name__ == "__main__":
    unittest.main()
