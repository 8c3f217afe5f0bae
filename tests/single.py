"""single.py OUT [--wide] - writes arc_single.cuh: arc.cuh, the policy and all forms in one file to
copy; with wide targets if asked, since their code in each call costs other calls registers.
SPDX-License-Identifier: Apache-2.0

single.py --check COMPILER: after the preprocessor it is, token by token, what the folder's headers
are. Drop-in and profile are not in it. The forms cost a user's file no time that shows."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ["arc.cuh", *(f"arc/{form}.cuh" for form in (
    "overloads", "hot", "index_add", "sums", "papers"))]


def text_of(root, name, seen):
    """The file with each header that it includes in its place, the first time."""
    if name in seen:
        return ""
    seen.add(name)
    text = (root / name).read_text(encoding="utf-8")
    text = re.sub(r'#if defined.__CUDACC_RTC__.*\n(#include .*\n)#else\n.*\n#endif\n', r"\1", text)
    return re.sub(r'^#include "(?:\.\./)?(.*)".*\n', lambda found: text_of(root, found[1], seen), text,
                  flags=re.M)


def single(root, wide=False):
    seen = set()
    return ("/* Written by the target arc_single of arc's CMakeLists.txt. */\n" +
            "".join(text_of(root, name, seen) for name in ["arc/wide.cuh"] * wide + HEADERS))


def preprocessed(command, source):
    """Its tokens, but for the CPU warp's places, each a file and a line."""
    text = subprocess.run([*command, "-E", "-P", "-x", "c++", "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    return re.sub(r'\{"[^"]*", \d+\}', "{}", text).split()


def check(root, compiler):
    good = True
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "arc_single.cuh")
        command = [compiler, f"-I{folder}", f"-I{root}"]
        for macro, wide in (("ARC_CHECK 0", True), ("ARC_CHECK 2", False), ("ARC_CHECK 0", False)):
            path.write_text(single(root, wide), encoding="utf-8")
            above = f'#define {macro}\n#include "simt/simt.cuh"\n'
            wanted = preprocessed(command, above + "".join(
                f'#include "{n}"\n' for n in ["arc/wide.cuh"] * wide + HEADERS))
            seen = preprocessed(command, above + f'#include "{path.name}"\n')
            print(f"{macro}, wide {wide}: {len(seen)} tokens, {'the same' if seen == wanted else 'OTHERS'}")
            good = good and seen == wanted
        alone = f'#include "simt/simt.cuh"\n#include "{path.name}"\nint main() {{}}\n'
        subprocess.run([compiler, "-fsyntax-only", "-x", "c++", "-std=c++17", "-Wall", "-Wextra",
                        "-Werror", *command[1:], "-"], input=alone, text=True, check=True)
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", metavar="COMPILER")
    parser.add_argument("--wide", action="store_true", help="with wide targets")
    given = parser.parse_args()
    if given.check:
        sys.exit(not check(ROOT, given.check))
    if not given.out:
        parser.error("say where to write arc_single.cuh")
    given.out.write_text(single(ROOT, given.wide), encoding="utf-8")
