"""test_arc_jax.py [SEED CALLS] - arc_jax held against JAX. SPDX-License-Identifier: Apache-2.0

1 000 drawn calls, or so many and no other test: same sums within rounding, same refusals, gradients
by finite differences. On the CPU arc_jax's primitive has JAX's own addition; on a GPU arc adds, and
JAX on the CPU."""
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
try:
    import jax
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import jax.numpy as jnp
import numpy as np

import arc_jax

SEED, CALLS = map(int, sys.argv[1:3]) if sys.argv[1:] else (86, 1000)
CPU = jax.devices("cpu")[0]
ON_GPU = jax.default_backend() == "gpu"
random = np.random.default_rng(SEED)


def pick(*choices):
    return choices[random.integers(len(choices))]


class Call:
    """One call, of which about one in eight is refused."""

    def __init__(self):
        self.type = pick(*arc_jax.TYPES, "float32", "complex64")
        self.is_segment_sum = pick(False, False, True)
        rows, row, n = pick(1, 5, 300), pick((), (3,), (16,), (2, 2)), pick((1,), (70,), (4, 3), ())
        if self.is_segment_sum and n == ():
            n = (70,)
        self.mode = pick(None, "drop", "clip", "fill", "promise_in_bounds")
        low, high = pick((0, rows), (-rows, rows), (-2 * rows - 1, 2 * rows + 1), (0, 1))
        if self.mode == "promise_in_bounds":
            low, high = 0, rows
        self.index_type = pick("int32", "int64", "int32", "int16", "uint32")
        self.indices = random.integers(low, high, n).astype(self.index_type)
        self.operand = self.draw((rows, *row))
        shape = n + row
        if not self.is_segment_sum:
            shape = pick(shape, shape, shape, row, (), (1,) * len(n) + row)
        self.updates = self.draw(shape)
        self.deterministic = pick(False, True) and self.type != "complex64"
        self.is_jitted, self.batch = pick(False, *[True] * 7), pick(0, 0, 0, 3)
        if pick(*[False] * 7, True):
            self.spoil()

    def draw(self, shape):
        values = random.integers(-9, 10, shape) if self.type == "int32" else \
            random.standard_normal(shape)
        return np.asarray(values).astype(jnp.dtype(self.type))

    def spoil(self):
        name, value = pick(("mode", "nearest"), ("indices", self.indices.astype("float32")),
                           ("indices", self.indices.tolist()), ("operand", self.operand[0].sum()),
                           ("updates", np.zeros((7, 11), self.updates.dtype)),
                           ("updates", None), ("indices", "all"))
        setattr(self, name, value)
        self.deterministic = self.batch = False

    def function(self, by_arc):
        how = dict(deterministic=self.deterministic) if by_arc else {}
        if self.is_segment_sum:
            segment_sum = (arc_jax if by_arc else jax.ops).segment_sum
            count = len(self.operand) if np.ndim(self.operand) else 3
            return lambda operand, updates: segment_sum(updates, self.indices, count,
                                                        mode=self.mode, **how)
        if by_arc:
            return lambda operand, updates: arc_jax.scatter_add(operand, self.indices, updates,
                                                                mode=self.mode, **how)
        return lambda operand, updates: jnp.asarray(operand).at[self.indices].add(updates,
                                                                                mode=self.mode)

    def result(self, by_arc):
        """Sums, or the exception's type."""
        function, updates = self.function(by_arc), self.updates
        if self.batch:
            updates = np.stack([updates * (k + 1) for k in range(self.batch)], axis=-1)
            function = jax.vmap(function, in_axes=(None, -1))
        if self.is_jitted and updates is not None:
            function = jax.jit(function)
        try:
            return np.asarray(function(self.operand, updates))
        except Exception as error:
            return type(error)

    def check(self):
        """What arc_jax gives, or None if JAX gives something else."""
        mine = self.result(by_arc=True)
        with jax.default_device(CPU):
            wanted = self.result(by_arc=False)
        if isinstance(wanted, type):
            return mine if mine is wanted else None
        if isinstance(mine, type) or mine.dtype != wanted.dtype or mine.shape != wanted.shape:
            return None
        largest = 1 + np.abs(np.asarray(self.updates, "complex128")).max(initial=0)
        exact = jnp.issubdtype(wanted.dtype, jnp.integer)
        rounding = 0 if exact else jnp.finfo(wanted.dtype).eps
        bound = (3 * np.size(self.indices) + 9) * largest * rounding
        error = np.abs(mine.astype("complex128") - wanted.astype("complex128"))
        return mine if (error <= bound).all() else None

    def check_gradient(self):
        """Both are linear: a finite difference of any step is exact but for rounding."""
        function = jax.jit(self.function(by_arc=True))
        of_operand, of_updates = self.draw(self.operand.shape), self.draw(self.updates.shape)
        sums, pull = jax.vjp(function, self.operand, self.updates)
        weights = self.draw(sums.shape)
        step = function(self.operand + of_operand, self.updates + of_updates) - sums
        gradients = pull(jnp.asarray(weights))
        by_step = np.vdot(weights, step)
        _, by_jvp = jax.jvp(function, (self.operand, self.updates), (of_operand, of_updates))
        by_pull = np.vdot(of_operand, gradients[0]) + np.vdot(of_updates, gradients[1])
        return np.allclose([by_pull, np.vdot(weights, by_jvp)], by_step, rtol=1e-2, atol=1e-2)


def test_calls():
    refused = of_gradients = 0
    for number in range(CALLS):
        jax.config.update("jax_enable_x64", number >= CALLS // 2)
        call = Call()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = call.check()
            assert mine is not None, (number, vars(call), call.result(True), call.result(False))
            refused += isinstance(mine, type)
            is_float = not isinstance(mine, type) and call.type in ("float32", "float64")
            if is_float and number % 4 == 0:
                of_gradients += 1
                assert call.check_gradient(), (number, vars(call))
    print(f"{CALLS} calls, {refused} refused, {of_gradients} gradients")
    jax.config.update("jax_enable_x64", False)
    assert CALLS / 50 < refused < CALLS / 3 and of_gradients > CALLS / 50


def test_second_order():
    operand, keys = jnp.arange(12.0).reshape(4, 3), np.array([3, -1, 0, 9])

    def cubed(add):
        return lambda updates: (add(operand, updates) ** 3).sum()
    mine = cubed(lambda operand, updates: arc_jax.scatter_add(operand, keys, updates))
    wanted = cubed(lambda operand, updates: operand.at[keys].add(updates))
    updates = jnp.ones((4, 3))
    for derivative in jax.hessian, lambda f: jax.jacrev(jax.grad(f)):
        np.testing.assert_allclose(derivative(mine)(updates), derivative(wanted)(updates), 1e-5)


def test_batch_of_all():
    """One call, whatever has the batch; of each platform."""
    arrays = jnp.ones((4, 6, 2)), random.integers(-9, 9, (4, 5)), jnp.ones((4, 5, 2))
    for axes in ((0, 0, 0), (None, 0, None), (0, None, None), (None, None, 0)):
        mine, wanted = (jax.vmap(f, in_axes=axes) for f in (
            arc_jax.scatter_add, lambda x, i, y: x.at[i].add(y)))
        taken = [array if axis == 0 else array[0] for array, axis in zip(arrays, axes)]
        assert (mine(*taken) == wanted(*taken)).all(), axes
        jaxpr = str(jax.make_jaxpr(mine)(*taken))
        assert jaxpr.count("arc_scatter_add[") == 1 and "scan" not in jaxpr, jaxpr


def test_scan_and_donated():
    keys = random.integers(0, 5, (7, 20))

    def step(sums, keys):
        return arc_jax.scatter_add(sums, keys, jnp.ones((20, 3))), None
    sums = jax.jit(lambda x: jax.lax.scan(step, x, keys)[0], donate_argnums=0)(jnp.zeros((5, 3)))
    assert (sums[:, 0] == np.bincount(keys.ravel(), minlength=5)).all()


def test_shard_map():
    """Over devices of the host; several GPUs were not tested."""
    if not hasattr(jax, "shard_map") or ON_GPU:
        return
    part, whole = jax.sharding.PartitionSpec("d"), jax.sharding.PartitionSpec()
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")), ("d",))
    operand, keys = jnp.ones((5, 3)), jnp.arange(16) % 7
    updates = jnp.arange(48.0).reshape(16, 3)
    add = jax.shard_map(lambda x, i, y: jax.lax.psum(arc_jax.scatter_add(x, i, y), "d"), mesh=mesh,
                        in_specs=(whole, part, part), out_specs=whole)
    wanted = (4 * operand).at[keys].add(updates)
    assert (jax.jit(add)(operand, keys, updates) == wanted).all()
    gradient = jax.grad(lambda x: (add(x, keys, updates) ** 2).sum())(operand)
    assert (gradient == 8 * wanted).all()


def test_same_bits():
    keys, updates = random.zipf(1.3, 20_000) % 300, random.standard_normal((20_000, 3))
    for type in arc_jax.TYPES:
        jax.config.update("jax_enable_x64", type == "float64")
        values, order = jnp.asarray(updates, type), random.permutation(len(keys))
        add = jax.jit(lambda keys, values: arc_jax.scatter_add(
            jnp.zeros((300, 3), values.dtype), keys, values, deterministic=True))
        runs = [np.asarray(add(keys, values)).tobytes() for _ in range(3)]
        if ON_GPU and type != "float64":  # there each key's updates stay in order
            runs.append(np.asarray(add(keys[order], values[order])).tobytes())
        assert len(set(runs)) == 1, type
    jax.config.update("jax_enable_x64", False)
    in_order = jax.jit(arc_jax._in_order, static_argnames=("wraps", "clips", "deterministic"))
    sums = in_order(jnp.zeros((300, 3)), keys, jnp.asarray(updates, "float32"), wraps=False,
                    clips=False, deterministic=True)
    np.testing.assert_allclose(sums[1], updates[keys == 1].sum(0), rtol=1e-4, atol=1e-2)


def test_what_cuda_gets():
    """One call of arc, in place, from a machine that may have no GPU."""
    arc_jax._register_lowering(arc_jax._by_arc, "cuda")
    for deterministic in False, True:
        add = jax.jit(lambda x, y: arc_jax.scatter_add(x, y, x, deterministic=deterministic))
        traced = add.trace(jnp.ones((4, 3)), np.arange(4))
        text = traced.lower(lowering_platforms=("cuda",)).as_text()
        assert text.count("@arc_jax_add(") == 1 and "output_operand_alias" in text, text


def test_build():
    """By two processes at once, into a folder that cannot be, by an nvcc that fails, by none."""
    nvcc = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nsleep 1; echo built > "$2"\n'
    code = "import arc_jax, types; print(arc_jax._build_once([types.SimpleNamespace(" \
           "compute_capability='9.0')]))"

    def start(folder, cache):
        environment = dict(os.environ, PATH=f"{folder}:/usr/bin:/bin", CUDA_HOME="/none",
                           ARC_JAX_CACHE=str(cache), PYTHONPATH=os.path.dirname(arc_jax.__file__))
        return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "nvcc")
        assert "RuntimeError: no nvcc" in start(folder, folder).communicate()[1]
        tool.write_text(nvcc)
        tool.chmod(0o755)
        cache = pathlib.Path(folder, "cache")
        both = [start(folder, cache) for _ in range(2)]
        names = {process.communicate()[0] for process in both}
        assert len(names) == 1 and pathlib.Path(names.pop().strip()).read_text() == "built\n"
        assert [file.suffix for file in cache.iterdir()] == [".so"]
        assert ".so" in start(folder, tool / "below a file").communicate()[0]
        tool.write_text("#!/bin/sh\necho 'x.cu(3): error: no'; echo more; exit 1\n")
        said = start(folder, cache / "new").communicate()[1]
        assert said.rstrip().endswith("RuntimeError: x.cu(3): error: no"), said


def test_without_gpu():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        arc_jax._load.cache_clear()
        for _ in range(2):
            arc_jax.scatter_add(jnp.zeros(3), 1, 1.0)
    lines = [str(each.message) for each in said if "arc_jax" in str(each.message)]
    assert lines == ([] if ON_GPU else ["arc_jax: no GPU; JAX's own operations add"]), lines


if __name__ == "__main__":
    test_without_gpu()
    if not arc_jax.is_ready():
        if ON_GPU:
            sys.exit("arc does not add")
        arc_jax._load = lambda: True  # the primitive, with JAX's addition
    for name, test in list(globals().items()):
        if test is test_calls or name.startswith("test_") and not sys.argv[1:] and \
                test is not test_without_gpu:
            test()
            print(name, "passed")
