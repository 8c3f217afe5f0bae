"""test_paper.py - run.sh runs every workload into one table; paper.py reads it; stalls.py adds.
SPDX-License-Identifier: Apache-2.0"""
import importlib.util
import os
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "bench/tests")]
from bench_test import Test

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None

COLUMNS = ["workload", "BW implementation", "balance threshold", "dataset", "forward ms",
           "backward ms", "end-to-end training time", "backward mJ", "test PSNR", "iterations",
           "seed", "clock", *(f"lanes {i}" for i in range(33)), *(f"keys {i}" for i in range(33))]


def table(*rows, seed="1", clock="gpu_events"):
    """Rows: the columns up to the iterations."""
    lines = [[*row, seed, clock, *["0"] * 66] for row in rows]
    return "".join(",".join(line) + "\n" for line in [COLUMNS, ["# a comment"], *lines])


ROWS = [("spheres", "plain", "-", "small", "1", "8", "", "64", "", "0"),
        ("spheres", "plain", "-", "small", "2", "9", "4", "", "30.00", "200"),
        ("spheres", "SW-S", "0", "small", "1", "16", "", "", "", "0"),
        ("spheres", "SW-S", "8", "small", "1", "4", "", "", "", "0"),
        ("spheres", "cg", "-", "small", "1", "4", "", "", "", "0"),
        ("spheres", "auto", "8", "small", "1", "2", "", "16", "", "0"),
        ("spheres", "auto", "auto", "small", "1", "4", "", "", "", "0"),
        ("spheres", "auto", "8", "small", "2", "4", "1", "", "30.25", "200"),
        ("pagerank", "plain", "-", "edge", "1", "1", "", "", "", "0"),
        ("pagerank", "auto", "0", "edge", "1", "2", "", "", "", "0"),
        ("gaussians", "plain", "-", "/scenes/fox", "3", "9", "", "", "", "0"),
        ("gaussians", "plain", "-", "/scenes/fox", "3", "5", "9", "", "", "1000"),
        ("gaussians", "tuned", "auto", "/scenes/fox", "3", "2", "1", "", "", "1000"),
        ("gaussians", "tuned", "auto", "/scenes/fox", "3", "1", "", "", "", "0")]
FIGURES = ("| spheres small | 8 | 2.00 (8) | 2.00 | 4.00 (8) |  |",
           "| pagerank edge | 1 |  |  | 0.500 (0) |  |", "| gaussians fox | 9 |  |  |  | 9.00 |",
           "| spheres small | 0.500 (0) |  | 4.00 (8) |", "| spheres small | 9 |  | 2.25 |  |",
           "| gradient step in training over plain | 2.37 (2.50) |",
           "| spheres small | 4.000 | 4.00 | 4.00 | 30.00, 30.25 |",
           "| spheres small | 2 | 9 | 9 | 2 | 4 | 0 | 45 |", "| gaussians fox | 3 | 5 | 1 |  |  |  | 56 |",
           "| gradient step over plain | 6.00 (9.00) | 0.50 (0.50) | 2.44 (5.7)",
           "| end to end over plain | 6.00 (9.00) |  | 1.41 (2.4)",
           "| gradient step over CCCL | 2.00 (2.00) |  | 1.58 (1.78)",
           "| gradient step over plain, by SW-S or SW-B | 2.00 (2.00) |  | 2.44 (5.7)",
           "| gradient step over CCCL, by SW-S or SW-B | 1.00 (1.00) |  | 1.58 (1.78)")
# The second seed's trainings: of spheres, by plain and by auto.
AGAIN = [(*ROWS[1][:6], "6", "", "31.00", "200"), (*ROWS[7][:6], "1", "", "31.60", "200")]
OF_SEEDS = ("| plain | 2 | 30.500 | 0.124 |", "The largest difference is 0.425 dB, auto over plain; "
            "its standard error 0.175 dB", "| spheres small | 5.000, 1.414 |  |  | 1.000, 0.000 |  |",
            "| spheres small | 5.000 | 5.00 | 4.00 | 30.50, 30.93 |")
BAD = [("a,b\n1,2\n", "is not a table"), (table(*ROWS).replace("forward ms", "ms", 1), "is not a table"),
       (table(*ROWS).replace(",8,", ",eight,", 1), "not whole"),
       (table(*ROWS) + table(ROWS[0], clock="model").split("\n", 1)[1], "one kind")]

WORKLOADS = ["bench_gaussians", "bench_gaussians", "environment", "spheres", "circles", "hashgrid",
             "radiance", "pagerank"]
# Takes --experiment FILE, and adds its name and options to it; a file "fail" beside it: status 3.
STUB = """#!/bin/sh
[ -e "$(dirname "$0")/fail" ] && exit 3
echo "$(basename "$0") $*" >>"$2"
"""
# As ncu prints: what the program says, then a line of names, one of units, one a kernel. Two
# kernels a step: 3 ms with 10 clocks of stalls, 8 of them for atomics, and 1 ms with 2 clocks; of
# 400 sectors of the L2 120 in atomics, 50 % and 90 % hits. Then the one that ends the step.
STEP = """"0","{}",b,c,d,e,"8","2","3,000","1,000","100","300","50","60","60"
"1","{}",b,c,d,e,"0","2","1,000","500","10","100","90","0","0"
"1","step_ends",b,c,d,e,"","","1","1","0","0","","0","0"
"""
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
NCU = f"""#!/bin/sh
cat <<END
{{}}
"ID","Kernel Name",b,c,d,e,{STALLED.format("lg_throttle")},{STALLED.format("wait")},\
gpu__time_duration.sum,smsp__inst_executed.sum,smsp__inst_executed_op_global_red.sum,\
lts__t_sectors.sum,lts__t_sector_hit_rate.pct,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum
"","","","","","","inst","inst","ns","inst","inst","sector","%","sector","sector"
{{}}END
"""
COMPARED = """path        threshold        ms  x plain difference
plain               -    0.0010    1.000          0
auto             auto   2.5e-05    0.500    1.6e-06"""
DRAWN = """training       7      nan      nan      nan    0.4700    2.0   1.1   10.0  0.000000
all            5   0.1270   0.1276   0.2118    0.4684    2.1   1.0   10.0  0.000234"""


class Paper(Test):
    def test_tables(self):
        text = self.call(0, "studies/papers/paper.py", self.write(table(*ROWS[:4]), "a"),
                         self.write(table(*ROWS[4:]), "b"))
        for line in FIGURES:
            self.assertIn("\n" + line, text)
        self.assertNotIn("several seeds", text)
        text = self.call(0, "studies/papers/paper.py", self.write(table(*ROWS), "a"),
                         self.write(table(*AGAIN, seed="2"), "b"))
        for line in OF_SEEDS:
            self.assertIn("\n" + line, text)
        self.assertIn("cannot read", self.call(2, "studies/papers/paper.py", self.path("absent")))
        for text, needle in BAD:
            self.assertIn(needle, self.call(2, "studies/papers/paper.py", self.write(text, "a")))
        self.call(0 if HAS_MATPLOTLIB else 77, "studies/papers/paper.py", self.write(table(*ROWS), "a"),
                  "--figures", self.folder)
        self.assertEqual(os.path.exists(self.path("a_lanes.png")), HAS_MATPLOTLIB)

    def test_all_workloads_into_one_table(self):
        for name in WORKLOADS:
            place = ["gaussians", "bench"] if name == "bench_gaussians" else [name]
            self.write(STUB, *place, f"{name}_gpu", mode=0o755)
        csv = self.path("paper.csv")
        words = ["studies/papers/run.sh", self.folder, "gpu", csv, "/a scene", "/a mesh.obj"]
        self.call(0, *words)
        lines = self.read("paper.csv").splitlines()
        self.assertEqual([line.split("_gpu")[0] for line in lines], WORKLOADS)
        self.assertIn("--scene /a scene ", lines[1])
        self.assertIn("--mesh /a mesh.obj", lines[2])
        self.assertEqual(["--iterations 1000 " in line for line in lines], [True] * 7 + [False])
        self.call(0, *words, ARC_PAPER_SEEDS="3")
        lines = self.read("paper.csv").splitlines()
        self.assertEqual([line[-7:] for line in lines], ["seeds 3"] * 2 + [
            f"-seed {seed}" for seed in (1, 2, 3) for _ in WORKLOADS[2:]])
        os.remove(csv)
        self.write("", "circles", "fail")
        self.assertIn("circles ended with status 3", self.call(3, *words))
        self.assertFalse(os.path.exists(csv))
        self.assertEqual(len(self.read("paper.csv.partial.csv").splitlines()), 4)

    def test_stalls(self):
        ncu = self.write(NCU.format(COMPARED, 2 * STEP.format("add", "add")), "ncu", mode=0o755)
        words = ["studies/papers/stalls.py", "/b/spheres_gpu", "small,large", self.path("out"), "--ncu"]
        self.assertIn("skipped: no Nsight", self.call(77, *words, "/no"))
        forbidden = self.write("#!/bin/sh\necho ERR_NVGPUCTRPERM\n", "no_ncu", mode=0o755)
        self.assertIn("may not read", self.call(77, *words, forbidden))
        self.assertIn("spheres large auto: 8.00 clocks, 75% of them for loads and atomics; 1500 "
                      "instructions, 110 of them atomic; L2 60.00 % hits, 30% atomics",
                      self.call(0, *words, ncu))
        self.assertIn("\nspheres,small,plain,8.00,6.00,0.00,0.750,1500,110,0.0,400,0.3000,60.00,"
                      "0,\n", self.read("out"))
        ncu = self.write(NCU.format(DRAWN, STEP.format("place", "paint")), "ncu", mode=0o755)
        self.call(0, *words, ncu, "--draw")
        self.assertIn("\ndrawing,small,all paint,2.00,0.00,0.00,0.000,500,10,0.0,100,0.0000,90.00,"
                      "0,5\n", self.read("out"))
        for said, steps in ((COMPARED, 1), (COMPARED + "\n==ERROR== returned an error code (1).", 2)):
            ncu = self.write(NCU.format(said, steps * STEP.format("add", "add")), "ncu", mode=0o755)
            self.assertIn("not one profile for each path", self.call(1, *words, ncu))


if __name__ == "__main__":
    unittest.main()
