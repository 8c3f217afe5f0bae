"""bench_index_add.py [OUT.csv] [--widths 1,9] - arc_torch.index_add_ against PyTorch's.
SPDX-License-Identifier: Apache-2.0

100 000 rows of out, int64 indices, 2^25 values in all and at most 2^22 rows of them. A time is the
median of launches that take turns, each queued behind a short pause, so that it is the GPU's alone.
`read`: keys and values over the bandwidth with which a large tensor is copied."""
import math
import pathlib
import sys

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
sys.path += [str(PYTHON), str(PYTHON / "torch")]
import need  # noqa: E402

torch = need.module("torch")
import arc_torch  # noqa: E402
import measure  # noqa: E402

if not arc_torch.BUILT:
    need.skip("no CUDA device, no CUDA toolkit, or no ninja")

ROWS = 100_000
KEYS = ("sorted", "runs of 8", "random", "zipf 1.2", "half on one row")
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


def draw_keys(kind, n):
    generator = torch.Generator("cuda").manual_seed(5)
    random = torch.randint(0, ROWS, (n,), device="cuda", generator=generator)
    if kind == "sorted":
        return random.sort().values
    if kind == "runs of 8":
        return random[:(n + 7) // 8].repeat_interleave(8)[:n].contiguous()
    if kind == "half on one row":
        hot = torch.rand(n, device="cuda", generator=generator) < 0.5
        return torch.where(hot, 777, random)
    if kind == "zipf 1.2":
        shares = torch.arange(1, ROWS + 1, device="cuda", dtype=torch.float64) ** -1.2
        sums = (shares / shares.sum()).cumsum(0)
        draws = torch.rand(n, device="cuda", dtype=torch.float64, generator=generator)
        ranks = torch.searchsorted(sums, draws).clamp(max=ROWS - 1)
        return torch.randperm(ROWS, device="cuda", generator=generator)[ranks]
    return random


def medians(functions, launches):
    """In ms; the first launch of each is not counted."""
    return [its[len(its) // 2] for its in measure.times(functions, launches, warm_up=1)]


def main():
    names = [word for word in sys.argv[1:] if word.endswith(".csv")]
    widths = [1, 2, 3, 4, 8, 9, 16, 32, 64, 128]
    if "--widths" in sys.argv:
        widths = [int(word) for word in sys.argv[sys.argv.index("--widths") + 1].split(",")]
    lines = [f"# {line}" for line in measure.head(arc_torch.include_path(), "key_bits=32")]
    lines += ["type,mode,width,keys,adder,ms"]
    plan = [("f32", "fast"), ("f32", "deterministic"), ("f16", "fast"), ("bf16", "fast"),
            ("f64", "fast"), ("f16", "deterministic")]
    ratios, large = {}, torch.zeros(2**30, dtype=torch.int8, device="cuda")
    bytes_per_ms = 2 * large.nbytes / medians([lambda: large.clone()], 15)[0]
    del large
    for type_, mode in plan:
        for width in widths if type_ == "f32" else [w for w in widths if w in (1, 4, 9, 16, 64)]:
            n = min(2**22, 2**25 // width)
            values = (torch.rand(n, width, device="cuda") - 0.3).to(TYPES[type_])
            for kind in KEYS:
                index = draw_keys(kind, n)
                out = torch.zeros(ROWS, width, device="cuda", dtype=TYPES[type_])
                torch.use_deterministic_algorithms(mode == "deterministic")
                slow = mode == "deterministic" and kind in ("zipf 1.2", "half on one row")
                times = medians([lambda: out.index_add_(0, index, values),
                                 lambda: arc_torch.index_add_(out, 0, index, values)],
                                3 if slow else 15)
                times.append((values.nbytes + index.nbytes) / bytes_per_ms)
                torch.use_deterministic_algorithms(False)
                ratio = times[1] / times[0]
                ratios.setdefault((type_, mode), []).append(ratio)
                case = f"{type_},{mode},{width},{kind}"
                lines += [f"{case},{adder},{ms:.4f}"
                          for adder, ms in zip(("pytorch", "arc", "read"), times)]
                print(f"{case}: " + ", ".join(f"{ms:.4f}" for ms in times) +
                      f" ms by PyTorch, arc, reading; {ratio:.3f}", flush=True)
                if names:  # whole after each line
                    with open(names[0], "w") as file:
                        file.write("\n".join(lines) + "\n")
    for (type_, mode), all_ in ratios.items():
        mean = math.exp(sum(map(math.log, all_)) / len(all_))
        print(f"{type_}, {mode}: geometric mean {mean:.3f}, worst {max(all_):.3f}")


main()
