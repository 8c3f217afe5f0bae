#!/usr/bin/env python3
"""results.py - the one reader of arc_sweep's result files. SPDX-License-Identifier: Apache-2.0

usage: results.py FILE.csv      the file as JSON

Partial files are read, too. Needs Python 3.8, standard library only."""
import argparse
import csv
import json
import math
import os
import sys

BAD, SKIPPED = 2, 77
# What makes a cell, in the order of the columns.
CELL = ("section", "workload", "width", "form", "lanes", "shape", "keys", "layout", "call", "zeros",
        "padding", "type", "path", "threshold")
GROUP = CELL[:-2]
FIRST_LINE = "# program: arc_sweep"


class Bad(Exception):
    """A file or an option is not what it must be; the text is the line to print."""


class Skip(Exception):
    """Something is missing here, or in the file; the text is the line to print."""


class Results:
    """name; head: what the lines before the columns say; model: clocks of the CPU warp, not times;
    rows: dictionaries of the words, with gross, net, quartile_low, quartile_high as numbers."""

    def __init__(self, name):
        self.name = name
        lines = read_lines(name)
        self.head = head_of(lines)
        first = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        if first == len(lines):
            raise Bad(f"{name}: ends before its columns are named")
        self.columns = lines[first].split(",")
        self.model = "model_gross" in self.columns
        self.need([*CELL, "status", *self.figures().values()])
        self.rows = [self.row(fields, first + 2 + i)
                     for i, fields in enumerate(csv.reader(lines[first + 1:]))
                     if not fields[0].startswith("#")]
        if not self.rows:
            raise Bad(f"{name}: holds no cells")

    def figures(self):
        if self.model:
            return dict.fromkeys(("gross", "quartile_low", "quartile_high"), "model_gross")
        return {"gross": "gross_ms", "quartile_low": "quartile_low_ms",
                "quartile_high": "quartile_high_ms"}

    def need(self, columns):
        for column in columns:
            if column not in self.columns:
                raise Bad(f"{self.name}: has no column '{column}'")

    def row(self, fields, line):
        if len(fields) != len(self.columns):
            raise Bad(f"{self.name}:{line}: {len(fields)} fields where {len(self.columns)} columns "
                      "are named; the file is damaged")
        row = dict(zip(self.columns, fields), line=line)
        for figure, column in self.figures().items():
            row[figure] = self.number(row, column)
        row["net"] = float(row.get("model_net" if self.model else "net_ms") or math.nan)
        if not 0.0 < row["quartile_low"] <= row["gross"] <= row["quartile_high"]:
            raise Bad(f"{self.name}:{line}: the median is not a time between its quartiles; the "
                      "file is damaged")
        return row

    def number(self, row, column):
        try:
            value = float(row[column])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise Bad(f"{self.name}:{row['line']}: column {column}: '{row[column]}' is not a "
                      "number")
        return value

    def head_word(self, key, word):
        """The value of word=... in a line of the head; "" without one."""
        for item in self.head.get(key, "").split():
            if item.startswith(word + "="):
                return item[len(word) + 1:]
        return ""


def read_lines(name):
    try:
        with open(name, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Bad(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not text.startswith(FIRST_LINE + "\n"):
        raise Bad(f"{name}: is no result file of arc_sweep, whose first line is '{FIRST_LINE}'")
    if not text.endswith("\n"):
        raise Bad(f"{name}: does not end with a whole line; the file is damaged")
    return text.splitlines()


def head_of(lines):
    head = {}
    for line in lines:
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].split(": ", 1)
            head.setdefault(key, value)
    return head


def cell(row):
    return tuple(row[word] for word in CELL)


def group(row):
    return tuple(row[word] for word in GROUP)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def write_whole(name, write):
    """Calls write(partial name), then renames: the file is whole or not there."""
    base, ending = os.path.splitext(name)
    partial = f"{base}.partial{ending}"
    try:
        write(partial)
        os.replace(partial, name)
    except OSError as error:
        raise Bad(f"{name}: cannot be written: {error.strerror}") from None


def parser(text):
    return argparse.ArgumentParser(description=text,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def run(main):
    """Calls main(words) and exits with what it returns; a Bad becomes one line on stderr, a Skip
    one on stdout."""
    try:
        sys.exit(main(sys.argv[1:]))
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    except Bad as reason:
        print(f"{os.path.basename(sys.argv[0])}: {reason}", file=sys.stderr)
        sys.exit(BAD)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def main(words):
    if len(words) != 1:
        raise Bad("usage: results.py FILE.csv")
    results = Results(words[0])
    json.dump({"head": results.head, "cells": results.rows}, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    run(main)
