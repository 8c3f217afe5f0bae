"""check_results.py ARC_SWEEP_SIMT | ARC_POLICY.CUH FOLDER - are the results in FOLDER/<gpu> what they
should be? SPDX-License-Identifier: Apache-2.0

Each folder is named after the device of its files. It holds them, pictures and pages, and nothing
else; README.md names them. A folder without that page was just measured: it has the file of each
preset, whole. With arc_sweep, each preset's file has just the cells that it plans, or, with a line
'# rows:' in its head, some of them. All name their device and arc's version, which is of this minor
one but for the files that FOLDER/README.md lists as older. Figures of the sweep are numbers in their
range, every sum was right. A line a defect; exit status 1 if there is any."""
import collections
import csv
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import bench_test  # noqa: F401  finds what follows
import results

PRESETS = ("policy", "paths", "widths", "types")  # of bench/add_results.sh
HEAD = ("program", "date", "command", "device", "clocks", "cuda", "compiler", "policy", "sizes",
        "rigour")
FIGURES = ("gross_ms", "net_ms", "net_to_plain", "low_ms", "quartile_low_ms", "quartile_high_ms",
           "high_ms", "launches", "registers", "local_bytes", "clock_mhz", "worst_error")
LIMITS = {"net_ms": (-math.inf, math.inf), "net_to_plain": (-math.inf, math.inf),
          "worst_error": (0.0, 1.0), "local_bytes": (0.0, math.inf)}  # of all others: above 0
LINES = 3000  # of a file that stays
COLUMNS = results.CELL + FIGURES + ("status",)


def folder_of(device):
    """As bench/add_results.sh: rtx4090 of 'NVIDIA GeForce RTX 4090, sm_89, ...'"""
    words = re.findall("[a-z0-9]+", device.split(",")[0].lower())
    name = "_".join(word for word in words if word not in ("nvidia", "geforce"))
    return re.sub("^([rg]tx)_", r"\1", name)


def version_of(policy):
    """(0, 5, 0); empty if the policy string does not parse."""
    found = re.fullmatch(r"arc (\d+)\.(\d+)\.(\d+)(?: [a-z0-9_]+=[a-z0-9]+)+", policy)
    return tuple(map(int, found.groups())) if found else ()


def without_vectors(policy):
    """Toolkits before CUDA 12.1 have none."""
    return re.sub(" vector_atomics=.", "", policy)


class Plans:
    """The cells of each preset, and the policy, as the program of this version has them; and which
    files may be of an older minor version. With the header, the version alone."""

    def __init__(self, sweep, page):
        self.cells, self.older = {}, re.findall(r"`(\w+/\w+\.csv)`", page)
        if sweep.endswith(".cuh"):
            text = pathlib.Path(sweep).read_text(encoding="utf-8")
            numbers = re.findall(r"define ARC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
            self.policy = f"arc {'.'.join(numbers)} path=auto"
            return
        small = "--blocks 1 --threads 32 --updates 1 --rows 70 --quiet --csv".split()
        with tempfile.TemporaryDirectory() as folder:
            for preset in PRESETS:
                name = os.path.join(folder, preset)
                subprocess.run([sweep, "--preset", preset, *small, name], check=True)
                file = results.Results(name)
                self.policy = file.head["policy"]
                self.cells[preset] = collections.Counter(map(results.cell, file.rows))


def check_head(head, folder, keys):
    for key in keys:
        if not head.get(key, "").strip():
            yield f"the head has no line '# {key}: ...'"
    if "policy" in head and not version_of(head["policy"]):
        yield f"the policy '{head['policy']}' does not parse"
    if folder_of(head.get("device", "")) != os.path.basename(folder):
        yield f"the device is '{head.get('device', '')}', the folder is {os.path.basename(folder)}"
    if "interrupted" in head:
        yield f"interrupted {head['interrupted']}"


def check_age(policy, path, plans):
    older = () < version_of(policy)[:2] < version_of(plans.policy)[:2]
    if older != ("/".join(path.split(os.sep)[-2:]) in plans.older):
        yield f"is {'older, and not' if older else 'no older, but'} named as such: '{policy}'"


def check_rows(file):
    for row in file.rows:
        for name in set(FIGURES) & set(file.columns):
            low, high = LIMITS.get(name, (1e-9, math.inf))
            if (row[name] or name != "net_to_plain") and \
                    not low <= file.number(row, name) <= high:  # or is Bad
                yield f"{', '.join(results.cell(row))}: {name} is '{row[name]}'"
        if row["status"] != ("-" if row["path"] == "none" else "ok"):
            yield f"{', '.join(results.cell(row))}: the status is '{row['status']}'"


def check_preset(file, preset, plans):
    command, policy = file.head.get("command", ""), file.head.get("policy", "")
    options = set(re.findall(r" (--[a-z-]+)", command)) - {"--csv", "--policy-header", "--quiet"}
    if f" --preset {preset} " not in command + " " or options != {"--preset"}:
        yield f"the command is not --preset {preset}, or has more options: {command}"
    if version_of(policy) not in (version_of(plans.policy), ()):
        return
    if without_vectors(policy) != without_vectors(plans.policy):
        yield f"the policy is not arc's default: {policy}"
    cells, wanted = collections.Counter(map(results.cell, file.rows)), plans.cells[preset]
    wrong = list(cells - wanted if "rows" in file.head else (cells - wanted) + (wanted - cells))
    if wrong:
        yield f"{len(wrong)} cells are missing, twice or not planned, as {', '.join(wrong[0])}"
    for name in sorted(set(COLUMNS) ^ set(file.columns)):
        yield f"column {name} is {'missing' if name in COLUMNS else 'not known'}"


def check_sweep(file, folder, preset, plans):
    yield from check_head(file.head, folder, HEAD + ("headers",) * (preset in PRESETS))
    if file.model:
        yield "holds model clocks of the CPU warp, no times"
        return
    yield from list(check_rows(file))[:1]
    if preset in PRESETS:
        yield from check_preset(file, preset, plans)


def check_table(text, folder):
    """Of a file that arc_sweep has not written: a head, and rows as its columns say."""
    yield from check_head(results.head_of(text.splitlines()), folder,
                          ("program", "device", "policy"))
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    if len(rows) < 2 or text[-1:] != "\n" or len({len(row) for row in rows}) > 1:
        yield "no rows, or not all have as many fields as there are columns: damaged"


def check_file(path, preset, plans):
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
        policy = results.head_of(text.splitlines()).get("policy", "")
        yield from check_age(policy, path, plans)
        if preset in PRESETS or text.startswith(results.FIRST_LINE + "\n"):
            yield from check_sweep(results.Results(path), os.path.dirname(path), preset, plans)
        else:
            yield from check_table(text, os.path.dirname(path))
    except (results.Bad, UnicodeDecodeError) as reason:
        yield str(reason)


def page_of(folder):
    page = pathlib.Path(folder, "README.md")
    return page.read_text(encoding="utf-8") if page.exists() else ""


def check_folder(folder, plans):
    """Lines, one a defect."""
    names, page = sorted(os.listdir(folder)), page_of(folder)
    for preset in plans.cells:
        if not page and preset + ".csv" not in names:
            yield f"{folder}: {preset}.csv is missing"
    for name in names:
        preset, ending = os.path.splitext(name)
        if ending == ".csv":
            file = pathlib.Path(folder, name)
            if f"`{name}`" not in page and (page or preset not in PRESETS):
                yield f"{file}: is not named in README.md"
            if page and file.read_bytes().count(b"\n") > LINES:
                yield f"{file}: has more than {LINES} lines; what pages quote is enough"
            for defect in check_file(str(file), preset, plans):
                yield f"{file}: {defect}"
        elif ending not in (".md", ".png"):
            yield f"{folder}/{name}: is no result file"


def main(words):
    if len(words) != 2:
        raise results.Bad("usage: check_results.py ARC_SWEEP_SIMT | ARC_POLICY.CUH FOLDER")
    plans = Plans(words[0], page_of(words[1]))
    folders = sorted(entry.path for entry in os.scandir(words[1]) if entry.is_dir())
    defects = [defect for folder in folders for defect in check_folder(folder, plans)]
    defects += [f"{name}: is named as older, and not there" for name in plans.older
                if not os.path.exists(os.path.join(words[1], name))]
    print("\n".join(defects + [f"{len(folders)} folders, {len(defects)} defects"]))
    return 1 if defects or not folders else 0


if __name__ == "__main__":
    results.run(main)
