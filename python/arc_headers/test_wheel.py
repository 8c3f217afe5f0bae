#!/usr/bin/env python3
"""test_wheel.py ROOT SCRATCH VERSION CXX - `pip install ROOT` brings the headers and the CPU warp,
with which an example compiles, and downloads nothing; so does what it makes of a source package.
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
for name in wanted:
    assert (folder / name).read_bytes() == (root / name).read_bytes(), f"{name} in {folder} differs"
(installed,) = importlib.metadata.distributions(name="arc_headers", path=[str(site)])
assert installed.version == version, f"the package is {installed.version}, arc is {version}"
assert site in folder.parents, f"{folder} is not in {site}"
compiler = [sys.argv[4], "-x", "c++", "-std=c++17"]
subprocess.run([*compiler, f"-I{folder}", root / "examples" / "scatter.cu",
                folder / "simt" / "simt.cpp", "-o", site / "scatter"], check=True)
subprocess.run([site / "scatter"], check=True)
subprocess.run([*compiler, "-fsyntax-only", "-I.", "-"], cwd=folder, check=True, text=True,
               input='#include "simt/simt.cuh"\n#include "arc_single.cuh"\n'
               'void add(arc_target_f32 t) { float v = 1; arc_add_f32(t, 0, &v, true); }\n')

BUILD = """import sys
sys.path.insert(0, sys.argv[1])
import backend
for kind in sys.argv[3:]:
    print(getattr(backend, "build_" + kind)(sys.argv[2]))
"""


def build(tree, name, *kinds):
    """The packages, in a folder of that name."""
    work = site.parent / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    said = subprocess.run([sys.executable, "-B", "-c", BUILD, tree / "python/arc_headers", work,
                           *kinds], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [work / line for line in said.split()]


wheel, sdist = build(root, "first", "wheel", "sdist")
shutil.unpack_archive(sdist, site.parent / "first", "gztar")
unpacked = site.parent / "first" / f"arc_headers-{version}"
for tree, name in ((root, "second"), (unpacked, "third")):
    for old, new in zip((wheel, sdist), build(tree, name, "wheel", "sdist")):
        assert old.name == new.name and old.read_bytes() == new.read_bytes(), (old, new)
(editable,) = build(root, "editable", "editable")
shutil.unpack_archive(editable, site.parent / "editable", "zip")
said = subprocess.run([*python, "arc_headers"], check=True, text=True, stdout=subprocess.PIPE,
                      env=dict(environment, PYTHONPATH=str(site.parent / "editable"))).stdout
assert pathlib.Path(said.strip()).resolve() == root.resolve(), f"editable: {said}"
print(f"arc_headers {version}: {len(wanted)} headers in {folder}")
