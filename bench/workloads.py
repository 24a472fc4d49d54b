"""Models and training steps that the benchmarks share."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch
from torch import nn
from torch.nn.functional import cross_entropy

ROOT = Path(__file__).resolve().parent.parent

Step = Callable[[], torch.Tensor]


def example(name: str) -> ModuleType:
    """examples/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Decoder(nn.Module):
    """A GPT-2-style decoder: (batch, length) tokens to (batch, length, vocabulary) scores."""

    def __init__(
        self, layers: int = 4, width: int = 128, heads: int = 4, vocabulary: int = 256
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.scores = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.shape[1]
        hidden = self.tokens(tokens) + self.positions(torch.arange(length, device=tokens.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        return self.scores(self.blocks(hidden, mask=mask, is_causal=True))


def digits_step(device: str) -> tuple[Step, torch.optim.Optimizer]:
    """One training step of the digits network on a batch of 64."""
    torch.manual_seed(0)
    net = example("train_digits").Net(dropout=0.25).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    images = torch.rand(64, 1, 8, 8).to(device)
    labels = torch.randint(0, 10, (64,)).to(device)
    step = train_step_of(net, optimizer, images, lambda scores: cross_entropy(scores, labels))
    return step, optimizer


def transformer_step(
    device: str, layers: int = 4, width: int = 128, sequences: int = 8, length: int = 32
) -> tuple[Step, torch.optim.Optimizer]:
    """One training step of a decoder."""
    torch.manual_seed(0)
    net = Decoder(layers, width).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    tokens = torch.randint(0, 256, (sequences, length + 1)).to(device)

    def loss(scores: torch.Tensor) -> torch.Tensor:
        return cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())

    return train_step_of(net, optimizer, tokens[:, :-1], loss), optimizer


def train_step_of(
    net: nn.Module,
    optimizer: torch.optim.Optimizer,
    inputs: torch.Tensor,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
) -> Step:
    """A step that gives its loss."""

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(net(inputs))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step
