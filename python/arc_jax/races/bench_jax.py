"""bench_jax.py [fast | segment_sum | deterministic | torch] OUT.csv - arc_jax against XLA, plain
atomics called as arc is, and arc_torch. SPDX-License-Identifier: Apache-2.0

One mode per process, as XLA's deterministic mode is a flag of the process. A time is that of one
addition, in place, where a jitted function makes 10 of them, and calls of it follow each other
until 20 ms are over: the least of three such turns. XLA's deterministic function makes one. Of
arc_torch: the median of launches (measure.medians). Where a part of the updates already takes long,
the time is that of the part times so many parts, after a >. test_arc_jax.py compares the sums."""
import concurrent.futures
import ctypes
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

mode, out_path = sys.argv[1:]
if mode == "deterministic":
    os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import numpy as np

ROWS, VALUES, UPDATES, TIMES = 100_000, 1 << 25, 1 << 22, 10
PART, PART_MS = 256, 0.1  # of the updates; how long they may take XLA or plain atomics
TURN_MS, LONG_MS = 20, 200  # the least and the most of a turn, of which then one is enough
CASES = [(type, width, keys) for type in ("float32", "bfloat16") for width in (1, 3, 16, 64)
         for keys in ("random", "sorted", "zipf", "one key", "all different")]


@functools.cache
def values_of(width):
    n = min(UPDATES, VALUES // width)
    return np.random.default_rng(width).standard_normal((n, width), "float32")


def draw(width, keys):
    """Rows, keys and values of a case, the same in every process."""
    random, values = np.random.default_rng(width), values_of(width)
    n = len(values)
    rows = n if keys == "all different" else ROWS
    drawn = {"random": lambda: random.integers(0, rows, n),
             "sorted": lambda: np.sort(random.integers(0, rows, n)),
             "zipf": lambda: random.permutation(rows)[(random.zipf(1.2, n) - 1) % rows],
             "one key": lambda: np.full(n, 7), "all different": lambda: random.permutation(n)}
    return rows, drawn[keys]().astype("int32"), values


def times_by_torch():
    sys.path.insert(0, str(HERE.parents[1] / "arc_torch/races"))
    from with_operator import arc_torch, torch
    import measure
    for type, width, keys in CASES:
        rows, index, values = draw(width, keys)
        index, values = torch.tensor(index).cuda(), torch.tensor(values).cuda()
        values = values.to(getattr(torch, type))
        out = torch.zeros(rows, width, device="cuda", dtype=values.dtype)
        ms, = measure.medians([lambda: arc_torch.index_add_(out, 0, index, values)], 15, 1)
        yield type, width, keys, {"arc_torch": ms}


def plain_adder():
    import arc_jax
    import jax
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "plain.so")
        subprocess.run([arc_jax._nvcc(), "-std=c++17", "-O3", "-arch=native", "-shared", "-w",
                        "-Xcompiler=-fPIC", f"-I{jax.ffi.include_dir()}",
                        HERE / "plain_atomics.cu", "-o", library], check=True)
        handler = jax.ffi.pycapsule(ctypes.CDLL(library).plain_atomics)
    jax.ffi.register_ffi_target("plain_atomics", handler, platform="CUDA")
    return lambda x, i, y: jax.ffi.ffi_call("plain_atomics", jax.ShapeDtypeStruct(x.shape, x.dtype),
                                            input_output_aliases={0: 0})(x, i, y)


def compiled(jobs):
    """Of (add, rows, width, n, type): functions, compiled side by side."""
    import jax
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(jobs, pool.map(lambda job: repeated(*job[0]).lower(
            jax.ShapeDtypeStruct(job[1:3], job[4]), jax.ShapeDtypeStruct(job[3:4], "int32"),
            jax.ShapeDtypeStruct((job[3], job[2]), job[4])).compile(), jobs)))


def repeated(add, times):
    import jax

    def function(sums, index, values):
        each = []
        for _ in range(times):
            sums, index, values = jax.lax.optimization_barrier((sums, index, values))
            each.append(sums := add(sums, index, values))
        return each if mode == "segment_sum" else each[-1:]  # XLA makes no sum that nobody reads
    return jax.jit(function, donate_argnums=0)


def milliseconds(function, times, rows, index, values):
    import jax.numpy as jnp
    sums, calls, turns = jnp.zeros((rows, values.shape[1]), values.dtype), 1, []
    for _ in range(5):  # of which the first two find how many calls make a turn
        sums.block_until_ready()
        start = time.perf_counter()
        for _ in range(calls):
            *_, sums = function(sums, index, values)
        sums.block_until_ready()
        turns.append(1000 * (time.perf_counter() - start) / calls / times)
        if turns[-1] * times > LONG_MS:
            return turns[-1]
        calls = 1 + int(TURN_MS / turns[-1] / times)
    return min(turns[2:])


def times_by_jax():
    import jax
    import jax.numpy as jnp
    plain = None if mode == "deterministic" else plain_adder()
    import arc_jax
    if not arc_jax.is_ready():
        sys.exit("arc_jax is not built")
    adders = {"xla": lambda x, i, y: x.at[i].add(y), "plain": plain, "arc": arc_jax.scatter_add}
    if mode == "segment_sum":
        adders = {"xla": lambda x, i, y: jax.ops.segment_sum(y, i, len(x)),
                  "plain": lambda x, i, y: plain(jnp.zeros_like(x), i, y),
                  "arc": lambda x, i, y: arc_jax.segment_sum(y, i, len(x))}
    if mode == "deterministic":
        adders = {"xla": adders["xla"], "arc": lambda x, i, y: arc_jax.scatter_add(
            x, i, y, deterministic=True)}
    cases = [case for case in CASES if mode == "fast" or case[0] == "float32" and case[1] != 16]
    drawn = {case: draw(*case[1:]) for case in cases}
    parts = {"xla": (1,) if mode == "deterministic" else (1, PART), "plain": (1, PART), "arc": (1,)}
    hows = {name: (add, 1 if (mode, name) == ("deterministic", "xla") else TIMES)
            for name, add in adders.items()}
    functions = compiled([(how, rows, case[1], len(index[::part]), case[0])
                          for case, (rows, index, _) in drawn.items()
                          for name, how in hows.items() for part in parts[name]])
    for case, (rows, index, values) in drawn.items():
        type, width, keys = case
        times = {}
        for name, how in hows.items():
            for part in sorted(parts[name], reverse=True):
                function = functions[how, rows, width, len(index[::part]), type]
                ms = milliseconds(function, how[1], rows, jnp.asarray(index[::part]),
                                  jnp.asarray(values[::part], type))
                times[name] = ms if part == 1 else f">{ms * part:.0f}"
                if part > 1 and ms > PART_MS:
                    break
        yield type, width, keys, times


def head():
    if mode == "torch":
        import torch
        return f"# PyTorch {torch.__version__}"
    import jax
    import jaxlib
    return (f"# jax {jax.__version__}, jaxlib {jaxlib.__version__}, "
            f"{jax.devices()[0].device_kind}, {os.environ.get('XLA_FLAGS', 'no XLA_FLAGS')}")


def main():
    with open(out_path, "w") as out:
        print(f"# bench_jax.py {mode}: {ROWS} rows, {UPDATES} updates or {VALUES} values, ms\n"
              f"{head()}\nmode,type,columns,keys,xla,plain,arc,arc_torch", file=out)
        for type, width, keys, times in times_by_torch() if mode == "torch" else times_by_jax():
            cells = [time if isinstance(time := times.get(name, ""), str) else f"{time:.4f}"
                     for name in ("xla", "plain", "arc", "arc_torch")]
            print(mode, type, width, keys, *cells, sep=",", file=out, flush=True)


main()
