# Reported cases, part A4: reductions, sorting, NaN.
import pytest
import torch
from support import DEVICE, assert_same, equals


def test_case_059_argmax_keepdim(anywhere):
    x = torch.arange(12.0, device=anywhere).view(3, 4)
    equals(torch.argmax(x, dim=None, keepdim=True), [[11]], torch.int64)


def test_case_061_argmax_after_softmax_in_bfloat16(device):
    logits = torch.tensor([[0.5, 2.0], [3.0, -1.0], [0.0, 0.25], [8.0, 7.5]], dtype=torch.bfloat16)
    probabilities = logits.to(device).softmax(1)
    equals(probabilities.argmax(1), [1, 0, 1, 0], torch.int64)
    equals(probabilities.max(1).indices, [1, 0, 1, 0], torch.int64)
    equals(torch.argmax(torch.full((3,), float("nan"), device=device)), 0)


def test_case_064_cummax_ties(anywhere):
    equals(torch.ones(3, device=anywhere).cummax(0).indices, [0, 1, 2], torch.int64)
    values, indices = torch.empty(2, 0, device=anywhere).cummax(1)
    assert values.shape == indices.shape == (2, 0)


def test_case_066_topk_of_everything(device):
    gen = torch.Generator().manual_seed(1)
    x = torch.randn(2000, generator=gen).to(torch.bfloat16)
    there = x.to(device)
    values, indices = there.topk(2000)
    assert_same(values, x.topk(2000).values)
    assert torch.equal(there[indices].cpu(), values.cpu())
    assert sorted(indices.tolist()) == list(range(2000))


def test_case_067_mean_of_nothing(anywhere):
    assert torch.isnan(torch.empty(0, 5, device=anywhere).mean()).item()
    assert torch.empty(0, 5, device=anywhere).mean(1).shape == (0,)
    equals(torch.empty(0, 3, device=anywhere).mean(0), [float("nan")] * 3)
    equals(torch.empty(0, 2, device=anywhere).sum(0), [0, 0])
    equals(torch.empty(0, 2, device=anywhere).prod(0), [1, 1])
    with pytest.raises((RuntimeError, IndexError)):
        torch.empty(0, 2, device=anywhere).max(0)


@pytest.mark.parametrize("width", [3, 63, 64, 65, 128])
def test_case_069_broadcast_after_keepdim_mean(anywhere, width):
    x = torch.full((2, 2, width), 2.0, device=anywhere)
    y = torch.arange(float(width), device=anywhere)
    out = torch.mean(x, -1, keepdim=True) + torch.zeros_like(x) + y
    row = [2.0 + i for i in range(width)]
    equals(out, [[row, row], [row, row]])


def test_case_070_broadcast_bitwise(anywhere):
    a = torch.tensor([[12], [10]], dtype=torch.uint8, device=anywhere)
    b = torch.tensor([6, 3], dtype=torch.uint8, device=anywhere)
    equals(a & b, [[4, 0], [2, 2]], torch.uint8)


def test_case_071_norm_under_autocast(device):
    x = torch.ones(4, dtype=torch.bfloat16, device=device)
    equals(x.norm(), 2.0, torch.bfloat16)
    if DEVICE != "cpu":
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            equals(x.norm(), 2.0, torch.float32)


def test_nan_is_the_greatest_value(anywhere):
    x = torch.tensor([1.0, float("nan"), 3.0], device=anywhere)
    assert torch.isnan(x.max()).item()
    assert torch.isnan(x.min()).item()
    equals(x.argmax(), 1)
    equals(x.sort().indices, [0, 2, 1])
    equals(x.topk(2).indices, [1, 2])
    equals(torch.maximum(x, torch.zeros(3, device=anywhere)), [1, float("nan"), 3])
    equals(torch.fmax(x, torch.zeros(3, device=anywhere)), [1, 0, 3])
    equals(x.cummax(0).values, [1, float("nan"), float("nan")])
    equals(x.clamp(min=2), [2, float("nan"), 3])
