"""test_check_results.py ARC_SWEEP_SIMT - check_results.py finds each kind of defect in changed
copies of results; add_results.sh measures into a new folder. SPDX-License-Identifier: Apache-2.0"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_results

HERE = os.path.dirname(os.path.abspath(__file__))
H200 = os.path.join(HERE, "..", "results", "h200")
ADD = os.path.join(HERE, "..", "add_results.sh")
SWEEP = sys.argv.pop(1)
PLANS = check_results.Plans(SWEEP)
FILES = [preset + ".csv" for preset in check_results.PRESETS]
OWN = "# program: a tuner\n# device: NVIDIA H200, sm_90\na,b\n1,2\n"
FAKE_SWEEP = """#!/bin/sh
[ -n "$DEVICE" ] || { echo "arc_sweep: there is no GPU here" >&2; exit 77; }
preset=widths
[ "$1" != --preset ] || preset=$2
for csv; do :; done
[ "$preset" != "$WRONG_AT" ] || exit 1
if [ "$preset" = "$CTRL_C_AT" ]; then
  trap : INT
  kill -INT 0
  echo "# program: arc_sweep" >"$csv.partial"
  exit 130
fi
sed "s/^# device: NVIDIA H200/# device: $DEVICE/" "$H200/$preset.csv" >"$csv"
"""


def replaced(old, new):
    """The first line that holds it."""
    def change(lines):
        at = next(i for i, line in enumerate(lines) if old in line)
        return lines[:at] + [lines[at].replace(old, new)] + lines[at + 1:]
    return change


def without(start):
    return lambda lines: [line for line in lines if not line.startswith(start)]


def column(name, value, row=-1):
    """Of one row."""
    def change(lines):
        names = next(line for line in lines if not line.startswith("#")).rstrip("\n").split(",")
        fields = lines[row].rstrip("\n").split(",")
        fields[names.index(name)] = value
        lines[row] = ",".join(fields) + "\n"
        return lines
    return change


def renamed(old, new):
    def change(lines):
        at = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        lines[at] = ",".join(new if name == old else name for name in lines[at].split(","))
        return lines
    return change


class CheckResults(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.root.name, "h200")
        os.mkdir(self.folder)
        for name in FILES:
            shutil.copy(os.path.join(H200, name), self.folder)

    def tearDown(self):
        self.root.cleanup()

    def defects(self):
        return "\n".join(check_results.check_folder(self.folder, PLANS))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def defects_after(self, change, name="widths.csv"):
        with open(os.path.join(H200, name), encoding="utf-8") as file:
            self.write(name, "".join(change(file.read().splitlines(keepends=True))))
        return self.defects()

    def test_committed_files_pass(self):
        self.assertEqual(self.defects(), "")

    def test_heads(self):
        for key in check_results.HEAD[1:]:
            self.assertIn(f"no line '# {key}", self.defects_after(without(f"# {key}: ")), key)
        for old, new, needle in (
                ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "the folder is h200"),
                ("# date: ", "# date: on ", "the date is 'on"),
                ("arc 0.", "arc v0.", "policy 'arc v0.* does not parse"),
                ("# headers: ", "# header: ", "no line '# headers: ...' with their hash"),
                ("check=0", "check", "does not parse"),
                ("check=0", "check=2", "check=2, which is not"),
                ("check=0", "check=0 x=1", "x=1, which is not"),
                (" check=0", "", r"the policy lacks \['check'\]"),
                ("--preset widths", "--preset paths", "the command is not --preset widths"),
                ("--preset widths", "--preset widths --noise 50", "more options: .*--noise"),
                ("# sizes", "# interrupted: after 9 of 10 cells\n# sizes", "interrupted after"),
                ("# program: arc_sweep", "# program: ark", "no result file of arc_sweep")):
            self.assertRegex(self.defects_after(replaced(old, new)), needle)

    def test_columns(self):
        for change, needle in ((renamed("high_ms", "hi"), r"lacks the columns \['high_ms'\]"),
                               (renamed("high_ms", "hi"), "column hi is not known"),
                               (without("# column high_ms"), "does not explain column high_ms"),
                               (renamed("gross_ms", "g"), "has no column 'gross_ms'")):
            self.assertRegex(self.defects_after(change), needle)

    def test_rows(self):
        for name, value in (("gross_ms", "fast"), ("net_ms", ""), ("net_to_plain", "nan"),
                            ("low_ms", "0"), ("launches", "7.5"), ("registers", "0"),
                            ("clock_mhz", "-1"), ("worst_error", "1.01"), ("worst_error", "-1"),
                            ("status", "ERROR"), ("status", "-"), ("status", "")):
            self.assertRegex(self.defects_after(column(name, value)),
                             f"{name.split('_')[0]}.*'{value}'", f"{name} = {value}")
        self.assertIn("between its quartiles", self.defects_after(column("gross_ms", "99")))
        self.assertIn("damaged", self.defects_after(lambda lines: lines[:-1] + [lines[-1][:40]]))

    def test_complete(self):
        for change, needle in ((lambda lines: lines[:-2] + lines[-1:], "1 cells are missing"),
                               (lambda lines: lines + lines[-1:], "1 cells are there twice"),
                               (column("width", "71"), "1 cells are not of the preset")):
            for name in FILES:
                shutil.copy(os.path.join(H200, name), self.folder)
            for name in FILES:
                self.assertIn(f"{name}: {needle}", self.defects_after(change, name))

    def test_folders(self):
        self.write("paths.csv.partial", "")
        self.assertIn("paths.csv.partial: is no result file", self.defects())
        os.rename(os.path.join(self.folder, "paths.csv.partial"),
                  os.path.join(self.folder, "README.md"))
        os.rename(os.path.join(self.folder, "paths.csv"), os.path.join(self.folder, "mine.csv"))
        self.assertRegex(self.defects(), "paths.csv is missing\n.*mine.csv: is not named in")
        self.assertEqual(check_results.main([SWEEP, self.root.name]), 1)
        self.assertNotIn("widths", self.defects())

    def test_model_clocks(self):
        subprocess.run([SWEEP, "--preset", "widths", "--updates", "1", "--quiet", "--csv",
                        os.path.join(self.folder, "widths.csv")], check=True)
        self.assertIn("holds model clocks", self.defects())

    def test_files_of_other_versions(self):
        """Their cells are those of another program's presets; their rows are checked."""
        def older(lines):
            stamp = "# headers: 0123456789ab\n# policy: arc 7."
            return replaced("# policy: arc 0.", stamp)(lines)[:-9]
        self.assertEqual(self.defects_after(older), "")
        wrong = column("status", "ERROR")
        self.assertIn("status", self.defects_after(lambda lines: wrong(older(lines))))

    def test_other_files(self):
        self.write("README.md", "`tune*.csv`")
        for text, needle in ((OWN, "^$"), (OWN + "3\n", "damaged"), (OWN[:-1], "damaged"),
                             (OWN[:-4], "no rows"), (OWN.replace("device", "d"), "no line '# dev"),
                             (OWN.replace("program", "p"), "no line '# program"),
                             ("# policy: arc\n" + OWN, "'arc' does not parse"),
                             (OWN.replace("H200", "H100"), "the folder is h200")):
            self.write("tune_1.csv", text)
            self.assertRegex(self.defects(), needle, text)


class AddResults(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.parent = os.path.join(self.root.name, "results of GPUs")
        os.mkdir(self.parent)
        self.program = os.path.join(self.root.name, "arc_sweep_gpu")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(FAKE_SWEEP)
        os.chmod(self.program, 0o755)

    def tearDown(self):
        self.root.cleanup()

    def add(self, status, program=None, **environment):
        done = subprocess.run(["sh", ADD, program or self.program, self.parent], text=True,
                              capture_output=True, check=False, start_new_session=True,
                              env={**os.environ, "H200": os.path.abspath(H200), **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def files(self, gpu):
        return sorted(os.listdir(os.path.join(self.parent, gpu)))

    def test_complete_folders_named_after_the_device(self):
        for device, gpu in (("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "rtx4090"),
                            ("NVIDIA A100-SXM4-80GB", "a100_sxm4_80gb"), ("Tesla T4", "tesla_t4"),
                            ("Orin (nvgpu)", "orin_nvgpu")):
            self.assertEqual(self.add(0, DEVICE=device), "")
            self.assertEqual(self.files(gpu), sorted(FILES))
            found = check_results.check_folder(os.path.join(self.parent, gpu), PLANS)
            self.assertEqual(list(found), [])

    def test_a_folder_that_is_there_is_left_alone(self):
        os.mkdir(os.path.join(self.parent, "h200"))
        self.assertRegex(self.add(1, DEVICE="NVIDIA H200"), "h200")
        self.assertEqual(self.files("h200"), [])

    def test_without_a_gpu(self):
        self.assertEqual(self.add(77), "arc_sweep: there is no GPU here\n")
        self.assertEqual(self.add(77, program=SWEEP).count("\n"), 1)
        self.assertEqual(os.listdir(self.parent), [])

    def test_what_ends_early_keeps_what_is_whole(self):
        self.add(1, DEVICE="NVIDIA H200", WRONG_AT="paths")
        self.assertEqual(self.files("h200"), ["policy.csv"])
        self.add(130, DEVICE="NVIDIA H100", CTRL_C_AT="paths")
        self.assertEqual(self.files("h100"), ["paths.csv.partial", "policy.csv"])


if __name__ == "__main__":
    unittest.main()
