"""index_add_cases.py - what bench_index_add.py measures, and the file that holds it.
SPDX-License-Identifier: Apache-2.0

Needs no PyTorch."""
import collections
import csv
import os

# rows: of out; n: of values
Case = collections.namedtuple("Case", "type mode width rows n keys")
COLUMNS = (*Case._fields, "adder", "ms", "mb")

PAGE_WIDTHS = (1, 2, 3, 4, 8, 9, 16, 32, 64, 128)
WIDTHS = (5, 6, 7, 10, 12, 20, 24, 48, 96, 100, 200, 256, 384, 512, 768, 1024)
TYPE_WIDTHS = (1, 4, 9, 16, 64)  # of other types than f32
ROWS = 100_000
PAGE_KEYS = ("sorted", "runs of 8", "random", "zipf 1.2", "half on one row")
MORE_KEYS = ((ROWS, "random"), (1_000_000, "random"), (ROWS, "zipf 1.05"), (ROWS, "runs of 30"),
             (100, "random"))
SIZES = (100_000, 10_000)  # rows of values, beside the large size
HANDOVER_KEYS = ("random", "zipf 1.2", "half on one row")
HANDOVER_RATIOS = (1, 2, 4, 8, 16, 32)  # rows of out to a row of values


def large(width):
    """Rows of values: 2^25 values, but 10^5 to 2^22 rows."""
    return max(SIZES[0], min(2**22, 2**25 // width))


def page_cases(type_, mode, widths):
    return [Case(type_, mode, width, ROWS, large(width), keys)
            for width in widths for keys in PAGE_KEYS]


def size_cases(type_, mode, widths):
    return [Case(type_, mode, width, rows, n, keys) for width in widths
            for n in (large(width), *SIZES) for rows, keys in MORE_KEYS]


def plan_of_page():
    return page_cases("f32", "fast", sorted(PAGE_WIDTHS + WIDTHS)) + [
        case for type_ in ("f16", "bf16", "f64") for case in page_cases(type_, "fast", TYPE_WIDTHS)]


def plan_of_deterministic():
    return (page_cases("f32", "deterministic", sorted(PAGE_WIDTHS + WIDTHS)) +
            page_cases("f16", "deterministic", TYPE_WIDTHS))


def plan_of_widths():
    return [case for type_ in ("f32", "f64", "bf16") for case in size_cases(type_, "fast", WIDTHS)]


def plan_of_published():
    """The case in pytorch/pytorch #182675 and #183950."""
    return [Case(type_, "fast", 128, 1_720_000, 7_770_000, "half on row 0")
            for type_ in ("f32", "bf16")]


def plan_of_handover():
    """Ever more rows of out to a row of values: where the deterministic mode sorts the keys."""
    sizes = [(2**21, keys) for keys in HANDOVER_KEYS] + [(2**24, "random")]
    cases = [Case("f32", "deterministic", width, ratio * values // width, values // width, keys)
             for values, keys in sizes for width in (8, 128, 1024) for ratio in HANDOVER_RATIOS]
    return cases + [Case("f32", "deterministic", 4096, 2**17, 8, "random")]


def plan():
    """Each case once, though several parts have it."""
    parts = (plan_of_page, plan_of_widths, plan_of_published, plan_of_deterministic,
             plan_of_handover)
    return list(dict.fromkeys(case for part in parts for case in part()))


def read(path, column="ms"):
    """What the head says, and {case: {adder: ms}}; mb is known of some."""
    with open(path, encoding="utf-8-sig") as file:
        lines = file.read().splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    cases = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        case = Case(row["type"], row["mode"], int(row["width"]), int(row["rows"]), int(row["n"]),
                    row["keys"])
        if row.get(column):
            cases.setdefault(case, {})[row["adder"]] = float(row[column])
    return head, cases


class Table:
    """Cases, and their file, if there is a path: it is whole after each case, and one that is there
    is continued where device, PyTorch, policy and headers are the same; else ValueError."""

    def __init__(self, path, head):
        self.path, self.head, self.cases = path, dict(line.split(": ", 1) for line in head), {}
        if path and os.path.exists(path):
            old, self.cases = read(path)
            for word in ("device", "compiler", "policy", "headers"):
                if old.get(word) != self.head[word]:
                    raise ValueError(f"{path} was measured with another {word}: {old.get(word)}")
        else:
            self.write("".join(f"# {line}\n" for line in head) + ",".join(COLUMNS) + "\n")

    def write(self, text):
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)

    def add(self, case, times, peaks):
        self.cases[case] = times
        words = ",".join(map(str, case))
        mb = {adder: f"{peak:.3f}" for adder, peak in peaks.items()}
        self.write("".join(f"{words},{adder},{ms:.4f},{mb.get(adder, '')}\n"
                           for adder, ms in times.items()))
