"""test_results.py ARC_SWEEP_SIMT - the reader of result files and what is built on it; what
add_results.sh measures has no defect. SPDX-License-Identifier: Apache-2.0"""
import contextlib
import csv
import html
import io
import os
import re
import sys
import unittest

from bench_test import H200, ROOT, Test

import check_results
import compare
import results

SWEEP = sys.argv.pop(1)
PATHS = H200 + "/paths.csv"
with open(PATHS, encoding="utf-8") as paths_file:
    TEXT = re.sub("# summary:.*\n", "", paths_file.read())
GROSS = r"(\n(?:[^,\n]*,){14})[^,]*(,.*\n)$"  # of the last line
# What is changed in paths.csv, once, and what the reader says.
DAMAGED = [(r"(?s)\n.*", "\n", "ends before its columns"), ("^", "x\n", "no result file of arc_sw"),
           ("\n$", "", "whole line"), (",ok\n$", "\n", r"fields where 27 columns"),
           (",gross_ms", ",g", "no column"), (GROSS, r"\1fast\2", "not a number"),
           (GROSS, r"\g<1>99\2", "its quartiles")]
# Times of b, median and quartiles, where those of a are 1, 0.99 and 1.
JUDGED = [((0.9, 0.89, 0.91), "FASTER"), ((1.1, 1.09, 1.11), "SLOWER"), ((1.5, 1.4, 1.6), "SLOWER"),
          ((1.01, 1.005, 1.015), "SAME"), ((1.04, 0.995, 1.05), "UNCLEAR")]
LAST = TEXT.splitlines(keepends=True)[-1]
DEFECTS = [("^", "", "^$"), (r"\Z", LAST, "1 cells are missing, twice or not planned"),
           (r"\Z", 3000 * LAST, "more than 3000 lines"), ("# rows: .*\n", "", "cells are missing"),
           (r"# policy: arc [\d.]*", "# policy: arc 0.0.9", "older, and not named as such"),
           ("# policy: .*\n", "", "no line '# policy: ...'"),
           ("[^,\n]*,ok\n$", "2,ok\n", "worst_error is '2'"), (",ok\n$", ",ERROR\n", "the status is 'ERROR'")]
PLANS = check_results.Plans(SWEEP, "")
FILES = sorted(preset + ".csv" for preset in check_results.PRESETS)
FAKE_SWEEP = """#!/bin/sh
[ -n "$DEVICE" ] || { echo "arc_sweep: there is no CUDA device here" >&2; exit 77; }
preset=widths
[ "$1" != --preset ] || preset=$2
for csv; do :; done
[ "$preset" != "$WRONG_AT" ] || exit 1
sed "s/^# device: NVIDIA H200/# device: $DEVICE/" "$PRESETS/$preset.csv" >"$csv"
"""
DEVICES = [("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "rtx4090"),
           ("NVIDIA A100-SXM4-80GB", "a100_sxm4_80gb"), ("Orin (nvgpu)", "orin_nvgpu")]


class Analysis(Test):
    def sweep(self, name, words):
        self.call(0, SWEEP, *words.split(), "--quiet", "--csv", self.path(name))
        return self.path(name)

    def test_reader(self):
        for pattern, by, needle in DAMAGED:
            with self.assertRaisesRegex(results.Bad, needle):
                results.Results(self.write(re.sub(pattern, by, TEXT, count=1), "a.csv"))

    def test_other_line_ends(self):
        """A byte order mark and CR LF change nothing."""
        other = results.Results(self.write("\ufeff" + TEXT.replace("\n", "\r\n"), "a.csv"))
        plain = results.Results(self.write(TEXT, "b.csv"))
        self.assertEqual((other.rows, other.head, other.columns),
                         (plain.rows, plain.head, plain.columns))

    def test_compare(self):
        for b, verdict in JUDGED:
            self.assertEqual(compare.judge((1.0, 0.99, 1.0), b, 2.0)[2], verdict, b)
        faster = self.write(re.sub(
            r"(,auto,[^,]*,)([^,]*)((?:,[^,]*){3},)([^,]*),([^,]*)",
            lambda m: f"{m[1]}{float(m[2]) * 0.8}{m[3]}{float(m[4]) * 0.8},{float(m[5]) * 0.8}",
            TEXT), "faster.csv")
        for a, b, status, needle in (
                (PATHS, PATHS, 0, r"auto +0 +0 +16 +0 +1.0000"), (faster, PATHS, 1, "SLOWER"),
                (PATHS, faster, 0, r"auto +16 +0 +0 +0 +0.8000"),
                (f"{PATHS},{faster},{PATHS}", f"{faster},{PATHS},{faster}", 0, "auto .* 0.8000"),
                (PATHS, self.path("none"), 2, "^compare.py: .*none: cannot be read.*\n$"),
                (PATHS, H200 + "/types.csv", 2, "no cell in common")):
            self.assertRegex(self.call(status, "bench/analysis/compare.py", a, b, "--quiet", "--path",
                                       "transposed" if "types" in b else "auto",
                                       "--fail-if-slower"), needle)

    def test_page_holds_the_file(self):
        csv = self.sweep("a.csv", f"--width 9 --html {self.path('<b>&lt;.html')}")
        embedded = self.read("<b>&lt;.html").split('<pre id="csv" hidden>')[1].split("</pre>")[0]
        self.assertNotIn("<", embedded)
        self.assertEqual(html.unescape(embedded), self.read(csv))


def whole(preset):
    """What a GPU would write of a preset: each cell that is planned takes 1 ms."""
    head = re.sub("(?m)^# (rows: .*\n|command: .*)", lambda its: "" if its[1].startswith("rows") else
                  f"# command: arc_sweep_gpu --preset {preset} --csv {preset}.csv",
                  TEXT[:TEXT.index("\nsection,") + 1])
    head = re.sub("(?m)^# policy: .*", "# policy: " + PLANS.policy, head)
    said = io.StringIO(head)
    said.seek(0, io.SEEK_END)
    rows = csv.DictWriter(said, check_results.COLUMNS, lineterminator="\n")
    rows.writeheader()
    for cell in PLANS.cells[preset].elements():
        row = dict.fromkeys(check_results.FIGURES, 1) | dict(zip(results.CELL, cell))
        rows.writerow(row | {"status": "-" if row["path"] == "none" else "ok"})
    return said.getvalue()


class Results(Test):
    def add(self, status, **environment):
        program = self.write(FAKE_SWEEP, "bin", "fake_sweep", mode=0o755)
        environment["PRESETS"] = self.path("presets")
        for preset in check_results.PRESETS:
            self.write(whole(preset), "presets", preset + ".csv")
        return self.call(status, "bench/add_results.sh", program, self.path("all GPUs"), **environment)

    def test_new_folders(self):
        os.mkdir(self.path("all GPUs"))
        for device, gpu in DEVICES:
            self.assertIn(gpu, self.add(0, DEVICE=device))
            folder = self.path("all GPUs", gpu)
            self.assertEqual(sorted(os.listdir(folder)), FILES)
            self.assertEqual(list(check_results.check_folder(folder, PLANS)), [])
        self.assertRegex(self.add(1, DEVICE=DEVICES[0][0]), "h200")  # is there: left alone
        os.rename(folder, self.path("all GPUs", "other"))
        defects = "\n".join(check_results.check_folder(self.path("all GPUs", "other"), PLANS))
        self.assertIn("'Orin (nvgpu), sm_90", defects)

    def test_what_ends_early(self):
        os.mkdir(self.path("all GPUs"))
        self.assertEqual(self.add(77), "arc_sweep: there is no CUDA device here\n")
        self.assertEqual(os.listdir(self.path("all GPUs")), [])
        self.add(1, DEVICE="NVIDIA H200", WRONG_AT="paths")
        self.assertEqual(os.listdir(self.path("all GPUs", "h200")), ["policy.csv"])

    def test_defects(self):
        """Of a folder with a page, which has some rows of a preset, one of each kind."""
        self.write("`paths.csv`", "h200", "README.md")
        text = re.sub("(?m)^# policy: .*", "# policy: " + PLANS.policy, TEXT)  # not older
        for pattern, by, needle in DEFECTS:
            self.write(re.sub(pattern, by, text, count=1), "h200", "paths.csv")
            defects = check_results.check_folder(self.path("h200"), PLANS)
            self.assertRegex("\n".join(defects), needle)
        os.remove(self.path("h200", "paths.csv"))
        self.write("older: `h200/gone.csv`", "README.md")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(check_results.main([ROOT + "/arc_policy.cuh", self.folder]), 1)
        self.assertIn("h200/gone.csv: is named as older, and not there\n", said.getvalue())


if __name__ == "__main__":
    unittest.main()
