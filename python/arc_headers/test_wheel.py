#!/usr/bin/env python3
"""test_wheel.py ROOT SCRATCH VERSION CXX - `pip install ROOT` brings the headers and the CPU warp,
with which an example compiles, and downloads nothing.
SPDX-License-Identifier: Apache-2.0"""
import importlib.metadata
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

root, site, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2], "site"), sys.argv[3]
if importlib.util.find_spec("pip") is None:
    print(f"skipped: {sys.executable} has no pip")
    sys.exit(77)

shutil.rmtree(site, ignore_errors=True)
environment = dict(os.environ, PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1")
python = [sys.executable, "-m"]
subprocess.run([*python, "pip", "install", "--no-index", "--no-build-isolation", "--no-cache-dir",
                "--disable-pip-version-check", "--target", site, root], env=environment, check=True)
answer = subprocess.run([*python, "arc_headers"], env=environment, check=True, text=True,
                        stdout=subprocess.PIPE, cwd=site.parent)
folder = pathlib.Path(answer.stdout.strip())

wanted = ["arc.cuh", "arc_policy.cuh", "arc_tune.h", "simt/simt.cuh", "simt/simt.cpp",
          *(f"arc/{name}.cuh" for name in ("check", "core", "hot", "index_add", "overloads", "papers",
                                           "sums", "words"))]
errors = [f"{name} is missing in {folder}, or differs" for name in wanted
          if not (folder / name).is_file()
          or (folder / name).read_bytes() != (root / name).read_bytes()]
(installed,) = importlib.metadata.distributions(name="arc_headers", path=[str(site)])
if installed.version != version:
    errors.append(f"the package is {installed.version}, arc is {version}")
example = subprocess.run([sys.argv[4], "-x", "c++", "-std=c++17", f"-I{folder}",
                          root / "examples" / "scatter.cu", folder / "simt" / "simt.cpp",
                          "-o", site / "scatter"], check=False)
if example.returncode or subprocess.run([site / "scatter"], check=False).returncode:
    errors.append("examples/scatter.cu does not run on the installed CPU warp")
if site not in folder.parents:
    errors.append(f"{folder} is not in {site}")
print("\n".join(errors) or f"arc_headers {version}: {len(wanted)} headers in {folder}")
sys.exit(bool(errors))
