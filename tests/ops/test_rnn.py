# Recurrent layers and cells: values, gradients, packed sequences.
import copy

import pytest
import torch
from support import DEVICE, assert_same
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def run(module, device, make):
    """Outputs and all gradients of a module on a device."""
    module = copy.deepcopy(module).to(device)
    inputs = [x.to(device).requires_grad_() for x in make()]
    outputs = module(inputs[0], inputs[1:] if len(inputs) > 2 else inputs[1])
    flat = [o for group in outputs for o in (group if isinstance(group, tuple) else (group,))]
    sum((o * (i + 1)).pow(2).sum() for i, o in enumerate(flat)).backward()
    return flat + [x.grad for x in inputs] + [p.grad for p in module.parameters()]


def compare(module, make):
    got, want = run(module, DEVICE, make), run(module, "cpu", make)
    for g, w in zip(got, want, strict=True):
        assert_same(g.detach(), w.detach(), rtol=1e-4, atol=1e-5)


def states(count, *shape):
    return [torch.randn(*shape) for _ in range(count)]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(
    "options",
    [{}, {"bias": False}, {"num_layers": 2, "bidirectional": True, "batch_first": True}],
    ids=["plain", "without bias", "deep"],
)
def test_layers(kind, options):
    torch.manual_seed(0)
    layer = kind(3, 4, **options)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shape = (2, 5, 3) if options.get("batch_first") else (5, 2, 3)

    def make():
        torch.manual_seed(1)
        return [torch.randn(shape), *states(2 if kind is nn.LSTM else 1, rows, 2, 4)]

    compare(layer, make)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("bias", [True, False])
def test_cells(kind, bias):
    torch.manual_seed(0)
    cell = kind(3, 4, bias=bias)

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = cell

        def forward(self, x, state):
            out = self.cell(x, tuple(state) if isinstance(state, list) else state)
            return out if isinstance(out, tuple) else (out,)

    def make():
        torch.manual_seed(1)
        return [torch.randn(2, 3), *states(2 if kind is nn.LSTMCell else 1, 2, 4)]

    compare(Wrapped(), make)


def test_lstm_second_derivative():
    torch.manual_seed(0)
    cell = nn.LSTMCell(3, 4)
    x, h, c = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)

    def penalty(device):
        module, leaf = copy.deepcopy(cell).to(device), x.to(device).requires_grad_()
        y = sum(o.pow(2).sum() for o in module(leaf, (h.to(device), c.to(device))))
        (grad,) = torch.autograd.grad(y, leaf, create_graph=True)
        return torch.autograd.grad(grad.pow(2).sum(), leaf)[0]

    assert_same(penalty(DEVICE), penalty("cpu"), rtol=1e-4, atol=1e-5)


def test_packed_lstm_trains():
    """Lengths stay on the host; the shorter sample's tail is zero; the loss falls."""
    torch.manual_seed(0)
    layer = nn.LSTM(2, 3, batch_first=True).to(DEVICE)
    x, lengths = torch.randn(2, 4, 2).to(DEVICE), torch.tensor([4, 2])
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    losses = []
    for _ in range(5):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        y, got = pad_packed_sequence(layer(packed)[0], batch_first=True)
        assert y.shape == (2, 4, 3)
        assert got.tolist() == [4, 2]
        assert_same(y[1, 2:].detach(), torch.zeros(2, 3))
        loss = (y - 0.5).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
