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
SOURCE = """#include "arc_policy.cuh"
#include "arc_policy.cuh"
typedef int policy_version_is_positive[ARC_VERSION > 0 ? 1 : -1];
extern const char policy[];
const char policy[] = ARC_POLICY_STRING;
"""
MAIN = """#include <stdio.h>
#include "arc_policy.cuh"
int main(void) { printf("%s|%d", ARC_POLICY_STRING, ARC_VERSION); return 0; }
"""
# A header, which includes arc_policy.cuh, and one that does behind it.
FORMS = sorted(set(os.path.basename(name) for name in glob.glob(ROOT + "/arc/*"))
               - set("check.cuh core.cuh profile.cuh wide.cuh words.cuh".split()))
PAIRS = [*((first, "arc.cuh") for first in ("arc_policy.cuh", "arc_tune.h", "arc/drop_in.cuh", "arc/wide.cuh")),
         *(("arc.cuh", then) for then in ("arc_tune.h", *("arc/" + form for form in FORMS)))]
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


def late(first, then, macros):
    """A source that sets macros between two headers."""
    return "\n".join([f'#include "{first}"', *(f"#undef {macro}\n#define {macro} {value}"
                                              for macro, value in macros), f'#include "{then}"'])


def string_of(*macros, main=MAIN):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "policy")
        must(*build(compilers[0], main, *STRICT, *macros, "-o", program))
        return subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout


compilers = [name for name in ("gcc", "clang") if shutil.which(name) or print("skipped: no", name)]
for compiler in compilers:
    must(*build(compiler, SOURCE, *STRICT, "-fsyntax-only"))
    for macro, (says, legal, illegal) in MACROS.items():
        if compiler != compilers[0]:  # a second one reads the same conditions
            legal, illegal = (" ".join(values.split()[:1]) for values in (legal, illegal))
        for value in legal.split():
            right, said = build(compiler, SOURCE, *STRICT, f"-D{macro}={value}", "-fsyntax-only")
            must(right, f"{compiler}: {macro}={value} is legal, but:\n{said}")
        for value in illegal.split():
            right, said = build(compiler, SOURCE, "-std=c99", "-fsyntax-only",
                                f"-D{macro}={value.replace('EMPTY', '')}")
            must(not right and re.search("error:[^\n]*" + says, said),
                 f"{compiler}: {macro}={value}: no error that names the legal values:\n{said}")
    for pair in PAIRS:
        _, said = build(compiler, late(*pair, ((macro, illegal.split()[0].replace("EMPTY", ""))
                                               for macro, (_, _, illegal) in MACROS.items())),
                        "-E", "-DSIMT_ON_CPU=1", "-DSIMT_ARCH=900", "-o", os.devnull)
        for macro, (says, _, _) in MACROS.items():
            must(re.search("error:[^\n]*" + says, said),
                 f"{compiler}: {macro} is illegal between {' and '.join(pair)}: no error:\n{said}")
    # Legal one by one, contradictory together.
    right, said = build(compiler, SOURCE, "-std=c99", "-fsyntax-only", "-DARC_PATH=ARC_PATH_ATOMIC",
                        "-DARC_BALANCE_THRESHOLD=0")
    must(not right and re.search(r"error:[^\n]*ARC_BALANCE_THRESHOLD[^\n]*1\.\.33 or "
                                 "ARC_THRESHOLD_AUTO", said),
         f"{compiler}: path atomic with threshold 0: {said}")

for macros, wanted in (
        ([], "path=auto threshold=auto vector_atomics=1 scope=device check=0 key_bits=32 exact=0"),
        (["PATH=ARC_PATH_TREE", "BALANCE_THRESHOLD=12", "VECTOR_ATOMICS=0",
          "SCOPE=ARC_SCOPE_SYSTEM", "CHECK=2", "KEY_BITS=64", "EXACT=1", "MAX_PIECES=7",
          "WIDE_WORDS=9", "COST_REDUCE=1", "COST_VALUE=2", "COST_MATCH=3", "COST_MATCH_SHUFFLE=4",
          "COST_REQUEST=5", "DROP_IN=ARC_DROP_IN_SUMS", "PROFILE=1", "SAFE_MASKS=1"],
         "path=tree threshold=12 vector_atomics=0 scope=system check=2 key_bits=64 exact=1 "
         "max_pieces=7 wide_words=9 cost_reduce=1 cost_value=2 "
         "cost_match=3 cost_match_shuffle=4 cost_request=5 drop_in=sums profile=1 safe_masks=1"),
        (["COST_VALUE=6"],
         "path=auto threshold=auto vector_atomics=1 scope=device check=0 key_bits=32 exact=0 "
         "max_pieces=1 wide_words=6 cost_reduce=50 cost_value=6 "
         "cost_match=120 cost_match_shuffle=10 cost_request=10 drop_in=learns profile=0 safe_masks=0")):
    text = string_of(*(f"-DARC_{macro}" for macro in macros))
    must(text == f"arc 0.9.0 {wanted}|900", f"the policy reads '{text}', must be '{wanted}'")
must("safe_masks=1" in string_of("-DARC_SAFE_MASKS=1"), "safe masks alone are not said")
text = string_of(main=late("arc_tune.h", "arc_policy.cuh", [
    ("ARC_PATH", 5), ("ARC_SCOPE", 2), ("ARC_BALANCE_THRESHOLD", 9), ("ARC_KEY_BITS", 64)]) + "\n" +
    MAIN)
must(all(word in text for word in ("path=tree threshold=9 ", "scope=system", "key_bits=64")),
     f"macros set behind arc_tune.h: {text}")
for path in PATHS:
    text = string_of(f"-DARC_PATH={path}")
    must(f" path={path[9:].lower()} " in text, f"{path} reads '{text}'")

# The default form of masks is that of the compilers in bench/NOTES.md, and only of them.
with open(os.path.join(ROOT, "bench/NOTES.md"), encoding="utf-8") as file:
    PASSED = [tuple(map(int, version.split(".")))
              for row in re.findall(r"^\| nvcc (.*?) \|", file.read(), re.MULTILINE)
              for version in row.split(", ")]
must(PASSED, "bench/NOTES.md names no nvcc that passed")
for (major, minor), macros, wanted in (
        *((version, "", 0) for version in PASSED), (max(PASSED), "-D__CUDACC_RTC__", 1),
        ((max(PASSED)[0], max(PASSED)[1] + 1), "", 1), ((max(PASSED)[0] + 1, 0), "", 1)):
    right, said = build(compilers[0], f'#include "arc_policy.cuh"\n'
                        f"typedef int form[ARC_SAFE_MASKS == {wanted} ? 1 : -1];\n",
                        "-fsyntax-only", "-D__CUDACC__", f"-D__CUDACC_VER_MAJOR__={major}",
                        f"-D__CUDACC_VER_MINOR__={minor}", *macros.split())
    must(right, f"CUDA {major}.{minor} {macros}: ARC_SAFE_MASKS must be {wanted}:\n{said}")

# No macro is left out: each default stands behind an #ifndef.
with open(os.path.join(ROOT, "arc_policy.cuh"), encoding="utf-8") as file:
    for macro in re.findall(r"^#ifndef (ARC_[A-Z0-9_]*)$", file.read(), re.MULTILINE):
        must(macro in MACROS or macro == "ARC_POLICY_CUH", f"{macro} is not checked here")

print(f"policy: {checks} checks, {failures} failed")
sys.exit(failures > 0 or not compilers)
