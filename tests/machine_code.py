"""machine_code.py ROOT WORK TEST [--all] - what nvcc makes of arc.
SPDX-License-Identifier: Apache-2.0

  stack     arc adds neither a stack frame nor a spill: not with a literal width up to 128 (64
            where a value takes two words) on any path, nor with a width known at run time only,
            where the values lie in memory; and scopes, checks and divisions in PTX. --all: every
            width, keyed and uniform, every path, and types
  scope     atomics have the scope that the policy or the option names; an add of all lanes to hot
            rows stands between barriers of the warp, whose absence racecheck does not see
  fat       one program for several architectures, of two files; no kernel has either. --all: for
            all that this nvcc knows
  builds    programs compile and link in every kind of build; a debug build of one add stays small
  key_bits  a key that may be no int does not compile, unless ARC_KEY_BITS is 64; an int does
  apart     where lanes may have parted, no mask is that of one lane (apart.py); adds of such lanes
            have neither a stack frame nor a spill
  code_size kernels as users write them have few instructions, registers and bytes of stack
  unit_size tests compile no more kernels for a GPU, nor larger ones: nvcc takes minutes for some
  FILE.cu   as `stack`, of the kernels of that file
  drop_in   what arc/drop_in.cuh does not serve has the machine code that it has without, to the bit,
            or does not compile

Programs run where there is a device: their sums must be right. NVCC and NVDISASM name the tools;
ARC_DOWNLOADS=1 lets `apart` fetch the latter, once. Exit status 77: one is missing."""
import collections
import functools
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

import apart

ROOT, WORK, TEST = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
WORK = os.path.join(WORK, os.path.basename(TEST))
KEPT = WORK + "/kept"  # of one case
NVCC = shutil.which(os.environ.get("NVCC", "nvcc"))
SKIPPED = 77
PATHS = "ATOMIC SERIALIZED BUTTERFLY TRANSPOSED TREE AUTO".split()
CALLS = (("keyed", "0"), ("uniform", "ARC_PROMISE_ONE_KEY"))
SPOTLESS = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"

# ---- kernels, by the macros of machine_code.cuh --------------------------------------------------


def literal(path, widths):
    return [f"LITERAL({call}_{path}_{n}, ARC_PATH_{path}, {promises}, {n}, ADD)"
            for n in widths for call, promises in CALLS]


def types(path, widths):
    """Of the values, suffix, exact."""
    return [f"TYPED({call}_{path}_{i}_{n}, ARC_PATH_{path}, {promises}, {n}, {type_})"
            for i, type_ in enumerate(("f64, f64, false", "i64, i64, false",
                                       "f32, f32_to_f64, false", "f32, f16, false",
                                       "f32, bf16, false", "f32, fixed, false",
                                       "f32, fixed, true", "f32, wide, false"))
            for n in widths for call, promises in CALLS]


def forms(path, n):
    return [f"LITERAL({name}_{path}_{n}, ARC_PATH_{path}, {promises}, {n}, {add})"
            for name, promises, add in (
                ("masked", 0, "MASKED"), ("threshold", "ARC_PROMISE_ONE_KEY", "THRESHOLD"),
                ("pointers", 0, f"POINTERS({n})"))]


def run_time(path):
    return [f"KERNEL({name}_{path}, ARC_PATH_{path}, {promises}, {add})"
            for name, promises, add in (
                ("in_memory", 0, "IN_MEMORY"), ("dynamic", 0, "DYNAMIC(ADD)"),
                ("dynamic_uniform", "ARC_PROMISE_ONE_KEY", "DYNAMIC(ADD)"),
                ("dynamic_masked", 0, "DYNAMIC(MASKED)"))]


def rows(widths):
    """Of floats, and some types."""
    return [f"KERNEL(rows_{i}, ARC_PATH_AUTO, 0, {add})" for i, add in enumerate(
        [f"ROWS({n}, f32, , f32)" for n in widths] +
        ["ROWS(33, f32, , fixed)", "ROWS(9, f32, , wide)", "ROWS(64, f32, _from_f16, f16)", "ROWS(9, f64, , f64)",
         "ROWS_DYNAMIC"])]


def others(widths, hot=(("HOT", CALLS), ("HOT_HERE", CALLS[:1]))):
    kernels = [("LITERAL", f"{n}, ", promises, f"{form}({n})") for n in widths
               for form, calls in (("SUMS", CALLS), *hot) for _, promises in calls]
    kernels += [("KERNEL", "", "0", add) for add in (
        "DYNAMIC(SUMS(0))", "DYNAMIC(HOT_DYNAMIC)", "MISSING", "ATOMRED")]
    return [f"{macro}(others_{i}, ARC_PATH_AUTO, {promises}, {n}{add})"
            for i, (macro, n, promises, add) in enumerate(kernels)]


# Where nothing is optimised a key of 64 bits compiles, and is looked at at run time.
ONE_ADD = """#include "arc.cuh"
__global__ void one_add(float *rows, const long long *keys, const float *from) {
  float values[9];
  for (int i = 0; i < 9; ++i) values[i] = from[32 * i + threadIdx.x];
  arc_add_f32(arc_target_f32_rows(rows, 9, 9), keys[threadIdx.x], values, true);
}
"""
KEY = """extern "C" __global__ void add_{i}(float *rows, const {type} *keys, int n) {{
  float values[1] = {{1.0f}};
  bool active = threadIdx.x < n;
  arc_add_f32(arc_target_f32_rows(rows, 1, 1), {key}, values, active);
}}
"""

# ---- checks: of a case, what nvcc said and the file that it made; an error, or none --------------


def spotless(in_memory=None):
    """Every kernel is there, and none has a stack frame or a spill, but one that is so named."""
    def check(case, said, _):
        found = re.findall(r"entry function '(\w+)'(?:.*\n)+?.*?(\d+ bytes stack.*)", said)
        wrong = [f"{name}: {line}" for name, line in found
                 if (SPOTLESS not in line) != bool(in_memory and in_memory in name)]
        written = sum(not line.startswith("#") for line in case.kernels)
        if len(found) < written:
            wrong.append(f"{len(found)} kernels of {written}")
        return "\n".join(wrong[:10])
    return check


def fat(every):
    """nvcc's options: PTX for each architecture from which on arc has other code (ARC__ARCH), and
    the machine code of the first that has it, of the newest, and where asked of all between."""
    known = sorted((code[3:] for code in output_of(NVCC, "--list-gpu-code").split()), key=int)
    lowest = [code for code in known if code in (known[0], "60", "70", "80", "90")]
    codes = {low: [low] for low in lowest}
    for code in known if every else known[-1:]:
        low = max((low for low in lowest if int(low) <= int(code)), key=int)
        codes[low] += [code] * (code != low)
    return " ".join(f"-gencode arch=compute_{low},code=[{','.join(map('sm_{}'.format, its))}]"
                    for low, its in codes.items()) + " -gencode arch=compute_90,code=compute_90"


def all_spotless(case, said, _made):
    """The same where several are assembled at once, and their lines are mixed."""
    wanted = 2 * case.options.count("sm_")
    clean = said.count(SPOTLESS)
    return clean != wanted and f"{clean} of {wanted} kernels have neither stack frame nor spill"


def kernels_of(ptx, pattern):
    """The text of those whose name the pattern matches."""
    parts = re.split(r"\.entry (\w+)\(", ptx)
    return "".join(body for name, body in zip(parts[1::2], parts[2::2]) if re.match(pattern, name))


def each(*checks):
    return lambda *its: next((error for check in checks if (error := check(*its))), None)


def lacks(pattern, kernels=None):
    def check(_case, _said, made):
        text = kernels_of(read(made), kernels) if kernels else read(made)
        found = re.search(pattern, text)
        return (found or not text) and f"there is {found and found[0]}"
    return check


def scope(is_system):
    def check(_case, _said, made):
        atomics = re.findall(r"\s(?:red|atom)\.(?!.*shared).*", read(made))
        systems = sum(".sys." in line for line in atomics)
        right = len(atomics) > 1 and systems == (len(atomics) if is_system else 0)
        return not right and f"{systems} of {len(atomics)} atomics are of the system"
    return check


def barriers(count, kernels):
    def check(_case, _said, made):
        found = kernels_of(read(made), kernels).count("bar.warp.sync")
        return found != count and f"{found} barriers of a warp, must be {count}"
    return check


def small(_case, _said, made):
    size = os.path.getsize(made)
    return size > 500000 and f"{size} bytes"


def unit_of(kernels, kb):
    def check(_case, _said, made):
        found = (read(made).count(".entry "), os.path.getsize(made) / 1000)
        wrong = found[0] > kernels or found[1] > kb
        return wrong and f"{found[0]} kernels and {found[1]:.0f} kB, at most {kernels} and {kb}"
    return check


def refuses_each(count):
    """Each kernel calls the function that the assembler refuses, and the error has its name."""
    def check(_case, said, _made):
        name = "arc_key_is_no_int__cast_it_or_set_ARC_KEY_BITS_to_64"
        ptx = read(KEPT + "/kernels.ptx")
        calls = ["arc__refuse_key" in kernels_of(ptx, f"add_{i}$") for i in range(count)]
        return (name not in said or not all(calls)) and f"keys refused: {calls}; the error:\n{said}"
    return check


def at_most(limits):
    """Of each kernel: instructions, registers, bytes of stack."""
    def check(_case, said, made):
        sizes, wrong = instructions(made), []
        for name, limit in limits.items():
            report = said.partition(f"entry function '{name}'")[2]
            found = (sizes[name], int(re.search(r"Used (\d+) registers", report)[1]),
                     int(re.search(r"(\d+) bytes stack frame", report)[1]))
            print(name, *found)
            if any(a > b for a, b in zip(found, limit)):
                wrong.append(f"{name}: {found}, at most {limit}")
        return "\n".join(wrong)
    return check


@functools.cache
def without_drop_in(source):
    plain = os.path.join(WORK, "plain")
    output_of(NVCC, "-cubin", "-arch=sm_90", "-std=c++17", "-o", plain, source)
    return machine_code(plain)


def unchanged(case, _said, made):
    """But of the kernel that shows that the drop-in is there."""
    before, after = without_drop_in(*sources_of(case)), machine_code(made)
    differ = {name for name in before | after if before.get(name) != after.get(name)}
    return (differ != {"summed"} or len(before) < 9) and f"of {len(before)} differ {differ}"


def times_plain(limit):
    """Bytes of a file's machine code, over those without the flag."""
    def check(case, _said, made):
        with_it, plain = (sum(map(len, code.values())) for code in (
            machine_code(made), without_drop_in(*sources_of(case))))
        print(f"{with_it} bytes, {with_it / plain:.0f} times plain's {plain}")
        return with_it > limit * plain and f"at most {limit} times are accepted"
    return check


def holds(word):
    return lambda _case, _said, made: word not in read(made) and f"{word} is missing"


def says(pattern):
    return lambda _case, said, _made: not re.search(pattern, said) and f"the error is\n{said}"


def errors_of_uses(_case, said, _made):
    """The line of each use has its error, or brings a template's about."""
    wrong = [use for line, (use, words) in enumerate(USES, 1 + RESULT.count("\n")) if not re.search(
        rf"kernels\.cu\({line}\): error.*{words}|{words}.*\n(.+\n)*?.* at line {line} of", said)]
    return wrong and f"no error, or another one, at {wrong}:\n{said}"


def masks_of_one_lane(wanted):
    """Whether there are any, of whole kernels."""
    def check(_case, _said, made):
        functions = apart.read(output_of(disassembler(), "-c", made).splitlines())
        masks = [mask for body in functions.values() for mask in apart.masks(body).values()]
        one = sum(mask is not None for mask in masks)
        return (not masks or bool(one) != wanted) and f"{one} of {len(masks)} masks are of one lane"
    return check


def masks_of_lanes(_case, _said, made):
    return apart.check(output_of(disassembler(), "-c", made))


def stays_together(_case, _said, made):
    """Where a kernel or a function has YIELD, lanes that wait for others may go on apart."""
    functions = re.findall(r"^(\$\S*arc__\S*|\.text\.\S+):\n(.*?)(?=^\$|^\.text|\Z)",
                           output_of(disassembler(), "-c", made), re.M | re.S)
    yields = [name for name, body in functions if "YIELD" in body]
    if len(functions) < 2 or yields:
        return f"{len(functions)} functions, YIELD in {yields}"
    return None


def masks_of_lanes_on(*architectures):
    def check(case, said, _made):
        kept = sorted(glob.glob(KEPT + "/*.cubin"))
        if len(kept) != len(architectures):
            return f"nvcc keeps {kept}"
        return next((f"{cubin}: {error}" for cubin in kept
                     if (error := masks_of_lanes(case, said, cubin))), None)
    return check


DROP_IN = "-include arc/drop_in.cuh -cubin -arch=sm_90"
SUMS = "-DARC_DROP_IN=ARC_DROP_IN_SUMS"
COUNTED = """#include "arc.cuh"
__global__ void counted(float *rows, const int *keys, int n, int *lock) {
  arc_target_f32 t = arc_target_f32_rows(rows, 9, 9);
  for (int i = threadIdx.x; i < n; i += 32) {
    const int key = keys[i];
    float v[9];
    for (int k = 0; k < 9; ++k) v[k] = rows[key + k];
    if (key & 1) arc_add_divergent_f32(t, key, v);
    else { while (atomicCAS(lock, 0, 1) != 0) {} atomicExch(lock, 0); }
  }
}
"""
SERVED = """__global__ void served(float *f, double *d, unsigned *u, unsigned long long *l,
                                float2 *f2, float4 *f4, const int *keys, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    const int k = keys[i];
    if (k < 0) continue;
    atomicAdd(f + k, 1.0f), atomicAdd(d + k, 1.0), atomicAdd(u + k, 1u), atomicAdd(l + k, 1ull);
    atomicAdd(f2 + k, make_float2(1, 2)), atomicAdd(f4 + k, make_float4(1, 2, 3, 4));
  }
}
"""
STATEMENTS = "__global__ void statements(float *p, float v) {{\n{}}}\n".format("".join(
    f"  atomicAdd(p + blockIdx.x + {64 * i}, v * {i}.5f);\n" for i in range(48)))
OF_A_TEMPLATE = """template <class T> __device__ void twice(T *p, T v) {
  atomicAdd(p, v);
  atomicAdd(p + 1, v);
}
__global__ void adds(float *p) { twice(p, 1.0f); }
"""
LOADED = "__global__ void loaded(float **p) { atomicAdd(p[threadIdx.x], 1.0f); }\n"
HALVES = "#include <cuda_fp16.h>\n__global__ void halves(__half2 *p) { atomicAdd(p, {1, 2}); }\n"
RESULT = """#include <stdio.h>
enum bits { BIT };
template <class T> __device__ void put(T *p, T v) { *p = v; }
"""
# Uses of a result that do not compile, a kernel and a line each; what the error says.
USES = [
    ("auto old = atomicAdd(p, 1.0f); p[1] = old;", "drop_in.cuh: name the type"),
    ("auto old = atomicAdd(q, 1u); q[old] = 1;", "drop_in.cuh: name the type"),
    ("const auto old = atomicAdd((int *)q, 1); q[old] = 1;", "drop_in.cuh: name the type"),
    ("p[1] = *q ? atomicAdd(p, 1.0f) : (bits)1;", "drop_in.cuh: name the type"),
    ("q[1] = *q ? atomicAdd(q, 1u) : 0;", 'ambiguous "\\?" operation'),
    ('printf("%u", atomicAdd(q, 1u));', "passed through ellipsis"),
    ("p[1] = *q ? atomicAdd(p, 1.0f) : 0;", 'ambiguous "\\?" operation'),
    ("put(q, atomicAdd(q, 1u));", 'no instance of function template "put"')]

PLANES = """#include "arc/wide.cuh"
__global__ void planes(void *p, long long *q) {{ {} }}
"""

# ---- the table -----------------------------------------------------------------------------------

# kernels: lines behind machine_code.cuh; or a text; or names of files. fails: it must not compile.
Case = collections.namedtuple("Case", "name kernels options check runs fails",
                              defaults=(None, False, False))
REPORT = "-fatbin -arch=sm_90 -Xptxas -v --no-compress"  # what is made holds the PTX, too
EACH_FORM = ["tests/test_each_form.cu"]
# By options, of each kernel: a tenth more instructions than nvcc 13.0 reaches, registers, stack.
CODE_SIZE = {
    "-DARC_MAX_PIECES=1": {
        "one_add": (620, 40, 0), "four_adds": (1120, 56, 0), "hot": (1510, 64, 0),
        "rows_in_memory": (620, 48, 0), "lambda": (1840, 48, 0), "lambda_f16": (2220, 48, 0),
        "run_time": (2040, 64, 256)},
    "-DARC_MAX_PIECES=5": {"pieces": (820, 48, 0), "first_pieces": (400, 40, 0)}}
# By test and definitions: kernels, and a tenth more kB of PTX, not optimised, than nvcc 13.0 makes.
UNIT_SIZE = {
    "divergent": (19, 840), "property": (6, 610), "forms": (11, 850), "index_add": (19, 1210),
    "policies": (8, 680), "types -DTEST_TYPES_PART=3": (3, 830), "wide": (10, 1310)}
TWO_UNITS = [f"tests/test_two_units{unit}.cu" for unit in ("", "_other", "_checked")]


def stack_cases(every):
    if every:
        lists = {path: literal(path, range(1, 129)) for path in PATHS}
        lists.update({f"run_time_{path}": run_time(path) for path in PATHS})
        lists.update({f"types_{path}": types(path, (9, 35, 64)) for path in PATHS})
        lists.update(rows=rows([*range(1, 129), "width"]),
                     others=others((1, 2, 3, 4, 8, 9, 10, 16, 20, 32, 33, 40, 64)))
        return [Case("patterns", ["examples/patterns.cu"], REPORT, spotless("7dynamic")),
                *(Case(name, kernels, REPORT, spotless()) for name, kernels in lists.items())]
    # One file, as nvcc reads arc anew for each. Nothing is checked where ARC_CHECK is 0, not in GPU
    # programs that include the CPU warp. Of a literal width all divisions are done by the compiler.
    # `code_size` sees the stack of hot rows that whole warps add to, `apart` of divergent adds.
    # Of 128 the keyed call, which has the code of the uniform one.
    kernels = literal("AUTO", (1, 33)) + literal("AUTO", (128,))[:1] + forms("AUTO", 10)
    return [Case("kernels", kernels + run_time("AUTO") + rows(()) + others((9,), hot=()),
                 REPORT + " -include simt/simt.cuh",
                 each(spotless(), scope(False), lacks(r"__assertfail|vprintf|\strap"),
                      lacks(r"\sdiv\.", r"(keyed|uniform)_AUTO_\d+$")))]


def scope_cases(_):
    """The device's scope is seen in `stack`."""
    by_policy = ["LITERAL(policy, ARC_PATH_AUTO, 0, 3, ADD)"]
    by_option = ["KERNEL(adds, ARC_PATH_SERIALIZED, 0, SCOPE_OF_ADDS(ARC_SCOPE_SYSTEM))",
                 "KERNEL(forms, ARC_PATH_SERIALIZED, 0, SCOPE_OF_FORMS(ARC_SCOPE_SYSTEM))"]
    return [Case("policy", by_policy, "-ptx -arch=sm_80 -DARC_SCOPE=ARC_SCOPE_SYSTEM", scope(True)),
            Case("option", by_option, "-ptx -arch=sm_80",  # barriers: 2 of hot rows, 1 of index_add
                 each(scope(True), barriers(3, "forms")))]


def build_cases(_):
    return [*(Case(f"{name} {options}", sources, options + " -arch=sm_90", runs=True)
              for name, sources, options in (
                  ("each form", EACH_FORM, "-G -DARC_CHECK=2"),  # -Ofc=max: `drop_in`
                  ("two units", TWO_UNITS, "-Xptxas -O0 -std=c++11 -rdc=true"))),
            Case("one add -Xcicc -O0", ONE_ADD, "-Xcicc -O0 -ptx -arch=sm_90",  # ptxas: 26 s
                 lacks(r"\.extern \.func.*arc\w+")),
            Case("one add -G", ONE_ADD, "-G -c -arch=sm_90", small),
            *(Case(use, PLANES.format(use), "-c -arch=sm_90", says("have_no_planes"), fails=True)
              for use in ("arc_target_f16_planes(p, 9, 3);", "arc_target_wide_planes(q, 9, 3);"))]


def key_cases(_):
    ints = [("int", "keys[threadIdx.x]"), ("short", "keys[threadIdx.x]"),
            ("unsigned", "keys[threadIdx.x]"), ("unsigned char", "keys[threadIdx.x]"),
            ("int", "active ? keys[threadIdx.x] : -1"), ("long long", "(int)keys[threadIdx.x]"),
            ("long long", "active ? (int)keys[threadIdx.x] : 0")]
    others = [("long long", "keys[threadIdx.x]"), ("long long", "active ? keys[threadIdx.x] : 0"),
              ("int", "2ll * keys[threadIdx.x]"), ("unsigned", "-(long long)keys[threadIdx.x]")]

    def case(name, keys, options, check=None, fails=False):
        text = '#include "arc.cuh"\n' + "".join(
            KEY.format(i=i, type=type_, key=key) for i, (type_, key) in enumerate(keys))
        # Keys are looked at in front of the paths, of which this one is quick to compile.
        options += " -arch=sm_90 -DARC_PATH=ARC_PATH_ATOMIC"
        return Case(name, text, options, check, fails=fails)

    return [case("ints", ints, "-cubin"), case("64 bits", others, "-cubin -DARC_KEY_BITS=64"),
            case("no ints", others, f"-cubin --keep --keep-dir {KEPT}", refuses_each(len(others)),
                 fails=True),
            case("64 bits, not optimised", others[:1], "-cubin -Ofc=max")]  # -G: `builds`


TESTS = {
    "stack": stack_cases, "scope": scope_cases, "builds": build_cases, "key_bits": key_cases,
    "fat": lambda every: [Case("several architectures", TWO_UNITS, fat(every) + " -t 2 -Xptxas -v",
                               all_spotless, runs=True)],
    "code_size": lambda _: [
        Case(options, ["tests/code_size.cu"], f"-cubin -arch=sm_90 -Xptxas -v {options}",
             at_most(limits)) for options, limits in CODE_SIZE.items()],
    "unit_size": lambda _: [
        Case(unit, [f"tests/test_{unit.split()[0]}.cu"],
             " ".join(["-ptx -arch=sm_90 -Ofc=max", *unit.split()[1:]]), unit_of(*limits))
        for unit, limits in UNIT_SIZE.items()],
    "drop_in": lambda _: [
        *(Case(f"unchanged {options}", ["tests/drop_in_unchanged.cu"], f"{DROP_IN} {options}",
               unchanged) for options in ("", SUMS)),
        Case("48 statements", STATEMENTS, DROP_IN, times_plain(8)),
        Case("an extensible program", LOADED, f"{DROP_IN} -ewp"),
        Case("its line", OF_A_TEMPLATE, f"{DROP_IN} -ptx", holds(f", {2 << 8 | 2};")),
        Case("which memory", LOADED, f"{DROP_IN} -ptx", holds("isspacep.shared::cluster")),
        Case("another type counts", HALVES, f"{DROP_IN} -DARC_PROFILE=1 -ptx", holds("arc__count")),
        *(Case(f"all of arc {options}", EACH_FORM, f"{DROP_IN} -include arc/wide.cuh -Ofc=max {options}")
          for options in ("", "-DARC_PROFILE=1")),  # SUMS has a part of the first's code
        Case("uses", RESULT + "".join(
            f"__global__ void use_{i}(float *p, unsigned *q) {{ {use} }}\n"
            for i, (use, _) in enumerate(USES)), DROP_IN, errors_of_uses, fails=True)],
    # One PTX, which nvcc takes longest to make, for two architectures. The drop-in's masks are
    # literals or of each lane, and the same on both.
    "apart": lambda _: [Case("test_apart", ["tests/test_apart.cu"],
                             f"-fatbin -Xptxas -v --keep --keep-dir {KEPT} "
                             "-DTEST_WIDE_PATH=ARC_PATH_TREE "
                             "-gencode arch=compute_90,code=[sm_90,sm_120]",
                             each(spotless("dynamic"), masks_of_lanes_on("sm_90", "sm_120")))] +
                       [Case(f"drop_in {options}", ["tests/test_drop_in.cu"],
                             f"-cubin -arch=sm_90 {options}", masks_of_lanes)
                        for options in ("", SUMS)] +
                       [Case(f"safe masks {safe}", COUNTED,
                             f"-cubin -arch=sm_90 -DARC_SAFE_MASKS={safe}",
                             masks_of_one_lane(not safe)) for safe in (0, 1)] +
                       [Case("counted", COUNTED, DROP_IN + " -DARC_PROFILE=1", masks_of_lanes),
                        Case("stays together, with a user's macros", SERVED, " ".join([DROP_IN, *(
                            f"-D{c}=1024" for c in "ABCDEFGHIJKLMNOPQRSVWXYZ")]),  # CUDA has T, U
                             stays_together)]}

# ---- one case ------------------------------------------------------------------------------------


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def machine_code(cubin):
    """{kernel: bytes}, by the sections .text.KERNEL of an ELF file of 64 bits"""
    with open(cubin, "rb") as file:
        elf = file.read()
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<3H", elf, 0x3A)
    sections = [struct.unpack_from("<2I4Q", elf, table + size * i) for i in range(count)]
    texts = elf[sections[names][4]:]
    words = [texts[section[0]:].partition(b"\0")[0].decode() for section in sections]
    return {word[len(".text."):]: elf[section[4]:section[4] + section[5]]
            for word, section in zip(words, sections) if word.startswith(".text.")}


def instructions(cubin):
    return {name: len(code) // 16 for name, code in machine_code(cubin).items()}


def output_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def disassembler():
    found = shutil.which(os.environ.get("NVDISASM", "nvdisasm"))
    if found:
        return found
    fetch = '. "$0"; fetch_wheel nvidia-cuda-nvdisasm nvdisasm; chmod +x "$fetched"; echo $fetched'
    done = subprocess.run(["sh", "-c", fetch, os.path.join(ROOT, "tests/fetch_wheel.sh")], cwd=WORK,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == SKIPPED:
        skip(done.stdout[len("skipped: "):].strip())
    if done.returncode:
        sys.exit(done.stdout.strip() or "nvdisasm: its package could not be unpacked")
    return done.stdout.strip()


def sources_of(case):
    if isinstance(case.kernels, list) and case.kernels[0].endswith(".cu"):
        return [os.path.join(ROOT, name) for name in case.kernels]
    lines = case.kernels
    if isinstance(lines, list):
        lines = "\n".join(['#include "tests/machine_code.cuh"', *lines]) + "\n"
    name = os.path.join(WORK, "kernels.cu")
    with open(name, "w", encoding="utf-8") as file:
        file.write(lines)
    return [name]


def run(case):
    """An error, or none."""
    made = os.path.join(WORK, "made")
    options = ("" if "-std=" in case.options else "-std=c++17 ") + case.options
    done = subprocess.run(
        [NVCC, *options.split(), "-Wno-deprecated-gpu-targets", "-Werror", "all-warnings",
         "-I" + ROOT, "-o", made, *sources_of(case)], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if case.fails != (done.returncode != 0):
        lines = [line[:200] for line in done.stdout.splitlines()]
        wrong = [line for line in lines if re.search("error|warn", line)][:10] or lines[-3:]
        what = f"nvcc ends with status {done.returncode}"
        return "it compiles" if case.fails else "\n".join([what, *wrong])
    error = case.check and case.check(case, done.stdout, made)
    if case.runs and not error:
        ran = subprocess.run([made], stdout=subprocess.PIPE, text=True, check=False)
        error = ran.returncode not in (0, SKIPPED) and f"its sums are wrong:\n{ran.stdout[-2000:]}"
    return error


def cases_of(test):
    if test.endswith(".cu"):
        return [Case(test, [test], REPORT, spotless())]
    return TESTS[test]("--all" in sys.argv)


def main():
    if not NVCC:
        skip("no nvcc")
    os.makedirs(WORK, exist_ok=True)
    failed = 0
    for case in cases_of(TEST):
        shutil.rmtree(KEPT, ignore_errors=True)
        os.makedirs(KEPT)
        error = run(case)
        print(f"{case.name}: {f'FAILED: {error}' if error else 'right'}", flush=True)
        failed += bool(error)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
