"""with_operator.py - what measures arc_torch begins here: PyTorch and the operator, or a line that
says which is missing. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
sys.path += [str(PYTHON), str(PYTHON / "torch")]
import need  # noqa: E402

torch = need.module("torch")
import arc_torch  # noqa: E402

if not arc_torch.BUILT:
    need.skip("no CUDA device, no CUDA toolkit, or no ninja")
