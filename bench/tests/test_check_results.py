"""test_check_results.py ARC_SWEEP_SIMT - check_results.py finds each kind of defect in changed
copies of results; add_results.sh measures into a new folder. SPDX-License-Identifier: Apache-2.0"""
import os
import re
import shutil
import sys
import unittest

from bench_test import H200, Test

import check_results

SWEEP = sys.argv.pop(1)
PLANS = check_results.Plans(SWEEP)
FILES = sorted(preset + ".csv" for preset in check_results.PRESETS)

# What is changed in widths.csv, once, and a part of what is said.
CHANGES = [(f"\n# {key}: .*", "", f"no line '# {key}")
           for key in (*check_results.HEAD[1:], "headers")] + [
    ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "the folder is h200"),
    ("arc 0.", "arc v0.", "policy 'arc v0.* does not parse"),
    (" check=0", " check=2", "not arc's default: .* check=2"),
    ("--preset widths", "--preset paths", "the command is not --preset widths"),
    ("--preset widths", "--preset widths --noise 50", "more options: .*--noise"),
    ("# sizes", "# interrupted: after 9 of 10 cells\n# sizes", "interrupted after"),
    ("# program: arc_sweep", "# program: ark", "no result file of arc_sweep"),
    (",high_ms", ",hi", "column hi is not known\n.*column high_ms is missing"),
    (",gross_ms", ",g", "has no column 'gross_ms'"),
    (",ok\n$", ",ERROR\n", "the status is 'ERROR'"),
    (",ok\n$", ",-\n", "the status is '-'"),
    (",[^,]*,ok\n$", ",1.01,ok\n", "worst_error is '1.01'"),
    (r",[^,]*((?:,[^,]*){2},ok\n)$", r",-1\1", "clock_mhz is '-1'"),
    (r"(\n(?:[^,\n]*,){14})[^,]*(,.*\n)$", r"\g<1>99\2", "between its quartiles"),
    (r"(\n(?:[^,\n]*,){15})[^,]*(,.*\n)$", r"\1\2", "net_ms is ''"),
    (r"\n[^,\n]*,.*\n$", "\n", "1 cells are missing, .* not planned, as "),
    (r"(\n.*)\n$", r"\1\1\n", "1 cells are missing, twice"),
    (r"(\n[^,\n]*,[^,]*,)70(,.*\n)$", r"\g<1>71\2", "2 cells are missing"),
    ("ok\n$", "o", "damaged")]

# Of another program's file: what is changed, and what is said.
OTHER = "# program: a tuner\n# device: NVIDIA H200, sm_90\na,b\n1,2\n"
OTHERS = [("$", "", "^$"), ("$", "3\n", "damaged"), ("\n$", "", "damaged"),
          ("1,2\n", "", "no rows"), ("device", "d", "no line '# device"),
          ("^", "# policy: arc\n", "not parse"), ("H200", "H100", "the folder is h200")]

FAKE_SWEEP = f"""#!/bin/sh
[ -n "$DEVICE" ] || {{ echo "arc_sweep: there is no CUDA device here" >&2; exit 77; }}
preset=widths
[ "$1" != --preset ] || preset=$2
for csv; do :; done
[ "$preset" != "$WRONG_AT" ] || exit 1
sed "s/^# device: NVIDIA H200/# device: $DEVICE/" '{H200}'/"$preset.csv" >"$csv"
"""
DEVICES = [("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "rtx4090"),
           ("NVIDIA A100-SXM4-80GB", "a100_sxm4_80gb"), ("Orin (nvgpu)", "orin_nvgpu")]


class Results(Test):
    def copy(self):
        shutil.copytree(H200, self.path("h200"), ignore=lambda _, names: set(names) - set(FILES))

    def defects(self, gpu="h200"):
        return "\n".join(check_results.check_folder(self.path(gpu), PLANS))

    def test_changed_files(self):
        self.copy()
        self.write("`tune.csv`", "h200", "README.md")
        for name, text, changes in (("tune.csv", OTHER, OTHERS),
                                    ("widths.csv", self.read("h200", "widths.csv"), CHANGES)):
            for pattern, by, needle in changes:
                self.write(re.sub(pattern, by, text, count=1), "h200", name)
                self.assertRegex(self.defects(), needle, pattern)
            self.write(text, "h200", name)
        older = re.sub(r"(# policy: arc )0\.", r"# headers: 0123456789ab\n\g<1>7.", text)[:-200]
        self.write(older[:older.rindex("\n") + 1], "h200", name)  # of another program's preset
        self.assertEqual(self.defects(), "")

    def test_folders(self):
        self.copy()
        self.call(0, SWEEP, *"--preset widths --updates 1 --quiet --csv".split(),
                  self.path("h200", "widths.csv"))
        self.assertIn("widths.csv: holds model clocks", self.defects())
        os.rename(self.path("h200", "paths.csv"), self.path("h200", "mine.csv"))
        self.write("", "h200", "paths.csv.partial")
        self.assertRegex(self.defects(), "paths.csv is missing\n.*mine.csv: is not named in .*\n"
                                         ".*paths.csv.partial: is no result file")
        self.call(1, "tests/check_results.py", SWEEP, self.folder)

    def add(self, status, **environment):
        program = self.write(FAKE_SWEEP, "bin", "fake_sweep", mode=0o755)
        return self.call(status, "add_results.sh", program, self.path("all GPUs"), **environment)

    def test_new_folders(self):
        os.mkdir(self.path("all GPUs"))
        for device, gpu in DEVICES:
            self.assertIn(gpu, self.add(0, DEVICE=device))
            gpu = os.path.join("all GPUs", gpu)
            self.assertEqual((sorted(os.listdir(self.path(gpu))), self.defects(gpu)), (FILES, ""))
        self.assertRegex(self.add(1, DEVICE=DEVICES[0][0]), "h200")  # is there: left alone

    def test_what_ends_early(self):
        os.mkdir(self.path("all GPUs"))
        self.assertEqual(self.add(77), "arc_sweep: there is no CUDA device here\n")
        self.assertEqual(os.listdir(self.path("all GPUs")), [])
        self.add(1, DEVICE="NVIDIA H200", WRONG_AT="paths")
        self.assertEqual(os.listdir(self.path("all GPUs", "h200")), ["policy.csv"])


if __name__ == "__main__":
    unittest.main()
