"""trainings.py - what graph_network.py and language_model.py share.
SPDX-License-Identifier: Apache-2.0

A model is trained in several ways: its sums by index are PyTorch's or arc's, and repeat or do not.
The ways that repeat are taken more than once: all bytes of the parameters must come out equal."""
import contextlib
import ctypes
import hashlib
import os
import pathlib
import statistics
import sys
import time
import types
import typing

HERE = pathlib.Path(__file__).resolve()
sys.path += [str(HERE.parents[1]), str(HERE.parents[2] / "examples")]
import need  # noqa: E402

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA starts: cuBLAS repeats
torch = need.module("torch")
import arc_torch  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    torch.set_num_threads(1)  # sizes are tiny there: more threads would wait for each other
# The deterministic mode would fill all new memory; nothing here reads what has not been written.
torch.utils.deterministic.fill_uninitialized_memory = False


# PyTorch's functions by the names of arc_torch.
PYTORCH = types.SimpleNamespace(
    index_add=torch.index_add, index_select=lambda table, index: table.index_select(0, index),
    embedding=lambda weight, index: torch.nn.functional.embedding(index, weight))


class Way(typing.NamedTuple):
    name: str
    by: typing.Any  # whose functions the model calls
    repeats: bool = False  # in PyTorch's deterministic mode
    sums: typing.Callable = contextlib.nullcontext  # the context of sums by index


WAYS = (Way("PyTorch", PYTORCH), Way("arc", arc_torch),
        Way("PyTorch, deterministic", PYTORCH, repeats=True),
        Way("arc, deterministic", arc_torch, repeats=True),
        Way("PyTorch, in arc's context", PYTORCH, repeats=True, sums=arc_torch.deterministic),
        Way("PyTorch, in fast()", PYTORCH, sums=arc_torch.fast))


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def digest_of(parameters):
    digest = hashlib.sha256()
    for parameter in parameters:
        its = parameter.detach().cpu().contiguous()
        digest.update(ctypes.string_at(its.data_ptr(), its.nbytes))
    return digest.hexdigest()[:16]


def train(make, way, steps):
    """All losses, the milliseconds of a step (the median; the first quarter warms up), a digest."""
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(way.repeats)
    model, optimizer, loss_of = make(way)
    losses, times = [], []
    with way.sums():
        for step in range(steps):
            begin = time.perf_counter()
            loss = loss_of(step)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())  # waits for the GPU
            times.append(1000 * (time.perf_counter() - begin))
    torch.use_deterministic_algorithms(False)
    return losses, statistics.median(times[steps // 4:]), digest_of(model.parameters())


def compare(make, steps, runs):
    """make(way) gives the model, its optimizer, and a function of a step's number that is the loss
    of that step. All ways are taken runs times, every second time in the opposite order, so that a
    drift of the clocks favours none. The losses by name, and whether all fell and the ways that
    repeat did."""
    curves, digests, times, fell = {}, {}, {}, True
    for run in range(runs):
        for way in WAYS[::-1] if run % 2 else WAYS:
            losses, ms, digest = train(make, way, steps)
            curve = " ".join(f"{losses[i]:.4f}" for i in range(0, steps, max(1, steps // 6)))
            print(f"{way.name:26}{ms:8.2f} ms per step; loss {curve} ... {losses[-1]:.4f}; "
                  f"digest {digest}", flush=True)
            curves[way.name] = losses
            digests.setdefault(way.name, set()).add(digest)
            times.setdefault(way.name, []).append(ms)
            fell = fell and losses[-1] < 0.9 * losses[0]
    for name, ms in times.items():
        speed = statistics.mean(times[WAYS[0].name]) / statistics.mean(ms)
        print(f"{name:26}{statistics.mean(ms):8.2f} ms per step, {speed:6.2f}x {WAYS[0].name}")
    differ = [way.name for way in WAYS if way.repeats and len(digests[way.name]) > 1]
    print(f"{runs} runs of each deterministic way: "
          f"{'different bytes: ' + '; '.join(differ) if differ else 'the same bytes'}"
          f"{'' if fell else '; a loss has not fallen'}")
    return curves, fell and not differ
