# Reported cases, part A2: indexing, gather, scatter.
import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, ON_TPU, assert_same, eager_mode, equals, tpu_only


def test_case_024_list_indices(anywhere):
    v = torch.arange(105, device=anywhere).view(5, 7, 3)
    out = v[:, [0, 4, 2]]
    assert out.shape == (5, 3, 3)
    equals(out[1, :, 0], [21, 33, 27])
    x = torch.arange(12, device=anywhere).view(4, 3)[1:2, [1, 2]]
    equals(x, [[4, 5]])


def test_case_025_empty_index_tensor(anywhere):
    index = torch.empty(0, 6, dtype=torch.int64, device=anywhere)
    assert torch.zeros(2, 3, 4, 5, device=anywhere)[:, index].shape == (2, 0, 6, 4, 5)


def test_case_026_uint8_stays_uint8(anywhere):
    x = torch.tensor([7, 8, 9], dtype=torch.uint8, device=anywhere)
    equals(x[torch.tensor([2, 0], device=anywhere)], [9, 7], torch.uint8)


def test_case_026_int32_index_put(anywhere):
    x = torch.zeros(4, device=anywhere)
    index = torch.tensor([3, 1], dtype=torch.int32, device=anywhere)
    x.index_put_((index,), torch.tensor([5.0, 6.0], device=anywhere))
    equals(x, [0, 6, 0, 5])


def test_case_027_index_put_accumulates_duplicates(anywhere):
    x = torch.zeros(3, device=anywhere)
    index = torch.tensor([0, 0], device=anywhere)
    x.index_put_((index,), torch.tensor(1.0, device=anywhere), accumulate=True)
    equals(x, [2, 0, 0])


def test_case_029_heavy_float16_accumulation(device):
    # 131072 terms of 1/4096 in each slot. A running float16 sum stalls below 1; CPU is no judge.
    if not ON_TPU:
        pytest.skip("CPU PyTorch itself accumulates in float16 here")
    index = torch.arange(4, device=device).view(4, 1, 1).expand(2, 4, 256, 256)
    ones = torch.full((2, 4, 256, 256), 1 / 4096, dtype=torch.float16, device=device)
    x = torch.zeros(4, dtype=torch.float16, device=device)
    x.index_put_((index,), ones, accumulate=True)
    torch.testing.assert_close(x.cpu().float(), torch.full((4,), 32.0), rtol=0.005, atol=0)


def test_case_032_nonzero_and_what_follows(anywhere):
    mask = torch.tensor([False, True, False, True, False], device=anywhere)
    index = mask.nonzero().squeeze(1)
    equals(index, [1, 3], torch.int64)
    t = torch.arange(10.0, device=anywhere).view(5, 2)
    equals(t[index], [[2, 3], [6, 7]])
    equals(t[mask], [[2, 3], [6, 7]])
    equals(torch.nonzero(torch.tensor(3, device=anywhere)), torch.zeros(1, 0).tolist())
    assert mask.nonzero(as_tuple=True)[0].tolist() == [1, 3]
    values, inverse, counts = torch.unique(
        torch.tensor([4, 1, 4, 2, 1, 4], device=anywhere), return_inverse=True, return_counts=True
    )
    equals(values, [1, 2, 4])
    equals(inverse, [2, 0, 2, 1, 0, 2])
    equals(counts, [2, 1, 3])


def test_case_032_mask_of_a_million(device):
    x = torch.rand(1_000_000, generator=torch.Generator().manual_seed(1))
    mask = x > 0.999
    there = x.to(device)
    assert_same(there[mask.to(device)], x[mask])
    assert_same(mask.to(device).nonzero(), mask.nonzero())
    assert mask.to(device).sum().item() == mask.sum().item()


def test_case_034_masked_fill_broadcasts(anywhere):
    x = torch.ones(2, 2, device=anywhere)
    mask = torch.tensor([True, False], device=anywhere)
    equals(x.masked_fill(mask.view(2, 1), 5), [[5, 5], [1, 1]])
    equals(x.masked_fill(mask.view(1, 2), 5), [[5, 1], [5, 1]])
    x.masked_fill_(mask.view(2, 1), 5)
    equals(x, [[5, 5], [1, 1]])


def test_case_035_scatter_of_nothing(anywhere):
    x = torch.arange(3.0, device=anywhere)
    index = torch.empty(0, dtype=torch.int64, device=anywhere)
    equals(x.scatter(0, index, torch.empty(0, device=anywhere)), [0, 1, 2])


def test_case_036_index_select_out_of_range_of_an_empty_dimension_cpu():
    with pytest.raises((IndexError, RuntimeError)):
        torch.zeros(0, 3).index_select(0, torch.tensor([0, 1]))
    with pytest.raises((IndexError, RuntimeError)):
        torch.zeros(0, 3).index_select(1, torch.tensor([5]))


@tpu_only
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("index_select", lambda x, i: x.index_select(0, i)),
        ("gather", lambda x, i: x.gather(0, i[:, None].expand(-1, 3))),
        ("embedding", lambda x, i: F.embedding(i, x)),
        ("index", lambda x, i: x[i]),
        ("take", lambda x, i: x.take(i + 100)),
    ],
)
def test_case_036_out_of_range_raises_in_debug_and_clamps_in_strict(name, call):
    x = torch.arange(12.0, device=DEVICE).view(4, 3)
    bad = torch.tensor([0, 9], device=DEVICE)
    with eager_mode("debug"), pytest.raises((IndexError, RuntimeError), match=name):
        call(x, bad)
    with eager_mode("strict"):
        out = call(x, bad).cpu()
    assert torch.isfinite(out).all()
    equals(x.sum(), 66.0)
