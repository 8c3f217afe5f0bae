"""setup.py - builds arc_jax's kernels ahead: pip install --no-build-isolation python/arc_jax
SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import sys
import tempfile

import setuptools.command.build_ext

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "arc_headers")]
try:
    import arc_jax
    import backend  # of arc_headers
except ImportError as missing:
    sys.exit(f"arc_jax: {missing}: there is no JAX, or pip hides it from the build; with JAX call "
             f"{sys.executable} -m pip install --no-build-isolation ./python/arc_jax")
os.chdir(HERE)  # setuptools wants relative names
scratch = tempfile.TemporaryDirectory()  # nothing is written beside the sources


class Build(setuptools.command.build_ext.build_ext):
    def build_extension(self, extension):
        named = os.environ.get("ARC_JAX_ARCHITECTURES", "").split()
        library = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        library.parent.mkdir(parents=True, exist_ok=True)
        try:
            arc_jax.build(library, named or arc_jax.architectures())
        except RuntimeError as error:
            hint = "" if named else '; without a GPU set ARC_JAX_ARCHITECTURES="80 90"'
            sys.exit(f"arc_jax: {error}{hint}")


setuptools.setup(
    name="arc_jax", version=backend.version(), license="Apache-2.0", py_modules=["arc_jax"],
    description="JAX's scatter-add and segment_sum, by arc",
    ext_modules=[setuptools.Extension(arc_jax.BUILT_AHEAD, [])],
    options={"egg_info": {"egg_base": scratch.name}, "build": {"build_base": scratch.name}},
    cmdclass={"build_ext": Build})
