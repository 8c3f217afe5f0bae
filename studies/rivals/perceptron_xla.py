"""perceptron_xla.py - the network of perceptron_rivals.cu through XLA, by JAX.
SPDX-License-Identifier: Apache-2.0

    python3 studies/rivals/perceptron_xla.py [OUT.csv]

Halves are multiplied, sums and outputs are floats. Training: up to the gradients of all weights and
of the inputs, halves, so the loss is a mean over samples. us: of a call among many. Outputs are
checked against double precision. Without a GPU nothing is timed. A file needs PyTorch, too."""
import pathlib
import statistics
import sys
import timeit

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "python/examples"), str(REPOSITORY / "python/arc_torch/races")]
import need

np = need.module("numpy")
jax = need.module("jax")
jnp = jax.numpy

INPUTS, HIDDEN, OUTPUTS, CHECKED, CALLS = 32, 4, 3, 64, 16


def forward(parameters, layer):
    for i, (weights, bias) in enumerate(parameters):
        sums = jnp.matmul(layer, weights, preferred_element_type=jnp.float32) + bias
        layer = jax.nn.relu(sums).astype(jnp.float16) if i < HIDDEN else sums
    return layer


def loss(parameters, inputs, targets):
    return 1.5 * jnp.mean((forward(parameters, inputs) - targets) ** 2)


ask, train = jax.jit(forward), jax.jit(jax.grad(loss, argnums=(0, 1)))


def check(parameters, inputs, outputs):
    layer = np.asarray(inputs[:CHECKED], dtype=np.float64)
    for i, (weights, bias) in enumerate(parameters):
        layer = layer @ np.asarray(weights, dtype=np.float64) + np.asarray(bias)
        layer = layer.clip(min=0.0).astype(np.float16).astype(float) if i < HIDDEN else layer
    error = np.linalg.norm(np.asarray(outputs[:CHECKED]) - layer) / np.linalg.norm(layer)
    error < 1e-2 or sys.exit(f"perceptron_xla: outputs are off by {error:.2g} of their size")


def us_of(function, *arguments):
    run = lambda: jax.block_until_ready([function(*arguments) for _ in range(CALLS)])
    return 1e6 / CALLS * statistics.median(timeit.repeat(run, number=1, repeat=9))


def main():
    random, lines, on_gpu = np.random.default_rng(1), [], jax.default_backend() == "gpu"
    for width in 64, 128:
        sizes = [INPUTS] + HIDDEN * [width] + [OUTPUTS]
        parameters = [(jnp.asarray(np.sqrt(6 / a) * random.uniform(-1, 1, (a, b)), jnp.float16),
                       jnp.asarray(random.uniform(-0.1, 0.1, b), jnp.float32))
                      for a, b in zip(sizes, sizes[1:])]
        for log2 in range(14, 22 if on_gpu else 15):
            inputs, targets = (jnp.asarray(random.uniform(-1, 1, (1 << log2, n)), its)
                               for n, its in ((INPUTS, jnp.float16), (OUTPUTS, jnp.float32)))
            check(parameters, inputs, ask(parameters, inputs))
            if on_gpu:
                us = [us_of(ask, parameters, inputs), us_of(train, parameters, inputs, targets)]
                lines += [f"forward,{width},{log2},xla,{us[0]:.2f}",
                          f"training,{width},{log2},xla,{us[1]:.2f}"]
    if not on_gpu:
        need.skip("JAX sees no GPU; outputs are right")
    print(*lines, sep="\n")
    if len(sys.argv) > 1:
        import measure
        head = [*measure.head(REPOSITORY, "scope=device"), f"jax: {jax.__version__}"]
        lines = [*(f"# {line}" for line in head), "pass,width,batch_log2,by,us", *lines]
        pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
