"""common.py - what the scripts of bench/adopters share: files, builds, comparisons, times.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAM = pathlib.Path(sys.argv[0]).name
try:
    import torch
except ImportError as missing:
    sys.exit(f"{PROGRAM}: {missing}: python3 -m pip install torch")

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "bench/torch"))
import measure


def fail(message):
    sys.exit(f"{PROGRAM}: {message}")


# ---- other people's files ---------------------------------------------------------------------


def write(path, text):
    """Leaves a file alone that holds `text`, so that what was built from it counts as new."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def changes(folder, variants):
    for variant in variants:
        for name, lines in json.loads((folder / variant / "changed.json").read_text()).items():
            yield f"{variant}: {name} {lines} lines"


def copy(checkout, inside, file, place, patch, commit):
    """The folder `inside` of a checkout of that commit, which holds `file`, at the same place below
    `place`; with a patch, unless it is None."""
    if not (checkout / inside / file).exists():
        fail(f"{checkout} is no checkout of {commit}: no {inside}/{file} in it")
    shutil.rmtree(place / inside, ignore_errors=True)
    shutil.copytree(checkout / inside, place / inside,
                    ignore=shutil.ignore_patterns("third_party"))
    if patch is None:
        return
    # a repository of its own, or git would look for the files in the one that the folder lies in
    subprocess.run(["git", "init", "--quiet", str(place)], check=True)
    command = ["git", "-C", str(place), "apply"]
    if subprocess.run([*command, str(patch)]).returncode:
        fail(f"{patch.name} does not apply: check out {commit}")
    counts = subprocess.run([*command, "--numstat", str(patch)], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    lines = [line.split("\t") for line in counts.splitlines()]
    write(place / "changed.json", json.dumps(
        {pathlib.Path(name).name: f"+{plus} -{minus}" for plus, minus, name in lines}))


def find_glm(options, gsplat):
    """The folder to include of --glm or gsplat's submodule."""
    glm = options.glm or gsplat / "cuda/csrc/third_party/glm"
    if not (glm / "glm/glm.hpp").exists():
        fail(f"no glm/glm.hpp in {glm}: clone gsplat with --recursive, or name --glm")
    return glm.resolve()


# ---- builds -----------------------------------------------------------------------------------


def build(name, sources, folder, includes, flags, arch, standard="c++17"):
    """The library `folder`/name.so of the operators in `sources`."""
    from torch.utils import cpp_extension
    if cpp_extension.CUDA_HOME is None:
        fail("no CUDA toolkit: set CUDA_HOME to the one with PyTorch's CUDA "
             f"version, {torch.version.cuda}")
    if not cpp_extension.is_ninja_available():
        fail("no ninja: python3 -m pip install ninja")
    if arch is None and not torch.cuda.is_available():
        fail("no CUDA device: name its architecture, as in --arch 9.0 --build-only")
    os.environ["TORCH_CUDA_ARCH_LIST"] = arch or "{}.{}".format(
        *torch.cuda.get_device_capability())
    print(f"building {name}", flush=True)
    cpp_extension.load(name, [str(source) for source in sources], build_directory=str(folder),
                       is_python_module=False,
                       extra_include_paths=[str(include) for include in includes],
                       extra_cuda_cflags=["-O3", f"-std={standard}", "-w", f"-DOPS={name}",
                                          *flags],
                       extra_ldflags=["-s", "-Wl,-Bsymbolic"])  # variants define the same names


def load(folder, name):
    """Its operators, if they have its name."""
    library = folder / f"{name}.so"
    if not library.exists():
        fail(f"{library} does not exist: run without --run first")
    torch.ops.load_library(str(library))
    return getattr(torch.ops, name)


# ---- comparisons and times --------------------------------------------------------------------


def relative_error(values, wanted):
    """In the L2 norm; 0 where both are 0."""
    difference, size = (values - wanted).double().norm().item(), wanted.double().norm().item()
    return difference / size if size else difference


class Agreement:
    """Gradients of changed kernels against those of base, which itself adds in no fixed order. A
    warp's values are summed in another order, too: where they cancel, some 1e-5 is float noise."""

    def __init__(self):
        self.count, self.failed, self.worst = 0, 0, (0.0, 0.0)

    def add(self, what, values, wanted, again):
        """`wanted` and `again` are of two runs of base."""
        error, noise = relative_error(values, wanted), relative_error(again, wanted)
        self.count += 1
        self.worst = max(self.worst, (error, noise))
        if not error <= max(5e-5, 4 * noise):
            self.failed += 1
            print(f"DIFFERS: {what}: {error:.2g}, two runs of base {noise:.2g}", flush=True)

    def compare(self, project, what, run, ops, is_masked=False):
        """run(ops of a variant): gradients by name. All variants with the first, base."""
        base, *others = ops.items()
        wanted, again = run(base[1]), run(base[1])
        if not is_masked and not any(values.any() for values in wanted.values()):
            fail(f"{project}'s own kernel added nothing: was it built for this device?")
        for variant, its in others:
            for name, values in run(its).items():
                self.add(f"v_{name}, {variant}, {what}", values, wanted[name], again[name])

    def same(self, what, values, wanted):
        """Two runs that must give the same bytes."""
        self.count += 1
        if not values.view(torch.int32).equal(wanted.view(torch.int32)):
            self.failed += 1
            print(f"DIFFERS: {what}: not the same bytes", flush=True)

    def __str__(self):
        return (f"{self.count} gradients compared with base, {self.failed} differ; relative L2 "
                f"difference at most {self.worst[0]:.1g}, of two runs of base {self.worst[1]:.1g}")


def medians(launches, clear, count):
    """[(median in ms, distance of the quartiles over it)] of functions that take turns."""
    results = []
    for its in measure.times(launches, count, 2, clear):
        median = its[len(its) // 2]
        results.append((median, (its[3 * len(its) // 4] - its[len(its) // 4]) / median))
    return results


# ---- results ----------------------------------------------------------------------------------


class Table:
    """Results as CSV, written after each case; the spread is that between quartiles over median."""

    def __init__(self, path, adopter, changes, agreement):
        self.path, self.adopter, self.agreement = path, adopter, agreement
        self.head = [*measure.head(REPOSITORY, "scope=theirs"), *changes]
        self.lines, self.ratios = [], {}

    def add(self, kernel, scene, case, results):
        """results: {variant: (ms, spread)}, the first of which is the base."""
        base = next(iter(results.values()))[0]
        for variant, (ms, spread) in results.items():
            self.lines.append(f"{self.adopter},{kernel},{scene},{case},{variant},{ms:.4f},"
                              f"{spread:.3f}")
            if variant != "base":
                self.ratios.setdefault((kernel, case, variant), []).append(base / ms)
        print(f"{kernel} {scene} {case}: " + ", ".join(
            f"{variant} {ms:.4f} ms ({base / ms:.2f}x)" for variant, (ms, _) in results.items()),
            flush=True)
        if self.path:
            head = [f"# {line}" for line in (*self.head, self.agreement)]
            head.append("adopter,kernel,scene,case,variant,ms,spread")
            pathlib.Path(self.path).write_text("\n".join(head + self.lines) + "\n")

    def summary(self):
        print(self.agreement)
        for (kernel, case, variant), ratios in self.ratios.items():
            mean = torch.tensor(ratios).log().mean().exp().item()
            print(f"{kernel} {case} {variant}: geometric mean {mean:.2f}x, "
                  f"from {min(ratios):.2f}x to {max(ratios):.2f}x")


# ---- programs ---------------------------------------------------------------------------------


def parser(adopter, description):
    its = argparse.ArgumentParser(description=description.split(" - ")[1].split("\n")[0])
    its.add_argument("--build-only", action="store_true", help="needs --arch without a GPU")
    its.add_argument("--run", action="store_true", help="builds and downloads nothing")
    its.add_argument("--arch", help="as in 9.0; default: the device's")
    its.add_argument("--folder", type=pathlib.Path,
                     default=REPOSITORY / "build/adopters" / adopter)
    its.add_argument("--launches", type=int, default=21)
    its.add_argument("--csv")
    return its


def run(adopter, variants, options, build_all, compare_all, measure_all, load_all=None):
    """build_all(options), compare_all(agreement, ops, device), measure_all(options, agreement, ops,
    table, device): ops are the operators of each variant, which load_all(options) returns if they
    do not lie in a library each."""
    if not options.run:
        build_all(options)
    if options.build_only:
        return print(*changes(options.folder, variants[1:]), sep="\n")
    if not torch.cuda.is_available():
        fail("no CUDA device")
    device, agreement = torch.device("cuda"), Agreement()
    ops = load_all(options) if load_all else {
        variant: load(options.folder / variant, f"{adopter}_{variant}") for variant in variants}
    changed = list(changes(options.folder, variants[1:]))
    print(*changed, sep="\n", flush=True)
    compare_all(agreement, ops, device)
    print(agreement, flush=True)
    table = Table(options.csv, adopter, changed, agreement)
    measure_all(options, agreement, ops, table, device)
    table.summary()
    sys.exit(agreement.failed != 0)
