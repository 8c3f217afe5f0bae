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
CHANGES = [
    ("\n# headers: .*", "", "no line '# headers"),
    ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "the folder is h200"),
    (" check=0", " check=2", "not arc's default: .* check=2"),
    ("--preset widths", "--preset widths --noise 50", "more options: .*--noise"),
    ("# sizes", "# interrupted: after 9 of 10 cells\n# sizes", "interrupted after"),
    (",high_ms", ",hi", "column hi is not known\n.*column high_ms is missing"),
    (",ok\n$", ",ERROR\n", "the status is 'ERROR'"),
    (",[^,]*,ok\n$", ",1.01,ok\n", "worst_error is '1.01'"),
    (r"(\n[^,\n]*,[^,]*,)70(,.*\n)$", r"\g<1>71\2", "2 cells are missing"),
    ("ok\n$", "o", "damaged")]

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
        with open(os.path.join(H200, "widths.csv"), encoding="utf-8") as file:
            version = PLANS.policy.split()[1]  # the file may be of an older one
            text = re.sub(r"(?<=arc )\d+\.\d+\.\d+", version, file.read())
        for pattern, by, needle in [*CHANGES, ("$", "", "^$")]:
            name = self.write(re.sub(pattern, by, text, count=1), "h200", "widths.csv")
            self.assertRegex("\n".join(check_results.check_file(name, "widths", PLANS)), needle)

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
