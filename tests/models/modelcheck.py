# Compares one model on the device with its twin on CPU: forward, loss, gradients, three steps.
"""Tolerances. Both sides compute in float32 and differ only in the order of sums and in the last
bits of exp, tanh and the like. A sum of n terms loses about sqrt(n) * 6e-8 of its largest partial
sum; with n up to a few thousand and ten to thirty layers behind each other that is 1e-5 of a
tensor's largest value. So tensors are compared relative to their own largest value: 2e-5 for the
forward pass, 2e-4 for gradients (which pass through every layer twice), and for parameters after
the steps the same 2e-4. A wrong formula is off by far more than that."""

import copy

import torch
from support import DEVICE, to_device

FORWARD = 2e-5
BACKWARD = 2e-4


def difference(actual, expected):
    """Largest difference, relative to the largest value of `expected`."""
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if not expected.is_floating_point():
        return 0.0 if torch.equal(actual, expected) else float("inf")
    assert torch.isfinite(expected).all(), "the reference itself is not finite"
    scale = expected.abs().max().item() if expected.numel() else 0.0
    worst = (actual - expected).abs().max().item() if expected.numel() else 0.0
    return worst / max(scale, 1e-6)


def assert_near(actual, expected, bound, what):
    worst = difference(actual, expected)
    assert worst <= bound, f"{what}: off by {worst:.2e} of its largest value, allowed {bound:.0e}"


def twins(model):
    """The model on CPU and a copy of it on the device."""
    return model, copy.deepcopy(model).to(DEVICE)


def compare_forward(model, *inputs, bound=FORWARD):
    cpu, dev = twins(model.eval())
    with torch.no_grad():
        expected = cpu(*inputs)
        actual = dev(*to_device(inputs))
    assert actual.device.type == torch.device(DEVICE).type
    assert_near(actual, expected, bound, "forward")


def compare_training(model, make_optimizer, loss_of, batches, bound=BACKWARD):
    """`loss_of(model, batch)` on both sides: losses of each step, gradients of the first, and
    parameters and buffers at the end. Returns the CPU losses."""
    cpu, dev = twins(model.train())
    optimizers = make_optimizer(cpu.parameters()), make_optimizer(dev.parameters())
    losses = []
    for step, batch in enumerate(batches):
        pair = []
        for module, optimizer, data in zip(
            (cpu, dev), optimizers, (batch, to_device(batch)), strict=True
        ):
            optimizer.zero_grad()
            loss = loss_of(module, data)
            loss.backward()
            pair.append(loss)
        assert_near(pair[1], pair[0], bound, f"loss of step {step}")
        if step == 0:
            compare_gradients(dev, cpu, bound)
        for optimizer in optimizers:
            optimizer.step()
        losses.append(pair[0].item())
    compare_state(dev, cpu, bound)
    return losses


def compare_gradients(dev, cpu, bound=BACKWARD):
    """Relative to the largest gradient of the model: a bias that batch norm cancels has none."""
    theirs = dict(cpu.named_parameters())
    scale = max(p.grad.abs().max().item() for p in theirs.values() if p.grad is not None)
    for name, parameter in dev.named_parameters():
        expected = theirs[name].grad
        assert (parameter.grad is None) == (expected is None), name
        if expected is None:
            continue
        worst = (parameter.grad.cpu() - expected).abs().max().item()
        allowed = bound * max(expected.abs().max().item(), 1e-2 * scale)
        assert worst <= allowed, f"gradient of {name}: off by {worst:.2e}, allowed {allowed:.2e}"


def compare_state(dev, cpu, bound=BACKWARD):
    theirs = cpu.state_dict()
    for name, value in dev.state_dict().items():
        assert_near(value, theirs[name], bound, f"{name} after the last step")
