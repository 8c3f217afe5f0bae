"""test_command_lines.py PROGRAM - what programs accept and refuse, print and leave behind.
SPDX-License-Identifier: Apache-2.0

PROGRAM is one build of a program that the tables name: .../groups_simt."""
import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
NAME = os.path.basename(PROGRAM).rsplit("_", 1)[0]
SKIPPED = 77

# What SMALL stands for: options of a run that takes no time.
SMALL = {
    "groups": "--by half --rows 1000 --keys 50 --runs 1",
}

# Program, arguments, status, and a part of the one line of errors or, where all is well, of the
# output; then, for a file that is written, its name and a part of it. IN is a folder with the
# INPUTS, OUT one for outputs, in which what is refused leaves nothing.
CASES = [
    ("groups", "--nonsense", 2, "'--nonsense' is not an option; see --help"),
    ("groups", "--what means --csv OUT/a", 2,
     "--what is 'means'; it must be one of sums, counts, weights"),
    ("groups", "--by chance", 2, "one of uniform, zipf-1.05, zipf-1.2, sorted, half, all"),
    ("groups", "--rows 999", 2, "'999'; it must be a whole number from 1000 to 100000000"),
    ("groups", "--rows 1e4", 2, "--rows is '1e4'; it must be a whole number"),
    ("groups", "--rows 99999999999999999999", 2, "it must be a whole number from 1000 to"),
    ("groups", "--keys=", 2, "--keys is ''; it must be a whole number from 1 to 100000000"),
    ("groups", "--runs", 2, "--runs is ''; it must be a whole number from 1 to 1000"),
    ("groups", "--columns 2 --what counts", 2, "--columns is for --what sums; counts have one"),
    ("groups", "--sweep --keys 10", 2, "--keys is not for --sweep; leave it out"),
    ("groups", "--sweep=yes", 2, "--sweep is 'yes'; it must be given without a value"),
    ("groups", "--csv OUT/no/folder.csv", 2, "--csv: cannot write '"),
    ("groups", "--csv OUT", 2, "it exists and is not a plain file"),
    ("groups", "--csv=", 2, "--csv is ''; it must be the name of a file"),
    ("groups", "SMALL --columns=8", 0, "\nhalf              50 "),
    ("groups", "SMALL --what counts --by uniform", 0, "\nuniform           50 "),
    ("groups", "--sweep --by sorted --rows 2000 --runs 1", 0, "\nsorted          2000 "),
    ("groups", "SMALL --what weights --table-rows 9 --csv OUT/a", 0, "\nwritten ",
     "a", "\nweights,half,1000,50,1,9,table,"),
]

# Program, arguments, the output after which the signals come, the signals, a part of what is said
# at the end; then, for a file that is written, its name and a part of it.
INTERRUPTS = [
    ("groups", "--rows 1000 --keys 1000 --runs 300 --columns 8 --csv OUT/a", "\nuniform ", [signal.SIGINT],
     "\ninterrupted\n", "a", "\nsums,uniform,1000,1000,8,64,table,"),
]

# Program, arguments, a part of the line of progress on a terminal.
PROGRESS = [
    ("groups", "SMALL", "plain of 50 keys"),
]

INPUTS = {}


def of_program(table):
    return [row[1:] for row in table if row[0] == NAME]


class CommandLines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("in", "out"):
            os.mkdir(self.path(name))
        for name, content in INPUTS.items():
            with open(self.path("in", name), "wb") as file:
                file.write(content)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def command(self, arguments):
        for word, text in (("SMALL", SMALL[NAME]), ("IN", self.path("in")),
                           ("OUT", self.path("out"))):
            arguments = re.sub(rf"\b{word}\b", text, arguments)
        return [PROGRAM, *arguments.split()]

    def run_program(self, arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        done = subprocess.run(self.command(arguments), stdout=stdout, stderr=stderr, text=True,
                              check=False)
        if "no CUDA device" in (done.stderr or ""):
            self.skipTest("no CUDA device")
        return done

    def check_written(self, name, part):
        with open(self.path("out", name), "rb") as file:
            self.assertIn(part.encode(), file.read())
        os.remove(self.path("out", name))

    def check_refused(self, done, part):
        self.assertRegex(done.stderr, rf"^{NAME}: [^\n]*\n$")
        self.assertIn(part, done.stderr)
        self.assertIn(done.stdout[:7], ("", "device "))
        self.assertEqual(os.listdir(self.path("out")), [])

    def check_done(self, done, part, *written):
        self.assertEqual(done.stderr, "")
        self.assertIn(part, done.stdout)
        self.assertNotIn("\r", done.stdout)  # a file is no terminal
        if written:
            self.check_written(*written)

    def test_cases(self):
        for arguments, status, *wanted in of_program(CASES):
            with self.subTest(arguments):
                done = self.run_program(arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                (self.check_done if status == 0 else self.check_refused)(done, *wanted)

    def test_what_all_programs_have(self):
        self.check_done(self.run_program("--version"), f"{NAME} of arc ")
        self.check_done(self.run_program("-h"), "\n  --version ")
        self.assertRegex(self.run_program("SMALL").stdout, r"(?s)^device     .*\npolicy     arc ")

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
                self.run_program("SMALL")  # skips where there is no device
                child = subprocess.Popen(self.command(arguments), text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                said = ""
                while after not in said and (line := child.stdout.readline()):
                    said += line
                for each in signals:
                    child.send_signal(each)
                    time.sleep(0.002)  # else two may be one
                output, errors = child.communicate()
                self.assertEqual(child.returncode, 130, errors)
                self.assertIn(part, said + output + errors)
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
                self.assertEqual(done.returncode, 0, shown)
                self.assertRegex(shown.decode(), rf"^\r[^\n]*{re.escape(part)}[^\n]*\r\x1b\[K$")


if __name__ == "__main__":
    ended = unittest.main(exit=False).result
    no_device = any(reason == "no CUDA device" for _, reason in ended.skipped)
    sys.exit(1 if not ended.wasSuccessful() else SKIPPED if no_device else 0)
