"""test_build.py - what a user sees of a build: the first, a failing one, one beside a dead one.
SPDX-License-Identifier: Apache-2.0

Compilers are scripts that fail, so that nothing is compiled here."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from unittest import mock

import testing  # skips where there is no PyTorch
import need
import arc_torch
from torch.utils import cpp_extension

if not cpp_extension.is_ninja_available():
    need.skip("no ninja")

PROGRAM = """
import warnings
import torch
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import arc_torch  # builds where there is a GPU
    if not torch.cuda.is_available():
        arc_torch.try_to_build(cuda=False)
said = [str(warning.message) for warning in said if "arc_torch" in str(warning.message)]
print("WARNINGS", said)
assert not arc_torch.BUILT
out = arc_torch.index_add(torch.zeros(3, 2), 0, torch.tensor([1, 1]), torch.ones(2, 2))
assert out.tolist() == [[0, 0], [2, 2], [0, 0]]
assert arc_torch.index_add_(out, 0, torch.tensor([0]), torch.ones(1, 2)) is out
assert arc_torch.index_select(out, torch.tensor([[1, 0]])).tolist() == [[[2, 2], [1, 1]]]
assert arc_torch.embedding(out, torch.tensor(1), -1).tolist() == [2, 2]
assert arc_torch.scatter_add(out, 0, torch.tensor([[2, 2]]), out[:1]).tolist()[2] == [1, 1]
"""


def broken(folder):
    """The environment of a process whose compilers fail."""
    compiler = folder / "compiler"
    compiler.write_text("""#!/bin/sh
case "$*" in *version | -v) exec c++ "$@" ;; esac
echo 'x.cpp:1: error: none today' >&2
echo '1 error detected' >&2
exit 1
""")
    compiler.chmod(0o755)
    return dict(os.environ, CXX=str(compiler), PYTORCH_NVCC=str(compiler),
                TORCH_EXTENSIONS_DIR=str(folder / "built"), PYTHONPATH=str(arc_torch.HERE))


def use(environment, program=PROGRAM):
    """What a process says in which PyTorch takes all, after one warning."""
    run = subprocess.run([sys.executable, "-B", "-c", program], env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
    assert run.returncode == 0 and run.stdout.count("arc_torch:") == 1, (run.stdout, run.stderr)
    return run.stdout, run.stderr


def test_failure(folder):
    """The warning holds the compiler's first error."""
    out, error = use(broken(folder))
    assert "x.cpp:1: error: none today" in out, out
    assert error.count("arc_torch: compiles its operators, once") == 1, error


def test_without_setuptools(folder):
    """PyTorch's builder needs it, the import does not."""
    (folder / "setuptools.py").write_text("raise ImportError('no setuptools')")
    environment = broken(folder)
    environment["PYTHONPATH"] += os.pathsep + str(folder)
    assert "no setuptools" in use(environment)[0]


def test_of_another_pytorch(folder):
    """What is built ahead and cannot be loaded: one line says what to do."""
    for path in arc_torch.HERE.glob("*.py"):
        shutil.copy(path, folder)
    (folder / f"{arc_torch.BUILT_AHEAD}.of.so").write_text("no library")
    version = "import importlib.metadata as m; m.version = lambda _: '0'\n"  # it is not installed
    environment = dict(broken(folder), PYTHONPATH=str(folder))
    assert "another PyTorch, reinstall" in use(environment, version + PROGRAM)[0]


def test_cache(_):
    """What another PyTorch has built is not found."""
    with mock.patch.object(arc_torch.torch, "__version__", "2.0"):
        other = arc_torch.build_name(testing.GPU)
    assert other != arc_torch.build_name(testing.GPU)


def test_dead_build(folder):
    """PyTorch's lock, which a killed build has left, holds up nobody."""
    built = folder / "built" / arc_torch.build_name(testing.GPU)
    built.mkdir(parents=True)
    (built / "lock").touch()
    assert "none today" in use(broken(folder))[0]


def test_living_build(folder):
    """A build waits for the one of another process, and says so."""
    environment = broken(folder)
    hold = ("import sys, pathlib, arc_torch; path = pathlib.Path(sys.argv[1]); path.mkdir()\n"
            "with arc_torch._alone_in(path): print('holds', flush=True); input()")
    wait = ("import sys, pathlib, arc_torch\n"
            "with arc_torch._alone_in(pathlib.Path(sys.argv[1])): print('has it', flush=True)")

    def begin(program):
        return subprocess.Popen([sys.executable, "-B", "-c", program, folder / "held"],
                                env=dict(environment, CUDA_VISIBLE_DEVICES=""), text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
    first = begin(hold)
    assert first.stdout.readline() == "holds\n"
    second = begin(wait)
    for line in second.stderr:
        if "waits for another process" in line:
            break
    else:
        raise AssertionError("the second build did not wait")
    first.kill()  # as a build that is killed
    assert second.communicate(timeout=100)[0] == "has it\n"
    first.communicate()


def set_up(*words, **environment):
    """The last line of what setup.py says, which ends with an error."""
    run = subprocess.run([sys.executable, "-B", "setup.py", *words], cwd=arc_torch.HERE,
                         env=dict(os.environ, **environment), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.returncode == 1 and "Traceback" not in run.stderr, run.stderr
    last = run.stderr.splitlines()[-1]
    assert last.startswith("arc_torch: "), run.stderr
    return last


def test_install(folder):
    """pip's user reads one line, which says what to do."""
    (folder / "torch.py").write_text("raise ImportError('no torch')")
    said = set_up("--version", PYTHONPATH=str(folder))
    assert "no torch" in said and f"{sys.executable} -m pip install --no-build-isolation" in said
    (folder / "torch.py").unlink()
    os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
    said = set_up("--version", CUDA_VISIBLE_DEVICES="")
    assert "TORCH_CUDA_ARCH_LIST" in said, "no GPU and no architecture: " + said
    said = set_up("build_ext", **dict(broken(folder), TORCH_CUDA_ARCH_LIST="9.0"))
    assert "Error compiling" in said or "CUDA" in said, "no compiler or no toolkit: " + said
    (folder / "sitecustomize.py").write_text(
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if 'wheel' in name else find(name, *a)\n")
    said = set_up("--version", PYTHONPATH=str(folder))
    assert "or the package wheel" in said, "an older setuptools makes no wheel alone: " + said


def in_folder(test):
    def of_it():
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    of_it.__name__ = test.__name__
    return of_it


testing.run("test_build", [in_folder(test) for test in (
    test_failure, test_without_setuptools, test_of_another_pytorch, test_cache, test_dead_build,
    test_living_build, test_install)])
