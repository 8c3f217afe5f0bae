"""Counts a kernel's instructions a step: of the innermost loop around its global reductions.

usage: cuobjdump -sass FILE.cubin | python3 count_machine_code.py PART-OF-KERNEL-NAME...
SPDX-License-Identifier: Apache-2.0
"""
import re
import sys

LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*);")


def loop_around(code, first, last):
    """The shortest backward branch that spans the reductions; all of the kernel where none does."""
    loops = [(address - int(target.group(1), 16), int(target.group(1), 16), address)
             for address, name, rest in code if name.startswith("BRA")
             for target in [re.search(r"0x([0-9a-f]+)", rest)]
             if target and int(target.group(1), 16) <= first and last <= address]
    return min(loops)[1:] if loops else (code[0][0], code[-1][0])


def report(name, lines):
    code = [(int(m.group(1), 16), m.group(2), m.group(3)) for m in map(LINE.search, lines) if m]
    adds = [address for address, op, _ in code if op.startswith(("RED", "ATOMG"))]
    if not adds:
        return
    begin, end = loop_around(code, adds[0], adds[-1])
    ops = [op for address, op, _ in code if begin <= address <= end and op != "NOP"]
    count = {k: sum(op.startswith(k) for op in ops) for k in ("RED", "ATOMG", "LDG", "LDS")}
    print(f"{name[:90]:90s} loop {len(ops):5d}", *(f"{k} {n}" for k, n in count.items()))


def main():
    name, lines = "", []
    for line in sys.stdin.read().splitlines() + ["Function : "]:
        if "Function : " in line:
            if name and all(part in name for part in sys.argv[1:]):
                report(name, lines)
            name, lines = line.split(":", 1)[1].strip(), []
        lines.append(line)


main()
