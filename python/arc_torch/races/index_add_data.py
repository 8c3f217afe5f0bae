"""index_add_data.py - keys that bench_index_add.py draws, and what the sums must be.
SPDX-License-Identifier: Apache-2.0"""
import functools

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


@functools.lru_cache(maxsize=None)
def draw_keys(kind, rows, n):
    generator = torch.Generator(DEVICE).manual_seed(5)
    random = torch.randint(0, rows, (n,), device=DEVICE, generator=generator)
    if kind == "sorted":
        return random.sort().values
    if kind == "runs of 8":
        return random[:(n + 7) // 8].repeat_interleave(8)[:n].contiguous()
    if kind == "runs of 30":  # sorted, as the edges of a graph of that degree
        return torch.arange(n, device=DEVICE) // 30 % rows
    if kind in ("half on one row", "half on row 0"):
        hot = torch.rand(n, device=DEVICE, generator=generator) < 0.5
        return torch.where(hot, 0 if kind == "half on row 0" else 777, random)
    if kind.startswith("zipf "):
        shares = torch.arange(1, rows + 1, device=DEVICE, dtype=torch.float64) ** -float(kind[5:])
        sums = (shares / shares.sum()).cumsum(0)
        draws = torch.rand(n, device=DEVICE, dtype=torch.float64, generator=generator)
        ranks = torch.searchsorted(sums, draws).clamp(max=rows - 1)
        return torch.randperm(rows, device=DEVICE, generator=generator)[ranks]
    return random


@functools.lru_cache(maxsize=1)
def draw_values(type_, width, n):
    return (torch.rand(n, width, device=DEVICE) - 0.3).to(TYPES[type_])


class Sums:
    """What a case's sums are, in double precision, and by how much those of an adder may differ."""

    def __init__(self, rows, index, values):
        zeros = torch.zeros(rows, values.shape[1], device=values.device, dtype=torch.float64)
        self.wanted = zeros.index_add(0, index, values.double())
        self.bound = zeros.index_add_(0, index, values.double().abs())
        counts = torch.bincount(index, minlength=rows).double()[:, None]
        unit = torch.finfo(values.dtype).eps / 2
        if values.element_size() == 2:  # each addition may round the same way, until a sum stands
            rounded = torch.where(counts * unit < 1, counts, torch.inf)
        else:
            rounded = 8 * counts.sqrt()
        # 2^-38 a value: fixed point of the deterministic mode
        self.bound.mul_(rounded * unit).add_(counts * 2.0**-38)

    def wrong(self, out):
        """How many sums are beyond the bound, or no numbers."""
        return int((~((out.double() - self.wanted).abs_() <= self.bound)).sum())
