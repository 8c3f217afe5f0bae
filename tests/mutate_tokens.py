#!/usr/bin/env python3
"""mutate_tokens.py - breaks lines of the headers by operators over tokens: do the tests see it?
SPDX-License-Identifier: Apache-2.0

usage: mutate_tokens.py ROOT WORK [FILE[:FIRST-LAST] ...] [--seconds N] [--seed N] [--list]

Without FILE: the lines that differ from the commit BASE, HEAD~1 by default. A mutant negates a
condition, moves or turns a comparison, drops a term, takes one of two alternatives, adds one to an
integer, or deletes a statement; not in macros. It is caught if one of TESTS fails or hangs; what
does not compile is no mutant. With --seconds so long a random part is tried; what survives and what
was not tried is printed. Exit status 1: more than a tenth survived, as some mutants mean the same.
CXX names the compiler, JOBS how many run at once. Everything runs on the CPU warp, in links to
ROOT; tests/mutate.sh has what no operator makes, and runs it by --by-hand."""
import argparse
import collections
import concurrent.futures
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import time

ERRORS = [f"user_errors{form}:ARC_CHECK={level}" for level in (2, 1) for form in ("", "_forms")]
TESTS = {  # of a file, what catches most first: as mutate.sh names them
    "arc_tune.h": ["tune/test_tune", "tune/test_tune_cuda"],
    "arc.cuh": ["test_repeatable", "test_divergent", "test_targets", "test_wide", *ERRORS],
    "arc/check.cuh": ERRORS,
    "arc/core.cuh": ["test_property", "test_paths", "test_types:TEST_TYPES_PART=3", "test_widths",
                     "test_threshold", "test_keys", "test_empty_cost", "test_wide",
                     "test_types:TEST_TYPES_PART=4", "test_policies:SIMT_ARCH=600"],
    "arc/words.cuh": ["test_property", *(f"test_types:TEST_TYPES_PART={i}" for i in (1, 2, 3, 4)),
                      "test_drop_in", "test_wide:ARC_CHECK=2"],
    "arc/papers.cuh": ["test_property", "test_forms", *ERRORS],
    "arc/sums.cuh": ["test_forms", "test_types:TEST_TYPES_PART=3"],
    "arc/overloads.cuh": ["test_overloads"],
    "arc/hot.cuh": ["test_forms", "test_keys", "test_wide", "test_types:TEST_TYPES_PART=6"],
    "arc/index_add.cuh": ["test_index_add", "test_index_add:ARC_CHECK=2"],
    "arc/wide.cuh": ["test_wide", "test_wide:ARC_WIDE_WORDS=16"],
    "arc/drop_in.cuh": ["test_drop_in", "test_drop_in:ARC_DROP_IN=ARC_DROP_IN_SUMS",
                        "test_drop_in_uses"],
    "arc/profile.cuh": ["test_profile:ARC_PROFILE=1", "test_drop_in_uses:ARC_PROFILE=1"]}
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'])'
    |[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+\.?\d*(?:[eE][-+]?\d+)?[uUlLfF]*
    |<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\S""", re.X | re.S | re.M)
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ENDS = {",", ";", "?", ":", "{", "}", "return", "=", "+=", "-=", "*=", "|=", "&="}  # of an operand
BINDS = [{"||"}, {"&&"}, {"|"}, {"&"}, set(TURNED), {"+", "-"}]  # the loosest first
NO_STATEMENT = {"else", "do", "if", "while", "for", "enum", "struct", "union", "using", "static",
                "const", "typedef", "case", "goto", "template", "namespace", "return"}


class Tokens:
    """Of C, without comments and preprocessor lines; tokens are known by their places."""

    def __init__(self, text):
        found = [m for m in TOKEN.finditer(text) if not re.match(r"/[/*]|[ \t]*#", m[0])]
        self.text, self.words = text, [m[0] for m in found] + [";"]
        self.at = [m.span() for m in found]

    def source(self, first, last):
        return self.text[self.at[first][0]:self.at[last][1]]

    def end(self, i, step, stops):
        """The last one from i on, in this direction, in front of one of `stops` or of a bracket."""
        depth = 0
        while 0 <= i < len(self.at):
            opens = self.words[i] in ("([{" if step > 0 else ")]}")
            closes = self.words[i] in (")]}" if step > 0 else "([{")
            if depth == 0 and (closes or self.words[i] in stops):
                break
            depth += opens - closes
            i += step
        return i - step

    def mutants(self):
        """Yields operator, first and last token, and what stands for them."""
        w = self.words
        for i, word in enumerate(w[:-1]):
            if word in ("if", "while") and w[i + 1] == "(":
                end = self.end(i + 2, 1, ())
                yield "negate", i + 2, end, f"!({self.source(i + 2, end)})"
            if word in TURNED and w[i - 1] != "template":
                yield "turn", i, i, TURNED[word]
            if word == "?":
                first = self.end(i - 1, -1, ENDS)
                colon = self.end(i + 1, 1, (":", ";")) + 1
                if "?" not in w[i + 1:colon] and w[colon] == ":":
                    last = self.end(colon + 1, 1, (",", ";"))
                    yield "take", first, last, self.source(i + 1, colon - 1)
                    yield "take", first, last, self.source(colon + 1, last)
                yield "negate", first, i - 1, f"!({self.source(first, i - 1)})"
            if word in ("&&", "||", "|", "&", "+", "-") and re.match(r"[\w)\]]", w[i - 1][-1]) \
                    and w[i - 1] != "return":
                level = next(k for k, ops in enumerate(BINDS) if word in ops)
                stops = ENDS.union(*BINDS[:level + 1])
                yield "drop", i, self.end(i + 1, 1, stops), ""
                left = self.end(i - 1, -1, stops)
                if word in ("&&", "||") and w[left - 1] != word:
                    yield "drop", left, i, ""
            if re.fullmatch(r"\d{1,3}u?", word) and not {w[i - 1], w[i + 1]} & {*TURNED, "return"} \
                    and w[self.end(i, -1, (";",)) - 2] != "enum":
                yield "add one", i, i, str(int(word.rstrip("u")) + 1) + "u" * word.endswith("u")
            if word in ";{})":
                last = self.end(i + 1, 1, (";", "{"))
                if last > i and w[last + 1] == ";" and self.is_statement(word, i + 1, last):
                    yield "delete", i + 1, last, ""

    def is_statement(self, before, first, last):
        """Whether these are an expression, or a jump behind a condition, and no declaration."""
        w = self.words
        if before == ")":
            opens = self.end(first - 2, -1, ()) - 1
            if w[opens - 1] not in ("if", "while", "for"):
                return False
            if w[first] in ("return", "break", "continue"):
                return w[opens - 1] == "if"
        if w[first] in NO_STATEMENT or re.match(r"\w+ [*&]?\w", f"{w[first]} {''.join(w[first + 1:][:2])}"):
            return False
        return bool({"(", "=", "++", "--"}.union(x + "=" for x in "+-*/%&|^").intersection(w[first:last + 1]))


def changed_lines(root, base):
    """{header: its lines} that differ from the commit."""
    lines, name = {}, ""
    for line in subprocess.run(["git", "-C", root, "diff", "-U0", base, "--", *TESTS], text=True,
                               capture_output=True, check=False).stdout.splitlines():
        name = line[6:] if line.startswith("+++ b/") else name
        hunk = re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(name, set()).update(range(first, first + count))
    return lines


class Mutant:
    def __init__(self, name, tokens, operator, first, last, after):
        (start, _), (_, end), text = tokens.at[first], tokens.at[last], tokens.text
        self.name, self.line = name, text.count("\n", 0, start) + 1
        self.text = text[:start] + after + text[end:]
        self.tests = TESTS[name]
        if "ARC__CHECK" in tokens.source(tokens.end(first, -1, ";{") + 1 - (first > 0), last) and \
                name != "arc_tune.h":
            self.tests = ERRORS
        self.words = f"{name}:{self.line}: {operator}: " + " ".join(text[start:end].split()) + (
            "  ->  " + " ".join(after.split()) if after else "")


class ByHand:
    """Of a line of mutate.sh's table; `lines` are those of all headers, each with its place."""

    def __init__(self, entry, lines):
        self.title, test, command = entry.rstrip("\n").split(" ", 2)
        self.tests, self.words = [test], f"{self.title.lstrip('+')}: {test}"
        texts = [text for _, _, text in lines]
        changed = subprocess.run(["sed", "-e", command], input="".join(texts), text=True,
                                 check=True, stdout=subprocess.PIPE).stdout.splitlines(True)
        found = [i for i, text in enumerate(changed) if text != texts[i]]
        if len(found) != 1:
            sys.exit(f"ERROR    {self.words}: changes {len(found)} lines of the headers, must be 1")
        self.name, self.line, _ = lines[found[0]]
        its = [i for i, line in enumerate(lines) if line[0] == self.name]
        self.text, self.unbroken = ("".join(some[i] for i in its) for some in (changed, texts))


def by_hand(root, wanted, base):
    """Of the table in stdin what is asked for: one, all, or those with + and near a change."""
    lines = []
    for name in TESTS:
        if name != "arc_tune.h":
            with open(os.path.join(root, name), encoding="utf-8") as file:
                lines += [(name, 1 + i, text) for i, text in enumerate(file)]
    mutants = [ByHand(entry, lines) for entry in sys.stdin]
    touched = changed_lines(root, base)
    diff = subprocess.run(["git", "-C", root, "diff", "--name-only", base, "--", "tests"],
                          text=True, capture_output=True, check=False).stdout.splitlines()
    tests = {os.path.splitext(os.path.basename(name))[0] for name in diff}
    tried = collections.Counter()

    def is_wanted(mutant):
        if wanted != "+":
            return wanted in ("--all", mutant.title.lstrip("+"))
        near = touched.get(mutant.name, set()) & set(range(mutant.line - 3, mutant.line + 4))
        test = mutant.tests[0].partition(":")[0]
        tried[test] += test in tests and not near and mutant.title[0] != "+"
        return near or mutant.title[0] == "+" or (test in tests and tried[test] <= 4)

    return [mutant for mutant in mutants if is_wanted(mutant)]


def run(command, folder, seconds=600):
    return subprocess.run(["timeout", str(seconds), "sh", "-c", command], cwd=folder, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def make_tree(root, folder, name, text):
    """Links to ROOT, but for this file."""
    above = ""
    for part in name.split("/"):
        os.makedirs(os.path.join(folder, above))
        for entry in set(os.listdir(os.path.join(root, above))) - {part}:
            os.symlink(os.path.join(root, above, entry), os.path.join(folder, above, entry))
        above = os.path.join(above, part)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def build(test, simt, folder):
    """The exit status; makes `test`, of kernels.cu only if it does not link without."""
    name, _, definitions = test.partition(":")
    cxx = os.environ.get("CXX", "g++") + " -w -I. " + "".join(
        f" -D{each}" for each in definitions.split(",") if each)
    if name.startswith("tune/"):
        return run(f"{cxx} -O1 -xc -std=c99 -fsanitize=bounds -fsanitize-undefined-trap-on-error "
                   f"-Itests/tune/fake_cuda tests/{name}.c -o test -lm", folder)
    cxx += " -O0 -std=c++17"
    return run(f"{cxx} -xc++ -c tests/{name}.cu -o test.o && {{ {cxx} test.o {simt} -o test || "
               f"{cxx} test.o {simt} -xc++ tests/kernels.cu -o test; }}", folder)


def verdict_of(mutant, root, folder, simt, seconds):
    make_tree(root, folder, mutant.name, mutant.text)
    verdict = "SURVIVED"
    for test in mutant.tests:
        if build(test, simt, folder):
            verdict = "no mutant"
        elif run("./test --stop", folder, seconds) not in (0, 77):
            verdict = "caught"
        if verdict != "SURVIVED":
            break
    shutil.rmtree(folder)
    return verdict


def by_rules(options, base):
    lines = {} if options.files else changed_lines(options.root, base)
    for file in options.files:
        name, _, part = file.partition(":")
        first, last = (part + "-" + part).split("-")[:2] if part else (1, 1 << 30)
        lines[name] = range(int(first), int(last) + 1)
    mutants = []
    for name in lines:
        with open(os.path.join(options.root, name), encoding="utf-8") as file:
            tokens = Tokens(file.read())
        mutants += [m for m in (Mutant(name, tokens, *each) for each in tokens.mutants())
                    if m.line in lines[name]]
    return mutants


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    for name in ("root", "work"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--by-hand", metavar="WHICH", help=argparse.SUPPRESS)
    options = parser.parse_args()
    base = os.environ.get("BASE", "HEAD~1")
    if options.by_hand:
        mutants = by_hand(options.root, options.by_hand, base)
    else:
        mutants = by_rules(options, base)
    if options.list:
        print(*(m.words for m in mutants), sep="\n")
    random.Random(options.seed).shuffle(mutants)
    work = os.path.join(options.work, "mutations" if options.by_hand else "tokens")
    begun = time.monotonic()
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    simt = os.path.join(work, "simt.o")
    if options.list or not mutants:
        mutants = []
    elif run(f"{os.environ.get('CXX', 'g++')} -xc++ -std=c++17 -O2 -w -I. -c simt/simt.cpp -o {simt}",
             options.root):
        return 2

    if options.by_hand == "--all":  # what fails on unbroken headers catches nothing
        for mutant in {mutant.tests[0]: copy.copy(mutant) for mutant in mutants}.values():
            mutant.text = mutant.unbroken
            if verdict_of(mutant, options.root, os.path.join(work, "0"), simt, 300) != "SURVIVED":
                sys.exit(f"ERROR    {mutant.tests[0]} fails on the unbroken headers")

    def attempt(k):
        if time.monotonic() - begun > options.seconds:
            return "not tried"
        return verdict_of(mutants[k], options.root, os.path.join(work, str(k)), simt, 120)

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        verdicts = list(pool.map(attempt, range(len(mutants))))
    for words, verdict in sorted((m.words, v) for m, v in zip(mutants, verdicts)):
        if options.by_hand or verdict in ("SURVIVED", "not tried"):
            print(f"{verdict:9} {words}")
    tried = verdicts.count("caught") + verdicts.count("SURVIVED")
    print(f"{tried} mutants tried, {verdicts.count('SURVIVED')} survived, "
          f"{verdicts.count('not tried')} not tried, in {time.monotonic() - begun:.0f} s")
    if options.by_hand:
        return not verdicts or verdicts.count("caught") < len(verdicts)
    return 10 * verdicts.count("SURVIVED") > tried


if __name__ == "__main__":
    sys.exit(main())
