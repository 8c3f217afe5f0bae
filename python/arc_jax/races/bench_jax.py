"""bench_jax.py [fast | segment_sum | deterministic | torch] OUT.csv - arc_jax against XLA, plain
atomics called as arc is, and arc_torch. SPDX-License-Identifier: Apache-2.0

One mode per process, as XLA's deterministic mode is a flag of the process. A time is that of one of
LOOP additions in one jitted loop, into one buffer in place, the least of three loops; of arc_torch,
of one launch (measure.medians). Where a part of the updates already takes long, the time is that
of the part times so many parts, after a >. test_arc_jax.py compares the sums."""
import concurrent.futures
import ctypes
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
import numpy as np

ROWS, VALUES, LOOP = 100_000, 1 << 22, 20
PART, PART_MS = 256, 0.3  # of the updates; how long they may take XLA or plain atomics
LONG_MS = 20  # of which one turn is enough
CASES = [(type, width, keys) for type in ("float32", "bfloat16") for width in (1, 3, 16, 64)
         for keys in ("random", "sorted", "zipf", "one key", "all different")]


def draw(width, keys):
    """Rows, keys and values of a case, the same in every process."""
    random, n = np.random.default_rng(width), VALUES // width
    rows = n if keys == "all different" else ROWS
    drawn = {"random": lambda: random.integers(0, rows, n),
             "sorted": lambda: np.sort(random.integers(0, rows, n)),
             "zipf": lambda: random.permutation(rows)[(random.zipf(1.2, n) - 1) % rows],
             "one key": lambda: np.full(n, 7), "all different": lambda: random.permutation(n)}
    return rows, drawn[keys]().astype("int32"), random.standard_normal((n, width), "float32")


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
    import jax
    sys.path.insert(0, str(HERE.parent))
    import arc_jax
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
    """Of (add, rows, width, n, type): loops, compiled side by side."""
    import jax
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(jobs, pool.map(lambda job: looped(job[0]).lower(
            jax.ShapeDtypeStruct(job[1:3], job[4]), jax.ShapeDtypeStruct(job[3:4], "int32"),
            jax.ShapeDtypeStruct((job[3], job[2]), job[4])).compile(), jobs)))


def looped(add):
    import jax

    def body(_, carry):
        sums, index, values = jax.lax.optimization_barrier(carry)
        return add(sums, index, values), index, values
    return jax.jit(lambda x, i, y: jax.lax.fori_loop(0, LOOP, body, (x, i, y))[0],
                   donate_argnums=0)


def milliseconds(loop, rows, index, values, most=3):
    import jax.numpy as jnp
    least = float("inf")
    for turn in range(1 + most):  # the first warms up
        sums = jnp.zeros((rows, values.shape[1]), values.dtype).block_until_ready()
        start = time.perf_counter()
        loop(sums, index, values).block_until_ready()
        least = min(least, 1000 * (time.perf_counter() - start) / LOOP) if turn else least
        if turn and least > LONG_MS:
            break
    return least


def times_by_jax():
    import jax
    import jax.numpy as jnp
    plain = plain_adder()
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
    parts = {"xla": (1, PART), "plain": (1, PART), "arc": (1,)}
    loops = compiled([(adders[name], rows, case[1], len(index[::part]), case[0])
                      for case, (rows, index, _) in drawn.items()
                      for name in adders for part in parts[name]])
    for case, (rows, index, values) in drawn.items():
        type, width, keys = case
        times = {}
        for name in adders:
            for part in sorted(parts[name], reverse=True):
                loop = loops[adders[name], rows, width, len(index[::part]), type]
                ms = milliseconds(loop, rows, jnp.asarray(index[::part]),
                                  jnp.asarray(values[::part], type), 3 if part == 1 else 1)
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
        print(f"# bench_jax.py {mode}: {ROWS} rows, {VALUES} values, milliseconds\n{head()}\n"
              "mode,type,columns,keys,xla,plain,arc,arc_torch", file=out)
        for type, width, keys, times in times_by_torch() if mode == "torch" else times_by_jax():
            cells = [time if isinstance(time := times.get(name, ""), str) else f"{time:.4f}"
                     for name in ("xla", "plain", "arc", "arc_torch")]
            print(mode, type, width, keys, *cells, sep=",", file=out, flush=True)


main()
