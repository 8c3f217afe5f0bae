"""policy.py ROOT - arc_policy.cuh: plain C99, legal values compile, all others are named errors.
SPDX-License-Identifier: Apache-2.0"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
STRICT = "-std=c99 -pedantic -Wall -Wextra -Wundef -Werror".split()
PATHS = [f"ARC_PATH_{name}" for name in "ATOMIC SERIALIZED BUTTERFLY TRANSPOSED TREE AUTO".split()]

# Macro: what an error must say, legal values, illegal ones. EMPTY: defined to nothing. Names: what
# somebody might think of, or misspell.
MACROS = {
    "ARC_PATH": (".*".join(PATHS), " ".join(PATHS) + " 1 6",
                 "0 7 -1 EMPTY ARC_PATH_ATOMICS ARC_PATH_TRANSPOSE AUTO auto"),
    "ARC_BALANCE_THRESHOLD": (r"ARC_BALANCE_THRESHOLD must be 0\.\.33 or ARC_THRESHOLD_AUTO",
                              "0 (0) 1 12 32 33 34 ARC_THRESHOLD_AUTO",
                              "-1 (-1) 35 1000 EMPTY AUTO ARC_BALANCE_AUTO"),
    "ARC_SCOPE": ("ARC_SCOPE must be ARC_SCOPE_DEVICE or ARC_SCOPE_SYSTEM",
                  "ARC_SCOPE_DEVICE ARC_SCOPE_SYSTEM 1 2", "0 3 -1 EMPTY ARC_SCOPE_BLOCK SYSTEM"),
    "ARC_DROP_IN": ("ARC_DROP_IN must be ARC_DROP_IN_SUMS or ARC_DROP_IN_LEARNS",
                    "ARC_DROP_IN_SUMS ARC_DROP_IN_LEARNS 1 2", "0 3 -1 EMPTY LEARNS"),
    "ARC_CHECK": ("ARC_CHECK must be 0, 1 or 2", "0 1 2 (0) (2)",
                  "3 -1 (3) (FULL) EMPTY FULL ARC_CHECK_NONE"),
    "ARC_KEY_BITS": ("ARC_KEY_BITS must be 32 or 64", "32 64 (64)",
                     "0 16 33 128 -64 EMPTY LONG ARC_KEY_BITS_64"),
    "ARC_MAX_PIECES": (r"ARC_MAX_PIECES must be 1\.\.8", "1 4 8 (8)", "0 9 -1 EMPTY MANY"),
    "ARC_WIDE_WORDS": (r"ARC_WIDE_WORDS must be 1\.\.16", "1 6 16 (16)", "0 17 -1 EMPTY ALL"),
    **{f"ARC_{name}": (f"ARC_{name} must be 0 or 1", "0 1 (0)", "2 -1 EMPTY YES ON off")
       for name in ("VECTOR_ATOMICS", "EXACT", "PROFILE", "SAFE_MASKS")},
    **{f"ARC_DROP_IN_{name}": ("gone; see ARC_DROP_IN_LEARNS", "", "0 1")  # of 0.6
       for name in ("FLOAT", "SEVERAL")},
    **{f"ARC_{name}": ("a promise is an option of a call since arc 0.4", "", "0 1")  # of 0.3
       for name in ("INACTIVE_IS_ZERO", "WARP_IS_ACTIVE", "ALIGNED_16")},
    "ARC_WIDE": ("ARC_WIDE: include arc/wide.cuh instead", "", "0 1"),
    "ARC_TABLES": ("tables of rows are no part of arc any more", "", "0 1"),
    **{f"ARC_COST_{name}": (r"every ARC_COST_\.\.\. must be 1 or more", "1 999", "0 -1 EMPTY LOW")
       for name in ("REDUCE", "VALUE", "MATCH", "MATCH_SHUFFLE", "REQUEST")},
}
# A header, which includes arc_policy.cuh, and one that does behind it.
FORMS = sorted(set(os.path.basename(name) for name in glob.glob(ROOT + "/arc/*"))
               - set("check.cuh core.cuh profile.cuh wide.cuh words.cuh".split()))
PAIRS = [*((first, "arc.cuh") for first in ("arc_policy.cuh", "arc_tune.h", "arc/drop_in.cuh", "arc/wide.cuh")),
         *(("arc.cuh", then) for then in ("arc_tune.h", *("arc/" + form for form in FORMS)))]
# Macros without their ARC_, and what the policy's string says of them behind "arc 0.9.0 ".
DEFAULT = "path=auto threshold=auto vector_atomics=1 scope=device check=0 key_bits=32 exact=0"
STRINGS = [
    ("", DEFAULT),
    ("PATH=ARC_PATH_TREE BALANCE_THRESHOLD=12 VECTOR_ATOMICS=0 SCOPE=ARC_SCOPE_SYSTEM CHECK=2 "
     "KEY_BITS=64 EXACT=1 MAX_PIECES=7 WIDE_WORDS=9 COST_REDUCE=1 COST_VALUE=2 COST_MATCH=3 "
     "COST_MATCH_SHUFFLE=4 COST_REQUEST=5 DROP_IN=ARC_DROP_IN_SUMS PROFILE=1 SAFE_MASKS=1",
     "path=tree threshold=12 vector_atomics=0 scope=system check=2 key_bits=64 exact=1 "
     "max_pieces=7 wide_words=9 cost_reduce=1 cost_value=2 "
     "cost_match=3 cost_match_shuffle=4 cost_request=5 drop_in=sums profile=1 safe_masks=1"),
    *((f"{macro}=1", DEFAULT + " max_pieces=1 wide_words=6 cost_reduce=50 "
       f"cost_value={1 if macro == 'COST_VALUE' else 5} cost_match=120 cost_match_shuffle=10 "
       f"cost_request=10 drop_in=learns profile=0 safe_masks={int(macro == 'SAFE_MASKS')}")
      for macro in ("COST_VALUE", "SAFE_MASKS")),
    *((f"PATH={path}", DEFAULT.replace("auto", path[9:].lower(), 1)) for path in PATHS)]
checks, failures = 0, 0


def must(right, text):
    global checks, failures
    checks += 1
    if not right:
        failures += 1
        print("FAILED:", text)


def build(compiler, source, *options):
    """Whether it compiles, and what the compiler says."""
    done = subprocess.run([compiler, *options, "-I" + ROOT, "-x", "c", "-"], input=source,
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def define(macros):
    return "".join(f"#undef {macro}\n#define {macro} {value.replace('EMPTY', '')}\n"
                   for macro, value in macros)


def in_turn(sets, then=""):
    """A source that includes the policy with each set of macros, since each include checks them."""
    return "".join(f'{define(macros)}#line {i + 1} "set"\n#include "arc_policy.cuh"\n{then}\n' +
                   "".join(f"#undef {macro}\n" for macro, _ in macros)
                   for i, macros in enumerate(sets))


def errors_of(compiler, sets):
    """What the compiler says of each set."""
    said = build(compiler, in_turn(sets), *STRICT, "-fsyntax-only",
                 *["-ferror-limit=0"] * (compiler == "clang"))[1]
    parts = re.split(r"In file included from set:(\d+)[^\n]*", said)
    errors = [""] * len(sets)
    for number, text in zip(parts[1::2], parts[2::2]):
        errors[int(number) - 1] += text
    return errors


compilers = [name for name in ("gcc", "clang") if shutil.which(name) or print("skipped: no", name)]
both = [("ARC_PATH", "ARC_PATH_ATOMIC"), ("ARC_BALANCE_THRESHOLD", "0")]  # legal one by one
for compiler in compilers:
    cases = [([(macro, value)], says if values is illegal else "")
             for macro, (says, legal, illegal) in MACROS.items()
             for values in (legal, illegal) for value in values.split()]
    cases += [(both, r"ARC_BALANCE_THRESHOLD[^\n]*1\.\.33 or ARC_THRESHOLD_AUTO"), ([], "")]
    for (macros, says), said in zip(cases, errors_of(compiler, [macros for macros, _ in cases])):
        right = re.search("error:[^\n]*" + says, said) if says else not said
        must(right, f"{compiler}: {macros}: must say '{says}', says:\n{said}")
for first, then in PAIRS:
    macros = [(macro, illegal.split()[0]) for macro, (_, _, illegal) in MACROS.items()]
    _, said = build(compilers[0], f'#include "{first}"\n{define(macros)}#include "{then}"\n', "-E",
                    "-DSIMT_ON_CPU=1", "-DSIMT_ARCH=900", "-o", os.devnull)
    for macro, (says, _, _) in MACROS.items():
        must(re.search("error:[^\n]*" + says, said),
             f"{macro} is illegal between {first} and {then}: no error:\n{said}")

    _, said = build(compilers[0], f'#include "{first}"\n{define([("ARC_MAX_PIECES", "3")])}'
                    f'#include "{then}"\n', "-E", "-DSIMT_ON_CPU=1", "-DSIMT_ARCH=900", "-o", os.devnull)
    declared = first in ("arc.cuh", "arc/drop_in.cuh", "arc/wide.cuh")
    must(("error: #error \"ARC_MAX_PIECES must be set above" in said) == declared,
         f"ARC_MAX_PIECES grows between {first} and {then}:\n{said}")

# Behind arc_tune.h, which includes the policy.
sets = [[tuple(f"ARC_{word}".split("=")) for word in words.split()] for words, _ in STRINGS]
with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "policy")
    must(*build(compilers[0], '#include "arc_tune.h"\n#include <stdio.h>\nint main(void) {\n' +
                in_turn(sets, 'printf("%s|%d\\n", ARC_POLICY_STRING, ARC_VERSION);') +
                "return 0; }\n", *STRICT, "-o", program, "-lm"))
    lines = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
for line, (words, wanted) in zip(lines.splitlines(), STRINGS):
    must(line == f"arc 0.9.0 {wanted}|900", f"{words}: reads '{line}', must be '{wanted}'")

# The default form of masks is that of the compilers in bench/NOTES.md, and only of them.
with open(os.path.join(ROOT, "bench/NOTES.md"), encoding="utf-8") as file:
    PASSED = [tuple(map(int, version.split(".")))
              for row in re.findall(r"^\| nvcc (.*?) \|", file.read(), re.MULTILINE)
              for version in row.split(", ")]
must(PASSED, "bench/NOTES.md names no nvcc that passed")
newest, rtc = max(PASSED), [("__CUDACC_RTC__", "1")]
compiled = [*((version, [], 0) for version in PASSED), (newest, rtc, 1),
            ((newest[0], newest[1] + 1), [], 1), ((newest[0] + 1, 0), [], 1)]
right, said = build(compilers[0], "".join(
    "#undef ARC_SAFE_MASKS\n" + in_turn([[("__CUDACC_VER_MAJOR__", str(major)),
                                          ("__CUDACC_VER_MINOR__", str(minor)), *macros]],
                                        f"typedef int form_{major}_{minor}_must_be_{wanted}"
                                        f"[ARC_SAFE_MASKS == {wanted} ? 1 : -1];")
    for (major, minor), macros, wanted in compiled), "-fsyntax-only", "-D__CUDACC__")
must(right, f"ARC_SAFE_MASKS:\n{said}")

# No macro is left out: each default stands behind an #ifndef.
with open(os.path.join(ROOT, "arc_policy.cuh"), encoding="utf-8") as file:
    for macro in re.findall(r"^#ifndef (ARC_[A-Z0-9_]*)$", file.read(), re.MULTILINE):
        must(macro in MACROS or macro == "ARC_POLICY_CUH", f"{macro} is not checked here")

print(f"policy: {checks} checks, {failures} failed")
sys.exit(failures > 0 or not compilers)
