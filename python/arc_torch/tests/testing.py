"""testing.py - what the tests share. SPDX-License-Identifier: Apache-2.0

On a machine without a GPU the operators are built for the CPU, where PyTorch adds: schemas,
gradients and transforms are tested all the same."""
import pathlib
import shutil
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parents[1] / "examples")]
import need  # noqa: E402

torch = need.module("torch")
import arc_torch  # noqa: E402

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
torch.manual_seed(1)
warnings.filterwarnings("ignore")


def need_operators():
    """Skips where a tool of the build is absent; a build that fails is a test that fails."""
    if arc_torch.BUILT:
        return
    if not any(arc_torch.HERE.glob(f"{arc_torch.BUILT_AHEAD}.*.so")):
        cpp_extension = need.module("torch.utils.cpp_extension")  # wants setuptools
        tools = [("ninja", cpp_extension.is_ninja_available()),
                 ("C++ compiler", shutil.which(cpp_extension.get_cxx_compiler())),
                 ("CUDA toolkit", not GPU or cpp_extension.CUDA_HOME)]
        for name, is_there in tools:
            if not is_there:
                need.skip(f"no {name}")
    try:
        arc_torch.build(cuda=GPU)
    except Exception as error:
        sys.exit(f"the build has failed: {arc_torch._first_line(error)}")


class ByTorch(arc_torch._PyTorch):
    """PyTorch's functions by the names of arc_torch."""

    @staticmethod
    def index_select(table, index):
        return table.index_select(0, index)

    @staticmethod
    def embedding(weight, index, padding_idx=None):
        return torch.nn.functional.embedding(index, weight, padding_idx)


def gradient_of(function, weight, index, upstream):
    weight = weight.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(function(weight, index), weight, upstream)
    return gradient


def draw_keys(kind, rows, n):
    keys = torch.randint(0, rows, (n,), device=DEVICE)
    if kind == "sorted":
        return keys.sort().values
    if kind == "hot":
        return torch.where(torch.rand(n, device=DEVICE) < 0.5, 3 % rows, keys)
    if kind == "runs":
        return keys[:(n + 7) // 8].repeat_interleave(8)[:n]
    return keys


def draw_values(*shape, dtype=torch.float32):
    """Multiples of a quarter, whose sums all types represent."""
    return (torch.randint(-4, 5, shape, device=DEVICE) / 4).to(dtype)


def same(got, wanted, *what):
    if not torch.equal(got, wanted):
        wrong = (got != wanted).nonzero()
        raise AssertionError(f"{what}: {len(wrong)} values wrong, first at {wrong[0].tolist()}: "
                             f"{got[tuple(wrong[0])]} must be {wanted[tuple(wrong[0])]}")


def run(name, tests, of_contexts=()):
    """The tests, and those of the contexts where PyTorch has what they need."""
    if hasattr(torch.library, "get_kernel"):
        tests = [*tests, *of_contexts]
    elif of_contexts:
        old = f"the contexts need PyTorch 2.9, this is {torch.__version__}"
        print(f"{name}: {old}") if tests else need.skip(old)
    for test in tests:
        test()
        print(f"{test.__name__}: passed", flush=True)
    print(f"{name}: {len(tests)} tests on the {DEVICE}: passed")
