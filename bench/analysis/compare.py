#!/usr/bin/env python3
"""compare.py - is B faster than A? Two sweeps, cell by cell. SPDX-License-Identifier: Apache-2.0

usage: compare.py A.csv[,A2.csv...] B.csv[,B2.csv...] [options]

  --noise PERCENT    differences up to this much mean nothing (2; 0 for model clocks)
  --path NAME        only cells of this path
  --quiet            no cells, only the summary
  --fail-if-slower   exit status 1 if a cell is SLOWER

Of several files of one side, a cell has the median of their medians and the widest quartiles.
ratio is B over A, gross; noise is the distance of the quartiles over the median, the larger one.
  FASTER, SLOWER     the quartiles do not overlap, and the ratio is off 1 by more than the noise of
                     either side and more than --noise
  SAME               within the noise, and the quartiles overlap or it is within --noise; never
                     where the noise is above 5 %, which would hide too much
  UNCLEAR            all else
Two runs of one program on one machine differ by up to 1.7 % in kernels of 0.1 ms, more than the
quartiles of either show; hence the 2 %.

Exit status: 0 compared, 1 see above, 2 bad option, bad file, or no cell in common."""
import statistics

import results

MOST_NOISE, DEFAULT_NOISE = 5.0, 2.0
VERDICTS = ("FASTER", "SLOWER", "SAME", "UNCLEAR")
# What makes two files hard to compare, where both heads say it.
HEADS = (("device", ""), ("sizes", "blocks"), ("sizes", "threads"), ("sizes", "updates"),
         ("sizes", "rows"), ("sizes", "seed"), ("rigour", "cache"))


class Side:
    def __init__(self, names):
        self.files = [results.Results(name) for name in names.split(",")]
        if len({file.model for file in self.files}) > 1:
            raise results.Bad("some of the files hold times, others model clocks")
        self.model = self.files[0].model
        self.cells, self.wrong = {}, set()
        for file in self.files:
            for row in file.rows:
                self.cells.setdefault(results.cell(row), []).append(row)
                if row["status"] == "ERROR":
                    self.wrong.add(results.cell(row))

    def figure(self, cell):
        """(median, lower quartile, upper quartile)"""
        rows = self.cells[cell]
        return (statistics.median(row["gross"] for row in rows),
                min(row["quartile_low"] for row in rows), max(row["quartile_high"] for row in rows))

    def find(self, cell):
        """The cell, or the same one asked for by another part of a preset; None without."""
        if cell in self.cells:
            return cell
        return next((other for other in self.cells if other[1:] == cell[1:]), None)


def judge(a, b, least_noise):
    """(ratio, noise in percent, verdict)"""
    noise = max(100.0 * (high - low) / gross for gross, low, high in (a, b))
    ratio = b[0] / a[0]
    difference = 100.0 * abs(ratio - 1.0)
    apart = a[2] < b[1] or b[2] < a[1]
    if difference > max(noise, least_noise) and apart:
        return ratio, noise, "FASTER" if ratio < 1.0 else "SLOWER"
    same = difference <= max(noise, least_noise) and (not apart or difference <= least_noise)
    return ratio, noise, "SAME" if same and noise <= max(MOST_NOISE, least_noise) else "UNCLEAR"


def warn(a, b):
    for key, word in HEADS:
        both = [file.head_word(key, word) if word else file.head.get(key, "")
                for file in (a.files[0], b.files[0])]
        if both[0] and both[1] and both[0] != both[1]:
            print(f"WARNING: the files differ in {key} {word}: '{both[0]}' and '{both[1]}'")


def print_cells(judged, model):
    last = None
    for cell, a, b, (ratio, noise, verdict) in judged:
        if cell[:-2] != last:
            last = cell[:-2]
            print("\n" + ", ".join(f"{word} {value}" for word, value in zip(results.CELL, last)))
            unit = "clocks*" if model else "ms"
            print(f"  {'path':<14} {'threshold':>9} {'A ' + unit:>12} {'B ' + unit:>12} "
                  f"{'ratio':>8} {'noise %':>8}  verdict")
        digits = 1 if model else 4
        print(f"  {cell[-2]:<14} {cell[-1]:>9} {a[0]:12.{digits}f} {b[0]:12.{digits}f} "
              f"{ratio:8.3f} {noise:8.1f}  {verdict}")


def print_summary(judged, only, wrong):
    paths = {}
    for cell, _, _, verdict in judged:
        paths.setdefault(cell[-2], []).append(verdict)
    paths["all"] = [verdict for _, _, _, verdict in judged]
    print(f"\n  {'path':<14}" + "".join(f"{name:>9}" for name in VERDICTS)
          + f"{'geometric mean':>16}{'largest':>9}")
    for path, found in paths.items():
        counts = [sum(verdict == name for _, _, verdict in found) for name in VERDICTS]
        ratios = [ratio for ratio, _, _ in found]
        print(f"  {path:<14}" + "".join(f"{count:9d}" for count in counts)
              + f"{results.geometric_mean(ratios):16.4f}{max(ratios):9.3f}")
    print(f"{len(judged)} cells compared; only in A: {only[0]}, only in B: {only[1]}; left out "
          f"because of wrong sums: {wrong}")


def main(words):
    parser = results.parser(__doc__)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--noise", type=float)
    parser.add_argument("--path")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--fail-if-slower", action="store_true")
    options = parser.parse_args(words)
    a, b = Side(options.a), Side(options.b)
    if a.model != b.model:
        raise results.Bad("one side holds times, the other model clocks")
    warn(a, b)
    noise = options.noise if options.noise is not None else 0.0 if a.model else DEFAULT_NOISE
    wanted = [cell for cell in a.cells if options.path in (None, cell[-2])]
    pairs = [(cell, b.find(cell)) for cell in wanted]
    common = [pair for pair in pairs if pair[1]]
    right = [(c, o) for c, o in common if c not in a.wrong and o not in b.wrong]
    if not right:
        raise results.Bad(f"{options.a} and {options.b} have no cell in common")
    judged = [(c, a.figure(c), b.figure(o), judge(a.figure(c), b.figure(o), noise))
              for c, o in right]
    if not options.quiet:
        print_cells(judged, a.model)
    taken = {other for _, other in common}
    only_b = sum(options.path in (None, cell[-2]) and cell not in taken for cell in b.cells)
    print_summary(judged, (len(pairs) - len(common), only_b), len(common) - len(right))
    slower = any(verdict == "SLOWER" for _, _, _, (_, _, verdict) in judged)
    return 1 if slower and options.fail_if_slower else 0


if __name__ == "__main__":
    results.run(main)
