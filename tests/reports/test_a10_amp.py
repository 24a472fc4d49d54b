# Reported cases, part A10: automatic mixed precision.
import warnings

import torch
from support import DEVICE, equals
from torch import nn


def test_case_120_autocast_policies(anywhere):
    a = torch.ones(2, 2, device=anywhere)
    with torch.autocast(anywhere.type, dtype=torch.bfloat16):
        product = a @ a
        assert product.dtype == torch.bfloat16
        assert nn.functional.mse_loss(product, a).dtype == torch.float32
        with torch.autocast(anywhere.type, enabled=False):
            assert (a @ a).dtype == torch.float32
        assert (a @ a).dtype == torch.bfloat16
    assert (a @ a).dtype == torch.float32


def test_case_120_softmax_and_loss_are_float32(device):
    # CPU's own list leaves softmax alone.
    expected = torch.bfloat16 if DEVICE == "cpu" else torch.float32
    x = torch.ones(2, 3, device=device)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert x.bfloat16().softmax(-1).dtype == expected
        loss = nn.functional.cross_entropy(x, torch.tensor([0, 1], device=device))
        assert loss.dtype == torch.float32


def test_case_120_float16_is_never_silently_float32(anywhere):
    a = torch.ones(2, 2, device=anywhere)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with torch.autocast(anywhere.type, dtype=torch.float16):
            dtype = (a @ a).dtype
    assert dtype == torch.float16 or any("float16" in str(w.message) for w in seen)


def test_case_121_grad_scaler(anywhere):
    scaler = torch.amp.GradScaler(anywhere.type, init_scale=4.0, growth_interval=1)
    p = torch.tensor([1.0, 2.0], device=anywhere, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale(p.sum()).backward()
    equals(p.grad, [4, 4])
    scaler.unscale_(optimizer)
    equals(p.grad, [1, 1])
    scaler.step(optimizer)
    scaler.update()
    equals(p, [0.5, 1.5])
    assert scaler.get_scale() == 8.0
    optimizer.zero_grad()
    scaler.scale((p * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    equals(p, [0.5, 1.5])
    assert scaler.get_scale() == 4.0
