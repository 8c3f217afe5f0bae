"""test_command_lines_of_studies.py PROGRAM - the same of the studies' programs.
SPDX-License-Identifier: Apache-2.0

What a row of a table is: bench/common/test_command_lines.py."""
import contextlib
import csv
import glob
import os
import resource
import signal
import struct
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/common"))
import test_command_lines as common
from test_command_lines import (CASES, INPUTS, INTERRUPTS, NAME, ON_CPU, PROGRAM, PROGRESS, SMALL,
                                CommandLines, Programs)  # the tests of the former run here

SMALL.update({
    "bench_gaussians": "--draw --size 40x24 --gaussians 200 --views 2",
    "circles": "--size 40x30 --circles 20",
    "environment": "--size 8 --iterations 1",
    "gaussians": "--size 20x16 --gaussians 20 --views 5 --iterations 4",
    "groups": "--by half --rows 1000 --keys 50 --runs 1",
    "hashgrid": "--batch 6",
    "pagerank": "--scale 5 --degree 4",
    "radiance": "--iterations 2 --size 16x9",
    "spheres": "--spheres 40 --size 24x20 --views 2",
    "toy_workload": "--iterations 1",
})

EXPERIMENTS = {
    "bench_gaussians": "--experiment OUT/a --datasets medium --seeds 1 --iterations 2 --size 16x16 "
                       "--gaussians 9 --views 3 --hold-out 3",
    "pagerank": "SMALL --experiment OUT/a"}
LONG = "--size 32x24 --gaussians 60 --views 4 --iterations 1000000 --out OUT/a.ply --csv OUT/b"
MANY = " --size 8x8 --gaussians 5 --views 1000"

CASES += [
    ("bench_gaussians", "--iterations 3", 2, "give --backward, --papers, --draw or --experiment"),
    ("bench_gaussians", "--backward --datasets scene,small", 2, "give it with --scene PATH"),
    ("bench_gaussians", "--papers --scene IN/scene --size 8x8", 2, "convert.py makes other"),
    ("bench_gaussians", "--papers --init IN/text", 2, "procedural scenes have a model"),
    ("bench_gaussians", "--experiment OUT/a --datasets small --init IN/text", 2, "names others"),
    ("bench_gaussians", "--draw --init IN/model.ply --city 300 --size 40x24 --views 2 "
     "--renders OUT/new", 0, "300 Gaussians, a synthetic city", "new/city_00001.p?[gm]", ""),
    ("bench_gaussians", "--draw --init IN/model.ply --city 300 --views 2 --write OUT/new", 0,
     "300 Gaussians, a synthetic city", "new/cameras.txt", "cameras 2\n1920 1080 "),
    ("bench_gaussians", "--draw --init IN/opaque.ply --scene IN/scene/cameras.txt --size 32x24", 0,
     "\nhalf "),
    ("bench_gaussians", "SMALL --csv OUT/a", 0, "\nnone ", "a", "\nsmall,200,2,40,24,none,"),
    ("bench_gaussians", "--backward --procedural medium --size 9x2 --gaussians 30 --repeats 1 "
     "--csv OUT/a", 0, "times as fast as auto", "a", "\nmedium,none,rows,2,-,"),
    ("bench_gaussians", "--papers --procedural medium --size 9x2 --gaussians 30 --csv OUT/a", 0,
     "the better of sw_s and sw_b", "a", "\n# policy: arc ", "a", "\nmedium,sw_b,arrays,1,32,"),
    ("bench_gaussians", "--experiment OUT/a --datasets large --seeds 2 --iterations 2 "
     "--size 16x16 --gaussians 20 --views 3 --hold-out 3 --ways default,tuned", 0, "written ",
     "a", "\ngaussians,tuned,"),
    ("bench_gaussians", "--backward --ways tuned", 2, "--experiment"),

    ("circles", "--size 40 --out OUT/a.ppm", 2,
     "--size is '40'; it must be WIDTHxHEIGHT, such as 640x480, each from 1 to 4096"),
    ("circles", "--out OUT/picture.gif", 2, "must end in .ppm"),
    ("circles", "--picture IN/absent.ppm --out OUT/a.ppm", 2, "absent.ppm"),
    ("circles", "--picture IN/tiny.ppm --size 3x1", 2, "cannot enlarge the picture of 2 x 1"),
    ("circles", "--picture IN/tiny.ppm --circles 1 --iterations 1", 0, "1 circles, 2 x 1 pixels"),
    ("circles", "SMALL --scene biglittle --tune --out OUT/a.ppm", 0, "\ntrain      PSNR ",
     "a.ppm", "P6\n40 30\n255\n"),
    ("circles", "SMALL --dataset 10k --iterations 1", 0, "\ntrained    1 iterations"),

    ("environment", "--side 24", 2, "--side is '24'; for a scene it must be"),
    ("environment", "--dataset mesh", 2, "--dataset mesh needs --mesh FILE"),
    ("environment", "--mesh IN/absent.obj --out OUT/a.ppm", 2, "absent.obj' cannot be read"),
    ("environment", "--mesh IN/triangle.obj SMALL --out OUT/a.ppm", 0, " 8 x 8 pixels, 1 triangles",
     "a.ppm", "P6\n16 12\n255\n"),
    ("environment", "--dataset specular_29 --compare-paths", 0, "\ngather "),

    ("gaussians", "--repeats 3", 2, "--repeats is for --draw; leave it out"),
    ("gaussians", "--scene IN/scene --size 8x8", 2, "convert.py makes other pictures of --scene"),
    ("gaussians", "--gpus 3 --batch 2", 2, "--batch is 2; with --gpus 3 it must be 3 or more"),
    ("gaussians", "--renders OUT/no/folder --out OUT/a", 2, "folder': No such file or directory"),
    ("gaussians", "--draw --scene IN", 2, "needs a trained model; give one with --init FILE"),
    ("gaussians", "--draw --init IN/text --procedural small", 2, "are two models; give only one"),
    ("gaussians", "--draw --init IN/text --orbit 3", 2, "does not begin with a line"),
    ("gaussians", "--scene IN/absent --renders OUT/new", 2, "absent"),
    ("gaussians", "SMALL --hold-out 1", 2, "every view is held out; raise --hold-out"),
    ("gaussians", "SMALL --tune on", 0, ", tuned"),
    ("gaussians", "SMALL --reproducible --threshold 3 --tiles box", 0, "3, reproducible\n"),
    ("gaussians", "SMALL --procedural large --background white --densify off", 0,
     "scene      large"),
    ("gaussians", "--size 1x1 --gaussians 1 --views 1 --hold-out 0 --iterations 2", 0, "train "),
    ("gaussians", "--scene IN/scene --iterations 1", 0, "loaded     5 pictures in "),
    ("gaussians", "SMALL --out OUT/a.ply --csv OUT/b --cameras OUT/c --checkpoint OUT/d", 0,
     "\nwritten ", "a.ply", "element vertex ", "b", "\n4,view_", "c", "\nview_00004,", "d", "",),
    ("gaussians", "SMALL --renders OUT/new", 0, "drawing    the held-out views",
     "new/view_00000.p?[gm]", ""),
    ("gaussians", "SMALL --out OUT/a.ply ; SMALL --init OUT/a.ply --iterations 0", 0,
     "trained    0 iterations"),
    ("gaussians", "SMALL --checkpoint OUT/a --checkpoint-every 2 ; SMALL --resume OUT/a", 0,
     "from iteration 4 of 4"),
    ("gaussians", "SMALL --checkpoint OUT/a ; SMALL --resume OUT/a --iterations 9", 0,
     "trained    5 iterations"),
    ("gaussians", "SMALL --checkpoint OUT/a ; SMALL --resume OUT/a --iterations 3", 2,
     "--iterations must be that or more"),
    ("gaussians", "--draw --size 32x24 --gaussians 60 --views 5 --csv OUT/a --renders OUT/new", 0,
     "rendered   5 views, ", "a", "\nview_00004,32,24,", "new/view_00004.p?[gm]", ""),
    ("gaussians", "--draw --init IN/model.ply --orbit 3 --size 40x20 --repeats 2", 0,
     "degree 0, 3 views, the first of 40 x 20 pixels"),
    ("gaussians", "--draw --init IN/model.ply --scene IN/scene/cameras.txt --lists 128x64", 0,
     "rendered   5 v"),
    ("gaussians", "--draw --init IN/model.ply --scene IN/scene --views 3", 0, "rendered   3 v"),

    ("groups", "--what \x1b[31m", 2, r"--what is '\x1b[31m'; it must be one of"),
    ("groups", "--\x9b31m", 2, r"'--\xc2\x9b31m' is not an option"),
    ("groups", "--rows 99999999999999999999", 2, "it must be a whole number from 1000 to"),
    ("groups", "--keys=", 2, "--keys is ''; it must be a whole number from 1 to 100000000"),
    ("groups", "--sweep=yes", 2, "--sweep is 'yes'; it must be given without a value"),
    ("groups", "SMALL --what counts --by uniform", 0, "\nuniform           50 "),
    ("groups", "SMALL --what wide --columns 3", 0, "\nhalf              50 "),
    ("groups", "--sweep --by sorted --rows 2000 --runs 1", 0, "\nsorted          2000 "),
    ("groups", "SMALL --what weights --table-rows 9 --csv OUT/a", 0, "\nwritten ",
     "a", "\nweights,half,1000,50,1,9,table,"),

    ("hashgrid", "SMALL --image IN/tiny.ppm --rows half --levels", 0,
     "\nlevel  cells     rows   lanes   keys"),
    ("hashgrid", "SMALL --compare-paths --order rays", 0, "\nvector "),
    ("hashgrid", "--experiment OUT/a --dataset distance_rays --iterations 0 --batch 5", 0,
     "\nwritten ", "a", "\nhashgrid,SW-S,24,distance_rays,"),
    ("hashgrid", "SMALL --scene distance --path levels --out OUT/a.ppm", 0, "\nwritten ",
     "a.ppm", "P6\n"),

    ("pagerank", "--threshold 34", 2, "'34'; it must be a whole number from 0 to 33, auto"),
    ("pagerank", "--path plain --threshold 3", 2, "--path plain has no threshold"),
    ("pagerank", "--experiment OUT/no/folder.csv", 2, "--experiment: cannot write"),
    ("pagerank", "--graph IN/absent", 2, "absent' cannot be read"),
    ("pagerank", "--graph IN/far_edge", 2,
     "has a vertex 2147483646; with 1 edges the largest may be 1000100"),
    ("pagerank", "SMALL --experiment IN/text", 2, "not a table of this device, compiler and policy"),
    ("pagerank", "--graph IN/edges --by vertex --tune", 0, "3 vertices, 3 edges"),
    ("pagerank", "SMALL --compare-paths", 0, "\natomred "),
    ("pagerank", "SMALL --iterations 0", 0, "\ntrained    0 iterations in 0.00 s, no gradient "),
    ("pagerank", "SMALL --experiment OUT/a", 0, "\nwritten ",
     "a", "\npagerank,SW-S,24,vertex,,,,,"),

    ("radiance", "SMALL --view 1 --draw paths --samples 2 --out OUT/a.ppm", 0, "\nwritten ",
     "a.ppm", "P6\n"),
    ("radiance", "SMALL --out OUT/a.ppm --scene OUT/new", 0, "\nwritten ",
     "new/cameras.txt", "cameras 4\n16 9 "),
    ("radiance", "SMALL --reproducible --setting direct", 0, "\ntest       PSNR "),
    ("radiance", "--compare-paths", 0, "\nauto "),

    ("spheres", "--camera --out OUT/a.ppm", 2, "--camera is '--out'"),
    ("spheres", "--size 8193x1 --out OUT/a.ppm", 2, "--size is at most 8192 wide"),
    ("spheres", "SMALL --iterations 2 --out OUT/a.ppm", 0, "\nwritten ",
     "a.ppm", "P6\n48 20\n255\n"),
    ("spheres", "SMALL --iterations 1 --seed 7 --camera row --tune", 0, "\ntest       PSNR "),
    ("spheres", "--compare-paths --scene large --size 20x20 --views 1", 0, "\nwalk "),

    ("toy_workload", "--compare-paths", 1, "path broken: sums differ by 0.0"),
    ("toy_workload", "--compare-paths --nan", 1, "path broken: sums differ by nan"),
    ("toy_workload", "--compare-paths --dataset zeros", 1, "plain atomics: all sums are 0"),
    ("toy_workload", "--experiment OUT/a", 1, "path broken: sums differ by 0.0"),
    ("toy_workload", "--experiment OUT/a --wrong", 1, "wrong after 2 iterations"),
    ("toy_workload", "--path broken", 0, "train      PSNR 30.000 dB, L1 0.50000"),
    ("toy_workload", "--tune --iterations 40", 0, ", tuned\ntrained    40 iterations"),
]

# Circles stand for all that train by studies/common/workload.h.
INTERRUPTS += [
    ("circles", "--size 4096x4096", "policy     ", [signal.SIGHUP], "before the first step"),
    ("circles", "SMALL --iterations 1000000 --out OUT/a.ppm", "path       ", [signal.SIGINT],
     "not judged", "a.ppm", "P6"),
    ("environment", "--side 512", "policy     ", [signal.SIGINT], "before the first step"),
    ("environment", "--mesh IN/solid.obj SMALL --dataset mesh --experiment OUT/a", "plain  ",
     [signal.SIGINT], "\nwritten ", "a", "/solid.obj,,,,,"),
    ("gaussians", LONG, "gaussians  ", [signal.SIGTERM], "b\nthreshold  auto", "b", "iteration,"),
    ("gaussians", LONG + " --renders OUT/new", "gaussians  ", [signal.SIGINT, signal.SIGTERM],
     "interrupted after ", "a.ply", "element vertex "),
    ("gaussians", LONG + " --gpus 2", "gaussians  ", [signal.SIGHUP],
     r"\ntrained [^\n]*\n(ms [^\n]*\nsums [^\n]*\n)?memory ", "a.ply", "element vertex "),
    ("gaussians", LONG + " --gpus 2", "gaussians  ", [signal.SIGTERM, signal.SIGTERM],
     "interrupted after ", "a.ply", "element vertex "),
    ("gaussians", "--iterations 1 --out OUT/a" + MANY, "loading", [signal.SIGINT],
     "gaussians: interrupted (after rendering|before the scene)"),
    ("gaussians", "--iterations 0 --out OUT/a.ply" + MANY, "judging", [signal.SIGINT],
     "interrupted after the training: not all views are judged and rendered",
     "a.ply", "element vertex "),
    ("gaussians", "--iterations 1 --gaussians 2000000", "loading", [signal.SIGINT],
     "interrupted before the scene was made"),
    ("bench_gaussians", "--backward --csv OUT/a --procedural small --gaussians 5000000", "headers",
     [signal.SIGINT], r"headers [^\n]*\ninterrupted\n", "a", "\ndataset,kernel,layout,"),
    ("bench_gaussians", "--backward --procedural small --repeats 1000", "\nsmall: ",
     [signal.SIGINT], r" pairs\ninterrupted\n"),
    ("bench_gaussians", "--experiment OUT/c --seeds 1000 --size 8x8 --gaussians 5 --views 30",
     "loaded", [signal.SIGINT], "\ninterrupted\n", "c", "workload,BW implementation,"),
    ("gaussians", "--draw --csv OUT/a" + MANY + "0", "gaussians  ", [signal.SIGINT],
     "interrupted after ", "a", "view,width,height,"),
    ("groups", "--by zipf-1.2 --rows 1000 --keys 10000000 --runs 1", "\nkeys by ", [signal.SIGINT],
     r"(ms|x cub)\ninterrupted\n"),
    ("groups", "--rows 1000 --keys 1000 --runs 60 --columns 8 --csv OUT/a", "\nuniform ",
     [signal.SIGINT], "\ninterrupted\n", "a", "\nsums,uniform,1000,1000,8,64,table,"),
    ("pagerank", "--scale 22 --degree 64", "policy     ", [signal.SIGINT],
     "interrupted before the graph was complete"),
    ("pagerank", "--scale 22 --degree 64 --experiment OUT/a", "policy     ", [signal.SIGTERM],
     "written ", "a", "\nworkload,BW implementation,balance threshold,dataset,"),
    ("spheres", "--spheres 1000000 --views 100", "policy     ", [signal.SIGINT],
     "before the first step"),
    ("spheres", "--compare-paths --scene large --size 64x64", "\nplain ", [signal.SIGINT],
     "\ninterrupted\n"),
]

PROGRESS += [
    ("circles", "SMALL --iterations 2 --path plain", "plain      iteration 1 of 2"),
    ("gaussians", "SMALL", "iteration 1 of 4 "),
    ("gaussians", "SMALL --gpus 2", "iteration "),
    ("gaussians", "--scene IN/scene --iterations 1", "loading    pictures  "),
    ("gaussians", "--draw --size 32x24 --gaussians 60 --views 5", "drawing  view "),
    ("groups", "SMALL", "plain of 50 keys"),
]

PROPERTIES = ("x y z nx ny nz f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 "
              "rot_0 rot_1 rot_2 rot_3").split()


def ply(rows):
    return f"ply\nformat binary_little_endian 1.0\nelement vertex {len(rows)}\n" + "".join(
        f"property float {name}\n" for name in PROPERTIES) + "end_header\n" + "".join(
            struct.pack("<17f", *row).decode("latin-1") for row in rows)


INPUTS.update({
    "edges": "# three\n0 1\n1 2\n2 0\n",
    "far_edge": "0 2147483646\n",
    "solid.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    "triangle.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "model.ply": ply([(0.1 * i, *[0] * 12, 1, 0, 0, 0) for i in range(9)]),
    # Training stops before the light one, which drawing adds.
    "opaque.ply": ply([(0, 0, z, 0, 0, 0, *[light] * 3, 10, 2, 2, 2, 1, 0, 0, 0)
                       for z, light in ((0, -2), (1, 1.77))]),
    "scene/cameras.txt": "cameras 5\n" + "".join(
        f"32 24 30 30 16 12 1 0 0 0.{i} 0 1 0 0 0 0 1 3 {i}.ppm\n" for i in range(5)),
    "scene/points.txt": "points 9\n" + "".join(f"0.{i} 0.{9 - i} 0 1 0 0\n" for i in range(9)),
})
INPUTS.update({f"scene/images/{i}.ppm": "P6 32 24 255\n" + 2304 * chr(40 * i + 20)
               for i in range(5)})


class Experiments(Programs):
    @unittest.skipUnless(NAME in EXPERIMENTS, "one of each kind is enough")
    def test_tables_grow(self):
        self.run_program(EXPERIMENTS[NAME])
        text = self.read("out", "a")
        self.run_program(EXPERIMENTS[NAME])
        self.assertEqual(self.read("out", "a")[:len(text)], text)
        self.assertGreater(len(self.read("out", "a")), 1.5 * len(text))
        self.check_experiment(text)

    def check_experiment(self, text):
        """Each way trains once, at the threshold at which its step alone takes least."""
        steps, trained = {}, {}
        for row in csv.DictReader(line for line in text.splitlines() if line[0] != "#"):
            way = row["dataset"], row["BW implementation"], row["seed"]
            self.assertEqual(row["forward ms"] == "", ON_CPU)
            if row["iterations"] == "0":
                self.assertEqual(row["train PSNR"] + row["end-to-end training time"], "")
                steps.setdefault(way, {})[row["balance threshold"]] = float(row["backward ms"])
            else:
                self.assertNotIn(way, trained)
                self.assertEqual(row["end-to-end training time"] == "", ON_CPU)
                trained[way] = row["balance threshold"]
        only_trained = {way: trained.pop(way) for way in set(trained) - set(steps)}
        self.assertEqual({name for _, name, _ in only_trained},
                         {"default", "SW-S retuned", "SW-B retuned"})
        for (_, name, _), threshold in only_trained.items():
            self.assertRegex(threshold, "^(auto|-)$" if name == "default" else r"^([12]?\d|3[01])$")
        self.assertEqual(steps.keys(), trained.keys())
        for way, threshold in trained.items():
            self.assertEqual(steps[way][threshold], min(steps[way].values()))
            counts = {"SW-S": 5, "SW-B": 5, "auto": 6}
            self.assertEqual(len(steps[way]), counts.get(way[1], 1))

    @unittest.skipUnless(PROGRAM.endswith("pagerank_simt"), "a limit would stop a GPU's driver")
    def test_out_of_memory(self):
        limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit[1]))
        done = self.run_program("--scale 26 --degree 4")
        resource.setrlimit(resource.RLIMIT_AS, limit)
        self.assertEqual(done.returncode, 2)
        self.check_refused(done, "take 7.5 GB of memory, and ")

@unittest.skipUnless(NAME == "gaussians", "gaussians alone")
class Gaussians(Programs):
    def test_lost_reader_and_checkpoint(self):
        """Neither costs the model."""
        child, _ = self.start(LONG + " --checkpoint OUT/c --checkpoint-every 4", "gaussians  ")
        while not os.path.isdir(self.path("out", "c.partial")):
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.path("out", "c.partial"))
        self.assertRegex(child.stderr.readline(), "^gaussians: cannot write '.*Is a directory")
        child.stdout.close()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), 1)
        child.stderr.close()
        self.check_written("a.ply", "element vertex ")

    def run_group(self, gpus, options):
        """What one process or two make, without times."""
        done = self.run_program(
            "--reproducible --batch 4 --size 20x16 --gaussians 60 --views 9 --densify-until 13 "
            f"--out OUT/a.ply --checkpoint OUT/a --csv OUT/b --gpus {gpus} {options}")
        self.check_done(done, f"group      {gpus} processes, 4 views per step")
        steps = [line.split(",")[:8] for line in self.read("out", "b").splitlines()]
        return steps, self.read("out", "a.ply"), self.read("out", "a")

    def test_two_processes_make_the_same(self):
        """13 views are no multiple of the 4 of a step; then from a checkpoint of two."""
        self.assertEqual(self.run_group(1, "--iterations 13"), self.run_group(2, "--iterations 13"))
        os.rename(self.path("out", "a"), self.path("out", "from"))
        more = "--iterations 21 --resume OUT/from"
        self.assertEqual(self.run_group(1, more), self.run_group(2, more))

    @staticmethod
    def children(parent):
        """Their numbers, and the least processor time, in seconds, that one of them has had."""
        found, seconds = [], []
        for name in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError), open(name, encoding="latin-1") as file:
                number, _, rest = file.read().partition(" ")
                rest = rest.rpartition(")")[2].split()
                if int(rest[1]) == parent:
                    found.append(int(number))
                    seconds.append((int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK"))
        return sorted(found), min(seconds, default=0.0)

    def check_killed(self, rank, options, told):
        child, _ = self.start("--gpus 2 --size 20x16 --gaussians 20 --views 4 --iterations 1000000"
                              + options, "group      2 processes")
        until, begun = time.monotonic() + 120.0, 0.2 if ON_CPU else 1.0
        while self.children(child.pid)[1] < begun and time.monotonic() < until:
            time.sleep(0.05)  # till they train, however busy the machine is: to start takes less
        killed = self.children(child.pid)[0][rank]
        os.kill(killed, signal.SIGKILL)
        status, _, errors, seconds = self.end(child)
        self.assertEqual(status, 1)
        self.assertRegex(errors, rf"^gaussians: process {rank} of 2 \(number {killed}\): ended by "
                                 rf"signal 9 [^\n]*{told}[^\n]*\n$")
        self.assertLess(seconds, 120.0)

    @unittest.skipUnless(os.path.exists("/proc/self/stat"), "no list of processes")
    def test_killed_processes(self):
        for rank in (0, 1):
            self.check_killed(rank, " --checkpoint OUT/c", "--resume ")
            self.check_refused(self.run_program("SMALL --views 4 --iterations 0 --resume OUT/c"),
                               "; --iterations must be that or more")
            os.remove(self.path("out", "c"))
        self.check_killed(1, "", "iterations, without --checkpoint")
        self.assertEqual(os.listdir(self.path("out")), [])

if __name__ == "__main__":
    common.main()
