"""test_versions.py SCRATCH CXX - all that includes PyTorch compiles with the oldest that arc_torch
is for, and with the newest that there is. SPDX-License-Identifier: Apache-2.0

For before a release: with ARC_DOWNLOADS=1 it fetches both, 1.5 GB, and keeps their headers alone."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(HERE.parent / "examples"))
import need  # noqa: E402

if os.environ.get("ARC_DOWNLOADS") != "1":
    need.skip("with ARC_DOWNLOADS=1 this test fetches two PyTorch")
nvcc = shutil.which("nvcc", path=os.pathsep.join((os.environ["PATH"], "/usr/local/cuda/bin")))
if nvcc is None:
    need.skip("no nvcc, beside which CUDA's headers are")
CUDA = pathlib.Path(nvcc).resolve().parents[1] / "include"


def fetch(requirement, folder):
    """PyTorch's headers, and the file that knows which C++ they want; its version."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir",
                    "--only-binary=:all:", "-d", folder, requirement], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(
            ("torch/include/", "torch/utils/cpp_extension.py"))])
    wheel.unlink()
    return wheel.name.split("-")[1]


scratch, failed = pathlib.Path(sys.argv[1]), 0
for requirement in ("torch==2.5.1", "torch"):
    folder = scratch / requirement.replace("=", "_")
    version = fetch(requirement, folder)
    include = folder / "torch/include"
    flags = (folder / "torch/utils/cpp_extension.py").read_text(encoding="utf-8")
    standard = max(re.findall(r"-std=c\+\+\d\d", flags))
    for source in sorted(HERE.glob("*.cpp")):
        compiled = subprocess.run(
            [sys.argv[2], standard, "-fsyntax-only", f"-I{HERE.parents[1]}", "-isystem", include,
             "-isystem", include / "torch/csrc/api/include", "-isystem", CUDA, source])
        failed += compiled.returncode != 0
        print(f"PyTorch {version}, {standard}, {source.name}:",
              "FAILED" if compiled.returncode else "compiles", flush=True)
sys.exit(failed > 0)
