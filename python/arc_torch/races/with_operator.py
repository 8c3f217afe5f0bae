"""with_operator.py - what measures arc_torch begins here: PyTorch and the operator, or a line that
says which is missing. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path += [str(HERE.parents[1]), str(HERE.parents[2] / "examples")]
import need  # noqa: E402

torch = need.module("torch")
import arc_torch  # noqa: E402

if not arc_torch.BUILT:
    need.skip("no CUDA device, no CUDA toolkit, or no ninja")
