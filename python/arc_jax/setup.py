"""setup.py - builds arc_jax's kernels ahead: pip install --no-build-isolation python/arc_jax
SPDX-License-Identifier: Apache-2.0

Where there is no GPU, ARC_JAX_ARCHITECTURES="80 90" names those to build for."""
import os
import pathlib
import re
import sys

import setuptools
from setuptools.command import build_ext

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import arc_jax
except ImportError as missing:
    sys.exit(f"arc_jax: {missing}: there is no JAX, or pip hides it from the build; with JAX call "
             f"{sys.executable} -m pip install --no-build-isolation ./python/arc_jax")
os.chdir(HERE)  # setuptools wants relative names
policy = (pathlib.Path(arc_jax.include_path()) / "arc_policy.cuh").read_text()
version = ".".join(re.search(rf"#define ARC_VERSION_{part} (\d+)", policy)[1]
                   for part in ("MAJOR", "MINOR", "PATCH"))


class Build(build_ext.build_ext):
    def build_extension(self, extension):
        named = os.environ.get("ARC_JAX_ARCHITECTURES", "").split()
        try:
            library = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
            library.parent.mkdir(parents=True, exist_ok=True)
            arc_jax.build(library, named or arc_jax.architectures())
        except RuntimeError as error:
            sys.exit(f"arc_jax: {error}")


setuptools.setup(
    name="arc_jax", version=version, license="Apache-2.0", py_modules=["arc_jax"],
    description="JAX's scatter-add and segment_sum, by arc",
    ext_modules=[setuptools.Extension(arc_jax.BUILT_AHEAD, [])],
    cmdclass={"build_ext": Build})
