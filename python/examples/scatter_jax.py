"""scatter_jax.py - JAX's segment_sum and scatter-add by arc_jax: jitted, with a gradient, in batches,
and with sums that repeat. SPDX-License-Identifier: Apache-2.0

On a machine without a GPU JAX's own operations add, and one warning says so."""
import pathlib
import sys

import common
import need

jax = need.module("jax")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "arc_jax"))
import arc_jax  # noqa: E402

jnp, np = jax.numpy, common.np


@jax.jit
def scatter(keys, values):
    return arc_jax.segment_sum(values, keys, common.ROWS)  # negative keys are dropped


@jax.jit
def repeats(keys, values):
    """The same bits in every run and in any order of the updates."""
    keys = jnp.where(keys < 0, common.ROWS, keys)  # JAX counts negative ones from the end
    rows = jnp.zeros((common.ROWS, common.WIDTH), values.dtype)
    return arc_jax.scatter_add(rows, keys, values, mode="drop", deterministic=True)


@jax.jit
@jax.grad
def gradient(values):
    return (scatter(common.KEYS, values) * jnp.arange(common.ROWS)[:, None]).sum()


random = np.random.default_rng(1)
values = random.standard_normal(common.VALUES.shape).astype("float32")
if (gradient(values) != np.maximum(common.KEYS, 0)[:, None]).any():
    sys.exit("scatter_jax: the gradient of an update is not its row's")
order = random.permutation(common.UPDATES)
if jax.default_backend() == "gpu" and (
        np.asarray(repeats(common.KEYS, values)).tobytes()
        != np.asarray(repeats(common.KEYS[order], values[order])).tobytes()):
    sys.exit("scatter_jax: in another order, sums have other bits")
batches = jax.vmap(scatter)(common.KEYS[None].repeat(2, 0), common.VALUES[None].repeat(2, 0))
if (batches[0] != batches[1]).any():
    sys.exit("scatter_jax: under vmap the sums of two equal batches differ")
common.check("scatter_jax", batches[1])
