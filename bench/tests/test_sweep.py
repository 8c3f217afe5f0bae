"""test_sweep.py ARC_SWEEP - plans, sums, counts and summaries; its command line is among those of
bench/common/test_command_lines.py. SPDX-License-Identifier: Apache-2.0"""
import concurrent.futures
import itertools
import re
import subprocess
import sys
import unittest

from bench_test import Test

import results

PROGRAM = sys.argv.pop(1)
ON_CPU = PROGRAM.endswith("_simt")
SMALL = "--blocks 2 --threads 64 --updates 4 --rows 70 " + (
    "" if ON_CPU else "--repeat 1 --cell-ms 0.1 ")
PRESETS = ("default", "policy", "paths", "peers", "widths", "types", "forms")
TYPES = "--type f32,f64,i64,f16,bf16,fixed,exact,wide --width 1-4,9,16 "

# Axes, groups, and cells: in each group one adds nothing.
PLANS = [
    # masks: 2 alike + 2 x 4 + single; keys: 1, 4 in 3 layouts, 1000; widths, padding, promises,
    # of which auto has no kernel where keys differ
    ("--width 3,10 --lanes 0,5,32,mixed --shape prefix,scattered,strided,random,single "
     "--keys 1,4,1000 --layout interleaved,contiguous,random --padding 4,0 --promise-zeros 0,1 "
     "--path plain,auto", 440, 2 * 440 + 88 + 176),
    ("--width 9 --lanes 7 --threshold 0-33,auto --path serialized,butterfly,transposed,tree,auto",
     1, 1 + 5 * 35),
    ("--width 3,8,20,32 --form literal,memory,chunks --lanes 1,32 --keys 1,4 --path plain,auto",
     4 * 3 * 2 * 2, 48 * 3),
    ("--width 3,12 --form literal,rotating --lanes 7,32 --keys 1,4,1000 --layout contiguous "
     "--path plain,drop_in,auto", 2 * 2 * 2 * 3, 24 * 4),
    ("--width 3,12 --form planes --lanes 7,32 --keys 1,4,1000 --layout contiguous --padding 4,0 "
     "--path plain,auto,pieces", 2 * 2 * 3, 12 * 4),
    (TYPES + "--lanes 7,32 --keys 1,32 --padding 2,4 --path plain,auto --threshold 0,5,auto",
     8 * 6 * 2 * 2 * 2, 384 * 5),
    (TYPES + "--lanes 7,32 --promise-zeros all --path plain,auto --threshold 0,auto", 96, 96 * 4),
    ("--workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot --width 1,9,32 "
     "--lanes 1,7,32,model --promise-zeros 0,1", 162, 1428 if ON_CPU else 1752)]  # cub and cg
THROTTLED = "WARNING: the clock fell from .*\\n"  # as a GPU's may beside other tests
WRONG = ["plain,broken", "broken --keys 8"] + [
    f"broken --width 3 --type {name} --keys {keys}" for keys in (1, 8)
    for name in ("f64", "i64", "f16", "bf16", "fixed", "exact", "wide")]
# Workload; share of warps that are not empty, of full ones, mean of lanes, mean of keys.
DRAWN = [("tile", 0.5, 0.5 * 0.39, 0.5 * 22, 0.5), ("hot", 1.0, 0.75, 28.1, 1.0),
         ("spheres", None, None, 20, None), ("spheres --lanes 32", None, None, 32, 3.8),
         ("cubemap", None, None, 14.3, None), ("cubemap --lanes 32", None, None, 32, 5.8),
         ("hashgrid", None, None, 32, 9.0), ("pagerank", None, None, 12.4, 12.2),
         ("coalesced", None, None, 32, 32)]


class Sweep(Test):
    def setUp(self):
        super().setUp()
        self.files = itertools.count()

    def run_sweep(self, words, status=0):
        """What it says, and the rows that it writes."""
        csv = self.path(str(next(self.files)))
        small = re.sub(r"--(?:blocks|threads|updates|rows) \d+ ",  # an option that is given twice is told
                       lambda its: "" if its[0].split()[0] in words else its[0], SMALL)
        said = self.call(status, PROGRAM, *(small + words).split(), "--csv", csv)
        return said if ON_CPU else re.sub(THROTTLED, "", said), results.Results(csv).rows

    def each(self, words, status=0):
        """The same of each, a few at once: a GPU takes long to start a program."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda its: self.run_sweep(its, status), words))

    def rows(self, words):
        return self.right(words, *self.run_sweep(words + " --quiet"))

    def right(self, words, said, rows):
        self.assertEqual((said, {row["status"] for row in rows}), ("", {"ok", "-"}), words)
        return rows

    def test_plans_and_sums(self):
        done = self.each([words + " --quiet" for words, _, _ in PLANS])
        for (words, groups, cells), its in zip(PLANS, done):
            rows = self.right(words, *its)
            self.assertEqual((len({results.group(row) for row in rows}), len(rows)),
                             (groups, cells), words)

    def test_wrong_sums_are_found(self):
        for said, rows in self.each(["--path " + words for words in WRONG], 1):
            self.assertRegex(said, "(?m)^ERROR: .* sums are wrong")
            self.assertIn("ERROR", [row["status"] for row in rows])

    @unittest.skipUnless(ON_CPU, "what a GPU draws is the same, but not counted")
    def test_models_draw_what_the_readme_says(self):
        def drawn(workload, seed=1):
            rows = {(row["path"], row["threshold"]): row for row in self.rows(
                f"--path plain,shuffle_skip,tree,butterfly --threshold 0,32 --width 1 --rows 1000 "
                f"--updates 300 --seed {seed} --workload {workload}")}
            return [float(rows[path][count]) / per for path, count, per in (
                (("shuffle_skip", "-"), "shuffles", 5), (("butterfly", "32"), "shuffles", 5),
                (("plain", "-"), "lane_adds", 1), (("tree", "0"), "lane_adds", 1))]
        for workload, *wanted in DRAWN:
            for found, want in zip(drawn(workload), wanted):
                if want is not None:
                    self.assertAlmostEqual(found, want, delta=0.07 * want + 0.01, msg=workload)
        self.assertEqual(drawn("tile", 3), drawn("tile", 3))
        self.assertNotEqual(drawn("tile", 3), drawn("tile", 4))

    @unittest.skipUnless(ON_CPU, "counted on the CPU warp")
    def test_thresholds_decide(self):
        rows = self.rows("--width 9 --lanes 7 --threshold 7,8,auto --path auto")
        self.assertEqual([float(row["requests"]) for row in rows], [0.0, 1.0, 3.0, 1.0])

    @unittest.skipUnless(ON_CPU, "counted on the CPU warp")
    def test_coalesced_keys_lie_side_by_side(self):
        for row in self.rows("--workload coalesced --width 1 --padding 0 --path plain"):
            if row["path"] == "plain":  # 128 bytes that seldom begin where a sector does
                self.assertEqual(float(row["conflicts"]), 0)
                self.assertTrue(4.5 < float(row["sectors"]) <= 5, row)

    @unittest.skipUnless(ON_CPU, "counted on the CPU warp")
    def test_rotating_lanes_meet_at_as_many_addresses_as_values(self):
        rows = {(row["form"], row["path"]): row for row in self.rows(
            "--width 12 --form literal,rotating --call keyed --path plain,drop_in,auto")}
        for form, addresses in (("literal", 1), ("rotating", 12)):
            plain, dropped, auto = (rows[form, path] for path in ("plain", "drop_in", "auto"))
            self.assertEqual([float(plain[count]) for count in ("lane_adds", "conflicts")],
                             [12 * 32, 12 * (32 - addresses)])
            self.assertEqual(float(auto["lane_adds"]), 12)
            self.assertTrue(12 < float(dropped["lane_adds"]) < 12 * 32, dropped)

    @unittest.skipUnless(ON_CPU, "counted on the CPU warp")
    def test_planes_of_neighbouring_keys_lie_side_by_side(self):
        words = "--width 12 --form literal,planes --workload coalesced --path plain,auto"
        rows = {(row["form"], row["path"]): row for row in self.rows(words)}
        for path in ("plain", "auto"):  # 12 requests of 128 bytes each, or rows of 48
            self.assertTrue(12 * 4 <= float(rows["planes", path]["sectors"]) <= 12 * 5)
        self.assertEqual(float(rows["literal", "plain"]["sectors"]), 12 * 32)

    def check_default(self, text, ratios, others):
        speed = 1 / results.geometric_mean(ratios)
        self.assertIn(f"arc's default has {speed:.3f}x the speed of the best of {others}", text)
        self.assertRegex(text, f"\n  at worst {1 / max(ratios):.2f}x that of ")

    @unittest.skipUnless(ON_CPU, "the file has too few digits of so short a time")
    def test_summary_says_what_the_file_holds(self):
        words = "--width 3,9 --lanes 1-8 --promise-zeros none,0 --threshold 0,auto --path "
        text, rows = self.run_sweep(words + "plain,vector,transposed,tree,auto")
        times, own, promised = {}, [], []
        for row in rows:
            times.setdefault((row["width"], int(row["lanes"]), row["zeros"]), {})[
                row["path"], row["threshold"]] = row["gross"]
        for (width, lanes, zeros), group in times.items():
            default = group["auto", "auto"]
            if zeros == "0":
                promised.append(default / min(group["auto", "0"],
                                              times[width, lanes, "none"]["auto", "auto"]))
            own.append(default / min(ms for (path, _), ms in group.items() if path != "none"))
        for width in ("3", "9"):
            slower = [lanes for lanes in range(1, 9) for group in [times[width, lanes, "0"]]
                      if min(group["transposed", "0"], group["auto", "0"]) >=
                      min(group["plain", "-"], group["vector", "-"])]
            self.assertRegex(text, f"width:lanes\n .* {width}:{max(slower) + 1}[ \n]")
        self.check_default(text, own, "arc's paths")
        self.check_default(text, promised, "no promise")

    def test_summaries_of_presets(self):
        asked = [f"--preset {preset}" for preset in PRESETS] + [
            "--width 16 --lanes mixed --shape scattered --type fixed --promise-zeros all --padding 0"]
        for words, (said, _) in zip(asked, self.each(
                [f"{words} --blocks 1 --threads 32 --updates 1" for words in asked])):
            lines = said.strip().split("\n")
            if ON_CPU:
                self.assertIn("build/bench/arc_sweep_gpu", lines.pop())
                self.assertIn("model clocks only rank paths", lines.pop())
            self.assertRegex(lines[0], "^Summary, by ")
            self.assertLessEqual(len(lines), 25, words)
            self.assertLessEqual(max(map(len, lines[:-1])), 100, words)
            self.assertIn(" 0 with wrong sums", lines[-1])
            self.assertFalse(ON_CPU and "-DARC_" in "".join(lines))  # model clocks advise nothing

    def test_policy_header(self):
        text, _ = self.run_sweep(f"--preset policy --policy-header {self.path('costs.h')}")
        defines = re.findall(r"#define ARC_COST_\w+ (\d+)\n", self.read("costs.h"))
        self.assertEqual([1 <= int(value) <= 999 for value in defines], [True] * 5)
        means = [list(map(float, re.findall(r"([0-9.]+) \(", line))) for line in re.findall(
            r"\n  (?:one key|several keys|all promised) .*", text)]
        self.assertEqual(list(map(len, means)), [3, 3, 3])
        if ON_CPU:  # a GPU's times of such small kernels say nothing
            compiled, fitted, best = map(sum, zip(*means))
            self.assertTrue(best + 0.0015 >= fitted > max(compiled, 0.98 * best), means)

    @unittest.skipUnless(ON_CPU, "the file has too few digits of so short a time")
    def test_default_decision_is_as_measured(self):
        text, rows = self.run_sweep("--width 9 --padding 4 --lanes 3-7 --promise-zeros 0 --path auto "
                                    "--threshold 0,33,auto")
        times = {(row["lanes"], row["threshold"]): row["gross"] for row in rows}
        ratios = [times[lanes, "auto"] / min(times[lanes, "0"], times[lanes, "33"])
                  for lanes in "34567"]
        self.assertLess(min(ratios), 0.95)  # half of the blocks reduce, half do not
        self.assertIn(f"one key             {1 / results.geometric_mean(ratios):.3f} (", text)

    @unittest.skipUnless(ON_CPU, "a GPU has all of it, and its clock may fall by itself")
    def test_cpu_warp_alone(self):
        for words, needle in (("--path plain,cg", "unavailable: "), ("--repeat 3", "--repeat is for arc_sweep_gpu")):
            self.assertIn(needle, self.call(2, PROGRAM, *words.split()))
        self.assertRegex(self.run_sweep("--width 1,2,3 --path plain --test-throttle 1")[0],
                         "(?m)^WARNING: the clock fell .* 2 of 3 groups")


if __name__ == "__main__":
    if subprocess.run([PROGRAM, *SMALL.split(), "--quiet", "--width", "1", "--path", "plain"],
                      check=False).returncode == results.SKIPPED:
        sys.exit(results.SKIPPED)
    unittest.main()
