"""check_results.py ARC_SWEEP_SIMT FOLDER - are the results in FOLDER/<gpu> what they should be?
SPDX-License-Identifier: Apache-2.0

The rules are in bench/results/README.md. A line a defect; exit status 1 if there is any."""
import collections
import csv
import fnmatch
import math
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analysis"))
import results

PRESETS = ("policy", "paths", "widths", "types")  # of bench/add_results.sh
HEAD = ("program", "date", "command", "device", "clocks", "cuda", "compiler", "policy", "sizes",
        "rigour")
# Of the files of PRESETS; vector_atomics is 0 or 1, as the toolkit allows.
POLICY = {"path": "auto", "threshold": "auto", "inactive_is_zero": "0", "inactive_has_key": "0",
          "warp_is_active": "0", "aligned_16": "0", "vector_atomics": "[01]", "scope": "device",
          "check": "0", "key_bits": "32", "exact": "0"}
SINCE_0_2 = ("key_bits", "exact", "type")  # files of 0.2.0 may lack these
UNTIL_0_2 = ("inactive_has_key",)  # later ones lack it
SCHEMA_SINCE = (0, 2)
HEADERS_SINCE = (0, 3)  # heads name a hash of the headers


def any_number(_):
    return True


def positive(x):
    return x > 0.0


def count(x):
    return x >= 0.0 and x == int(x)


def positive_count(x):
    return positive(x) and count(x)


def fraction(x):
    return 0.0 <= x <= 1.0


FIGURES = {"gross_ms": positive, "net_ms": any_number, "net_to_plain": any_number,
           "low_ms": positive, "quartile_low_ms": positive, "quartile_high_ms": positive,
           "high_ms": positive, "launches": positive_count, "registers": positive_count,
           "local_bytes": count, "clock_mhz": positive, "energy_nj_per_update": positive,
           "worst_error": fraction}
MAY_BE_EMPTY = ("net_to_plain", "energy_nj_per_update")
COLUMNS = results.CELL + tuple(FIGURES) + ("status",)


def folder_of(device):
    """As bench/add_results.sh: rtx4090 of 'NVIDIA GeForce RTX 4090, sm_89, ...'"""
    words = re.findall("[a-z0-9]+", device.split(",")[0].lower())
    name = "_".join(word for word in words if word not in ("nvidia", "geforce"))
    return re.sub("^([rg]tx)_", r"\1", name)


def version_of(policy):
    """(0, 2, 0); None if the policy string does not parse."""
    found = re.fullmatch(r"arc (\d+)\.(\d+)\.(\d+)((?: [a-z0-9_]+=[a-z0-9]+)+)", policy)
    return tuple(int(number) for number in found.groups()[:3]) if found else None


class Plans:
    """The cells of each preset, as the program of this version asks for them."""

    def __init__(self, sweep):
        self.cells = {}
        small = "--blocks 1 --threads 32 --updates 1 --rows 70 --quiet --csv".split()
        with tempfile.TemporaryDirectory() as folder:
            for preset in PRESETS:
                name = os.path.join(folder, preset)
                subprocess.run([sweep, "--preset", preset, *small, name], check=True)
                file = results.Results(name)
                self.version = version_of(file.head["policy"])
                self.cells[preset] = {results.cell(row) for row in file.rows}


def check_device(gpu, head):
    if folder_of(head.get("device", "")) != gpu:
        yield f"the device is '{head.get('device', '')}', the folder is {gpu}"


def check_table(name):
    """Of a file that arc_sweep has not written: a head, and rows as its columns say."""
    with open(name, encoding="utf-8", newline="") as file:
        text = file.read()
    lines = text.splitlines()
    head = results.head_of(lines)
    for key in ("program", "device"):
        if not head.get(key):
            yield f"the head has no line '# {key}: ...'"
    if "policy" in head and not version_of(head["policy"]):
        yield f"the policy '{head['policy']}' does not parse"
    yield from check_headers(head)
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    if len(rows) < 2 or not text.endswith("\n") or len({len(row) for row in rows}) > 1:
        yield "no rows, or not all have as many fields as there are columns: damaged"
    yield from check_device(os.path.basename(os.path.dirname(name)), head)


def check_headers(head):
    version = version_of(head.get("policy", ""))
    named = re.fullmatch("[0-9a-f]{12}", head.get("headers", ""))
    if version and version >= HEADERS_SINCE and not named:
        yield "the head has no line '# headers: ...' with their hash"


def check_head(file):
    yield from check_headers(file.head)
    for key in HEAD:
        if not file.head.get(key, "").strip():
            yield f"the head has no line '# {key}: ...'"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", file.head.get("date", "")):
        yield f"the date is '{file.head.get('date', '')}'"
    if not version_of(file.head.get("policy", "")):
        yield f"the policy '{file.head.get('policy', '')}' does not parse"
    if "interrupted" in file.head:
        yield f"interrupted {file.head['interrupted']}"


def check_columns(file, is_current):
    missing = [name for name in COLUMNS if name not in file.columns + list(SINCE_0_2)]
    if missing and is_current:
        yield f"lacks the columns {missing}"
    for name in file.columns:
        if name not in COLUMNS:
            yield f"column {name} is not known"
        elif f"column {name}" not in file.head:
            yield f"the head does not explain column {name}"


def is_legal(name, word):
    if not word:
        return name in MAY_BE_EMPTY
    try:
        value = float(word)
    except ValueError:
        return False
    return math.isfinite(value) and FIGURES[name](value)


def check_row(row):
    for name in FIGURES:
        if name in row and not is_legal(name, row[name]):
            yield f"{name} is '{row[name]}'"
    if row["status"] != ("-" if row["path"] == "none" else "ok"):
        yield f"the status is '{row['status']}'"


def check_rows(file):
    """The first row with defects."""
    for row in file.rows:
        found = list(check_row(row))
        if found:
            yield f"{', '.join(results.cell(row))}: {'; '.join(found)}"
            return


def check_command(file, preset):
    words = file.head.get("command", "").split()[1:]
    options = {word: value for word, value in zip(words, words[1:] + [""]) if word[:2] == "--"}
    others = set(options) - {"--preset", "--csv", "--policy-header", "--quiet"}
    if options.get("--preset") != preset or others:
        yield f"the command is not --preset {preset}, or has more options: {' '.join(words)}"


def check_default_policy(file, is_current):
    words = dict(word.split("=", 1) for word in file.head.get("policy", "").split() if "=" in word)
    lacks = [key for key in POLICY if key not in words and key not in SINCE_0_2 + UNTIL_0_2]
    if lacks and is_current:
        yield f"the policy lacks {lacks}"
    for key, value in words.items():
        if key not in POLICY or not re.fullmatch(POLICY[key], value):
            yield f"the policy has {key}={value}, which is not arc's default"


def check_complete(file, wanted):
    counts = collections.Counter(results.cell(row) for row in file.rows)
    for what, cells in (("missing", wanted - set(counts)),
                        ("not of the preset", set(counts) - wanted),
                        ("there twice", {cell for cell in counts if counts[cell] > 1})):
        if cells:
            yield f"{len(cells)} cells are {what}, as {', '.join(min(cells))}"


def check_sweep(name, gpu, plans):
    file = results.Results(name)
    preset = os.path.basename(name)[:-len(".csv")]
    version = version_of(file.head.get("policy", "")) or plans.version
    yield from check_head(file)
    yield from check_device(gpu, file.head)
    if file.model:
        yield "holds model clocks of the CPU warp, no times"
        return
    is_current = version == plans.version
    if preset in PRESETS or version >= SCHEMA_SINCE:
        yield from check_columns(file, is_current)
        yield from check_rows(file)
    if preset in PRESETS:
        yield from check_command(file, preset)
        yield from check_default_policy(file, is_current)
        if is_current:
            yield from check_complete(file, plans.cells[preset])


def listed(folder):
    """The names and patterns that the folder's README has in backquotes."""
    try:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            return re.findall(r"`([^`\s]+\.csv)`", file.read())
    except FileNotFoundError:
        return []


def check_file(folder, name, plans):
    path = os.path.join(folder, name)
    if name == "README.md" or name.endswith(".png"):
        return
    if not name.endswith(".csv"):
        yield "is no result file"
        return
    preset = name[:-len(".csv")]
    if preset not in PRESETS and not any(fnmatch.fnmatch(name, word) for word in listed(folder)):
        yield f"is not named in {os.path.join(folder, 'README.md')}"
    with open(path, encoding="utf-8", errors="replace") as file:
        is_sweep = file.readline().rstrip("\n") == results.FIRST_LINE
    try:
        if preset in PRESETS or is_sweep:
            yield from check_sweep(path, os.path.basename(folder), plans)
        else:
            yield from check_table(path)
    except (results.Bad, UnicodeDecodeError) as reason:
        yield str(reason)


def check_folder(folder, plans):
    """Lines, one a defect."""
    names = sorted(os.listdir(folder))
    for preset in PRESETS:
        if preset + ".csv" not in names:
            yield f"{folder}: {preset}.csv is missing"
    for name in names:
        for defect in check_file(folder, name, plans):
            yield f"{folder}/{name}: {defect}"


def main(words):
    if len(words) != 2:
        raise results.Bad("usage: check_results.py ARC_SWEEP_SIMT FOLDER")
    plans = Plans(words[0])
    folders = sorted(entry.path for entry in os.scandir(words[1]) if entry.is_dir())
    if not folders:
        raise results.Bad(f"{words[1]}: holds no folder")
    defects = [defect for folder in folders for defect in check_folder(folder, plans)]
    print("\n".join(defects + [f"{len(folders)} folders, {len(defects)} defects"]))
    return 1 if defects else 0


if __name__ == "__main__":
    results.run(main)
