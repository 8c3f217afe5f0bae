#!/usr/bin/env python3
"""compile_cost.py NVCC ROOT - what arc's calls cost the compiler, and what it makes of them.
SPDX-License-Identifier: Apache-2.0

Compiles the kernels of compile_cost.cu with arc and with plain atomics, in turns, and compares
processor seconds: in one of three tries the ratio must not exceed 1.3 times what was reached. Reads
stack frames and registers where a way to write a call once cost them. Exit status 77: no nvcc."""
import os
import re
import shutil
import subprocess
import sys

# kernel: the ratio reached (nvcc 13.0), bytes of stack and registers at most, if that matters
KERNELS = {
    "one_add": (2.45, 0, 40), "four_adds": (6.7, 0, 56), "hot": (4.9, 0, 64),
    "index_add": (3.25, 0, 48), "pieces": (3.4, 0, 48), "lambda": (5.0, 0, 48),
    "lambda_keyed": (4.4, 0, 48), "lambda_f16": (5.7, 0, 48), "by_value": (11.9, None, None),
    "run_time": (4.1, 256, 64)}
MARGIN, TRIES = 1.3, 3


def compile_once(nvcc, root, number, plain):
    """(processor seconds, the assembler's report)"""
    before = os.times()
    done = subprocess.run(
        [nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-cubin", "-Xptxas", "-v", f"-DKERNEL={number}",
         f"-DPLAIN={plain}", f"-I{root}", "-o", os.devnull,
         os.path.join(root, "tests", "compile_cost.cu")],
        capture_output=True, text=True)
    after = os.times()
    if done.returncode != 0:
        sys.exit(f"FAILED: kernel {number} does not compile:\n{done.stderr}")
    seconds = (after.children_user + after.children_system - before.children_user
               - before.children_system)
    return seconds, done.stderr


def largest(pattern, text):
    return max((int(number) for number in re.findall(pattern, text)), default=0)


def main():
    nvcc, root = sys.argv[1], os.path.abspath(sys.argv[2])
    if not shutil.which(nvcc):
        print("skipped: no nvcc")
        return 77
    with open(os.path.join(root, "tests", "compile_cost.cu")) as source:
        numbers = dict(re.findall(r"#define NAME_(\w+) (\d+)", source.read()))
    if set(numbers) != set(KERNELS):
        sys.exit("FAILED: compile_cost.cu has other kernels")
    failed = False
    for name, (reached, most_stack, most_registers) in KERNELS.items():
        for _ in range(TRIES):
            plain, _ = compile_once(nvcc, root, numbers[name], 1)
            seconds, report = compile_once(nvcc, root, numbers[name], 0)
            ratio, excess = seconds / plain, seconds - plain
            if ratio <= MARGIN * reached:
                break
        stack, registers = largest(r"(\d+) bytes stack frame", report), largest(
            r"Used (\d+) registers", report)
        print(f"{name:15} {ratio:5.2f} of plain atomics' time (+{excess:.2f} s), "
              f"{registers} registers, {stack} bytes of stack", flush=True)
        for what, is_bad in (("time", ratio > MARGIN * reached),
                             ("stack", most_stack is not None and stack > most_stack),
                             ("registers", most_registers is not None
                              and registers > most_registers)):
            if is_bad:
                print(f"FAILED: {name}: {what}, at most {MARGIN * reached:.1f}, {most_stack}, "
                      f"{most_registers}")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
