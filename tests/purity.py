"""purity.py ROOT - arc.cuh includes its policy and two files of its folder arc, which include
nothing; all are plain C in style and leak no name. SPDX-License-Identifier: Apache-2.0"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
failures = []
# Names that a warp calls, in which the CPU warp must tell one call from another.
WARP_CALLS = "arc_(add|index_add_rows|index_add_end|hot|sum|atomred)"
# Words of C++, of other headers, and types that only an include could define.
BANNED = """template class namespace typename using constexpr decltype nullptr static_cast
    reinterpret_cast const_cast dynamic_cast operator new delete try catch virtual std
    uint8_t int32_t uint32_t int64_t uint64_t uintptr_t intptr_t size_t ptrdiff_t
    cooperative_groups __half __half2 __nv_bfloat16 printf malloc getenv""".split()
ALLOWED = {"arc/drop_in.cuh": "template class namespace typename constexpr decltype operator delete".split(),
           "arc/overloads.cuh": "template class using decltype".split(),
           "arc/profile.cuh": "template class std size_t printf __half __half2 __nv_bfloat16".split()}


def must(right, text):
    if not right:
        failures.append(text)


def must_see(count, least, what):
    must(count >= least, f"only {count} {what} seen: this check has gone blind")


def read_code(name):
    """Without comments: first /* */, then //."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)
    return re.sub("//[^\n]*", " ", text)


def compiler(program, source, *options, folder=ROOT):
    """The status, what is printed, and what is said, of a source of C or C++; headers of `folder`
    come first."""
    language = "c" if program == "gcc" else "c++"
    done = subprocess.run([program, *options, "-I" + folder, "-I" + ROOT, "-x", language, "-"],
                          input=source, cwd=os.sep, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def including(names):
    return "".join(f'#include "{name}"\n' for name in names)


# What arc.cuh includes, and the forms: what a user includes behind it.
included = ["arc_policy.cuh", "arc/words.cuh", "arc/core.cuh"]
on_request = ["arc/check.cuh"]  # by core.cuh of ARC_CHECK 2
first = "arc/wide.cuh"  # which gives all others a type of sums
# C++: atomicAdd by another name, beside arc.cuh and without it; the second if ARC_PROFILE is 1
drop_in = ["arc/drop_in.cuh", "arc/profile.cuh"]
forms = sorted({os.path.relpath(name, ROOT) for name in glob.glob(ROOT + "/arc/*")}
               - {*included, *on_request, *drop_in, first})
forms = [first, *forms]
headers = ["arc.cuh", *included, *on_request, *forms, *drop_in]
must_see(len(headers), 10, "headers")
policy = "../arc_policy.cuh"
allowed = {**{name: ["arc.cuh", "../arc.cuh"] for name in forms},
           "arc.cuh": included, "arc/core.cuh": ["arc/check.cuh"],
           "arc/drop_in.cuh": [policy, "words.cuh", "profile.cuh"]}
for name in ["arc.cuh", *included, *forms, *drop_in]:
    found = re.findall(r"#[ \t]*include[ \t]*([^\n]*)", read_code(name))
    found = [other for other in found if other.startswith('"') or name != "arc/profile.cuh"]
    wanted = [f'"{other}"' for other in allowed.get(name, [])]
    must(sorted(found) == sorted(wanted), f"{name} includes {found}, must include {wanted}")

all_tags = 0
for name in headers:
    text = re.sub(r'"[^"\n]*"', '""', read_code(name))
    # The driver's function behind assert(), declared as nvcc's own headers do it.
    text = re.sub(r"void __assertfail\([^)]*\)", "", text)
    text = text.replace("arc__duty &operator=(", "")  # ARC_CHECK 2: a form is begun anew
    for word in re.findall(rf"\b({'|'.join(BANNED)})\b", text):
        must(word in ALLOWED.get(name, []), f"{name} uses the word {word}")
    tags = re.findall(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)", text)
    for tag in tags + re.findall(r"}\s*([A-Za-z_]\w*)\s*;", text):  # typedef names, too
        must(tag.startswith(("arc_", "ARC_")), f"{name} declares {tag}")
    all_tags += len(tags)
must_see(all_tags, 15, "structs in all headers")

# The overloads are C++, which no C compiler lists: what defines them is read here.
functions = [function for function in re.findall(r"ARC__FN[^{]*{", read_code("arc/overloads.cuh"))
             if not function.startswith("ARC__FN void NAME(")]  # a form of ARC__OVERLOAD_ADD
must_see(len(functions), 9, "overloads")
for function in functions:
    found = re.match(r"ARC__FN [^(]*[ *](arc_[a-z_]*)\(", function)
    must(found, f"an overload without a name of arc's: {function}")
    must(not found or not re.match(WARP_CALLS, found[1]) or "ARC__CALLER)" in function,
         f"the CPU warp does not tell calls of an overload apart: {function}")

# Macros that are defined after the include and were not before.
cxx = shutil.which("g++") or shutil.which("clang++")
must(cxx, "no C++ compiler: the macros were not checked")
for words in ("-DSIMT_ON_CPU=1 -DSIMT_ARCH=900", "-DSIMT_ON_CPU=1 -DSIMT_CALLER=... "
              "-DSIMT_CALLED=...", "-D__CUDACC__ -D__CUDA_ARCH__=900",
              "-D__CUDACC__ -DARC_CHECK=2"):
    before, after = (set(re.findall(r"#define (\w+)", compiler(
        cxx, source, "-dM", "-E", *words.split())[1]))
        for source in ("", including([*forms, "arc.cuh", drop_in[0]])))
    for name in headers[:-1]:  # each guards itself by a macro, so that it has been seen
        must((re.sub(r"\W", "_", name).upper() in after)
             == (name != "arc/check.cuh" or "ARC_CHECK=2" in words),
             f"{name} has no guard, is not seen, or where nothing asks for it ({words})")
    for macro in after - before:
        must(macro.startswith(("ARC_", "arc_")) or macro == "atomicAdd", f"a macro leaks ({words}): {macro}")

# Precompiled, since it takes most of the time: g++ takes simt.cuh.gch, clang does not.
compiled = tempfile.TemporaryDirectory()
os.mkdir(compiled.name + "/simt")
subprocess.run([cxx, "-std=c++17", "-w", "-x", "c++-header", ROOT + "/simt/simt.cuh", "-o",
                compiled.name + "/simt/simt.cuh.gch"], check=True)

# Macros of a user, in front of all: CUDA's own headers name templates T and U.
SUFFIXES = "f32 f64 i32 u32 i64 u64 f16 bf16 f32_to_f64 fixed wide".split()
for names in ("ABCDEFGHIJKLMNOPQRSVWXYZ", [*SUFFIXES, "near"]):
    macros = "".join(f"#define {name} 1024\n" for name in names)
    for profile in "01":
        status, _, said = compiler(
            cxx, f'#include "simt/simt.cuh"\n{macros}#define ARC_MAX_PIECES 2\n'
            f"#define ARC_PROFILE {profile}\n" + including([drop_in[0], *forms, "arc.cuh"]),
            "-std=c++17", "-fsyntax-only", "-w", folder=compiled.name)
        must(status == 0, f"a user's macros break a header:\n{macros}{said}")

# A file that is neither CUDA nor for the CPU warp: one error, which says what to do.
_, _, said = compiler(cxx, including(["arc.cuh", "arc.cuh"]), "-fsyntax-only")
must(said.count("error:") == 1 and re.search(
    "this file as CUDA.*include simt/simt.cuh first", said), f"a file without CUDA gets:\n{said}")

# A form is switched on by its #include alone: in place of arc.cuh, with which it begins, and with
# the others in several orders. All are used, with each type of sums.
USES = {"arc/wide.cuh": "arc_add_wide(arc_target_wide_rows(0, 7, 1), 0, v, true);",
        "arc/hot.cuh": "arc_hot{0} h = arc_hot_begin{0}({1}, 0, 0, 1); arc_hot_add{0}(&h, 0, v, true);",
        "arc/index_add.cuh": "arc_index_add{0} r = arc_index_add_begin{0}_from_f16({1}, 0, 1);"
                             " arc_index_add_end{0}(&r);",
        "arc/sums.cuh": "arc_sum{0} s = arc_sum_begin{0}({1}, 0, v, true); arc_sum_next{0}(&s);",
        "arc/papers.cuh": "arc_atomred_f32(v, 1.0f);",
        "arc/overloads.cuh": "arc_add({1}, 0, v, true);"}
BOTH = "arc_index_add_rows_with(&r, 0, 0, true, arc_options_default());"  # overloads, index_add
must(sorted(USES) == sorted(forms), f"of {forms} some are not used")
others = forms[1:]
for form in others:
    must(re.match(r'\s*#if defined\(__CUDACC_RTC__\)\s*#include "arc.cuh"\s*#else\s*'
                  r'#include "\.\./arc.cuh"\s*#endif', read_code(form)), f"{form} begins otherwise")
for order in ([], *([form] for form in others), others,
              ["arc.cuh", *others[::-1]], [drop_in[0], *others],
              [*others[::-1], drop_in[0], "arc.cuh"]):
    for order in ([first, *order], order) if order[:1] != ["arc.cuh"] else (order,):
        text = '#include "simt/simt.cuh"\n' + including(order) + "void use(float *v) {\n(void)v;\n"
        for suffix, target in (("_f32", "arc_target_f32_rows(v, 1, 1)"),
                               ("_wide", "arc_target_wide_rows(0, 7, 1)"))[:1 + (first in order)]:
            text += "".join(f"{{ {USES[form].format(suffix, target)} "
                            f"{BOTH * (form == 'arc/index_add.cuh' and 'arc/overloads.cuh' in order)}"
                            "}\n" for form in order if form in USES)
        status, _, said = compiler(cxx, text + "}\n", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra",
                                   "-Werror", "-Wno-unused-function", folder=compiled.name)
        must(status == 0, f"{order}: {said}")
for above, words, says in (("arc.cuh", "", "include it in front of arc.cuh"),
                           (first, "-DARC_EXACT=1", "wide targets are not exact"),
                           (first, "-DARC_WIDE=1", "include arc/wide.cuh instead")):
    _, _, said = compiler(cxx, including([above, first]), "-DSIMT_ON_CPU=1", "-E", *words.split())
    must(re.search(f"error:[^\n]*{says}", said), f"{above}, {first} {words}: {said}")
_, _, said = compiler(cxx, including(forms), "-fsyntax-only")
must(said.count("error:") == 1, f"forms in a file without CUDA get:\n{said}")

# A C compiler reads the headers but those of C++, and lists every function in them.
c_forms = [form for form in forms if form != "arc/overloads.cuh"]
if not shutil.which("gcc"):
    print("skipped: no gcc to list the functions")
for pieces in (1, 4) if shutil.which("gcc") else ():
    with tempfile.TemporaryDirectory() as folder:
        status, _, said = compiler(
            "gcc", including([os.path.join(ROOT, "tests", "purity_prelude.h"), *c_forms, *c_forms,
                              "arc.cuh", "arc.cuh"]), "-std=gnu99", "-DSIMT_ON_CPU=1",
            "-DSIMT_ARCH=900", "-DSIMT_CALLER=...", "-DSIMT_CALLED=...",
            f"-DARC_MAX_PIECES={pieces}", "-fsyntax-only", "-aux-info",
            folder + "/functions")
        must(status == 0, f"with ARC_MAX_PIECES {pieces}, the headers are no C:\n{said}")
        if status != 0:
            continue
        with open(folder + "/functions", encoding="utf-8") as file:
            lines = file.read().splitlines()
    for name in ["arc.cuh", "arc/words.cuh", "arc/core.cuh", *c_forms]:
        declared = [line.split("*/ ", 1)[1] for line in lines if f"/{name}:" in line]
        must_see(len(declared), 5, f"functions of {name}")
        for function in declared:
            # Nobody defines it: it names what to do where several pieces are not asked for.
            if not re.match(r"extern [^(]*_pieces \(struct arc_set_ARC_MAX_PIECES", function):
                must(function.startswith("static "), f"not a static function: {function}")
            found = re.match(r"[^(]*[ *](arc_[a-z0-9_]*) \(", function)
            must(found, f"a function without a name of arc's: {function}")
            must(not found or not re.match(WARP_CALLS, found[1]) or ", ...)" in function,
                 f"the CPU warp does not tell its calls apart, for want of ARC__CALLER: {function}")

print("\n".join(failures) or f"purity: nothing leaks from {len(headers)} headers")
sys.exit(bool(failures))
