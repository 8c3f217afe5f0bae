"""bench_trainings.py [OUT.csv] [--steps 20] [--rounds 5] - steps of the two trainings, on the GPU.
SPDX-License-Identifier: Apache-2.0

A step of graph_network.py and of language_model.py is captured as a CUDA graph, so that the time
is the GPU's and not that of the host, which launches it: the median of the steps of a round, on one
batch. Each round takes all ways, and begins with the next one. PyTorch's deterministic index_add
waits for the GPU and cannot be captured: "eager". Status 1: the parameters of a way that repeats
differ from round to round."""
import collections
import gc
import statistics
import sys

from with_operator import torch  # first: skips where there is none
import graph_network
import language_model
import measure
import trainings

EAGER = {("graph network", "PyTorch, deterministic")}


def time_way(make, way, steps, is_eager):
    """Milliseconds a step, the last loss, and a digest of the parameters."""
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(way.repeats)
    model, optimizer, loss_of = make(way)

    def step():
        loss = loss_of(0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with way.sums():
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                loss = step()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        if not is_eager:
            with torch.cuda.graph(graph):
                loss = step()
        ms, = measure.medians([step if is_eager else graph.replay], steps)
    torch.use_deterministic_algorithms(False)
    return ms, loss.item(), trainings.digest_of(model.parameters())


def main():
    steps, rounds = trainings.option("--steps", 20), trainings.option("--rounds", 5)
    name = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("--") else None
    digests = collections.defaultdict(set)
    columns = ("model", "way", "round", "launched", "ms_a_step", "last_loss", "digest")
    with measure.table(name, columns) as add_row:
        for model, make in (("graph network", graph_network.maker()[0]),
                            ("language model", language_model.maker(1))):
            times = collections.defaultdict(list)
            for number in range(rounds):
                first = number % len(trainings.WAYS)
                for way in trainings.WAYS[first:] + trainings.WAYS[:first]:
                    is_eager = (model, way.name) in EAGER
                    ms, loss, digest = time_way(make, way, steps, is_eager)
                    times[way.name].append(ms)
                    digests[model, way].add(digest)
                    add_row(model, way.name.replace(",", ""), number + 1,
                            "eager" if is_eager else "graph", f"{ms:.3f}", f"{loss:.4f}", digest)
                    gc.collect()
                    torch.cuda.empty_cache()
            plain = statistics.median(times[trainings.WAYS[0].name])
            for way, ms in times.items():
                middle = statistics.median(ms)
                print(f"{model}: {way:26}{middle:8.2f} ms per step ({min(ms):.2f} to "
                      f"{max(ms):.2f}), {plain / middle:6.3f}x PyTorch", flush=True)
    differ = [f"{model}: {way.name}" for (model, way), its in digests.items()
              if way.repeats and len(its) > 1]
    print(f"different bytes: {'; '.join(differ)}" if differ else "the same bytes in every round")
    return 1 if differ else 0


sys.exit(main())
