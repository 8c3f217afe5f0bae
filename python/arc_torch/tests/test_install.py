"""test_install.py SCRATCH - `pip install` builds arc_torch ahead of time, and downloads nothing.
SPDX-License-Identifier: Apache-2.0"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import testing  # skips where there is no PyTorch
import need
import arc_torch
from torch.utils import cpp_extension

if cpp_extension.CUDA_HOME is None or not cpp_extension.is_ninja_available():
    need.skip("no CUDA toolkit, or no ninja")
if importlib.util.find_spec("pip") is None:
    need.skip(f"{sys.executable} has no pip")
if not any(map(importlib.util.find_spec, ("setuptools.command.bdist_wheel", "wheel"))):
    need.skip(f"{sys.executable} has neither setuptools 70.1 nor wheel")

PROGRAM = """
import arc_torch, torch
if not torch.cuda.is_available():  # else the import has taken them into use
    arc_torch.build(cuda=True)
assert arc_torch.BUILT
out = arc_torch.index_add(torch.zeros(3, 2), 0, torch.tensor([1, 1]), torch.ones(2, 2))
assert out.tolist() == [[0, 0], [2, 2], [0, 0]]
print(arc_torch.__file__, arc_torch.__version__)
"""

scratch = pathlib.Path(sys.argv[1])
root, site = scratch / "arc", scratch / "site"
shutil.rmtree(scratch, ignore_errors=True)
folder = root / arc_torch.HERE.relative_to(arc_torch.ROOT)
folder.mkdir(parents=True)
for source in [*arc_torch.ROOT.glob("*.cuh"), *arc_torch.ROOT.glob("arc/*.cuh"),
               *(path for path in arc_torch.HERE.iterdir() if path.is_file())]:
    copy = root / source.relative_to(arc_torch.ROOT)
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(source, copy)

kept = set(root.rglob("*"))
environment = dict(os.environ, TORCH_EXTENSIONS_DIR=str(scratch / "nothing is compiled later"),
                   PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1")
if not testing.GPU:
    environment.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation",
                "--no-deps", "--no-cache-dir", "--target", site, folder], env=environment,
               check=True)
assert set(root.rglob("*")) == kept, "files are written beside the sources"
shutil.rmtree(root)
answer = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], env=environment,
                        check=True, text=True, stdout=subprocess.PIPE, cwd=scratch).stdout.split()
assert answer == [str((site / "arc_torch.py").resolve()), arc_torch.__version__], answer
assert not (scratch / "nothing is compiled later").exists()
print(f"test_install: arc_torch {arc_torch.__version__}: passed")
