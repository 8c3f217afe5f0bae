"""nvrtc.py - arc's headers compile under NVRTC as named strings, without an include path.
SPDX-License-Identifier: Apache-2.0

The library is opened at run time, so that any version of it will do. Compiled, down to machine code,
are all kernels of each_call.cu for the first and the last architecture, for debugging, so that all
assembly of the header is there; and optimised the keyed add with all checks, for the last one: all
of them would take minutes, and nvcc optimises them in machine_code.py. The keyed add compiles from
arc_single.cuh, too. A warning is a failure."""
import argparse
import ctypes
import pathlib
import re
import sys

import single

LIBRARIES = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"]
HEADERS = ["arc.cuh", "arc_policy.cuh", *(f"arc/{name}.cuh" for name in (
    "words", "core", "check", "wide", "index_add", "hot", "sums", "papers", "overloads",
    "drop_in", "profile"))]


def open_library(names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            if "No such file" not in str(error):  # it is there, and broken
                raise
    print("skipped: no NVRTC library", *names)
    sys.exit(77)


def strings(values):
    return (ctypes.c_char_p * len(values))(*(value.encode() for value in values))


def compiles(nvrtc, root, architecture, *options, arc=None):
    """True if each_call.cu compiles without a word; arc: in place of all headers."""
    def text_of(name):
        if arc and name in HEADERS:
            return arc if name == "arc/wide.cuh" else ""  # the first that it includes
        return (root / name).read_text(encoding="utf-8")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = [*options, f"--gpu-architecture=sm_{architecture}", "-DKEY=int"]
    if nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), text_of("tests/each_call.cu").encode(), b"each_call.cu",
            len(HEADERS), strings([text_of(name) for name in HEADERS]), strings(HEADERS)):
        return False
    status = nvrtc.nvrtcCompileProgram(program, len(words), strings(words))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    size.value = 0
    if status == 0:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    # but for the age of the architecture, and what CUDA 11 lacks to debug: no fault of the header
    no_fault = re.compile("are deprecated and may be removed|debug_(abbrev|info) section not found")
    said = [line for line in log.value.decode().splitlines()
            if line.strip() and not no_fault.search(line)]
    result = "FAILED" if status else "compiled with warnings" if said else "compiled"
    print(f"sm_{architecture} {' '.join(options)}: {result}, {size.value} bytes", *said, sep="\n",
          flush=True)
    return status == 0 and not said and size.value > 0


def open_device():
    """The driver's library and the architecture of the first GPU; None twice if there is none."""
    context, numbers = ctypes.c_void_p(), [ctypes.c_int(), ctypes.c_int()]
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, None
    if (cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
            or cuda.cuCtxSetCurrent(context)):
        return None, None
    for number, of in zip(numbers, (75, 76)):  # major, minor
        cuda.cuDeviceGetAttribute(ctypes.byref(number), of, 0)
    return cuda, 10 * numbers[0].value + numbers[1].value


def runs(cuda, cubin, table):
    """True if the kernel adds right sums, and learns in the module's table."""
    launches, blocks, threads = 20, 2048, 96
    module, kernel, sums, learnt = (ctypes.c_void_p() for _ in range(4))
    size = ctypes.c_size_t()
    failed = (cuda.cuModuleLoadData(ctypes.byref(module), cubin)
              or cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"add")
              or cuda.cuModuleGetGlobal_v2(ctypes.byref(learnt), ctypes.byref(size), module, table)
              or cuda.cuMemAlloc_v2(ctypes.byref(sums), ctypes.c_size_t(12))
              or cuda.cuMemsetD8_v2(sums, 0, ctypes.c_size_t(12)))
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(sums))
    for _ in range(launches):
        failed = failed or cuda.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, None,
                                               pointers, None)
    got, bytes_of = (ctypes.c_float * 3)(), ctypes.create_string_buffer(size.value)
    failed = (failed or cuda.cuMemcpyDtoH_v2(got, sums, ctypes.c_size_t(12))
              or cuda.cuMemcpyDtoH_v2(bytes_of, learnt, size))
    right = not failed and list(got) == 3 * [launches * blocks * threads / 3] and any(bytes_of.raw)
    print(f"on the GPU: status {failed}, sums {list(got)}, {size.value} bytes of what was learnt, "
          f"{'not ' if any(bytes_of.raw) else ''}all 0", flush=True)
    return right


def names_what_is_learnt(nvrtc, root, architecture, by_option):
    """True if a user of NVRTC can find what arc/drop_in.cuh has learnt: its table in the module.
    by_option: NVRTC reads and includes the headers as nvcc does, else they are named strings."""
    cuda, of_device = open_device()
    architecture = of_device or architecture
    names = [] if by_option else HEADERS[1:3] + ["arc/drop_in.cuh"]
    flag, program = [f"-I{root}", "-include=arc/drop_in.cuh"] * by_option, ctypes.c_void_p()
    source = "".join(f'#include "{name}"\n' for name in names) + (
        'extern "C" __global__ void add(float *p) { atomicAdd(p + threadIdx.x % 3, 1.0f); }\n')
    lowered, size, table = ctypes.c_char_p(), ctypes.c_size_t(), b"&arc__learnt_here"
    options = strings([f"--gpu-architecture=sm_{architecture}", *flag])
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"add.cu", len(names),
        strings([(root / name).read_text(encoding="utf-8") for name in names]), strings(names))
    nvrtc.nvrtcAddNameExpression(program, table)
    found = (nvrtc.nvrtcCompileProgram(program, 1 + len(flag), options)
             or nvrtc.nvrtcGetLoweredName(program, table, ctypes.byref(lowered))
             or nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))) == 0
    cubin = ctypes.create_string_buffer(size.value + 1)
    found = found and nvrtc.nvrtcGetCUBIN(program, cubin) == 0 and lowered.value in cubin.raw
    good = found and (not cuda or runs(cuda, cubin, lowered.value))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    print(f"sm_{architecture} {table.decode()}: {'found' if found else 'FAILED'}", flush=True)
    return good


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--root", type=pathlib.Path, default=".")
parser.add_argument("--library")
parser.add_argument("--architectures", help="such as 50,60; all that the library knows")
given = parser.parse_args()
library = open_library([given.library] if given.library else LIBRARIES)
if given.architectures:
    listed = given.architectures.split(",")
else:
    count = ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    listed = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(listed)
good = [compiles(library, given.root, architecture, "--device-debug")
        for architecture in {listed[0], listed[-1]}]
good.append(compiles(library, given.root, listed[-1], "-DONE", "-DARC_CHECK=2", "--std=c++11"))
if not given.architectures:  # of an older library one text is as good as another
    good.append(compiles(library, given.root, listed[-1], "-DONE", arc=single.single(given.root)))
    good += [names_what_is_learnt(library, given.root, listed[-1], by) for by in (False, True)]
print(f"{len(listed)} architectures, {good.count(False)} failed")
sys.exit(not all(good))
