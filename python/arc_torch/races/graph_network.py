"""graph_network.py [--steps 60] [--runs 2] - a graph network, its sums by PyTorch and by arc.
SPDX-License-Identifier: Apache-2.0

Two layers that average over neighbours (GraphSAGE, Hamilton et al. 2017) learn to which of eight
communities a node belongs. A graph of communities is drawn: half of the edges stay inside one, and
some nodes, as in every social network, have far more edges than others. Each layer gathers the
senders' rows and adds them up at the receivers: index_select and index_add, and each is the
gradient of the other."""
import trainings  # first: skips where there is no PyTorch
import sys

import torch
from trainings import DEVICE

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


def maker():
    """What trainings.compare takes, and how many edges the busiest node has."""
    features, community, sender, receiver = draw_graph()
    degree = receiver.bincount(minlength=NODES).clamp(min=1)[:, None]

    def make(way):
        layers = torch.nn.ModuleList([Layer(FEATURES, HIDDEN), Layer(HIDDEN, COMMUNITIES)])
        optimizer = torch.optim.Adam(layers.to(DEVICE).parameters(), lr=0.01,
                                     capturable=DEVICE == "cuda")

        def loss(_):
            hidden = torch.relu(layers[0](features, sender, receiver, degree, way.by))
            return torch.nn.functional.cross_entropy(
                layers[1](hidden, sender, receiver, degree, way.by), community)
        return layers, optimizer, loss
    return make, int(degree.max())


def main():
    steps, runs = trainings.option("--steps", 60), trainings.option("--runs", 2)
    make, busiest = maker()
    print(f"{NODES} nodes, {EDGES} edges, on the {DEVICE}; the busiest node has "
          f"{busiest} edges")
    curves, is_well = trainings.compare(make, steps, runs)
    apart = max(abs(a - b) for curve in curves.values() for a, b in zip(curves["PyTorch"], curve))
    print(f"losses differ by {apart:.1e} at most")
    return 0 if is_well and apart < 2e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
