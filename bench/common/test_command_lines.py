"""test_command_lines.py PROGRAM - what programs accept and refuse, print and leave behind.
SPDX-License-Identifier: Apache-2.0

PROGRAM is one build of a program that the tables name: .../arc_sweep_simt. The studies' script adds
their rows to the tables and runs the same."""
import contextlib
import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
NAME = os.path.basename(PROGRAM).rsplit("_", 1)[0]
ON_CPU = PROGRAM.endswith("_simt")
SKIPPED = 77
# Beside other tests a GPU's clock may fall, which the sweep reports.
CLOCK_FELL = (r"WARNING: the clock fell from \d+ to \d+ MHz; \d+ of \d+ groups were measured "
              r"below 97 % of the first\r?\n")

# What SMALL stands for: options of a run that takes no time.
SMALL = {
    "arc_sweep": "--tables --blocks 2 --threads 64 --updates 4 --rows 70 --width 1 --path plain",
}

# Program, arguments, status, and a part of the one line of errors or, where all is well, of the
# output; then, for files that are written, a name and a part of each. Of several commands, with
# semicolons between, the last is what the row is about. IN is a folder with the INPUTS, OUT one for
# outputs, in which what is refused leaves nothing.
CASES = [
    ("arc_sweep", "--width 5", 2, "'f32' has no kernel of width 5; it has those of width 1, 2, 3"),
    ("arc_sweep", "--lanes 33 --csv OUT/a", 2, "of 0 to 32, mixed, model"),
    ("arc_sweep", "--threads 48", 2, "--threads: must be a multiple of 32"),
    ("arc_sweep", "--preset peers --width 9", 2, "--width is not for --preset; leave it out"),
    ("arc_sweep", "--workload tile --keys 4", 2, "--keys, --layout and --call are for axes"),
    ("arc_sweep", "--workload tile --lanes mixed", 2, "--lanes 'mixed' is for the workload axes"),
    ("arc_sweep", "--lanes model", 2, "'model' for all others"),
    ("arc_sweep", "--keys 4 --call uniform", 2, "promises one key per warp; add 1 to --keys"),
    ("arc_sweep", "--workload cubemap --rows 63", 2, "'cubemap' needs at least 64"),
    ("arc_sweep", "--path vector --padding 3", 2, "'vector' needs rows of whole 16 bytes"),
    ("arc_sweep", "--path auto --promise-zeros aligned --padding 2", 2, "rows of whole 16 bytes"),
    ("arc_sweep", "--path plain --threshold 4", 2, "none of the chosen paths has a threshold"),
    ("arc_sweep", "--path tree --width 70", 2, "'tree' has no kernel of this type, width, form,"),
    ("arc_sweep", "--type f32,f64 --width 3,6", 2, "it has those of width 1, 2, 3, 4, 9, 16"),
    ("arc_sweep", "--type bf16 --path plain --width 1 --padding 0", 2, "rows of whole 4 bytes"),
    ("arc_sweep", "--csv OUT/a --policy-header OUT/a", 2, "name the same file"),
    ("arc_sweep", "SMALL --html OUT/a.html", 0, "\nFor charts and all cells open ",
     "a.html", "<!DOCTYPE html>"),
    ("arc_sweep", "SMALL --csv OUT", 2, "exists and is not a plain file"),
]

# Program, arguments, the output after which the signals come, the signals, an expression for what
# is said at the end, by which who is deaf fails; then, for a file that is written, its name and a
# part of it.
INTERRUPTS = [
    ("arc_sweep", "--tables --blocks 3000 --width 32 --threshold 0-33 --path serialized,auto "
     "--csv OUT/a", "sizes  ", [signal.SIGHUP], "interrupted after 0 of 69", "a.partial",
     "\n# interrupted: after 0 of 69"),
]

# Program, arguments, a part of the line of progress on a terminal.
PROGRESS = [
    ("arc_sweep", "SMALL", "  0 %  0 of 2 cells: width 1"),
]

INPUTS = {
    "text": "text\n",
    "tiny.ppm": "P6 2 1 255\nabcdef",
}


def of_program(table):
    return [row[1:] for row in table if row[0] == NAME]


def without_clock(said):
    return said if ON_CPU else re.sub(CLOCK_FELL, "", said)


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.path("out"))
        for name, content in INPUTS.items():
            os.makedirs(os.path.dirname(self.path("in", name)), exist_ok=True)
            with open(self.path("in", name), "w", encoding="latin-1") as file:
                file.write(content)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def command(self, arguments):
        given = re.findall(r"--[-\w]+", arguments)
        small = re.sub(r"(--[-\w]+)( [^- ]\S*)?", lambda each: "" if each[1] in given else each[0],
                       SMALL[NAME])  # an option that is given twice is told
        for word, text in (("SMALL", small), ("IN", self.path("in")),
                           ("OUT", self.path("out"))):
            arguments = re.sub(rf"\b{word}\b", text, arguments)
        return [PROGRAM, *arguments.split()]

    def skip_where_it_cannot_run(self, errors):
        for reason in ("no CUDA device", "--gpus asks for 2; this machine has", "needs NCCL"):
            if reason in (errors or ""):
                self.skipTest(reason)

    def run_program(self, arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        done = subprocess.run(self.command(arguments), stdout=stdout, stderr=stderr, text=True,
                              check=False)
        self.skip_where_it_cannot_run(done.stderr)
        return done

    def start(self, arguments, after, deaf=False):
        """What runs, once its output holds this, and its output so far."""
        child = subprocess.Popen(self.command(arguments), text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(
                                     signal.SIGHUP, signal.SIG_IGN if deaf else signal.SIG_DFL))
        said = ""
        while after not in said and (line := child.stdout.readline()):
            said += line
        if after not in said:
            _, _, errors, _ = self.end(child)
            self.skip_where_it_cannot_run(errors)
            self.fail(f"{arguments} ended with: {errors}")
        return child, said

    @staticmethod
    def end(child):
        """Its status, what it says till then, and how long that takes."""
        begin = time.monotonic()
        with child:
            said = child.stdout.read(), child.stderr.read()
        return child.returncode, *said, time.monotonic() - begin

    def read(self, *names):
        with open(self.path(*names), encoding="latin-1", newline="") as file:
            return file.read()

    def check_written(self, pattern, part):
        [name] = glob.glob(self.path("out", pattern))
        text = self.read(name)
        self.assertIn(part, text)
        if name.endswith(".ppm"):
            head = re.match(r"P6\n(\d+) (\d+)\n255\n", text)
            self.assertEqual(len(text), len(head[0]) + 3 * int(head[1]) * int(head[2]))
        if name.endswith(".ply"):
            head = text[:text.index("end_header\n") + 11]
            count = int(re.search(r"element vertex (\d+)\n", head)[1])
            self.assertEqual(len(text), len(head) + 4 * count * head.count("property float "))

    def check_refused(self, done, part):
        self.assertRegex(done.stderr, rf"^{NAME}: [^\n]*\n$")
        self.assertIn(part, done.stderr)
        self.assertIn(done.stdout[:7], ("", "device "))
        self.assertEqual({name: self.read("in", name) for name in INPUTS}, INPUTS)

    def check_done(self, done, part, *written):
        self.assertEqual(without_clock(done.stderr), "")
        self.assertIn(part, done.stdout)
        self.assertNotIn("\r", done.stdout)  # a file is no terminal
        for pattern, content in zip(written[::2], written[1::2]):
            self.check_written(pattern, content)


class CommandLines(Programs):
    def test_cases(self):
        for arguments, status, *wanted in of_program(CASES):
            *before, last = arguments.split(" ; ")
            with self.subTest(arguments):
                for each in before:
                    self.check_done(self.run_program(each), "\nwritten ")
                files = os.listdir(self.path("out"))
                done = self.run_program(last)
                self.assertEqual(done.returncode, status, done.stderr)
                (self.check_done if status == 0 else self.check_refused)(done, *wanted)
                if status != 0:
                    self.assertEqual(os.listdir(self.path("out")), files)
            shutil.rmtree(self.path("out"))
            os.mkdir(self.path("out"))

    def test_what_all_programs_have(self):
        self.check_done(self.run_program("--version"), f"{NAME} of arc ")
        self.check_done(self.run_program("-h"), "\n  --version ")
        self.check_done(self.run_program("-h"), "\nIf an option is given twice, the last one")
        option, value = re.search(r"(--[-\w]+) ([^- ]\S*)", SMALL[NAME]).groups()
        done = self.run_program(f"{SMALL[NAME]} {option}={value}")
        self.assertEqual((done.returncode, without_clock(done.stderr)), (
            0, f"{NAME}: {option} is given more than once; the last holds: '{value}'\n"))
        self.assertRegex(done.stdout, r"(?s)^device     .*\npolicy     arc ")
        self.check_refused(self.run_program(f"SMALL {option}"),
                           f"{option} has no value behind it; it must be ")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_lost_output(self):
        unread, pipe = os.pipe()
        os.close(unread)
        with open("/dev/full", "w", encoding="utf-8") as full, open(pipe, "w") as nobody:
            for arguments, lost in (("--help", full), ("SMALL", nobody)):
                done = self.run_program(arguments, stdout=lost)
                self.assertRegex(done.stderr, r"^[^\n]*standard output[^\n]*\n$")
                self.assertEqual(done.returncode, 1)

    def test_interrupts(self):
        for arguments, after, signals, part, *written in of_program(INTERRUPTS):
            with self.subTest(arguments):
                ignored = signal.SIGHUP not in signals  # from the start, as under nohup
                child, said = self.start(arguments, after, ignored)
                if ignored:
                    child.send_signal(signal.SIGHUP)
                limits = f"/proc/{child.pid}/limits"
                if ON_CPU and os.path.exists(limits) and "--gpus" not in arguments:
                    with open(limits, encoding="ascii") as file:  # none takes all memory
                        self.assertRegex(file.read(), r"Max data size +[0-9]")
                for each in signals:
                    child.send_signal(each)
                    time.sleep(0.002)  # else two may be one
                status, output, errors, seconds = self.end(child)
                # They may come at once.
                self.assertIn(status, [128 + its for its in signals], errors)
                self.assertRegex(said + output + errors, part)
                self.assertLess(seconds, 120.0)  # who is deaf to signals takes more
                if written:
                    self.check_written(*written)

    def test_progress(self):
        for arguments, part in of_program(PROGRESS):
            with self.subTest(arguments):
                terminal, its_end = pty.openpty()
                done = self.run_program(arguments, stderr=its_end)
                os.close(its_end)
                shown = b""
                with contextlib.suppress(OSError):  # what ends the reading of a terminal is EIO
                    while piece := os.read(terminal, 4096):
                        shown += piece
                os.close(terminal)
                if b"this machine has 1" in shown:
                    self.skipTest("one GPU")
                self.assertEqual(done.returncode, 0, shown)
                shown = without_clock(shown.decode())
                self.assertRegex(shown, rf"^\r[^\n]*{re.escape(part)}[^\n]*\r\x1b\[K$")
                self.assertLess(max(map(len, shown.split("\r"))), 80 + len("\x1b[K"))


def main():
    ended = unittest.main("__main__", exit=False).result
    no_device = any(reason == "no CUDA device" for _, reason in ended.skipped)
    sys.exit(1 if not ended.wasSuccessful() else SKIPPED if no_device else 0)


if __name__ == "__main__":
    main()
