# The deferred mode gives the results of strict mode, compiles blocks once and keeps no memory.
import gc
import time
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import torch_tpu
from defercases import close, defer, in_both_modes, stack
from support import DEVICE, compile_count, equals, launch_count, no_compiles, run_python, tpu_only
from torch import nn
from torch.utils.checkpoint import checkpoint

ROOT = Path(__file__).parents[2]
pytestmark = tpu_only


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0, 4.0]).to(DEVICE)


def test_a_stack_compiles_its_block_once_and_starts_before_the_read():
    inputs = torch.randn(2, 4, 16).to(DEVICE)
    compiles = {}
    for layers in (12, 24):
        model = stack(layers)
        with torch.no_grad():
            expected = model(inputs)
            torch.tpu.synchronize()
            before, launches = compile_count(), launch_count()
            with defer():
                actual = model(inputs)
                until = time.monotonic() + 30
                while launch_count() - launches < layers // 2 and time.monotonic() < until:
                    time.sleep(0.01)
                assert launch_count() - launches >= layers // 2
                close(actual, expected)
        compiles[layers] = compile_count() - before
    # The second stack finds the block and whatever begins and ends a stack.
    assert 1 <= compiles[12] <= 4, compiles
    assert compiles[24] <= 1, compiles


COUNT_OF_A_STEP = """
import sys, torch, torch.nn as nn
sys.path.insert(0, "tests/integration"); sys.path.insert(0, "tests")
from defercases import Block
torch.manual_seed(1)
model = nn.Sequential(*[Block() for _ in range(LAYERS)])
model = model.to("tpu")
inputs = torch.randn(2, 4, 16).to("tpu")
before = torch.tpu.compile_count()
with torch.tpu.eager_mode("defer"):
    for _ in range(4):
        model.zero_grad()
        model(inputs).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p.sub_(p.grad, alpha=0.1)
        torch.tpu.synchronize()
print("compiles", torch.tpu.compile_count() - before)
"""


def test_a_training_step_compiles_equally_much_for_any_depth():
    counts = []
    for layers in (12, 24):
        done = run_python(COUNT_OF_A_STEP.replace("LAYERS", str(layers)), cwd=ROOT)
        counts.append(int(done.stdout.split()[-1]))
    assert counts[1] <= counts[0] + 2, counts
    assert counts[0] <= 30, counts


def training_loop(model, optimizer, steps, inputs):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def test_a_loop_that_never_reads_keeps_launching_and_stops_compiling():
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    inputs = torch.randn(5, 8).to(DEVICE)
    with defer():
        training_loop(model, optimizer, 6, inputs)
        torch.tpu.synchronize()
        training_loop(model, optimizer, 6, inputs)
        torch.tpu.synchronize()
        launches = launch_count()
        with no_compiles("a loop of training steps"):
            losses = training_loop(model, optimizer, 12, inputs)
            sent = launch_count() - launches
            assert sent >= 3, f"{sent} launches before anybody read"
            del losses
            torch.tpu.synchronize()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2),
    "adam for loop": lambda p: torch.optim.Adam(p, lr=1e-2, foreach=False),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    def work():
        model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.GELU(), nn.Linear(8, 3))
        model = model.to(DEVICE)
        inputs = torch.randn(4, 6).to(DEVICE)
        losses = training_loop(model, OPTIMIZERS[name](model.parameters()), 4, inputs)
        return losses, list(model.parameters())

    close(*in_both_modes(work))


def test_views_and_in_place():
    def work():
        x = torch.arange(24.0, device=DEVICE).view(4, 6)
        row, column = x[1], x.t()[2]
        row.mul_(2)
        column.add_(row[:4])
        x[::2, 1::2] = 7
        x.view(-1)[5:9].copy_(torch.arange(4.0, device=DEVICE))
        y = x.unfold(1, 2, 2).clone()
        x.zero_()
        return x, y, row, column

    strict, deferred = in_both_modes(work)
    assert [t.tolist() for t in deferred] == [t.tolist() for t in strict]
    assert deferred[1].tolist()[0] == [[0, 7], [14, 7], [4, 0]]


def test_out_arguments():
    def work():
        a = torch.arange(6.0, device=DEVICE).view(2, 3)
        out, empty = torch.zeros(3, 2, device=DEVICE), torch.empty(0, device=DEVICE)
        torch.add(a, 1, out=out.t())
        torch.mul(a, a, out=empty)
        return out, empty

    _, (out, empty) = in_both_modes(work)
    equals(out, [[1, 4], [2, 5], [3, 6]])
    equals(empty, [[0, 1, 4], [9, 16, 25]])


def test_foreach():
    def work():
        lists = [torch.arange(n + 1.0, device=DEVICE) for n in range(4)]
        torch._foreach_mul_(lists, 2)
        return torch._foreach_add(lists, [t.exp() for t in lists], alpha=0.5), lists

    close(*in_both_modes(work))


def test_random_numbers_are_those_of_strict():
    def work():
        a = torch.rand(5, device=DEVICE)
        a.normal_()
        b = F.dropout(torch.ones(50, device=DEVICE), 0.5)
        state = torch.tpu.get_rng_state()
        c = torch.randint(0, 100, (7,), device=DEVICE)
        torch.tpu.set_rng_state(state)
        d = torch.randint(0, 100, (7,), device=DEVICE)
        unread = torch.rand(3, device=DEVICE)
        del unread
        return a, b, c, d, torch.randperm(9, device=DEVICE)

    strict, deferred = in_both_modes(work)
    assert [t.tolist() for t in deferred] == [t.tolist() for t in strict]
    assert deferred[2].tolist() == deferred[3].tolist()


def test_autocast_and_grad_scaler():
    def work():
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).to(DEVICE)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler(DEVICE, init_scale=8.0)
        inputs = torch.randn(4, 6).to(DEVICE)
        for step in range(3):
            optimizer.zero_grad()
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                loss = model(inputs).float().square().mean()
            if step == 1:
                loss = loss * float("inf")  # this step must be left out
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        return list(model.parameters()), scaler.get_scale()

    strict, deferred = in_both_modes(work)
    close(deferred, strict, 1e-2)
    assert deferred[1] == 4.0


def test_checkpoint_with_dropout():
    def work():
        layer = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Tanh()).to(DEVICE)
        x = torch.randn(3, 6).to(DEVICE).requires_grad_()
        checkpoint(layer, x, use_reentrant=False).sum().backward()
        return x.grad, layer[0].weight.grad

    close(*in_both_modes(work))


def test_decompositions():
    def work():
        x = torch.linspace(-3, 3, 7, device=DEVICE)
        return F.huber_loss(x, x * 0.5), torch.logit(x.sigmoid()), torch.special.xlog1py(x, x.exp())

    close(*in_both_modes(work))


def test_gradients_of_gradients():
    def work():
        x = torch.tensor([0.5, 2.0], device=DEVICE, requires_grad=True)
        (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        return first, second

    _, (first, second) = in_both_modes(work)
    close(first, torch.tensor([0.75, 12.0]))
    close(second, torch.tensor([3.0, 12.0]))


def test_memory_does_not_grow_over_an_in_place_loop():
    x = torch.zeros(1 << 18, device=DEVICE) + 1  # 1 MiB
    with defer():
        for _ in range(3):
            x.mul_(0.5).add_(1)
            torch.tpu.synchronize()
        gc.collect()
        before = torch.tpu.memory_allocated()
        torch.tpu.reset_peak_memory_stats()
        for _ in range(10):
            x.mul_(0.5).add_(1)
            torch.tpu.synchronize()
        assert torch.tpu.memory_allocated() == before
        assert torch.tpu.max_memory_allocated() - before < 1 << 20  # donated: never twice
    equals(x[:2], [2 - 0.5**13] * 2)


def test_finished_regions_keep_nothing():
    x = torch.ones(1 << 18, device=DEVICE) + 1
    with defer():
        kept = x.sum()
        torch.tpu.synchronize()
        before = torch.tpu.memory_allocated()
        for _ in range(5):
            large = x * 2
            kept = large.sum() + kept
            del large
            torch.tpu.synchronize()
        assert torch.tpu.memory_allocated() - before < 1 << 12
    assert kept.item() == (1 << 18) * (2 + 5 * 4)


@tpu_only
def test_a_failure_read_does_not_hide_another():
    """Two results that do not fit: the one that nobody read is told by synchronize."""
    with defer():
        a, b = torch.ones(1 << 20, device=DEVICE), torch.ones(1 << 21, device=DEVICE)
        unread = a[:, None] * a
        torch_tpu._C._send_deferred()
        read = b[:, None] * b
        with pytest.raises(torch.OutOfMemoryError):
            read[0, 0].item()
        with pytest.raises(torch.OutOfMemoryError):
            torch.tpu.synchronize()
        torch.tpu.synchronize()
        with pytest.raises(torch.OutOfMemoryError):
            unread[0, 0].item()
