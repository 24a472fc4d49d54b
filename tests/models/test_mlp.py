# A multilayer perceptron under each common optimiser, plain and foreach, with a falling loss.
import pytest
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training, twins
from support import compile_count, to_device
from torch import nn

# eps 1e-4: at Adam's default 1e-8 a gradient that is zero but for rounding moves its weight by a
# whole lr in the direction of the noise, on any two devices.
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "sgd_no_foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=False),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2, eps=1e-4),
    "adam_no_foreach": lambda p: torch.optim.Adam(p, lr=1e-2, eps=1e-4, foreach=False),
    "adam_amsgrad": lambda p: torch.optim.Adam(p, lr=1e-2, eps=1e-4, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, eps=1e-4, weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-2, eps=1e-4),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2, eps=1e-4),
}


def model():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3)
    )


def batch():
    gen = torch.Generator().manual_seed(2)
    return torch.randn(8, 6, generator=gen), torch.randint(0, 3, (8,), generator=gen)


def loss_of(module, data):
    x, y = data
    return F.cross_entropy(module(x), y)


def test_forward():
    compare_forward(model(), batch()[0])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_three_training_steps(name):
    losses = compare_training(model(), OPTIMIZERS[name], loss_of, [batch()] * 3)
    assert losses[2] < losses[0]


def test_gradient_clipping_and_accumulation():
    cpu, dev = twins(model())
    norms = []
    for module, data in ((cpu, batch()), (dev, to_device(batch()))):
        for _ in range(2):
            loss_of(module, data).backward()
        norms.append(nn.utils.clip_grad_norm_(module.parameters(), 0.1))
    torch.testing.assert_close(norms[1].cpu(), norms[0], rtol=1e-4, atol=1e-5)
    total = sum(p.grad.pow(2).sum() for p in dev.parameters()).sqrt().item()
    assert total == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("name", ["sgd_momentum", "adam", "adamw"])
def test_no_compiles_after_the_second_step(name):
    _, dev = twins(model())
    optimizer, data, counts = OPTIMIZERS[name](dev.parameters()), to_device(batch()), []
    for _ in range(6):
        optimizer.zero_grad()
        loss_of(dev, data).backward()
        optimizer.step()
        counts.append(compile_count())
    assert counts[-1] == counts[1], f"compiles after each step: {counts}"
