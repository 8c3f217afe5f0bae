"""test_arc_jax.py [SEED CALLS] - arc_jax held against JAX. SPDX-License-Identifier: Apache-2.0

1 000 random calls, or CALLS of them and no other test: same sums within rounding, same refusals,
gradients by finite differences. On the CPU JAX's own addition lies below arc_jax's primitive."""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from importlib.util import find_spec as has

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]
os.environ.update(XLA_FLAGS="--xla_force_host_platform_device_count=4", ARC_JAX_ARCHITECTURES="90")
import need
jax = need.module("jax")
import jax.export
import jax.numpy as jnp
import numpy as np

import arc_jax

SEED, CALLS = map(int, sys.argv[1:3]) if sys.argv[1:] else (86, 1000)
CODE = ["-c", "import arc_jax; print(arc_jax._build_once(['90']))"]
PIP = "-m pip install --no-index --no-build-isolation --no-deps --target".split()
ON_GPU = jax.default_backend() == "gpu"
random = np.random.default_rng(SEED)


def pick(*choices):
    return choices[random.integers(len(choices))]


def by_jax(operand, indices, updates, **how):
    return jnp.asarray(operand).at[indices].add(updates, **how)


class Call:
    def __init__(self):
        self.type = pick(*arc_jax.TYPES, "float32", "complex64")
        self.is_segment_sum = pick(False, False, True)
        rows, row = pick(1, 5, 300), pick((), (3,), (16,), (2, 2))
        n = pick((1,), (70,), (4, 3), (70,) if self.is_segment_sum else ())
        self.mode = pick(None, "drop", "clip", "fill", "promise_in_bounds")
        low, high = pick((0, rows), (-rows, rows), (-2 * rows - 1, 2 * rows + 1), (0, 1))
        its = (0, rows) if self.mode == "promise_in_bounds" else (low, high)
        self.indices = random.integers(*its, n).astype(pick("int32", "int64", "int16", "uint32"))
        self.operand = self.draw((rows, *row))
        shapes = n + row, n + row, row, (), (1,) * len(n) + row
        self.updates = self.draw(n + row if self.is_segment_sum else pick(*shapes))
        self.deterministic = pick(False, True) and self.type != "complex64"
        self.is_jitted, self.batch = pick(False, *[True] * 7), pick(0, 0, 0, 3)
        if pick(*[False] * 7, True):
            self.spoil()

    def draw(self, shape):
        return (np.asarray(random.standard_normal(shape)) * 9).astype(jnp.dtype(self.type))

    def spoil(self):
        name, value = pick(("mode", "nearest"), ("indices", self.indices.astype("float32")),
                           ("indices", self.indices.tolist()), ("operand", self.operand[0].sum()),
                           ("updates", np.zeros((7, 11), self.updates.dtype)),
                           ("updates", None), ("indices", "all"))
        setattr(self, name, value)
        self.deterministic, self.batch = self.deterministic and name == "operand", False

    def function(self, by_arc):
        how = dict(deterministic=self.deterministic) if by_arc else {}
        how["mode"] = self.mode
        if self.is_segment_sum:
            add = (arc_jax if by_arc else jax.ops).segment_sum
            count = len(self.operand) if np.ndim(self.operand) else 3
            return lambda operand, updates: add(updates, self.indices, count, **how)
        add = arc_jax.scatter_add if by_arc else by_jax
        return lambda operand, updates: add(operand, self.indices, updates, **how)

    def result(self, by_arc):
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
        with jax.default_device(jax.devices("cpu")[0]):
            wanted = self.result(by_arc=False)
        if isinstance(wanted, type):
            return mine if mine is wanted else None
        if isinstance(mine, type) or mine.dtype != wanted.dtype or mine.shape != wanted.shape:
            return None
        largest = np.abs(wanted).max() + 3 * np.abs(np.asarray(self.updates)).max() + 1
        rounding = 0 if wanted.dtype == "int32" else jnp.finfo(wanted.dtype).eps
        bound = (np.size(self.indices) + 9) * float(largest) * rounding  # of a sum one by one
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
        _, by_jvp = jax.jvp(function, (self.operand, self.updates), (of_operand, of_updates))
        by_pull = np.vdot(of_operand, gradients[0]) + np.vdot(of_updates, gradients[1])
        return np.allclose([by_pull, np.vdot(weights, by_jvp)], np.vdot(weights, step), 1e-2, 1e-2)


def test_calls():
    refused = of_gradients = 0
    for number in range(CALLS):
        jax.config.update("jax_enable_x64", number >= CALLS // 2)
        call = Call()
        mine = call.check()
        assert mine is not None, (number, vars(call), call.result(True), call.result(False))
        refused += isinstance(mine, type)
        if not isinstance(mine, type) and call.type in ("float32", "float64") and number % 4 == 0:
            of_gradients += 1
            assert call.check_gradient(), (number, vars(call))
    print(f"{CALLS} calls, {refused} refused, {of_gradients} gradients")
    assert CALLS / 50 < refused < CALLS / 3 and of_gradients > CALLS / 50


def test_second_order():
    operand, keys = jnp.arange(12.0).reshape(4, 3), np.array([3, -1, 0, 9])
    for derivative in jax.hessian, lambda f: jax.jacrev(jax.grad(f)):
        mine, wanted = (derivative(lambda updates: (add(operand, keys, updates) ** 3).sum())(
            jnp.ones((4, 3))) for add in (arc_jax.scatter_add, by_jax))
        np.testing.assert_allclose(mine, wanted, 1e-5)


def test_as_jax():
    """Weak types, no jit, numbers that 32 bits do not hold, sizes that are not known yet."""
    of_export = jax.export.symbolic_shape("n, m")
    for operand in jnp.zeros(3), jnp.full(3, 1.0):
        for keys in [2, -1], [2**32 - 1, 0], [-2**63, 1]:
            with jax.disable_jit():
                mine, wanted = (add(operand, np.array(keys), 1.0)
                                for add in (arc_jax.scatter_add, by_jax))
            assert mine.weak_type == wanted.weak_type and (mine == wanted).all(), keys
    for shape in (of_export[:1], of_export[1:]), ((3,), of_export[:1]):
        shapes = [jax.ShapeDtypeStruct(*its) for its in zip(shape, ("float32", "int32"))]
        add = jax.export.export(jax.jit(lambda x, i: arc_jax.scatter_add(x, i, 1.0)))(*shapes)
        assert add.call(jnp.zeros(3), jnp.array([2, -1]))[2] == 2
    try:
        ids = np.zeros(3, "int32")
        assert not arc_jax.segment_sum(jnp.ones(3), ids, 1, bucket_size=2, deterministic=True)
    except TypeError as error:
        assert "deterministic" in str(error)


def test_batch_of_all():
    """One call, whatever has the batch; of each platform."""
    arrays = jnp.ones((4, 6, 2)), random.integers(-9, 9, (4, 5)), jnp.ones((4, 5, 2))
    for axes in ((0, 0, 0), (None, 0, None), (0, None, None), (None, None, 0)):
        mine, wanted = (jax.vmap(f, in_axes=axes) for f in (arc_jax.scatter_add, by_jax))
        taken = [array if axis == 0 else array[0] for array, axis in zip(arrays, axes)]
        assert (mine(*taken) == wanted(*taken)).all(), axes
        jaxpr = str(jax.make_jaxpr(mine)(*taken))
        assert jaxpr.count("arc_scatter_add[") == 1 and "scan" not in jaxpr, jaxpr


def test_scan_and_donated():
    def step(sums, keys):
        return arc_jax.scatter_add(sums, keys, jnp.ones((20, 3))), None
    keys = random.integers(0, 5, (7, 20))
    sums = jax.jit(lambda x: jax.lax.scan(step, x, keys)[0], donate_argnums=0)(jnp.zeros((5, 3)))
    assert (sums[:, 0] == np.bincount(keys.ravel(), minlength=5)).all()


def test_shard_map():
    if not hasattr(jax, "shard_map") or ON_GPU:
        return
    part, whole = jax.sharding.PartitionSpec("d"), jax.sharding.PartitionSpec()
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")), ("d",))
    operand, keys, updates = jnp.ones((5, 3)), jnp.arange(16) % 7, jnp.arange(48.0).reshape(16, 3)
    def sum_of_all(x, i, y):
        sums = arc_jax.scatter_add(x, i, y)
        assert "d}" in str(jax.typeof(sums)), "a part taken for the sum of all"
        return jax.lax.psum(sums, "d")
    add = jax.shard_map(sum_of_all, mesh=mesh, in_specs=(whole, part, part), out_specs=whole)
    wanted = (4 * operand).at[keys].add(updates)
    assert (jax.jit(add)(operand, keys, updates) == wanted).all()
    assert (jax.grad(lambda x: (add(x, keys, updates) ** 2).sum())(operand) == 8 * wanted).all()


def test_same_bits():
    n = 1 << 21 if ON_GPU else 20_000  # there a warp then takes many rows
    keys, updates = random.zipf(1.3, n) % 300, random.standard_normal((n, 3))
    for type in arc_jax.TYPES:
        jax.config.update("jax_enable_x64", type == "float64")
        values, order = jnp.asarray(updates, type), random.permutation(len(keys))
        add = jax.jit(lambda keys, values: arc_jax.scatter_add(
            jnp.zeros((300, 3), values.dtype), keys, values, deterministic=True))
        runs = [np.asarray(add(keys, values)).tobytes() for _ in range(3)]
        if ON_GPU and type != "float64":  # there each key's updates stay in order
            runs += [np.asarray(add(keys[order], values[order])).tobytes()
                     for order in (order, np.argsort(keys))]  # the latter come in runs
        assert len(set(runs)) == 1, type
    half = jnp.bfloat16(0.5)
    assert arc_jax.scatter_add(half[None] * 0, keys[:1] * 0, half, deterministic=True) == half
    sums = arc_jax._in_order(jnp.zeros((300, 3)), keys, jnp.asarray(updates, "float32"),
                             wraps=False, clips=False, deterministic=True)
    np.testing.assert_allclose(sums[1], updates[keys == 1].sum(0), rtol=1e-4, atol=1e-2)


def test_what_cuda_gets():
    """One call of arc, in place, from a machine that may have no GPU."""
    arc_jax._lower(arc_jax._by_arc, "cuda")
    for deterministic, batch in (False, 2), (True, 2), (False, 0):
        add = jax.jit(jax.vmap(
            lambda x, y: arc_jax.scatter_add(x, y, x, deterministic=deterministic)))
        arrays = jnp.zeros((batch, 4, 4)), np.zeros((batch, 4), "int32")
        text = add.trace(*arrays).lower(lowering_platforms=("cuda",)).as_text()
        assert text.count("@arc_jax_add(") == (batch > 0), text
        assert "output_operand_alias" in text or not batch, text


def test_build():
    """By two processes at once, into no folder, by pip, by an nvcc that fails, by none."""
    def start(folder, cache, command=CODE):
        environment = dict(os.environ, PATH=f"{folder}:/usr/bin:/bin", CUDA_HOME="/none",
                           ARC_JAX_CACHE=str(cache), PYTHONPATH=str(HERE))
        return subprocess.Popen([sys.executable, "-B", *command], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "nvcc")
        assert "RuntimeError: no nvcc" in start(folder, folder).communicate()[1]
        tool.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo built > "$2"\n')
        tool.chmod(0o755)
        cache = pathlib.Path(folder, "cache")
        names = {process.communicate()[0] for process in [start(folder, cache) for _ in range(2)]}
        assert len(names) == 1 and pathlib.Path(names.pop().strip()).read_text() == "built\n"
        assert [file.suffix for file in cache.iterdir()] == [".so"]
        assert ".so" in start(folder, tool / "below a file").communicate()[0]
        if has("pip") and has("setuptools") and has("setuptools.command.bdist_wheel"):
            before, site = os.listdir(HERE), pathlib.Path(folder, "site")
            said = start(folder, cache, [*PIP, str(site), str(HERE)]).communicate()
            assert os.listdir(HERE) == before and list(site.glob("*.so")), said
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
    assert arc_jax.is_ready() or not ON_GPU, "arc does not add"
    warnings.simplefilter("ignore")
    arc_jax._load = lambda: True  # on the CPU the primitive, too, with JAX's addition
    for test in (test_calls,) if sys.argv[1:] else (
            test_second_order, test_as_jax, test_batch_of_all, test_scan_and_donated,
            test_shard_map, test_same_bits, test_what_cuda_gets, test_build, test_calls):
        test()
        print(test.__name__, "passed")
