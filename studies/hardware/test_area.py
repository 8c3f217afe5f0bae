"""test_area.py UNIT.v - ARC's reduction unit by yosys: right sums, and how many transistors.
SPDX-License-Identifier: Apache-2.0"""
import random
import re
import shutil
import struct
import subprocess
import sys

MOST = 70000  # transistors an adder, section 5.4 of the paper
FLIP_FLOP = 24  # transistors; yosys counts those of gates alone


def yosys(*commands):
    done = subprocess.run(["yosys", "-p", "; ".join(commands)], check=True, capture_output=True,
                          text=True)
    return done.stdout


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def flushed(bits):
    return bits if bits >> 23 & 0xff else bits & 0x80000000


def sum_of(a, b):
    """As red.add.f32: in double the sum of two floats is rounded once more without harm."""
    try:
        bits = bits_of(float_of(flushed(a)) + float_of(flushed(b)))
    except OverflowError:
        bits = bits_of(float("inf") if float_of(a) > 0 else float("-inf"))
    return 0x7fffffff if bits & 0x7fffffff > 0x7f800000 else flushed(bits)


def pairs():
    edges = [0, 1, 0x7fffff, 0x800000, 0x800001, 0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000,
             0x7fc00000]
    edges += [bits | 0x80000000 for bits in edges]
    yield from ((a, b) for a in edges for b in edges)
    draw = random.Random(1)
    for _ in range(1500):
        a = draw.getrandbits(32)
        near = a & 0x7f800000 | draw.getrandbits(23) | draw.getrandbits(1) << 31
        far = max(0, (near >> 23 & 0xff) - draw.randrange(30)) << 23 | near & 0x807fffff
        yield a, draw.choice((near, far, a ^ 0x80000000 ^ draw.randrange(4)))


def main():
    unit = sys.argv[1]
    if not shutil.which("yosys"):
        print("skipped: no yosys")
        return 77
    wanted = list(pairs())
    said = yosys(f"read_verilog {unit}", "prep -flatten -top adder",
                 *(f"eval -set a 32'h{a:08x} -set b 32'h{b:08x} -show sum" for a, b in wanted))
    sums = [int(binary or decimal, 2 if binary else 10)
            for binary, decimal in re.findall(r"\\sum = (?:32'([01]+)|(\d+))\.", said)]
    wrong = [(a, b, got) for (a, b), got in zip(wanted, sums) if got != sum_of(a, b)]
    for a, b, got in wrong[:5]:
        print(f"{a:08x} + {b:08x} is {got:08x} and must be {sum_of(a, b):08x}")
    area = yosys(f"read_verilog {unit}", "synth -flatten -top reduction_unit", "abc -g cmos4",
                 "stat -tech cmos")
    gates = int(re.findall(r"transistors: +(\d+)", area)[-1])
    kept = sum(map(int, re.findall(r"DFF\w* +(\d+)", area[area.rindex("Number of cells"):])))
    all_of_it = gates + FLIP_FLOP * kept
    print(f"{len(sums)} sums, {len(wrong)} wrong; {gates} transistors of gates and {kept} flip-flops "
          f"of {FLIP_FLOP}: {all_of_it}")
    return wrong != [] or len(sums) != len(wanted) or all_of_it >= MOST


if __name__ == "__main__":
    sys.exit(main())
