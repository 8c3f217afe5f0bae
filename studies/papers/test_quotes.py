"""test_quotes.py ROOT - pages hold what the commands print that they quote, and need no GPU.
SPDX-License-Identifier: Apache-2.0"""
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
SWEEP = ["--sweep", "bench/results/h200/default.csv"]
MODEL = "studies/hardware/hardware.csv"
# A page, a command, and which of the lines that it prints stand in the page.
PAPER = "studies/results/h200/paper.csv"
QUOTES = (("studies/hardware/README.md",
           ["studies/hardware/figure.py", MODEL, *SWEEP, "--measured", PAPER,
            "--simulated", "studies/results/gpgpu_sim/papers.csv"], r"\| \w.*"),
          ("studies/results/h200/paper.md",
           ["studies/papers/paper.py", PAPER],
           r"\| .* over (?:plain|CCCL|CUB).*"),
          ("studies/README.md", ["studies/papers/paper.py", PAPER], r"\| \w+, all datasets .*"),
          ("studies/results/h200/paper_data.md",
           ["studies/papers/paper.py", "studies/results/h200/paper_data.csv"],
           r"(?:\| (?:gaussians|environment) .*|The largest .*)"))


# Tables of the flag: a page, the last cells of the table's head, the projects that it leaves out.
STRANGERS = "studies/results/h200/strangers.csv"
FLAG = (("docs/try.md", "| `SUMS`, × | `LEARNS`, × | a call of arc, × |",
         ("gsplat", "nvdiffrast_shared")),
        ("studies/kernels_elsewhere.md", "| unchanged, ms | `SUMS` | `LEARNS` | call |", ("gsplat",)))


def run(command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True,
                          encoding="utf-8", check=False)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def speed(x):
    return f"{x:.2f}" if x < 2 else f"{x:.1f}" if x < 9.95 else f"{x:.0f}"


def flag_defects():
    """What a table of the flag says, in any order, stands in its file."""
    scenes = collections.defaultdict(dict)
    for row in csv.DictReader(line for line in read(STRANGERS).splitlines() if line[0] != "#"):
        scenes[row["project"], row["scene"]][row["way"]] = speed(float(row["x"]))
    for name, head, without in FLAG:
        must = sorted(tuple(ways.get(way, "") for way in ("flag", "learns", "call"))
                      for (project, _), ways in scenes.items() if not project.startswith(without))
        table = read(name).partition(head + "\n")[2].partition("\n\n")[0].splitlines()[1:]
        rows = sorted(tuple(cell.strip() for cell in row.split("|")[-4:-1]) for row in table)
        yield from (f"{name} has {row}, its file not" for row in rows if row not in must)
        if len(rows) != len(must):
            yield f"{name}: {len(rows)} of {len(must)} scenes"


def defects():
    yield from flag_defects()
    for name, command, lines in QUOTES:
        done, page = run(command), read(name)
        quoted = re.findall(f"(?m)^{lines}$", done.stdout)
        if done.returncode or not quoted:
            yield f"{command}: status {done.returncode}, {len(quoted)} lines\n{done.stderr}"
        yield from (f"{name} lacks: {line}" for line in quoted if line not in page.splitlines())
        for count in re.findall(r"\d+ of \d+", done.stdout):
            if count.endswith(" of 0") or count not in page:
                yield f"{name} lacks: {count}"
    text = read(MODEL)
    if not re.search(r"(?m)^# policy: arc \d+\.\d+\.\d+ ", text):
        yield f"{MODEL}: the head does not name arc's version"
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:  # nothing to compare with
        file.write(re.sub("(?m)^H200 sweep.*\n", "", text))
        file.flush()
        if run(["studies/hardware/figure.py", file.name, *SWEEP]).returncode != 2:
            yield "figure.py accepts a model without cells of the sweep"


found = list(defects())
print("\n".join(found) or f"{len(QUOTES) + len(FLAG)} pages")
sys.exit(bool(found))
