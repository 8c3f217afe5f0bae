#!/usr/bin/env python3
"""fit_flow.py [SIZE STEPS] - an optical flow is fitted to two pictures, twice: the same bytes.
SPDX-License-Identifier: Apache-2.0

One of the pictures is learnt as well, so that grid_sample has both gradients. By PyTorch alone they
differ from run to run on a GPU, and its deterministic mode refuses them."""
import contextlib
import hashlib
import sys
import time

import arc_torch
import torch

SIZE, STEPS = (int(x) for x in (*sys.argv[1:3], 512, 100)[:2])
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def fit():
    """The flow, and what is under it; milliseconds of a step."""
    torch.manual_seed(1)
    line = torch.linspace(-1, 1, SIZE, device=DEVICE)
    y, x = torch.meshgrid(line, line, indexing="ij")
    identity = torch.stack((x, y), -1)[None]
    target = torch.sin(9 * (x + 0.1 * torch.sin(3 * y)) + 7 * y * y)[None, None]
    picture = torch.sin(9 * x + 7 * y * y)[None, None].clone().requires_grad_()
    flow = torch.zeros_like(identity).requires_grad_()
    optimiser = torch.optim.Adam([{"params": [flow]}, {"params": [picture]}], lr=3e-3)
    begin = 0.0
    for step in range(STEPS):
        if step == 3:  # what is built and allocated once is not timed
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            begin = time.perf_counter()
        optimiser.zero_grad()
        seen = torch.nn.functional.grid_sample(picture, identity + flow, padding_mode="border",
                                               align_corners=True)
        loss = (seen - target).square().mean() + 0.1 * flow.diff(dim=1).square().mean()
        loss.backward()
        optimiser.step()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    ms = (time.perf_counter() - begin) / (STEPS - 3) * 1e3
    values = torch.cat((flow.flatten(), picture.flatten())).detach().cpu().numpy()
    return hashlib.sha256(values.tobytes()).hexdigest()[:16], float(loss.detach()), ms


for name, context in (("PyTorch", contextlib.nullcontext), ("arc", arc_torch.deterministic)):
    with context():
        runs = [fit() for _ in range(2)]
    is_same = runs[0][0] == runs[1][0]
    print(f"{name}: {runs[0][0]} and {runs[1][0]}, {'the same' if is_same else 'different'}; "
          f"loss {runs[0][1]:.2e}, {min(run[2] for run in runs):.2f} ms per step")
sys.exit(not is_same)  # by arc
