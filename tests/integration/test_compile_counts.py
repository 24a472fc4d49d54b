# What may not recompile: loops over indices, learning rates, optimiser steps, scalars, decode.
import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, compile_count, equals, launch_count, no_compiles, tpu_only
from torch import nn

pytestmark = tpu_only


def test_reading_rows_in_a_loop():
    x = torch.arange(40.0).view(10, 4).to(DEVICE)

    def read(i):
        return x[i] + 1, x[i].sum()

    for i in range(2):
        read(i)
    with no_compiles("for i in range(n): x[i]"):
        rows = [read(i) for i in range(10)]
    equals(rows[-1][0], [37, 38, 39, 40])
    assert [total.item() for _, total in rows][:3] == [6, 22, 38]


def test_windows_of_the_flat_tensor_that_cross_rows():
    x = torch.arange(20.0).view(4, 5).to(DEVICE)
    flat = x.view(-1)
    for start in (0, 3, 4):
        (flat[start : start + 4] + 1).sum().item()
    with no_compiles("windows of a flat tensor"):
        sums = [(flat[i : i + 4] + 1).sum().item() for i in range(1, 16)]
    assert sums == [4 * i + 10 for i in range(1, 16)]


def test_writing_rows_in_a_loop():
    x = torch.zeros(10, 4, device=DEVICE)
    row = torch.arange(4.0).to(DEVICE)

    def write(i):
        x[i] = row
        x[i].mul_(2)
        x[i, 1] = 5.0

    for i in range(2):
        write(i)
    with no_compiles("for i in range(n): x[i] = ..."):
        for i in range(10):
            write(i)
    equals(x[9], [0, 5, 4, 6])
    equals(x[4], [0, 5, 4, 6])


def test_narrow_and_slices_of_one_length():
    x = torch.arange(100.0).to(DEVICE)
    x[0:5] + 1
    x.narrow(0, 1, 5).mul(2)
    with no_compiles("slices of one length"):
        for i in range(90):
            out = x[i : i + 5] + 1
        out2 = x.narrow(0, 17, 5).mul(2)
    equals(out, [90, 91, 92, 93, 94])
    equals(out2, [34, 36, 38, 40, 42])


def test_numbers_are_operands():
    x = torch.ones(3, device=DEVICE)

    def use(n):
        y = x * n + n
        y.add_(x, alpha=n)
        y.clamp_(min=n - 100, max=n + 100)
        return torch.addcmul(y, x, x, value=n) ** 1.5

    use(3.25)
    with no_compiles("Python numbers"):
        for i in range(20):
            out = use(4.5 + 0.1 * i)
    torch.testing.assert_close(out.cpu(), torch.full((3,), (4 * 6.4) ** 1.5))


def test_int_numbers_are_operands():
    x = torch.arange(5, device=DEVICE)
    x * 7 + 9
    with no_compiles("Python integers"):
        outs = [x * (i + 11) + (i + 3) for i in range(10)]
    equals(outs[9], [12, 32, 52, 72, 92])


def test_full_and_fill_values():
    x = torch.zeros(4, device=DEVICE)
    x.fill_(3.5)
    torch.full((4,), 2.5, device=DEVICE) + x
    with no_compiles("fill values"):
        for i in range(5):
            x.fill_(i + 0.25)
            out = torch.full((4,), i + 7.5, device=DEVICE) + x
    equals(out, [15.75] * 4)


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(64, 10),
    ).to(DEVICE)


OPTIMIZERS = {
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
    "adam_for_loop": lambda p: torch.optim.Adam(p, lr=1e-3, foreach=False),
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_loop_with_a_learning_rate_schedule(name):
    model = network()
    optimizer = OPTIMIZERS[name](model.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    images = torch.randn(8, 1, 8, 8).to(DEVICE)
    labels = torch.randint(0, 10, (8,)).to(DEVICE)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss.item()

    first, *_ = [step() for _ in range(3)]
    with no_compiles(f"training with {name}"):
        losses = [step() for _ in range(8)]
    assert losses[-1] < first


def test_fresh_batches_compile_nothing():
    model = network().eval()
    model(torch.randn(4, 1, 8, 8).to(DEVICE)).argmax(1).cpu()
    with no_compiles("new data of the same shape"):
        for _ in range(3):
            model(torch.randn(4, 1, 8, 8).to(DEVICE)).argmax(1).cpu()


def test_cache_written_at_a_moving_position():
    cache = torch.zeros(2, 16, 3, device=DEVICE)
    new = torch.ones(2, 1, 3, device=DEVICE) * 2

    def step(i):
        cache[:, i : i + 1] = new
        mask = torch.arange(16, device=DEVICE) <= i
        return (cache.sum(-1) * mask).sum()

    for i in range(4):
        step(i)
    with no_compiles("a decode loop"):
        for i in range(4, 16):
            total = step(i)
    assert total.item() == 2 * 16 * 3 * 2


def test_random_numbers_compile_once():
    def draw():
        x = torch.rand(8, device=DEVICE)
        x.uniform_(0, 1)
        return F.dropout(x.normal_(), 0.3)

    draw()
    with no_compiles("random draws"):
        for _ in range(5):
            draw()


def test_element_counts_are_not_part_of_programs():
    x = torch.arange(50.0).to(DEVICE)
    x[x > 40].cpu()
    x.masked_select(x > 40).cpu()
    (x > 30).nonzero().cpu()
    with no_compiles("masks of different counts"):
        for limit in range(10, 40, 7):
            wanted = list(range(limit + 1, 50))
            equals(x.masked_select(x > limit), wanted)
            equals(x[x > limit], wanted)
            equals((x > limit).nonzero(), [[i] for i in wanted])


def test_writing_a_number_through_a_mask_needs_no_count():
    x = torch.arange(12.0).view(4, 3).to(DEVICE)
    rows = torch.tensor([True, False, False, True], device=DEVICE)
    x[x > 10] = 0
    before = launch_count()
    x[x < 2] = 5
    x[rows] = -1
    assert launch_count() - before == 3  # a comparison and two selections
    equals(x, [[-1, -1, -1], [3, 4, 5], [6, 7, 8], [-1, -1, -1]])


def test_second_model_of_the_same_shape_compiles_nothing():
    x = torch.randn(4, 1, 8, 8).to(DEVICE)
    network().eval()(x).cpu()
    with no_compiles("a second model of the same shape"):
        network().eval()(x).cpu()


def test_printing_and_item_compile_nothing():
    x = torch.randn(5).to(DEVICE)
    y = x + 1
    with no_compiles("print and item"):
        repr(y)
        y[3].item()
        y.tolist()
        float(y.cpu().sum())


def test_a_new_shape_does_compile():
    x = torch.ones(17, 3, device=DEVICE) * 2
    before = compile_count()
    torch.ones(19, 5, device=DEVICE).mul_(3).tanh_()
    assert compile_count() > before
    assert x.shape == (17, 3)
