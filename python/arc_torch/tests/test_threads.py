"""test_threads.py [--steps 300] [--seed 1] - threads that enter, leave and only compute, at random.
SPDX-License-Identifier: Apache-2.0

The contexts are the whole process's. Each thread draws what it does, a fixed number of steps;
values are multiples of a quarter, so that every sum is exact, whoever adds."""
import random
import sys
import threading

import testing  # first: skips where there is no PyTorch
import arc_torch
import torch
from testing import DEVICE, GPU, draw_values, gradient_of, same

testing.need_operators()
SEED = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 1
STEPS = int(sys.argv[sys.argv.index("--steps") + 1]) if "--steps" in sys.argv else 300
THREADS = 8
ROWS, N = 20, 300
arc_torch.fast._keys = ("CUDA" if GPU else "CPU",)


def draw_calls():
    """What threads compute: {name: (function, what it gives)}, on the CPU too where there is a GPU.
    Some are large enough for fast()."""
    calls = {}
    for device, n in ((DEVICE, N), (DEVICE, 10**6 // 8), ("cpu", N)):
        out, values = draw_values(ROWS, 8).to(device), draw_values(n, 8).to(device)
        index = torch.randint(0, ROWS, (n,)).to(device)
        places = index[:, None].expand(n, 8)
        functions = {
            "index_add": lambda o=out, i=index, v=values: o.index_add(0, i, v),
            "index_add_": lambda o=out, i=index, v=values: o.clone().index_add_(0, i, v),
            "scatter_add": lambda o=out, p=places, v=values: o.scatter_add(0, p, v),
            "index_put": lambda o=out, i=index, v=values: o.index_put((i,), v, accumulate=True),
            "bincount": lambda i=index, v=values: torch.bincount(i, v[:, 0].double(), ROWS),
            "embedding": lambda o=out, i=index, v=values: gradient_of(
                lambda w, i: torch.nn.functional.embedding(i, w), o, i, v)}
        calls.update({(name, device, n): (f, f()) for name, f in functions.items()})
    return list(calls.items())


def test_threads():
    calls, failed, begin = draw_calls(), [], threading.Barrier(THREADS)
    shared = arc_torch.fast(), arc_torch.deterministic(warn_only=True)
    shared[0].__exit__()

    def context(draw):
        kind = draw.randrange(4)
        return (shared[kind] if kind < 2 else arc_torch.fast() if kind == 2 else
                arc_torch.deterministic(warn_only=draw.random() < 0.5))

    def compute(draw):
        (name, device, n), (function, wanted) = draw.choice(calls)
        same(function(), wanted, name, device, n)

    def work(number):
        draw = random.Random(SEED * THREADS + number)
        begin.wait()
        try:
            for _ in range(STEPS):
                if number < 2:  # these only compute
                    compute(draw)
                    continue
                with context(draw):
                    for _ in range(draw.randrange(3)):
                        compute(draw)
                    if draw.random() < 0.2:
                        with context(draw):
                            compute(draw)
        except BaseException as error:
            failed.append(f"thread {number}: {error!r}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[:3]
    assert arc_torch.fast._entered == 0 and arc_torch.fast._kernels is None
    assert not arc_torch.deterministic._entered and arc_torch.deterministic._kernels is None
    assert not torch.are_deterministic_algorithms_enabled()


def test_entries():
    """One object again and again, within itself, as a decorator, left once too often."""
    fast, deterministic = arc_torch.fast, arc_torch.deterministic

    def is_on():
        return fast._entered, fast._kernels is not None, len(deterministic._entered), \
            torch.are_deterministic_algorithms_enabled()
    off, on = (0, False, 0, False), (1, True, 0, False)
    context = fast()
    assert is_on() == on, "from where it is made"
    for _ in range(3):
        with context:
            assert is_on() == on
            with context:
                assert is_on() == (2, True, 0, False)
            assert is_on() == on
        assert is_on() == off
    context.__exit__()
    assert is_on() == off, "left once too often"
    begun = fast()
    begun.__exit__()
    with begun, begun:
        assert is_on()[:2] == (2, True)
    assert is_on() == off
    for kind, nested in ((fast, [on, (2, True, 0, False)]),
                         (deterministic, [(0, False, 1, True), (0, False, 2, True)])):
        function = kind()(lambda depth: [is_on()] + (function(depth - 1) if depth else []))
        for _ in range(2):
            assert is_on() == off, "nothing is called yet, or no longer"
            assert function(1) == nested
        try:
            kind(is_on)
            raise AssertionError("a decorator without brackets")
        except TypeError:
            assert is_on() == off
    outer, inner = deterministic(warn_only=True), deterministic()
    warns = torch.is_deterministic_algorithms_warn_only_enabled
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)  # as threads leave, in any order
    assert is_on()[2:] == (1, True) and not warns()
    inner.__exit__(None, None, None)
    assert is_on() == off


def test_lock():
    """Who enters or leaves holds the lock while the process's state changes. Without it the test of
    threads passed 300 steps where the interpreter has one lock of its own."""
    deterministic, set_mode, seen = arc_torch.deterministic, arc_torch.deterministic._set_mode, []

    def look():
        seen.append(arc_torch._lock.acquire(blocking=False))
        if seen[-1]:
            arc_torch._lock.release()

    def looking(_):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        set_mode()
    deterministic._set_mode = looking
    with deterministic():
        pass
    deterministic._set_mode = set_mode
    assert seen == [False] * 2, seen


testing.run("test_threads", [], of_contexts=[test_entries, test_lock, test_threads])
