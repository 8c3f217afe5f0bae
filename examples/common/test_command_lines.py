"""test_command_lines.py PROGRAM - what programs accept and refuse, print and leave behind.
SPDX-License-Identifier: Apache-2.0

PROGRAM is one build of a program that the tables name: .../groups_simt."""
import contextlib
import os
import pty
import re
import resource
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

# What SMALL stands for: options of a run that takes no time.
SMALL = {
    "circles": "--size 40x30 --circles 20",
    "circles_renderers": "--size 7x3",
    "environment": "--size 8 --iterations 1",
    "fit_image": "--size 32x24 --gaussians 40 --iterations 4",
    "groups": "--by half --rows 1000 --keys 50 --runs 1",
    "hashgrid": "--batch 6",
    "pagerank": "--scale 5 --degree 4",
    "spheres": "--spheres 40 --size 24x20 --views 2",
    "toy_workload": "--iterations 1",
}

# Program, arguments, status, and a part of the one line of errors or, where all is well, of the
# output; then, for a file that is written, its name and a part of it. IN is a folder with the
# INPUTS, OUT one for outputs, in which what is refused leaves nothing.
CASES = [
    ("circles", "--nonsense --out OUT/a.ppm", 2, "'--nonsense' is not an option; see --help"),
    ("circles", "--size 40 --out OUT/a.ppm", 2,
     "--size is '40'; it must be WIDTHxHEIGHT, such as 640x480, each from 1 to 4096"),
    ("circles", "--size 4097x2", 2, "--size is '4097x2'; it must be WIDTHxHEIGHT"),
    ("circles", "--size 64x64x3", 2, "--size is '64x64x3'; it must be WIDTHxHEIGHT"),
    ("circles", "--scene 5", 2, "'5'; it must be one of 3, fit, 10k, 100k, biglittle"),
    ("circles", "--circles 0", 2, "'0'; it must be a whole number from 1 to 1000000"),
    ("circles", "--out OUT/picture.gif", 2, "must end in .ppm"),
    ("circles", "--dataset 10k --scene 3", 2, "--scene is not for --dataset; leave it out"),
    ("circles", "--picture IN/absent.ppm --out OUT/a.ppm", 2, "absent.ppm"),
    ("circles", "--picture IN/short.ppm", 2, "cut short"),
    ("circles", "--picture IN/tiny.ppm --size 3x1", 2, "cannot enlarge the picture of 2 x 1"),
    ("circles", "--picture IN/tiny.ppm --circles 1 --iterations 1", 0, "1 circles, 2 x 1 pixels"),
    ("circles", "SMALL --scene biglittle --tune --out OUT/a.ppm", 0, "\ntrain      PSNR ",
     "a.ppm", "P6\n40 30\n255\n"),
    ("circles", "SMALL --dataset 10k --iterations 1", 0, "\ntrained    1 iterations"),
    ("circles", "SMALL --compare-paths", 0, "\ntransposed "),

    ("circles_renderers", "--size 7", 2, "--size is '7'; it must be WIDTHxHEIGHT"),
    ("circles_renderers", "--circles 7", 2, "'--circles' is not an option; see --help"),

    ("environment", "--side 0", 2, "--side is '0'; it must be a whole number from 1 to 1024"),
    ("environment", "--side 24", 2, "--side is '24'; for a scene it must be"),
    ("environment", "--size 7", 2, "--size is '7'; it must be a whole number from 8 to 1024"),
    ("environment", "--mesh=", 2, "--mesh is ''; it must be the name of a file"),
    ("environment", "--dataset specular", 2, "must be one of diffuse, specular_08, specular_29,"),
    ("environment", "--dataset diffuse", 2, "it is for --compare-paths or --experiment"),
    ("environment", "--dataset diffuse --compare-paths --size 8", 2,
     "--size is not for --dataset diffuse"),
    ("environment", "--dataset mesh", 2, "--dataset mesh needs --mesh FILE"),
    ("environment", "--dataset sphere --mesh IN/triangle.obj", 2, "--mesh is not for --dataset"),
    ("environment", "--mesh IN/absent.obj --out OUT/a.ppm", 2, "absent.obj' cannot be read"),
    ("environment", "--mesh IN/wrong.obj", 2, "line 2: a corner is no vertex before it"),
    ("environment", "--mesh IN/triangle.obj SMALL --out OUT/a.ppm", 0, " 8 x 8 pixels, 1 triangles",
     "a.ppm", "P6\n16 12\n255\n"),
    ("environment", "SMALL --path gather", 0, "\ntest       PSNR "),
    ("environment", "--dataset specular_29 --compare-paths", 0, "\ngather "),
    ("environment", "--dataset lookup --compare-paths --size 8", 0, "\nfour "),

    ("fit_image", "--gaussians 0 --out OUT/a.ppm", 2, "must be a whole number from 1 to 100"),
    ("fit_image", "--lr-scale nan", 2, "--lr-scale is 'nan'; it must be a number from 0 to 1000"),
    ("fit_image", "--lr-angle 1e9", 2, "--lr-angle is '1e9'; it must be a number from 0 to 1000"),
    ("fit_image", "--picture IN/absent.ppm --out OUT/a.ppm", 2, "absent.ppm"),
    ("fit_image", "--picture IN/tiny.ppm --size 3x1", 2, "cannot enlarge the picture of 2 x 1"),
    ("fit_image", "--picture IN/tiny.ppm --iterations 2", 0, "\ngaussians  1, 8 values each"),
    ("fit_image", "--size 17x1 --gaussians 300 --iterations 2", 0, "\ntrain      PSNR "),
    ("fit_image", "SMALL --lr-mean 1000 --lr-scale 1000", 0, "\ntrain      PSNR "),
    ("fit_image", "SMALL --path butterfly --seed 7 --out OUT/a.ppm", 0, "path       butterfly,",
     "a.ppm", "P6\n32 24\n255\n"),
    ("fit_image", "SMALL --tune", 0, ", tuned\n"),
    ("fit_image", "--size 32x24 --gaussians 40 --compare-paths", 0, "\ntransposed "),

    ("groups", "--nonsense", 2, "'--nonsense' is not an option; see --help"),
    ("groups", "--what means --csv OUT/a", 2,
     "--what is 'means'; it must be one of sums, counts, weights"),
    ("groups", "--what \x1b[31m", 2, r"--what is '\x1b[31m'; it must be one of"),
    ("groups", "--\x9b31m", 2, r"'--\xc2\x9b31m' is not an option"),
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

    ("hashgrid", "--scene sphere", 2, "--scene is 'sphere'; it must be one of picture, distance"),
    ("hashgrid", "--order sorted", 2, "it must be one of random, rays"),
    ("hashgrid", "--batch 23", 2, "--batch is '23'; it must be a whole number from 5 to 22"),
    ("hashgrid", "--width 65", 2, "it must be one of 64, 128"),
    ("hashgrid", "--rows double", 2, "it must be one of half, float"),
    ("hashgrid", "--image IN/absent.ppm", 2, "absent.ppm"),
    ("hashgrid", "--image IN/tiny.ppm --scene distance", 2, "--image is for --scene picture"),
    ("hashgrid", "--rows half --compare-paths", 2, "--rows half is for training and --levels"),
    ("hashgrid", "SMALL --image IN/tiny.ppm --rows half --levels", 0,
     "\nlevel  cells     rows   lanes   keys"),
    ("hashgrid", "SMALL --compare-paths --order rays", 0, "\nvector "),
    ("hashgrid", "--experiment OUT/a --dataset distance_rays --iterations 0 --batch 5", 0,
     "\nwritten ", "a", "\nhashgrid,SW-S,24,distance_rays,"),
    ("hashgrid", "SMALL --dataset distance_rays", 0, "64 a batch, rays, of a distance"),
    ("hashgrid", "SMALL --scene distance --path levels --out OUT/a.ppm", 0, "\nwritten ",
     "a.ppm", "P6\n"),

    ("pagerank", "--scale 27", 2, "--scale is '27'; it must be a whole number from 1 to 26"),
    ("pagerank", "--iterations ten", 2, "'ten'; it must be a whole number from 0 to 1000000"),
    ("pagerank", "--by lane", 2, "--by is 'lane'; it must be one of edge, vertex"),
    ("pagerank", "--path best", 2, "be one of plain, serialized, butterfly, tree, auto,"),
    ("pagerank", "--threshold 34", 2, "'34'; it must be a whole number from 0 to 33, auto"),
    ("pagerank", "--path plain --threshold 3", 2, "--path plain has no threshold"),
    ("pagerank", "--tune --path tree", 2, "--path is not for --tune; leave it out"),
    ("pagerank", "--compare-paths --path tree", 2, "--path is not for --compare-paths"),
    ("pagerank", "--compare-paths --iterations 3", 2, "--iterations is not for --compare-paths"),
    ("pagerank", "--experiment OUT/a --threshold 3", 2, "--threshold is not for --experiment"),
    ("pagerank", "--experiment OUT/no/folder.csv", 2, "--experiment: cannot write"),
    ("pagerank", "--out OUT/a.ppm", 2, "'--out' is not an option; see --help"),
    ("pagerank", "--graph IN/edges --seed 3", 2, "--seed is not for --graph; leave it out"),
    ("pagerank", "--graph IN/absent", 2, "absent' cannot be read"),
    ("pagerank", "--graph IN/far_edge", 2,
     "has a vertex 2147483646; with 1 edges the largest may be 1000100"),
    ("pagerank", "--graph IN/half_an_edge", 2, "line 2: must be two whole numbers"),
    ("pagerank", "--graph IN/half_an_edge --experiment OUT/a", 2, "line 2: must be two whole"),
    ("pagerank", "SMALL --experiment IN/text", 2, "no table of this device, compiler and policy"),
    ("pagerank", "--graph IN/edges --by vertex --tune", 0, "3 vertices, 3 edges"),
    ("pagerank", "SMALL --compare-paths", 0, "\natomred "),
    ("pagerank", "SMALL --path atomred", 0, "path       atomred, threshold -"),
    ("pagerank", "SMALL --experiment OUT/a", 0, "\nwritten ",
     "a", "\npagerank,SW-S,24,vertex,,,,,"),

    ("spheres", "--scene tiny", 2, "--scene is 'tiny'; it must be one of small, large"),
    ("spheres", "--spheres 0", 2, "'0'; it must be a whole number from 1 to 4000000"),
    ("spheres", "--spheres 5 --scene large", 2, "--scene is not for --spheres; leave it out"),
    ("spheres", "--camera hot", 2, "--camera is 'hot'; it must be one of spheres, row"),
    ("spheres", "--camera --out OUT/a.ppm --views", 2, "--camera is '--out'"),
    ("spheres", "--out OUT/a.txt", 2, "a.txt': the name must end in .ppm"),
    ("spheres", "--size 8193x1 --out OUT/a.ppm", 2, "--size is at most 8192 wide"),
    ("spheres", "SMALL --iterations 2 --out OUT/a.ppm", 0, "\nwritten ",
     "a.ppm", "P6\n48 20\n255\n"),
    ("spheres", "SMALL --iterations 1 --seed 7 --camera row --tune", 0, "\ntest       PSNR "),
    ("spheres", "--compare-paths --scene large --size 20x20 --views 1", 0, "\nwalk "),
    ("spheres", "SMALL --compare-paths --camera row", 0, "\ndivergent "),

    ("toy_workload", "--dataset none", 2, "'none'; it must be one of values, zeros"),
    ("toy_workload", "--compare-paths", 1, "path broken: sums differ by 0.0"),
    ("toy_workload", "--compare-paths --nan", 1, "path broken: sums differ by nan"),
    ("toy_workload", "--compare-paths --dataset zeros", 1, "plain atomics: all sums are 0"),
    ("toy_workload", "--experiment OUT/a", 1, "path broken: sums differ by 0.0"),
    ("toy_workload", "--experiment OUT/a --dataset zeros", 1, "plain atomics: all sums are 0"),
    ("toy_workload", "--experiment OUT/a --wrong", 1, "wrong after 2 iterations"),
    ("toy_workload", "--wrong --iterations 0", 1, "wrong after 0 iterations"),
    ("toy_workload", "--path broken", 0, "train      PSNR 30.000 dB, L1 0.50000"),
    ("toy_workload", "--tune --iterations 40", 0, ", tuned\ntrained    40 iterations"),
]

# Program, arguments, the output after which the signals come, the signals, a part of what is said
# at the end; then, for a file that is written, its name and a part of it.
INTERRUPTS = [
    ("environment", "--size 8 --iterations 100000 --out OUT/a.ppm", "views      ",
     [signal.SIGINT], "interrupted after", "a.ppm", "P6"),
    ("fit_image", "--size 32x32 --gaussians 60 --iterations 1000000 --out OUT/a.ppm", "gaussians  ",
     [signal.SIGTERM], "interrupted after", "a.ppm", "P6"),
    ("groups", "--rows 1000 --keys 1000 --runs 300 --columns 8 --csv OUT/a", "\nuniform ",
     [signal.SIGINT], "\ninterrupted\n", "a", "\nsums,uniform,1000,1000,8,64,table,"),
    ("hashgrid", "SMALL --iterations 1000000", "samples    ", [signal.SIGINT], "interrupted after"),
    ("pagerank", "--scale 8 --iterations 100000", "graph      ", [signal.SIGINT],
     "interrupted after"),
    ("pagerank", "--scale 22 --degree 64", "policy     ", [signal.SIGINT],
     "interrupted before the graph was complete"),
    ("pagerank", "--scale 22 --degree 64 --experiment OUT/a", "policy     ", [signal.SIGTERM],
     "written ", "a", "\nworkload,BW implementation,balance threshold,dataset,"),
    ("spheres", "SMALL --iterations 100000", "scene      ", [signal.SIGINT], "interrupted after"),
]

# Program, arguments, a part of the line of progress on a terminal.
PROGRESS = [
    ("circles", "SMALL --iterations 2 --path plain", "plain      iteration 1 of 2"),
    ("environment", "SMALL", "auto       iteration 1 of 1"),
    ("fit_image", "SMALL", "auto       iteration 1 of 4"),
    ("groups", "SMALL", "plain of 50 keys"),
    ("pagerank", "SMALL --iterations 2", "auto       iteration 1 of 2"),
    ("spheres", "SMALL --iterations 3", "auto       iteration 1 of 3"),
]

INPUTS = {
    "edges": "# three\n0 1\n1 2\n2 0\n",
    "far_edge": "0 2147483646\n",
    "half_an_edge": "0 1\n1\n",
    "short.ppm": "P6 4 4 255\nxyz",
    "text": "text\n",
    "tiny.ppm": "P6 2 1 255\nabcdef",
    "triangle.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "wrong.obj": "v 0 0 0\nf 1 2 3\n",
}


def of_program(table):
    return [row[1:] for row in table if row[0] == NAME]


class CommandLines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("in", "out"):
            os.mkdir(self.path(name))
        for name, content in INPUTS.items():
            with open(self.path("in", name), "w", encoding="latin-1") as file:
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

    def read(self, *names):
        with open(self.path(*names), encoding="latin-1", newline="") as file:
            return file.read()

    def check_written(self, name, part):
        text = self.read("out", name)
        self.assertIn(part, text)
        if name.endswith(".ppm"):
            head = re.match(r"P6\n(\d+) (\d+)\n255\n", text)
            self.assertEqual(len(text), len(head[0]) + 3 * int(head[1]) * int(head[2]))
        os.remove(self.path("out", name))

    def check_refused(self, done, part):
        self.assertRegex(done.stderr, rf"^{NAME}: [^\n]*\n$")
        self.assertIn(part, done.stderr)
        self.assertIn(done.stdout[:7], ("", "device "))
        self.assertEqual(os.listdir(self.path("out")), [])
        self.assertEqual({name: self.read("in", name) for name in INPUTS}, INPUTS)

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
                if ON_CPU and os.path.exists(limits := f"/proc/{child.pid}/limits"):
                    with open(limits, encoding="ascii") as file:  # none takes all memory
                        self.assertRegex(file.read(), r"Max data size +[0-9]")
                for each in signals:
                    child.send_signal(each)
                    time.sleep(0.002)  # else two may be one
                output, errors = child.communicate(timeout=20)
                self.assertEqual(child.returncode, 130, errors)
                self.assertIn(part, said + output + errors)
                if written:
                    self.check_written(*written)

    @unittest.skipUnless(NAME == "pagerank", "one workload is enough")
    def test_tables_grow(self):
        self.run_program("SMALL --experiment OUT/a")
        text = self.read("out", "a")
        self.run_program("SMALL --experiment OUT/a")
        self.assertEqual(self.read("out", "a")[:len(text)], text)
        self.assertGreater(len(self.read("out", "a")), 1.5 * len(text))

    @unittest.skipUnless(PROGRAM.endswith("pagerank_simt"), "a limit would stop a GPU's driver")
    def test_out_of_memory(self):
        limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit[1]))
        done = self.run_program("--scale 26 --degree 4")
        resource.setrlimit(resource.RLIMIT_AS, limit)
        self.assertEqual(done.returncode, 2)
        self.check_refused(done, "take 7.5 GB of memory, and ")

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
                self.assertLess(max(map(len, shown.decode().split("\r"))), 80 + len("\x1b[K"))


if __name__ == "__main__":
    ended = unittest.main(exit=False).result
    no_device = any(reason == "no CUDA device" for _, reason in ended.skipped)
    sys.exit(1 if not ended.wasSuccessful() else SKIPPED if no_device else 0)
