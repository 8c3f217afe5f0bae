"""test_analysis.py ARC_SWEEP_SIMT - the reader of result files and what is built on it.
SPDX-License-Identifier: Apache-2.0"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "analysis")
H200 = os.path.join(HERE, "..", "results", "h200")
sys.path.insert(0, TOOLS)
import compare
import model_fit
import results

SWEEP = sys.argv.pop(1)
ISSUE = os.path.join(H200, "issue.csv")
FAKE_NCU = """#!/bin/sh
case "$*" in *--path\\ cg*) echo "arc_sweep: 'cg' is unavailable"; exit 2 ;; esac
[ -z "$FORBIDDEN" ] || { echo "==ERROR== ERR_NVGPUCTRPERM"; exit 1; }
echo '"ID","gpu__time_duration.sum","smsp__issue_active.avg.pct_of_peak_sustained_active"'
echo '"","ns","%"'
echo '"0","1,234","80.5"'
"""


class Analysis(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def tool(self, words, status=0, **environment):
        name, *rest = words
        done = subprocess.run([sys.executable, os.path.join(TOOLS, name), *rest], text=True,
                              capture_output=True, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def changed(self, name, change):
        """A copy of issue.csv of which change(lines) is written."""
        with open(ISSUE, encoding="utf-8") as file:
            lines = change(file.read().splitlines(keepends=True))
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("".join(lines))
        return self.path(name)

    def scaled(self, name, path, factor):
        """issue.csv with the times of one path multiplied."""
        def change(lines):
            first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
            columns = lines[first].split(",")
            for i, line in enumerate(lines[first + 1:], first + 1):
                fields = line.split(",")
                for column in ("gross_ms", "quartile_low_ms", "quartile_high_ms"):
                    at = columns.index(column)
                    if fields[columns.index("path")] == path:
                        fields[at] = str(float(fields[at]) * factor)
                lines[i] = ",".join(fields)
            return lines
        return self.changed(name, change)

    def test_reader(self):
        old = results.Results(ISSUE)
        self.assertEqual((len(old.rows), old.model), (2698, False))
        self.assertEqual({(row["form"], row["padding"]) for row in old.rows}, {("literal", "4")})
        for change, needle in (
                (lambda lines: lines[:1], "ends before its columns"),
                (lambda lines: ["x\n"] + lines, "no result file of arc_sweep"),
                (lambda lines: lines[:-1] + [lines[-1][:20]], "whole line"),
                (lambda lines: lines[:-1] + [lines[-1][:20] + "\n"], "fields where 27 columns"),
                (lambda lines: lines[:-1] + [lines[-1].replace(",0.", ",fast", 1)], "not a number"),
                (lambda lines: [line.replace("gross_ms", "gros") for line in lines], "no column"),
                (lambda lines: lines[:-1] + [lines[-1].replace(",0.", ",9.", 1)], "its quartiles")):
            with self.assertRaisesRegex(results.Bad, needle):
                results.Results(self.changed("bad.csv", change))
        done = self.tool(["compare.py", self.path("none.csv"), ISSUE], 2)
        self.assertRegex(done.stderr, r"^compare.py: .*none.csv: cannot be read.*\n$")
        self.assertIn('"path": "auto"', self.tool(["results.py", ISSUE]).stdout)

    def test_compare_files(self):
        same = self.tool(["compare.py", ISSUE, ISSUE, "--quiet"]).stdout
        self.assertRegex(same, r"all +0 +0 +2698 +0 +1.0000")
        faster = self.scaled("faster.csv", "auto", 0.8)
        self.assertRegex(self.tool(["compare.py", ISSUE, faster, "--path", "auto"]).stdout[-300:],
                         r"auto +385 +0 +0 +0 +0.8000")
        self.tool(["compare.py", ISSUE, faster, "--quiet", "--fail-if-slower"])
        self.tool(["compare.py", faster, ISSUE, "--quiet", "--fail-if-slower"], 1)
        three = ",".join([ISSUE, faster, ISSUE])  # the median is that of issue.csv
        self.assertRegex(self.tool(["compare.py", ISSUE, three, "--path", "auto"]).stdout[-300:],
                         r"all .* 1.0000")
        self.assertIn("no cell in common",
                      self.tool(["compare.py", ISSUE, ISSUE, "--path", "cg"], 2).stderr)

    def test_compare_rule(self):
        for b, verdict in (((0.9, 0.89, 0.91), "FASTER"), ((1.1, 1.09, 1.11), "SLOWER"),
                           ((1.01, 1.005, 1.015), "SAME"), ((1.01, 0.9, 1.1), "UNCLEAR"),
                           ((1.04, 0.995, 1.05), "UNCLEAR"), ((1.5, 1.4, 1.6), "SLOWER")):
            self.assertEqual(compare.judge((1.0, 0.99, 1.0), b, 2.0)[2], verdict, b)

    def test_model_orders_the_paths_of_0_1(self):
        counts = self.path("counts.csv")
        subprocess.run([SWEEP, "--preset", "paths", "--quiet", "--csv", counts], check=True)
        old, new = ({results.cell(row) for row in results.Results(name).rows}
                    for name in (ISSUE, counts))
        self.assertEqual(old, new)
        words = ["model_fit.py", ISSUE, counts, "--expect", "94", "--expect-cells"]
        self.tool(words + ["90"])
        self.tool(words + ["99"], 1)

    def test_fit_finds_known_constants(self):
        counts = self.path("counts.csv")
        words = "--width 1,9,32 --lanes 2,8,32 --keys 1,8 --updates 16 --quiet --csv".split()
        subprocess.run([SWEEP, *words, counts], check=True)
        base, known = [60.0, 0.5, 12.0], [4.0, 3.0, 2.0, 9.0, 1.0, 30.0, 20.0, 6.0]
        cells = {}
        for row in results.Results(counts).rows:
            s = model_fit.Sample(row["path"], row, row, 1.0, 1.0)
            s.time = (model_fit.base_of if s.is_base else
                      lambda b, s: model_fit.model_of(b, known, s))(base, s)
            cells.setdefault(results.group(row), []).append(s)
        cells = list(cells.values())
        fitted = model_fit.fit(cells)
        self.assertLess(model_fit.judge("start", cells, lambda s: s.column)[0], 98.0)
        right = model_fit.judge("fit", cells, lambda s: model_fit.model_of(*fitted, s))[0]
        self.assertGreater(right, 99.0)

    def test_plots(self):
        with open(self.path("matplotlib.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError\n")
        words = ["plot.py", "lanes", ISSUE, "--out", self.path("lanes.svg")]
        done = self.tool(words, results.SKIPPED, PYTHONPATH=self.folder.name)
        self.assertRegex(done.stdout, "^skipped: no matplotlib")
        if not importlib.util.find_spec("matplotlib"):
            return
        with open(self.path("matplotlibrc"), "w", encoding="utf-8") as file:
            file.write("svg.fonttype: none\n")
        rc = {"MATPLOTLIBRC": self.folder.name}
        for kind, says in (("lanes", "crossover at 3.8 lanes"),
                           ("overview", "plain atomicAdd"),
                           ("threshold", "arc's own threshold"),
                           ("ratio", "auto over the best peer")):
            self.tool(["plot.py", kind, ISSUE, "--out", self.path("a.svg")], **rc)
            with open(self.path("a.svg"), encoding="utf-8") as file:
                self.assertIn(says, file.read().replace("&#39;", "'"))
        heat = [os.path.join(H200, "heat.csv")]
        rows = [os.path.join(H200, f"rows_{count}.csv") for count in (100, 1000)]
        self.tool(["plot.py", "heat", *heat, "--out", self.path("heat.png")])
        self.tool(["plot.py", "rows", *rows, "--out", self.path("rows.png")])
        self.tool(["plot.py", "heat", ISSUE, "--out", self.path("no.png")], results.SKIPPED)
        self.assertFalse(os.path.exists(self.path("no.png")))

    def test_profile(self):
        ncu, out = self.path("ncu"), self.path("profile.csv")
        with open(ncu, "w", encoding="utf-8") as file:
            file.write(FAKE_NCU)
        os.chmod(ncu, 0o755)
        words = ["ncu_profile.py", "arc_sweep_gpu", out, "--workload", "tile", "--ncu"]
        self.tool(words + ["no-such-ncu"], results.SKIPPED)
        self.tool(words + [ncu], results.SKIPPED, FORBIDDEN="1")
        self.assertFalse(os.path.exists(out))
        self.tool(words + [ncu, "--path", "none,cg,auto"], 1)
        with open(out, encoding="utf-8") as file:
            self.assertIn("tile,9,auto,time,duration,ns,1234,gpu__time_duration.sum", file.read())


if __name__ == "__main__":
    unittest.main()
