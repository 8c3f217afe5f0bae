"""test_workload_file.py SWEEP PROFILE FOLDER - from a kernel's profile to the sweep: what arc_sweep
draws from masks.csv has the lanes and addresses that were counted. SPDX-License-Identifier: Apache-2.0
"""
import csv
import os
import subprocess
import sys

SWEEP, PROFILE, FOLDER = sys.argv[1:4]
HEAD = "# arc masks\nplace,lanes,addresses,calls\n"
os.makedirs(FOLDER, exist_ok=True)
os.chdir(FOLDER)
failures = 0


def must(right, text):
    global failures
    if not right:
        failures += 1
        print("FAILED:", text)


def rows(name):
    with open(name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def sweep(*options):
    return subprocess.run([SWEEP, *options], capture_output=True, text=True, check=False)


def write(text):
    with open("bad.csv", "w", encoding="utf-8") as file:
        file.write(text)


counted = subprocess.run([PROFILE, "--masks", "masks.csv"], capture_output=True, text=True,
                         check=True).stdout
masks = [{key: int(value) for key, value in row.items()} for row in rows("masks.csv")]
calls = sum(row["calls"] for row in masks)
lanes = sum(row["calls"] * row["lanes"] for row in masks)
addresses = sum(row["calls"] * row["addresses"] for row in masks)
must(counted == f"{lanes} adds\n", f"the kernel says {counted}, masks.csv {lanes}")
done = sweep("--workload-file", "masks.csv", "--width", "1", "--path", "plain", "--rows", "1000000",
             "--updates", "4000", "--csv", "sweep.csv")
must(done.returncode == 0, done.stderr)
plain, = (row for row in rows("sweep.csv") if row["path"] == "plain")
drawn = float(plain["lane_adds"])
for what, found, wanted in (("lanes", drawn, lanes / calls),
                            ("addresses", drawn - float(plain["conflicts"]), addresses / calls)):
    print(f"{what} of a call: {wanted:.2f} counted, {found:.2f} drawn")
    must(abs(found / wanted - 1) < 0.03, f"{what}: {found} drawn, {wanted} counted")

done = sweep("--workload-file", "masks.csv", "--width", "4")
for path in ("plain", "butterfly", "tree", "auto"):
    must(f"\n  {path} " in done.stdout, f"no line for {path}:\n{done.stdout}")
must(len([line for line in done.stdout.splitlines() if line.startswith("  auto ")]) == 35,
     "auto has not every threshold")

for text, words in (("", "line 0: its calls add up to nothing"),
                    (HEAD, "line 2: its calls add up to nothing"),
                    (HEAD + "1,3,2,0\n", "line 3: its calls add up to nothing"),
                    ("section,workload\n", "line 1: must be # arc masks"),
                    (HEAD + "1,3,2,9\n1,33,2,9\n", "line 4: must be a number, lanes 1..32"),
                    (HEAD + "1,3,4,9\n", "line 3: must be"), (HEAD + "1,3,2\n", "line 3: must be"),
                    (HEAD + "1,3,2,-9\n", "line 3: must be"),
                    (HEAD + "1,3,2,9,9\n", "line 3: must be")):
    write(text)
    done = sweep("--workload-file", "bad.csv")
    must(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1,
         f"{text!r}: status {done.returncode}, {done.stderr}")
for options, words in ((["--workload-file", "nowhere.csv"], "cannot be read"),
                       (["--workload", "file"], "'file' needs --workload-file"),
                       (["--workload-file", "masks.csv", "--preset", "default"], "--preset")):
    done = sweep(*options)
    must(done.returncode == 2 and words in done.stderr, f"{options}: {done.stderr}")
sys.exit(failures > 0)
