"""check_results.py ARC_SWEEP_SIMT FOLDER - are the results in FOLDER/<gpu> what they should be?
SPDX-License-Identifier: Apache-2.0

The rules are in bench/results/README.md. A line a defect; exit status 1 if there is any."""
import collections
import csv
import math
import os
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
           "high_ms", "launches", "registers", "local_bytes", "clock_mhz", "energy_nj_per_update",
           "worst_error")
LIMITS = {"net_ms": (-math.inf, math.inf), "net_to_plain": (-math.inf, math.inf),
          "worst_error": (0.0, 1.0), "local_bytes": (0.0, math.inf)}  # of all others: above 0
MAY_BE_EMPTY = ("net_to_plain", "energy_nj_per_update")
COLUMNS = results.CELL + FIGURES + ("status",)
# Files that may be of an older minor version than this tree's, and why; no others may.
OLDER = {name: why for why, names in {
    "two versions of one call, side by side": "h200/spheres_divergent.csv",
    "long trainings": "h200/gaussians_group.csv h200/gaussians_reproducible.csv",
    "a profiler's counters, which few machines let one read": "h200/paper_stalls.csv",
}.items() for name in names.split()}


def folder_of(device):
    """As bench/add_results.sh: rtx4090 of 'NVIDIA GeForce RTX 4090, sm_89, ...'"""
    words = re.findall("[a-z0-9]+", device.split(",")[0].lower())
    name = "_".join(word for word in words if word not in ("nvidia", "geforce"))
    return re.sub("^([rg]tx)_", r"\1", name)


def version_of(policy):
    """The first word that is one; null if the policy string does not parse."""
    found = re.fullmatch(r"arc (\d+\.\d+\.\d+)((?: [a-z0-9_]+=[a-z0-9]+)+)", policy)
    return found and found[1]


def minor_of(policy):
    """[0, 5]; empty if the policy string does not parse."""
    return [int(number) for number in (version_of(policy) or "").split(".")[:2] if number]


def without_vectors(policy):
    """Toolkits before CUDA 12.1 have none; promises of a whole file were words of it until 0.3."""
    return re.sub(" (vector_atomics=.|(inactive_is_zero|warp_is_active|aligned_16)=0)", "", policy)


class Plans:
    """The cells of each preset, and the policy, as the program of this version has them."""

    def __init__(self, sweep):
        self.cells = {}
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
    older = [] < minor_of(policy) < minor_of(plans.policy)
    if older != ("/".join(path.split(os.sep)[-2:]) in OLDER):
        yield f"is in OLDER, but no older: '{policy}'" if not older else (
            f"is older than {version_of(plans.policy)}, and not in OLDER: '{policy}'")


def is_legal(name, word):
    low, high = LIMITS.get(name, (1e-9, math.inf))
    try:
        return math.isfinite(float(word)) and low <= float(word) <= high
    except ValueError:
        return not word and name in MAY_BE_EMPTY


def check_rows(file):
    for row in file.rows:
        wrong = [f"{name} is '{row[name]}'" for name in FIGURES
                 if name in row and not is_legal(name, row[name])]
        if row["status"] != ("-" if row["path"] == "none" else "ok"):
            wrong.append(f"the status is '{row['status']}'")
        if wrong:
            yield f"{', '.join(results.cell(row))}: {'; '.join(wrong)}"


def check_preset(file, preset, plans):
    command, policy = file.head.get("command", ""), file.head.get("policy", "")
    options = set(re.findall(r" (--[a-z-]+)", command)) - {"--csv", "--policy-header", "--quiet"}
    if f" --preset {preset} " not in command + " " or options != {"--preset"}:
        yield f"the command is not --preset {preset}, or has more options: {command}"
    if version_of(policy) not in (version_of(plans.policy), None):
        return
    if without_vectors(policy) != without_vectors(plans.policy):
        yield f"the policy is not arc's default: {policy}"
    cells, wanted = collections.Counter(map(results.cell, file.rows)), plans.cells[preset]
    wrong = [cell for cell in cells | wanted if cells[cell] != wanted[cell]]
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
    yield from check_head(results.head_of(text.splitlines()), folder, ("program", "device"))
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    if len(rows) < 2 or text[-1:] != "\n" or len({len(row) for row in rows}) > 1:
        yield "no rows, or not all have as many fields as there are columns: damaged"


def check_file(path, preset, plans):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        policy = results.head_of(text.splitlines()).get("policy", "")
        yield from check_age(policy, path, plans)
        if preset in PRESETS or text.startswith(results.FIRST_LINE + "\n"):
            yield from check_sweep(results.Results(path), os.path.dirname(path), preset, plans)
        else:
            yield from check_table(text, os.path.dirname(path))
    except (results.Bad, UnicodeDecodeError) as reason:
        yield str(reason)


def check_folder(folder, plans):
    """Lines, one a defect."""
    names, page = sorted(os.listdir(folder)), ""
    if "README.md" in names:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            page = file.read()
    for preset in PRESETS:
        if preset + ".csv" not in names:
            yield f"{folder}: {preset}.csv is missing"
    for name in names:
        preset, ending = os.path.splitext(name)
        if ending == ".csv":
            if preset not in PRESETS and f"`{name}`" not in page:
                yield f"{folder}/{name}: is not named in README.md"
            for defect in check_file(os.path.join(folder, name), preset, plans):
                yield f"{folder}/{name}: {defect}"
        elif ending not in (".md", ".png"):
            yield f"{folder}/{name}: is no result file"


def main(words):
    if len(words) != 2:
        raise results.Bad("usage: check_results.py ARC_SWEEP_SIMT FOLDER")
    plans = Plans(words[0])
    folders = sorted(entry.path for entry in os.scandir(words[1]) if entry.is_dir())
    defects = [defect for folder in folders for defect in check_folder(folder, plans)]
    defects += [f"{name}: is in OLDER, and not there" for name in OLDER
                if not os.path.exists(os.path.join(words[1], name))]
    print("\n".join(defects + [f"{len(folders)} folders, {len(defects)} defects"]))
    return 1 if defects or not folders else 0


if __name__ == "__main__":
    results.run(main)
