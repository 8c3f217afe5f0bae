"""test_index_add.py - what bench_index_add.py measures, writes and says, without a GPU.
SPDX-License-Identifier: Apache-2.0"""
import csv
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[3] / "bench/tests")]
from bench_test import ROOT, Test
import index_add_cases as cases_of
import index_add_tables
from index_add_cases import Table

HEAD = ["program: p", "device: d", "compiler: nvcc of CUDA 13.0, PyTorch 2.11.0+cu130",
        "policy: arc", "headers: h"]


class IndexAdd(Test):
    def test_plan(self):
        plan = cases_of.plan()
        self.assertEqual(len(plan), len(set(plan)))
        self.assertEqual([cases_of.large(width) for width in (1, 16, 128, 1024)],
                         [2**22, 2**21, 2**18, 10**5])

    def test_file_is_continued_and_of_one_pytorch(self):
        path, (case, other) = self.path("a.csv"), cases_of.plan()[:2]
        Table(path, HEAD).add(case, {"pytorch": 1.0, "arc": 0.5}, {"pytorch": 3.0, "arc": 1.5})
        Table(path, HEAD).add(other, {"pytorch": 2.0}, {})
        head, cases = cases_of.read(path)
        self.assertEqual(cases_of.read(path, "mb")[1], {case: {"pytorch": 3.0, "arc": 1.5}})
        self.assertEqual(head["headers"], "h")
        self.assertEqual(cases, {case: {"pytorch": 1.0, "arc": 0.5}, other: {"pytorch": 2.0}})
        with self.assertRaisesRegex(ValueError, "another compiler: .*2.11"):
            Table(path, [line.replace("2.11", "2.13") for line in HEAD])

    def test_the_pages_hold_the_tables(self):
        file = pathlib.Path(ROOT, "studies/results/h200/index_add.csv")
        text = file.with_suffix(".md").read_text(encoding="utf-8").splitlines()
        for title, names, rows in index_add_tables.tables(*cases_of.read(file)):
            if rows:  # of the file that was measured some rows stay
                self.assertLessEqual({f"## {title}", *index_add_tables.table(names, rows)}, set(text))
        page = pathlib.Path(ROOT, "python/arc_torch/README.md").read_text(encoding="utf-8")
        first, second = (list(index_add_tables.table(names, rows)) for title, names, rows in
                         index_add_tables.tables(*cases_of.read(file))
                         if title.startswith(("f32, fast", "f32, deterministic")))
        self.assertEqual(page.count(first[0]), 2)
        for whole, behind in zip((first, second), page.split(first[0])[1:]):
            shown = behind.split("\n\n")[0].split("\n")[1:]  # of some widths
            self.assertLess(7, len(shown))
            self.assertLessEqual(set(shown), set(whole))

    def test_the_page_holds_the_peers(self):
        """PyTorch's fastest way beside fast(), and its faster mode that repeats beside
        deterministic()."""
        with open(pathlib.Path(ROOT, "studies/results/h200/index_add_peers.csv")) as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        page = pathlib.Path(ROOT, "python/arc_torch/README.md").read_text(encoding="utf-8")
        for shape in dict.fromkeys((row["width"], row["n"], row["keys"]) for row in rows):
            n, cells = int(shape[1]), []
            for mode, arc in (("fast", "fast()"), ("deterministic", "deterministic()")):
                ms = {row["adder"]: float(row["ms"]) for row in rows if row["mode"] == mode
                      and (row["width"], row["n"], row["keys"]) == shape}
                peers = {adder: ms[adder] for adder in ms if adder.startswith(("index", "scatter"))}
                fastest = min(peers, key=peers.get)
                name, _, kind = fastest.partition(" ")
                cells += [f"`{name}`" + (f", {kind}" if kind else "")] if mode == "fast" else []
                cells += [f"{time:#.3g}".rstrip(".") for time in (ms[fastest], ms[arc])]
                cells.append(index_add_tables.speed_text(ms[fastest] / ms[arc]))
            size = f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}".replace(",", " ")
            self.assertIn(f"| {' | '.join([shape[0], size, shape[2], *cells])} |\n", page)

    def test_overview(self):
        """A row for each kind: how many cases, times, memory."""
        path, table = self.path("a.csv"), Table(self.path("a.csv"), HEAD)
        for keys, mode, arc in (("random", "fast", 0.5), ("sorted", "fast", 0.125),
                                ("zipf 1.2", "fast", 0.75), ("random", "deterministic", 0.375)):
            case = cases_of.Case("f32", mode, 9, 100, 100, keys)
            peaks = {"arc": 12 * arc, "pytorch": 6.0 if mode == "deterministic" else 0.0}
            table.add(case, {"pytorch": 1.0, "arc": arc, "read": 0.1}, peaks)
        self.write("# head\ntype,mode,rows,width,n,keys,adder,ms,error,mb\n"
                   "f32,fast,9,9,9,random,pytorch,4,1e-8,10\nf32,fast,9,9,9,random,arc,1,1e-8,14\n"
                   "f32,fast,9,9,9,random,clear,1,,\n", "b.csv")
        self.assertEqual(list(index_add_tables.overview(path, self.path("b.csv")))[2:], [
            "| fast | 2 | 4.0 | 2.0 |  |", "| fast, skewed keys | 1 | 1.33 | 1.33 |  |",
            "| deterministic | 1 | 2.7 | 2.7 | 0.75 |",
            "| gradients of embeddings, fast | 1 | 4.0 | 4.0 | 1.40 |"])

    def test_without_pytorch(self):
        self.write("raise ModuleNotFoundError('no torch')\n", "torch.py")
        for program in ("bench_index_add.py", "bench_embedding.py"):
            said = self.call(77, f"python/arc_torch/races/{program}", PYTHONPATH=self.folder)
            self.assertEqual(said, "skipped: no torch\n")


if __name__ == "__main__":
    unittest.main()
