"""setup.py - builds arc_torch ahead of time: pip install --no-build-isolation python/arc_torch
SPDX-License-Identifier: Apache-2.0

Needs what arc_torch needs to build itself. What is missing or fails is one line, the last."""
import importlib.util
import os
import pathlib
import sys
import tempfile

import setuptools

try:
    import torch
    from torch.utils import cpp_extension
except ImportError as missing:
    sys.exit(f"arc_torch: {missing}: there is no PyTorch, or pip hides it; with it call "
             f"{sys.executable} -m pip install --no-build-isolation ./python/arc_torch")

if not any(map(importlib.util.find_spec, ("setuptools.command.bdist_wheel", "wheel"))):
    sys.exit("arc_torch: needs setuptools 70.1, or the package wheel, to be installed: "
             f"{sys.executable} -m pip install wheel")

if not torch.cuda.is_available() and "TORCH_CUDA_ARCH_LIST" not in os.environ:
    sys.exit('arc_torch: PyTorch sees no GPU; TORCH_CUDA_ARCH_LIST="9.0" names one to build for')

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "arc_headers"))
import backend  # noqa: E402
os.chdir(HERE)  # setuptools wants relative names
scratch = tempfile.TemporaryDirectory()  # nothing is written beside the sources
try:
    setuptools.setup(
        name="arc_torch", version=backend.version(), license="Apache-2.0", py_modules=["arc_torch"],
        description="PyTorch's index_add_ and what stands on it, by arc",
        ext_modules=[cpp_extension.CUDAExtension(
            "arc_torch_operators",
            sorted(path.name for path in HERE.iterdir() if path.suffix in (".cpp", ".cu")),
            include_dirs=[str(backend.ROOT)],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3"]})],
        options={"egg_info": {"egg_base": scratch.name}, "build": {"build_base": scratch.name}},
        cmdclass={"build_ext": cpp_extension.BuildExtension})
except Exception as error:  # a CUDA toolkit that is missing, or of another version; a compiler's
    sys.exit(f"arc_torch: {error}")
