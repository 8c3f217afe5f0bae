#!/usr/bin/env python3
"""test_readme.py ROOT BUILD pages | python | studies | PROGRAM CXX NVCC SIMT - what the pages say is so:
the library's, or those of one of the other rooms, or one program of theirs.
SPDX-License-Identifier: Apache-2.0

PROGRAM `program`: the whole one of docs/build.md compiles by the line that follows it with NVCC, and
with CXX for the CPU warp, which is the library SIMT, and adds up to what it must. Every page: each
line of a table after <!-- figures: ... --> holds what the result files say, which the room checks
that has them, and so does the column that <!-- held: ... --> names; what is quoted from files that
are older than the last change of arc's decision is listed. Files that are linked are there, unless
this copy lacks their room, and programs that are named.

A line after <!-- held: COLUMN is - where the line below has no figure, else what that is: VALUE, or
VALUE / VALUE. VALUE: 1, SPEC or SPEC + SPEC. SPEC: FILE; COLUMN of the file; HOW; WORDS, as in
`has`. FILE is a table or a page, whose tables' rows count; COLUMN:2 is the second number of a
cell; HOW is only, for the one row that has the words, or least, most or mean of all rows. The
figure is the first number of the cell, right to its last digit. With % behind it a quotient is in
per cent, with a sign in front how far it is from 100 %."""
import csv
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

root, build = map(os.path.abspath, sys.argv[1:3])
part, *tools = sys.argv[3:]
RESULTS = {"pages": "bench/results", "python": "python", "studies": "studies/results"}
errors, quoted = [], set()


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def check(right, text):
    if not right:
        errors.append(text)


def has(row, word):
    """column=value, or the value of any column."""
    name, is_named, value = word.partition("=")
    return row.get(name) == value if is_named else word in row.values()


def is_left_out(path):
    """Of a room that this copy lacks."""
    room = path.split("/")[0]
    return room in RESULTS and not os.path.isdir(os.path.join(root, room))


def check_figures(sources, table):
    lines = table.splitlines()[2:]
    check(len(sources) == len(lines), f"figures: {len(sources)} sources, {len(lines)} lines")
    for source, line in zip(sources, lines):
        name, column, paths, shared = source.split("; ")
        if not os.path.exists(os.path.join(root, RESULTS[part], name)):
            places = [os.path.join(folder, name) for folder in RESULTS.values()]
            check(any(os.path.exists(os.path.join(root, place)) or is_left_out(place)
                      for place in places), f"figures: {name} is missing")
            continue
        before, after = (held("; ".join([name, column, "only", *f"{path}, {shared}".split(", ")]))
                         for path in paths.split(" / "))
        cells = [cell.split()[0] for cell in line.strip("| ").split(" | ")[2:]]
        wanted = [f"{before:#.3g}", f"{after:#.3g}", f"{before / after:.2g}"]
        if before / after < 9.95:  # two digits: 1 is 1.0
            wanted[2] = f"{before / after:#.2g}"
        check(cells == wanted, f"figures: {line}\n  should end in {wanted}, by {name}")


def cells_of(line):
    """Of a line of a table."""
    return [cell.strip() for cell in line.strip()[1:-1].split("|")] if line[:1] == "|" else []


def rows_of(name):
    """Of a table, or of all tables of a page; {column: cell}."""
    lines = [line for line in read(name).splitlines() if not line.startswith("#")]
    if name.endswith(".csv"):
        return list(csv.DictReader(lines))
    rows, head, before = [], None, []
    for line in lines:
        cells = cells_of(line)
        if re.match(r"\|(-+\|)+$", line):
            head = before
        elif head and cells:
            rows.append(dict(zip(reversed(head), reversed(cells))))  # of equal names the first
        else:
            head = None
        before = cells
    return rows


NUMBER = r"\d+(?:\.\d+)?"


def held(spec):
    """The value of one SPEC."""
    name, column, how, *words = spec.split("; ")
    column, _, place = column.partition(":")
    values = [float(re.findall(NUMBER, row[column])[int(place or 1) - 1])
              for row in rows_of(f"{RESULTS[part]}/{name}")
              if row.get(column) and all(has(row, word) for word in words)]
    check(values and (how != "only" or len(values) == 1), f"held: {len(values)} lines have {spec}")
    quoted.add(f"{RESULTS[part]}/{name}")
    return {"only": min, "least": min, "most": max, "mean": statistics.mean}[how](values or [1.0])


def check_held(column, sources, table):
    head, _, *lines = table.splitlines()
    check(len(sources) == len(lines), f"held: {len(sources)} sources, {len(lines)} lines")
    for source, line in zip(sources, lines):
        cell = dict(zip(cells_of(head), cells_of(line)))[column]
        shown = re.search(rf"([+−]?)({NUMBER})( %)?", cell)
        if source == "-" or not shown:
            check(source == "-", f"held: no figure in '{cell}', but a source: {source}")
            continue
        value, *divisor = (1.0 if its == "1" else sum(map(held, its.split(" + ")))
                           for its in source.split(" / "))
        for by in divisor:
            value = value / by * (100 if shown[3] else 1) - (100 if shown[1] else 0)
        digits = len(shown[2].partition(".")[2])
        check(abs(abs(value) - float(shown[2])) <= 0.5001 * 10 ** -digits,
              f"held: {cell} should be {value:.{digits}f}, by {source}")


def check_age():
    """Lists what is quoted from files that are older than arc's decision."""
    found = re.search(r"decision changed last on (\d{4}-\d\d-\d\dT[\d:]+Z)",
                      read("bench/results/README.md"))
    check(found, "bench/results/README.md does not say when the decision changed last")
    dates = {name: re.search(r"(?m)^# date: (\S+)$", read(name)) for name in quoted
             if name.endswith(".csv")}
    older = sorted(name for name, date in dates.items() if found and date and date[1] < found[1])
    print(*(f"older than the last change of the decision: {name}" for name in older), sep="\n")


def check_runs(what, words, folder, status=0):
    for command, wanted in (words, 0), ([os.path.join(folder, "sums")], status):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        check(done.returncode == wanted and (wanted == 0 or done.stdout),
              f"{what}: {command}\n{done.stdout}{done.stderr}")
        if done.returncode != wanted:
            return


def check_program(source, command):
    cxx, nvcc, simt = tools
    on_cpu, launches = re.subn(r"(\w+)<<<(.*?)>>>\(", r"SIMT_LAUNCH(\1, \2, 0, 0, ", source)
    check(launches > 0, "program: no launch that can be translated for the CPU warp")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("sums.cu", source), ("cpu.cu", on_cpu)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        check_runs("program on the CPU warp",
                   [cxx, "-x", "c++", "-std=c++17", "-D__managed__=", "-I" + root, "-include",
                    "simt/simt.cuh", "cpu.cu", "-x", "none", simt, "-o", "sums"], folder)
        if shutil.which(nvcc):
            words = command.split(" && ")[0].replace("-I.", "-I" + root).split()
            devices = subprocess.run("nvidia-smi -L", shell=True, capture_output=True, check=False)
            # Without a GPU it says so.
            check_runs("program", [nvcc] + words[1:], folder, 0 if b"GPU 0" in devices.stdout else 1)
        else:
            print("skipped: no nvcc")


def check_page(name):
    text, folder = read(name), os.path.dirname(name)
    figures = re.findall(r"<!-- figures: [^\n]*\n(.*?)\n-->\n(.*?)\n\n", text, re.DOTALL)
    check(len(figures) == text.count("<!-- figures"), f"{name}: no table of figures after its sources")
    for sources, table in figures:
        check_figures(sources.splitlines(), table)
    tables = re.findall(r"<!-- held: ([\w ]+), [^\n]*\n(.*?)\n-->\n(.*?)\n\n", text, re.DOTALL)
    check(len(tables) == text.count("<!-- held"), f"{name}: no table after what holds it")
    for column, sources, table in tables:
        check_held(column, sources.splitlines(), table)
    for file in re.findall(r"\]\(([^)#:]+)\)", text):
        path = os.path.normpath(os.path.join(folder, file))
        check(os.path.exists(os.path.join(root, path)) or is_left_out(path),
              f"{name}: {file} is missing")
    for program in re.findall(r"build(?:-studies)?/([\w/]+)_(?:simt|gpu)\b", text):
        file = f"{build}/{program}"
        check(any(os.path.exists(file + end) for end in ("_simt", "_gpu"))
              or not os.path.exists(os.path.dirname(file)), f"{name}: no program {file}_simt")


def check_programs():
    program = re.search(r"```c\n([^`]*int main\(void\)[^`]*)```(?:(?!```).)*```sh\n(nvcc .*?)\n",
                        read("docs/build.md"), re.DOTALL)
    check(program, "docs/build.md holds no whole program with the nvcc line that compiles it")
    if program:
        check_program(*program.groups())


pages = []
if part in RESULTS:
    check("<!-- figures" in read("README.md"), "README.md holds no figures that can be checked")
    pages = [page for page in (os.path.relpath(path, root) for path in
                               glob.glob(root + "/**/*.md", recursive=True))
             if page == "README.md" or not page.startswith("build") and
             next((room for room in RESULTS if page.startswith(room + "/")), "pages") == part]
    for page in pages:
        check_page(page)
    check_age()
else:
    check_programs()
print("\n".join(errors) or f"{len(pages)} pages")
sys.exit(bool(errors))
