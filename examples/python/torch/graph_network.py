"""graph_network.py [--steps 60] - a graph network, its sums by PyTorch and by arc.
SPDX-License-Identifier: Apache-2.0

Two layers that average over neighbours (GraphSAGE, Hamilton et al. 2017) learn to which of eight
communities a node belongs. A graph of communities is drawn: half of the edges stay inside one, and
some nodes, as in every social network, have far more edges than others. Each layer gathers the
senders' rows and adds them up at the receivers: index_select and index_add, and each is the
gradient of the other."""
import sys
import time

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import arc_torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NODES, EDGES = (200_000, 4_000_000) if DEVICE == "cuda" else (2_000, 20_000)
COMMUNITIES, FEATURES, HIDDEN = 8, 32, 64


def draw_graph():
    torch.manual_seed(3)
    community = torch.randint(0, COMMUNITIES, (NODES,), device=DEVICE)
    popular = (torch.rand(EDGES, device=DEVICE) ** 6 * NODES).long()  # few nodes, many edges
    sender = torch.randint(0, NODES, (EDGES,), device=DEVICE)
    order = torch.argsort(community)
    first = torch.searchsorted(community[order], torch.arange(COMMUNITIES + 1, device=DEVICE))
    home = community[sender]
    size = first[home + 1] - first[home]
    inside = first[home] + (torch.rand(EDGES, device=DEVICE) * size).long()
    stays = torch.rand(EDGES, device=DEVICE) < 0.5
    receiver = torch.where(stays, order[inside.clamp(max=NODES - 1)], popular)
    features = torch.randn(NODES, FEATURES, device=DEVICE)
    features[:, :COMMUNITIES] += 0.5 * torch.nn.functional.one_hot(community, COMMUNITIES)
    return features, community, sender, receiver


class Layer(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = torch.nn.Linear(inputs, outputs)
        self.others = torch.nn.Linear(inputs, outputs, bias=False)

    def forward(self, nodes, sender, receiver, degree, by):
        messages = by.index_select(self.others(nodes), sender)
        sums = by.index_add(torch.zeros(len(nodes), messages.shape[1], device=DEVICE), 0, receiver,
                            messages)
        return self.own(nodes) + sums / degree


class PyTorch:
    index_select = staticmethod(lambda table, index: table.index_select(0, index))
    index_add = staticmethod(torch.index_add)


def train(by, graph, steps):
    features, community, sender, receiver = graph
    torch.manual_seed(7)
    layers = torch.nn.ModuleList([Layer(FEATURES, HIDDEN), Layer(HIDDEN, COMMUNITIES)]).to(DEVICE)
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
    degree = receiver.bincount(minlength=NODES).clamp(min=1)[:, None]
    losses, seconds = [], 0.0
    for step in range(steps):
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        hidden = torch.relu(layers[0](features, sender, receiver, degree, by))
        loss = torch.nn.functional.cross_entropy(
            layers[1](hidden, sender, receiver, degree, by), community)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  # waits for the GPU
        if step >= steps // 4:  # the first steps warm up
            seconds += time.perf_counter() - begin
    return losses, 1000 * seconds / (steps - steps // 4)


def main():
    steps = int(sys.argv[sys.argv.index("--steps") + 1]) if "--steps" in sys.argv else 60
    graph = draw_graph()
    print(f"{NODES} nodes, {EDGES} edges, on the {DEVICE}; the busiest node has "
          f"{graph[3].bincount().max().item()} edges")
    results = {name: train(by, graph, steps) for name, by in (("PyTorch", PyTorch),
                                                              ("arc", arc_torch))}
    for name, (losses, ms) in results.items():
        curve = " ".join(f"{losses[i]:.4f}" for i in range(0, steps, max(1, steps // 6)))
        print(f"{name:8} {ms:8.2f} ms a step, loss {curve} ... {losses[-1]:.4f}")
    apart = max(abs(a - b) for a, b in zip(results["PyTorch"][0], results["arc"][0]))
    print(f"losses differ by {apart:.1e} at most; a step with arc takes "
          f"{results['arc'][1] / results['PyTorch'][1]:.2f} of PyTorch's")
    learnt = results["arc"][0][-1] < 0.9 * results["arc"][0][0]
    return 0 if apart < 2e-3 and (learnt or steps < 30) else 1


sys.exit(main())
