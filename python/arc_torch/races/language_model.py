"""language_model.py [--steps 200] [--runs 2] - a small language model, trained to the same bytes.
SPDX-License-Identifier: Apache-2.0

Twelve layers of a transformer learn which token comes next. Tokens are drawn by zipf's law, as
words are, and every second on average follows from the one before. Only the gradient of the
embedding is a sum by index; what else PyTorch does repeats in its deterministic mode,
FlashAttention too."""
import trainings  # first: skips where there is no PyTorch
import sys

import torch
from torch.nn import functional
from trainings import DEVICE

LAYERS = 12
ON_GPU = DEVICE == "cuda"
VOCABULARY, WIDTH, HEADS = (50_000, 768, 12) if ON_GPU else (100, 32, 4)
BATCH, LENGTH = (16, 512) if ON_GPU else (8, 16)


def draw_tokens(batches):
    """[batches, BATCH, LENGTH + 1]: the last of a row is only foretold."""
    torch.manual_seed(3)
    frequency = 1 / torch.arange(1, VOCABULARY + 1) ** 1.05
    follower = torch.multinomial(frequency, VOCABULARY, replacement=True)
    tokens = torch.multinomial(frequency, batches * BATCH * (LENGTH + 1), replacement=True)
    tokens = tokens.view(-1, LENGTH + 1)
    follows = torch.rand(tokens.shape) < 0.5
    for i in range(1, LENGTH + 1):
        tokens[:, i] = torch.where(follows[:, i], follower[tokens[:, i - 1]], tokens[:, i])
    return tokens.view(batches, BATCH, LENGTH + 1).to(DEVICE)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.inputs = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.outputs = torch.nn.Linear(WIDTH, WIDTH)
        self.perceptron = torch.nn.Sequential(
            torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
            torch.nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, rows):
        heads = self.inputs(self.norm(rows)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        seen = functional.scaled_dot_product_attention(*heads.permute(2, 0, 3, 1, 4),
                                                       is_causal=True)
        rows = rows + self.outputs(seen.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return rows + self.perceptron(rows)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Parameter(0.02 * torch.randn(VOCABULARY, WIDTH))
        self.places = torch.nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.layers = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)],
                                          torch.nn.LayerNorm(WIDTH))
        self.outputs = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, by):
        return self.outputs(self.layers(by.embedding(self.embedding, tokens) + self.places))


def maker(steps):
    """What trainings.compare takes."""
    batches = draw_tokens(steps)

    def make(way):
        model = Model().to(DEVICE)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4 if ON_GPU else 3e-3, fused=True,
                                      capturable=ON_GPU)

        def loss(step):
            tokens = batches[step]
            with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=ON_GPU,
                                cache_enabled=False):  # each weight is read once; for CUDA graphs
                logits = model(tokens[:, :-1], way.by)
                return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        return model, optimizer, loss
    return make


def main():
    steps, runs = trainings.option("--steps", 200), trainings.option("--runs", 2)
    print(f"{LAYERS} layers, an embedding of {VOCABULARY} x {WIDTH}, {BATCH} x {LENGTH} tokens a "
          f"step, on the {DEVICE}")
    return 0 if trainings.compare(maker(steps), steps, runs)[1] else 1


if __name__ == "__main__":
    sys.exit(main())
