#!/usr/bin/env python3
"""test_index_add.py - what bench_index_add.py measures, writes and says, without a GPU.
SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/torch"))
import index_add_cases as cases_of
import index_add_tables
from index_add_cases import Case, Table, large

try:
    import torch
    import index_add_data
except ImportError:
    torch = None

HEAD = ["program: p", "device: d", "compiler: nvcc of CUDA 13.0, PyTorch 2.11.0+cu130",
        "policy: arc", "headers: h"]


def measured(ratio_of):
    """All parts, PyTorch at 1 ms, bulk rows at 0.8 and 0.5 ms."""
    cases = {}
    for case in cases_of.plan(cases_of.PARTS):
        cases[case] = {"pytorch": 1.0, "arc": ratio_of(case), "read": 0.1}
        if case.type in ("f32", "bf16") and cases_of.bulk_widths(case.type, [case.width]):
            cases[case].update({"bulk 1": 0.8, "bulk 4": 0.5})
    return cases


class Cases(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual([large(width) for width in (1, 16, 128, 1024)],
                         [2**22, 2**21, 2**18, 10**5])

    def test_plan(self):
        plan = cases_of.plan(cases_of.PARTS)
        self.assertEqual(len(plan), len(set(plan)))
        self.assertEqual({case.width for case in cases_of.plan(["widths"], [5, 1024])}, {5, 1024})
        self.assertEqual(cases_of.bulk_widths("f32", (5, 12, 100)), [12, 100])
        self.assertEqual(cases_of.bulk_widths("bf16", (12, 24, 100)), [24])


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.csv")
        self.case, self.other = cases_of.plan(["page"])[:2]

    def test_is_continued(self):
        Table(self.path, HEAD).add(self.case, {"pytorch": 1.0, "arc": 0.5})
        Table(self.path, HEAD).add(self.other, {"pytorch": 2.0})
        head, cases = cases_of.read(self.path)
        self.assertEqual(head["headers"], "h")
        self.assertEqual(cases, {self.case: {"pytorch": 1.0, "arc": 0.5},
                                 self.other: {"pytorch": 2.0}})

    def test_is_of_one_pytorch(self):
        Table(self.path, HEAD)
        with self.assertRaisesRegex(ValueError, "another compiler: .*2.11"):
            Table(self.path, [line.replace("2.11", "2.13") for line in HEAD])

    def test_of_older_columns(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("# device: d\ntype,mode,width,keys,adder,ms\nf32,fast,16,random,arc,0.5\n")
        self.assertEqual(cases_of.read(self.path)[1],
                         {Case("f32", "fast", 16, 100_000, 2**21, "random"): {"arc": 0.5}})


class Words(unittest.TestCase):
    def test_summary(self):
        def ratio_of(case):
            if case.n == 10_000:
                return 0.9 if case.keys == "runs of 30" and case.width == 7 else 0.6
            return 1.5 if case.width == 24 and case.rows == 100 else 0.25

        text = "\n".join(index_add_tables.summary(measured(ratio_of)))
        for line in (r"f32, 5 to 24 columns, large: .* of 28 cases 0.250",
                     r"f32, 48 to 1024 columns, large: .* of 36 cases 0.250",
                     r"f64, from 10\^5 rows on: .* worst 1.500: f64, 24 columns, .* over 100$",
                     r"f32, 10\^4 rows: .* worst 0.900: f32, 7 columns, 10000 rows, runs of 30",
                     r"bf16: arc over the best bulk: .* worst 3.000: bf16, 24 columns",
                     r"published case, bf16, .* pytorch 1.000, arc 0.250, .* bulk 4 0.500 ms"):
            self.assertRegex(text, "(?m)" + line)

    def test_ratio(self):
        self.assertEqual([index_add_tables.ratio_text(r) for r in (1.006, 0.0996, 0.05, 0.004)],
                         ["1.01", "0.10", "0.050", "1/250"])

    def test_tables(self):
        head = dict(line.split(": ") for line in HEAD)
        tables = {title: rows for title, _, rows in index_add_tables.tables(head, measured(
            lambda case: 0.2 if case.n > 10**5 else 0.3 if case.n == 10**5 else 0.4))}
        self.assertEqual(len(tables["f32, fast: arc over PyTorch 2.11"]), 26)
        self.assertEqual(tables["f32, sizes: arc over PyTorch 2.11"][5],
                         ["0.20"] * 5 + ["0.30", "0.40"])
        self.assertEqual(tables["bf16, sizes: arc over the best bulk"][48],
                         ["0.40"] * 5 + ["0.60", "0.80"])
        self.assertNotIn(5, tables["f32: arc over the best bulk"])

    def test_the_pages_hold_the_tables(self):
        csv = ROOT / "bench/results/h200/index_add.csv"
        text = (ROOT / "bench/torch/TABLES.md").read_text(encoding="utf-8")
        self.assertEqual(text, index_add_tables.page(csv), "made by index_add_tables.py")
        page = (ROOT / "examples/python/torch/README.md").read_text(encoding="utf-8")
        for title, names, rows in index_add_tables.tables(*cases_of.read(csv)):
            if title.startswith(("f32, fast", "f32, deterministic")):
                self.assertIn("\n".join(index_add_tables.table(names, rows)), page, title)

    def test_without_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise ImportError('no torch')\n")
            for program in ("bench_index_add.py", "bench_embedding.py"):
                done = subprocess.run(
                    [sys.executable, "-B", ROOT / "bench/torch" / program], check=False,
                    env={**os.environ, "PYTHONPATH": folder}, stdout=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stdout), (77, "skipped: no torch\n"))


@unittest.skipIf(torch is None, "no PyTorch")
class Data(unittest.TestCase):
    def test_keys(self):
        draw = index_add_data.draw_keys
        for rows, keys in {(case.rows, case.keys) for case in cases_of.plan(cases_of.PARTS)}:
            drawn = draw(keys, rows, 10_000)
            self.assertEqual(len(drawn), 10_000)
            self.assertTrue(0 <= drawn.min() and drawn.max() < rows)
        self.assertEqual(draw("runs of 30", 1000, 10_000).bincount().unique().tolist(), [10, 30])
        self.assertGreater((draw("half on row 0", 5000, 10_000) == 0).sum(), 4800)
        most = [draw(f"zipf {s}", 1000, 10_000).bincount().max() for s in (1.05, 1.2)]
        self.assertLess(most[0], most[1])

    def test_sums(self):
        index = index_add_data.draw_keys("random", 50, 1000)
        for type_, dtype in index_add_data.TYPES.items():
            values = index_add_data.draw_values(type_, 8, 1000)
            sums = index_add_data.Sums(50, index, values)
            out = torch.zeros(50, 8, dtype=dtype, device=values.device).index_add_(0, index, values)
            self.assertEqual(sums.wrong(out), 0, type_)
            twice = out.clone().index_add_(0, index, values)
            self.assertGreater(sums.wrong(twice), 300, type_)
            out[7, 3] = float("nan")
            self.assertEqual(sums.wrong(out), 1, type_)


if __name__ == "__main__":
    unittest.main()
