"""test_workload_file.py SWEEP PROFILE - from a kernel's profile to the sweep: what arc_sweep draws
from masks.csv has the lanes and addresses that were counted. SPDX-License-Identifier: Apache-2.0"""
import csv
import sys
import unittest

from bench_test import Test

import results

PROFILE, SWEEP = sys.argv.pop(), sys.argv.pop()
HEAD = "# arc masks\nplace,lanes,addresses,calls\n"
REFUSED = [("", "line 0: its calls add up to nothing"), (HEAD, "line 2: its calls add up to nothing"),
           (HEAD + "1,3,2,0\n", "line 3: its calls add up to nothing"),
           ("section,workload\n", "line 1: must be # arc masks"),
           (HEAD + "1,3,2,9\n1,33,2,9\n", "line 4: must be a number, lanes 1..32"),
           (HEAD + "1,3,4,9\n", "line 3: must be"), (HEAD + "1,3,2\n", "line 3: must be"),
           (HEAD + "1,3,2,-9\n", "line 3: must be"), (HEAD + "1,3,2,9,9\n", "line 3: must be")]


class WorkloadFile(Test):
    def sweep(self, status, *words):
        return self.call(status, SWEEP, *words)

    def setUp(self):
        super().setUp()
        self.masks = self.path("masks.csv")
        self.counted = self.call(0, PROFILE, "--masks", self.masks)

    def test_what_is_drawn_was_counted(self):
        calls, lanes, addresses = 0, 0, 0
        for row in csv.DictReader(self.read("masks.csv").splitlines()[1:]):
            times = int(row["calls"])
            calls, lanes = calls + times, lanes + times * int(row["lanes"])
            addresses += times * int(row["addresses"])
        self.assertIn(f"{lanes} adds\n", self.counted)
        self.sweep(0, "--workload-file", self.masks, "--width", "1", "--path", "plain", "--rows",
                   "1000000", "--updates", "4000", "--csv", self.path("sweep.csv"))
        plain, = (row for row in results.Results(self.path("sweep.csv")).rows
                  if row["path"] == "plain")
        drawn = float(plain["lane_adds"])
        for found, wanted in ((drawn, lanes / calls),
                              (drawn - float(plain["conflicts"]), addresses / calls)):
            self.assertAlmostEqual(found / wanted, 1, delta=0.03)

    def test_every_path_and_threshold(self):
        said = self.sweep(0, "--workload-file", self.masks, "--width", "4")
        for path in ("plain", "butterfly", "tree", "auto"):
            self.assertIn(f"\n  {path} ", said)
        self.assertEqual(said.count("\n  auto "), 35)

    def test_any_width(self):
        """Without a literal of that width, it is known at run time only; and arrays of one value."""
        for width, form in ((5, "run time, memory"), (31, "run time, memory"), (12, "planes")):
            said = self.sweep(0, "--workload-file", self.masks, "--width", str(width), "--updates",
                              "20", *(("--form", "planes") if form == "planes" else ()))
            self.assertIn(f"width {width} ({form}), the model's lanes", said)
            self.assertIn("\n  auto ", said)
        for width in ("4", "7"):
            self.assertIn("--form planes for widths 3 and 12",
                          self.sweep(2, "--workload-file", self.masks, "--width", width, "--form",
                                     "planes"))
        self.assertRegex(self.sweep(2, "--workload-file", self.masks, "--width", "80"),
                         "no kernel of width 80; .* 32, 70, and all to 32")

    def test_other_line_ends(self):
        """A byte order mark and CR LF change nothing."""
        said, plain = [], self.read("masks.csv")
        for text in (plain, "\ufeff" + plain.replace("\n", "\r\n")):
            self.sweep(0, "--workload-file", self.write(text, "masks.csv"), "--width", "1",
                       "--path", "plain", "--rows", "1000", "--updates", "100", "--csv",
                       self.path("s.csv"))
            said.append([row["gross"] for row in results.Results(self.path("s.csv")).rows])
        self.assertEqual(*said)

    def test_refused(self):
        for text, words in REFUSED:
            said = self.sweep(2, "--workload-file", self.write(text, "bad.csv"))
            self.assertIn(words, said)
            self.assertEqual(said.count("\n"), 1)
        for options, words in ((["--workload-file", "nowhere.csv"], "cannot be read"),
                               (["--workload", "file"], "'file' needs --workload-file"),
                               (["--workload-file", self.masks, "--preset", "default"],
                                "--preset")):
            self.assertIn(words, self.sweep(2, *options))


if __name__ == "__main__":
    unittest.main()
