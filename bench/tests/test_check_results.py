"""test_check_results.py ARC_SWEEP_SIMT - add_results.sh measures into a new folder, in which
check_results.py finds no defect. SPDX-License-Identifier: Apache-2.0"""
import contextlib
import io
import os
import re
import sys
import unittest
from unittest import mock

from bench_test import H200, Test

import check_results

SWEEP = sys.argv.pop(1)
PLANS = check_results.Plans(SWEEP)
FILES = sorted(preset + ".csv" for preset in check_results.PRESETS)

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
    def add(self, status, **environment):
        program = self.write(FAKE_SWEEP, "bin", "fake_sweep", mode=0o755)
        return self.call(status, "add_results.sh", program, self.path("all GPUs"), **environment)

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

    def test_older(self):
        with open(H200 + "/paths.csv", encoding="utf-8") as file:
            new = file.read()
        old = re.sub(r"(?m)^# policy: arc [\d.]*", "# policy: arc 0.0.9", new)
        for text, listed, needle in ((new, [], "^$"), (old, [], "not in OLDER: 'arc 0.0.9"),
                                     (new, ["h200/paths.csv"], "but no older"),
                                     (old, ["h200/paths.csv"], "^$")):
            with mock.patch.object(check_results, "OLDER", listed):
                file = self.write(text, "h200", "paths.csv")
                self.assertRegex("\n".join(check_results.check_file(file, "paths", PLANS)), needle)
        with mock.patch.object(check_results, "OLDER", ["h200/gone.csv"]), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(check_results.main([SWEEP, self.folder]), 1)
        self.assertIn("\nh200/gone.csv: is in OLDER, and not there\n", said.getvalue())


if __name__ == "__main__":
    unittest.main()
