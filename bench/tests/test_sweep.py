"""test_sweep.py ARC_SWEEP - the program itself: options, files, the check of its sums, interrupts.
SPDX-License-Identifier: Apache-2.0"""
import contextlib
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analysis"))
import results

PROGRAM = sys.argv.pop(1)
ON_CPU = PROGRAM.endswith("_simt")
SMALL = "--blocks 2 --threads 64 --updates 4 --rows 70 " + (
    "" if ON_CPU else "--repeat 1 --cell-ms 0.1 ")
PRESETS = ("default", "policy", "paths", "peers", "widths", "types", "forms")


class Sweep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.csv = os.path.join(self.folder.name, "sweep.csv")

    def tearDown(self):
        self.folder.cleanup()

    def run_sweep(self, words, status=0):
        words = words.replace("@", self.csv).split()
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stderr}")
        return done

    def rows(self, words, status=0):
        self.run_sweep(SMALL + words + " --quiet --csv @", status)
        return results.Results(self.csv).rows

    def test_bad_options_are_one_line(self):
        on_cpu = [("--path plain,cg", "unavailable: "), ("--energy 1", "CPU warp"),
                  ("--repeat 3", "--repeat is for arc_sweep_gpu")]
        for words, needle in on_cpu * ON_CPU + [
                ("--widht 9", "--widht"), ("--width 5", "1, 2, 3, 4, 6, 8"),
                ("--width ,", "--width is ','"),
                ("--lanes 33", "0 to 32"), ("--lanes 8-4", "8-4"), ("--shape round", "scattered"),
                ("--keys 0", "1 to 1000"), ("--layout mixed", "interleaved"),
                ("--call both", "uniform, keyed"), ("--threshold -1", "0 to 33"),
                ("--path fastest", "transposed"), ("--promise-zeros 2", "all"),
                ("--rows 0", "1 to 100000000"), ("--threads 48", "multiple of 32"),
                ("--repeat many", "many"), ("--noise 0", "0.01 to 100"), ("--cache hot", "warm"),
                ("--preset quick", "default, policy, paths"),
                ("--preset peers --width 9", "--width is not for --preset"),
                ("--workload tile --keys 4", "--keys, --layout"), ("--lanes model", "'model'"),
                ("--workload tile --lanes mixed", "'mixed'"),
                ("--keys 4 --call uniform", "one key"),
                ("--workload cubemap --rows 63", "at least 64"), ("--form round", "chunks"),
                ("--path vector --padding 3", "16 bytes"), ("--path plain --threshold 4", "tree"),
                ("--path auto --promise-zeros aligned --padding 2", "16 bytes"),
                ("--path tree --width 70", "no kernel"), ("--path auto,tree --form memory", "tree"),
                ("--type f8", "f32, f64, i64, f16, bf16, fixed, exact"),
                ("--type f32,f64 --width 3,6", "1, 2, 3, 4, 9, 16"),
                ("--type i64 --width 9 --path tree", "no kernel of this type"),
                ("--type f32,exact --width 9 --form memory", "'exact' has no kernel"),
                ("--type bf16 --path plain --width 1 --padding 0", "whole 4 bytes"),
                ("--csv", "must be the name of a file"), ("--width", "such as 1,4-8, of 1 to 128"),
                ("--nonsense", "'--nonsense' is not an option"),
                ("--csv @ --policy-header @", "name the same file"),
                ("--tables --quiet", "--tables is not for --quiet"),
                ("--width 9 --csv /nowhere/at/all.csv", "/nowhere")]:
            whole = "--csv" in words or words in ("--nonsense", "--width")
            done = self.run_sweep(words if whole else words + " --csv @", 2)
            self.assertIn(needle, done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(os.listdir(self.folder.name), [], words)

    def test_outputs_that_are_no_plain_files(self):
        fifo, link = (os.path.join(self.folder.name, name) for name in ("fifo", "link"))
        os.mkfifo(fifo)
        os.symlink("fifo", link)
        os.symlink("nowhere", self.csv)
        for option in ("--csv ", "--policy-header "):
            for path, needle in ((self.folder.name, "not a plain file"), (self.csv, "no file"),
                                 (fifo, "not a plain file"), (link, "not a plain file")):
                done = self.run_sweep(SMALL + "--width 1 --path plain " + option + path, 2)
                self.assertRegex(done.stderr, f"^arc_sweep: {option.strip()}: .*{path}.*{needle}")
                self.assertEqual((done.stderr.count("\n"), done.stdout), (1, ""))
        self.assertEqual(len(os.listdir(self.folder.name)), 3)
        self.assertEqual(os.readlink(link), "fifo")

    def test_links_stay_links(self):
        target = os.path.join(self.folder.name, "target")
        with open(target, "w", encoding="utf-8") as file:
            file.write("an older file")
        os.symlink("target", self.csv)
        self.assertEqual(len(self.rows("--width 1 --path plain")), 2)
        self.assertEqual(os.readlink(self.csv), "target")
        self.assertEqual(len(results.Results(target).rows), 2)
        self.assertEqual(len(os.listdir(self.folder.name)), 2)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_lost_output(self):
        small = SMALL + "--width 1,2 --path plain"
        for words in ("--help", "--version", small, f"{small} --csv {self.csv}"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *words.split()], stdout=full, text=True,
                                      stderr=subprocess.PIPE, check=False)
            errors = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
            self.assertEqual((done.returncode, len(errors)), (1, 1), done.stderr)
            self.assertIn("standard output", errors[0])
        self.assertEqual(len(results.Results(self.csv).rows), 4)

    @unittest.skipUnless(ON_CPU, "a limit of the host's memory")
    def test_out_of_memory_is_not_the_lack_of_a_gpu(self):
        limit = (1 << 30, 1 << 30)
        done = subprocess.run([PROGRAM, "--rows", "100000000", "--path", "plain"], text=True,
                              capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertEqual(done.stderr, "ERROR: rows: out of memory\n")

    def test_every_option_is_explained(self):
        self.assertRegex(self.run_sweep("--version").stdout, r"^arc_sweep of arc \d+\.\d+\.\d+\n$")
        text = self.run_sweep("--help").stdout
        self.assertEqual(self.run_sweep("-h").stdout, text)
        for option in ("workload width form lanes shape keys layout call promise-zeros padding "
                       "type path threshold rows blocks threads updates seed repeat noise cell-ms "
                       "cache energy preset csv policy-header tables quiet version help").split():
            self.assertRegex(text, f"\n  --{option}[, \n]")

    def test_file(self):
        rows = self.rows("--width 3,10 --lanes 0,5,32,mixed --keys 1,4,1000 --path plain,auto "
                         "--shape prefix,scattered,strided,random,single --padding 4,0 "
                         "--layout interleaved,contiguous,random --promise-zeros 0,1")
        # masks: 2 alike + 2 x 4 + single; keys: 1, 4 in 3 layouts, 1000; widths, padding, promises
        self.assertEqual(len({results.group(row) for row in rows}), 11 * 5 * 2 * 2 * 2)
        self.assertEqual({row["status"] for row in rows}, {"ok", "-"})
        self.assertEqual(os.listdir(self.folder.name), ["sweep.csv"])
        with open(self.csv, encoding="utf-8") as file:
            head = [line for line in file if line.startswith("#")]
        for key in ("device", "compiler", "policy", "date", "command", "sizes", "rigour"):
            self.assertTrue(any(line.startswith(f"# {key}: ") for line in head), key)
        for column in results.Results(self.csv).columns:
            self.assertTrue(any(line.startswith(f"# column {column}: ") for line in head), column)

    def test_sums_of_every_path_and_workload(self):
        rows = self.rows("--workload axes,tile,spheres,cubemap,hashgrid,pagerank,hot --width 1,9,32"
                         " --lanes 1,7,32,model --promise-zeros 0,1")
        self.assertEqual({row["status"] for row in rows}, {"ok", "-"})
        self.assertGreaterEqual(len({row["path"] for row in rows}), 11)

    @unittest.skipUnless(ON_CPU, "what a GPU draws is the same, but not counted")
    def test_models_draw_what_the_readme_says(self):
        def drawn(workload, words=""):
            """(share of warps that are not empty, of full ones, mean of lanes, mean of keys)"""
            rows = {(row["path"], row["threshold"]): row for row in self.rows(
                f"--workload {workload} --path plain,shuffle_skip,tree,butterfly --threshold 0,32 "
                f"--width 1 --updates 800 --rows 1000 {words}")}
            lanes, keys = (float(rows[path]["lane_adds"])
                           for path in (("plain", "-"), ("tree", "0")))
            some, full = (float(rows[path]["shuffles"]) / 5.0
                          for path in (("shuffle_skip", "-"), ("butterfly", "32")))
            return some, full, lanes, keys

        def about(found, *wanted):
            for value, want in zip(found, wanted):
                if want is not None:
                    self.assertAlmostEqual(value, want, delta=0.07 * want + 0.01, msg=found)
        about(drawn("tile"), 0.5, 0.5 * 0.39, 0.5 * 22, 0.5)
        about(drawn("hot"), 1.0, 0.75, 28.1, 1.0)
        about(drawn("spheres"), None, None, 20)
        about(drawn("spheres", "--lanes 32"), None, None, 32, 3.8)
        about(drawn("cubemap"), None, None, 14.3)
        about(drawn("cubemap", "--lanes 32"), None, None, 32, 5.8)
        about(drawn("hashgrid"), None, None, 32, 9.0)
        about(drawn("pagerank"), None, None, 12.4, 12.2)
        self.assertEqual(drawn("tile", "--seed 3"), drawn("tile", "--seed 3"))
        self.assertNotEqual(drawn("tile", "--seed 3"), drawn("tile", "--seed 4"))

    def test_thresholds_decide(self):
        rows = self.rows("--width 9 --lanes 7 --threshold 0-33,auto "
                         "--path serialized,butterfly,transposed,tree,auto")
        self.assertEqual(len(rows), 1 + 5 * 35)
        if ON_CPU:  # counted on the CPU warp: a reduction sends one, else a lane 3
            sent = {row["threshold"]: float(row["requests"])
                    for row in rows if row["path"] == "auto"}
            self.assertEqual([sent["7"], sent["8"], sent["auto"]], [1.0, 3.0, 1.0])

    @unittest.skipUnless(ON_CPU, "counted on the CPU warp")
    def test_tables_send_what_is_hot_once(self):
        rows = self.rows("--workload hot --width 1,9 --updates 800 --path auto,table")
        sent = {(row["width"], row["path"]): float(row["lane_adds"]) for row in rows}
        for width in ("1", "9"):  # 100 updates to 4 rows: each of them once
            self.assertGreaterEqual(sent[width, "auto"], int(width))
            self.assertAlmostEqual(sent[width, "table"], int(width) * 4 / 100, delta=1e-3)

    def test_promises_are_compared_with_none_and_with_threshold_0(self):
        words = ("--width 1,9 --lanes 2,32 --promise-zeros none,0,all,aligned --padding 4,0 "
                 "--path auto --threshold 0,auto")
        text = self.run_sweep(SMALL + words + " --csv @").stdout
        rows = results.Results(self.csv).rows
        self.assertEqual({row["status"] for row in rows}, {"ok", "-"})
        promised = {}
        for row in rows:
            cell = tuple(row[name] for name in ("width", "lanes", "padding"))
            promised.setdefault(cell, {})[row["zeros"], row["threshold"]] = row["gross"]
        self.assertEqual(len(promised), 8)
        ratios = [times[zeros, "auto"] / min(times[zeros, "0"], times["none", "auto"])
                  for times in promised.values() for zeros in ("0", "all", "aligned")
                  if (zeros, "0") in times]
        self.assertEqual(len(ratios), 8 + 8 + 4)
        self.assertIn("arc's default takes "
                      f"{results.geometric_mean(ratios):.3f} of the best of no promise", text)
        self.assertRegex(text, f"\n  {max(ratios):.2f} of auto: ")

    def test_run_time_widths_add_the_same(self):
        rows = self.rows("--width 3,8,20,32 --form literal,memory,chunks --path plain,auto "
                         "--lanes 1,32 --keys 1,4")
        self.assertEqual({row["status"] for row in rows}, {"ok", "-"})
        self.assertEqual(len(rows), 4 * 3 * 2 * 2 * 3)

    def test_sums_of_every_type(self):
        rows = self.rows("--type f32,f64,i64,f16,bf16,fixed,exact --width 1-4,9,16 --lanes 1,7,32 "
                         "--keys 1,4,32 --padding 2,4 --path plain,auto --threshold 0,5,auto")
        rows += self.rows("--type f32,f64,i64,f16,bf16,fixed,exact --width 1-4,9,16 --lanes 7,32 "
                          "--promise-zeros all --path plain,auto --threshold 0,auto")
        self.assertEqual({row["status"] for row in rows}, {"ok", "-"})
        self.assertEqual(len(rows), 7 * 6 * (3 * 3 * 2 * 5 + 2 * 4))
        worst = {}
        for row in rows:
            worst[row["type"]] = max(worst.get(row["type"], 0.0), float(row["worst_error"]))
        self.assertEqual((worst["f64"], worst["i64"]), (0.0, 0.0))
        self.assertTrue(all(worst[name] > 0.01 for name in ("f32", "f16", "bf16", "fixed")), worst)

    def test_types_against_f32(self):
        text = self.run_sweep(SMALL + "--type f32,f64 --width 3 --path plain,auto --csv @").stdout
        gross = {(row["type"], row["path"]): row["gross"] for row in results.Results(self.csv).rows}
        line = next(line for line in text.split("\n") if line.startswith("  f64 "))
        columns = re.findall(r" (-|[0-9.]+)(?: \(|\s|$)", line)
        for found, over in zip(columns, (gross["f32", "auto"], gross["f64", "plain"])):
            if found == "-" and not ON_CPU:
                continue  # so small a launch may take no longer than one that adds nothing
            self.assertAlmostEqual(float(found), gross["f64", "auto"] / over, delta=0.002)

    def test_long_names_of_groups_are_wrapped(self):
        text = self.run_sweep(SMALL + "--width 16 --lanes mixed --shape scattered --type fixed "
                              "--promise-zeros all --padding 0 --csv @").stdout
        self.assertIn("of arc's paths and atomics, mean of 1 groups; at worst\n", text)
        self.assertRegex(text, r"\n    \S.*padding 0\n")
        self.assertLessEqual(max(map(len, text.split("\n")[:-2])), 100, text)

    def test_presets_end_with_a_summary(self):
        for preset in PRESETS:
            text = self.run_sweep(SMALL + f"--preset {preset} --csv @").stdout
            summary = text.strip().split("\n")
            self.assertTrue(summary[0].startswith("Summary, by "), summary[0])
            self.assertLessEqual(len(summary), 25, preset)
            self.assertLessEqual(max(map(len, summary[:-1])), 100, preset)
            self.assertIn(" 0 with wrong sums", summary[-1])
            for term in ("width", "lanes", "key", "path", "group", "uniform", "keyed", "Ratios"):
                self.assertRegex("".join(summary[1:5]), rf"\b{term}\b")
            if ON_CPU:  # model clocks advise nothing
                self.assertNotIn("-DARC_", text)
            if preset in ("default", "policy"):
                self.assertTrue(any("Default decision" in line for line in summary), preset)

    def test_tables_are_asked_for(self):
        words = SMALL + "--width 1,3 --path plain,auto"
        text = self.run_sweep(words + " --tables").stdout
        cells, summary = text[:text.index("\nSummary")], text[text.index("\nSummary"):]
        self.assertEqual(len(re.findall(r"^  (?:none|plain|auto) .* (?:-|ok)$", cells, re.M)), 6)
        alone = self.run_sweep(words).stdout
        self.assertEqual(summary.strip().split("\n")[:5], alone.split("\n")[:5])

    def test_progress_is_for_terminals(self):
        terminal, its_end = pty.openpty()
        fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("4H", 24, 40, 0, 0))
        done = subprocess.run([PROGRAM, *f"{SMALL} --width 1-4 --path plain".split()], text=True,
                              stdout=subprocess.PIPE, stderr=its_end, check=True)
        os.close(its_end)
        shown = b""
        with contextlib.suppress(OSError):  # what ends the reading of a terminal is EIO
            while piece := os.read(terminal, 4096):  # what has arrived, which may be a part
                shown += piece
        os.close(terminal)
        self.assertRegex(shown.decode(), r"^\r0/8 cells: width 1.*\r\x1b\[K$")
        lines = re.split(r"\r|\x1b\[K", shown.decode())
        self.assertEqual(max(map(len, lines)), 39, lines)  # a column less than wraps
        self.assertTrue(done.stdout.startswith("Summary"), done.stdout)

    @unittest.skipUnless(ON_CPU, "the file has too few digits of so short a time")
    def test_summary_says_what_the_file_holds(self):
        paths = ("plain", "vector", "transposed", "tree", "auto")
        text = self.run_sweep(f"{SMALL} --width 3,9 --lanes 1-8 --path {','.join(paths)} "
                              "--csv @").stdout
        times, ratios = {}, []
        for row in results.Results(self.csv).rows:
            times.setdefault((row["width"], int(row["lanes"])), {})[row["path"]] = row["gross"]
        for width in ("3", "9"):
            slower = [lanes for lanes in range(1, 9) if times[width, lanes]["transposed"] >=
                      min(times[width, lanes]["plain"], times[width, lanes]["vector"])]
            self.assertRegex(text, f"width:lanes\n .* {width}:{max(slower) + 1}[ \n]")
        for group in times.values():
            ratios.append(group["auto"] / min(group[path] for path in paths))
        mean = results.geometric_mean(ratios)
        self.assertIn(f"takes {mean:.3f} of the best of arc's paths", text)
        self.assertRegex(text, f"\n  {max(ratios):.2f} of ")

    def worst_defaults(self):
        """Time of the default over that of the best threshold, by decision."""
        groups, worst = {}, {}
        for row in results.Results(self.csv).rows:
            if row["path"] == "auto":
                groups.setdefault(results.group(row), (row, {}))[1][row["threshold"]] = row["gross"]
        for row, times in groups.values():
            name = ("several keys" if row["call"] == "keyed" else
                    "all promised" if row["zeros"] == "all" else "one key")
            worst[name] = max(worst.get(name, 1.0), times["auto"] / min(times.values()))
        return worst

    def test_policy_header(self):
        header = os.path.join(self.folder.name, "costs.h")
        text = self.run_sweep(SMALL + f"--preset policy --csv @ --policy-header {header}").stdout
        self.assertIn(f"; constants written to {header}\n", text)
        with open(header, encoding="utf-8") as file:
            defines = [line.split()[1:] for line in file if line.startswith("#define ARC_COST_")]
        self.assertEqual(len(defines), 5)
        self.assertTrue(all(1 <= int(value) <= 999 for _, value in defines))
        mean, worst = {}, {}
        for name in ("one key", "several keys", "all promised"):
            line = next(line for line in text.split("\n") if line.startswith("  " + name))
            mean[name] = [float(word) for word in re.findall(r"([0-9.]+) \(", line)]
            worst[name] = float(re.search(r"\( *([0-9.]+)\)", line)[1])
            self.assertEqual(len(mean[name]), 3, line)
        if ON_CPU:  # a GPU's times of such small kernels say nothing
            compiled, fitted, best = zip(*mean.values())
            self.assertLess(sum(fitted), sum(compiled))
            for a_fitted, a_best in zip(fitted, best):
                self.assertLessEqual(a_best, a_fitted + 0.0005)
                self.assertLessEqual(a_fitted, 1.02 * a_best)
            for name, measured in self.worst_defaults().items():
                self.assertAlmostEqual(worst[name], measured, delta=0.02, msg=name)

    def test_wrong_sums_are_found(self):
        types = [f"--path broken --width 3 --type {name} --keys {keys}" for keys in (1, 8)
                 for name in ("f64", "i64", "f16", "bf16", "fixed", "exact")]
        for words in ["--path plain,broken", "--path broken --keys 8"] + types:
            done = self.run_sweep(SMALL + words + " --csv @", 1)
            self.assertRegex(done.stderr, "^ERROR: .* sums are wrong")
            self.assertIn("ERROR", [row["status"] for row in results.Results(self.csv).rows])

    def test_interrupt_leaves_what_was_measured(self):
        with open(self.csv, "w", encoding="utf-8") as file:
            file.write("an older file")
        done = self.run_sweep(SMALL + "--width 1-4 --path plain --test-interrupt 2 --csv @", 130)
        self.assertIn(".partial", done.stderr)
        partial = results.Results(self.csv + ".partial")
        self.assertEqual(len(partial.rows), 4)
        self.assertIn("after 4 of 8 cells", partial.head["interrupted"])
        with open(self.csv, encoding="utf-8") as file:
            self.assertEqual(file.read(), "an older file")

    def test_interrupt_within_a_group(self):
        sizes = "--blocks 3000 --updates 100" if not ON_CPU else "--blocks 8"
        child = subprocess.Popen([PROGRAM, *f"{sizes} --width 32 --threshold 0-33 --path "
                                  f"serialized,tree,auto --csv {self.csv}".split()],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(self.csv + ".partial") and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
        self.assertEqual(child.returncode, 130, errors)
        self.assertIn("interrupted after 0 of 10", errors)

    def test_quiet(self):
        self.assertEqual(self.run_sweep(SMALL + "--width 1 --path plain --quiet").stdout, "")

    @unittest.skipUnless(ON_CPU, "beside other programs a GPU's clock seems to fall by itself")
    def test_falling_clock_is_told(self):
        done = self.run_sweep(SMALL + "--width 1,2,3 --path plain --test-throttle 1")
        self.assertRegex(done.stderr, "^WARNING: the clock fell .* 2 of 3 groups")


if __name__ == "__main__":
    if subprocess.run([PROGRAM, *SMALL.split(), "--quiet", "--width", "1", "--path", "plain"],
                      check=False).returncode == results.SKIPPED:
        sys.exit(results.SKIPPED)
    unittest.main()
