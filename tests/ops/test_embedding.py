# embedding, embedding_bag and their gradients.
import pytest
import torch
from harness import FLOATS, Case, I, T, V, cases_to_tests
from support import DEVICE

F32_F64 = (torch.float32, torch.float64)


def L(values):
    # CPU's kernels read indices as contiguous; what calls them makes them so.
    return V(values, dtype=torch.int64, grad=False, contiguous=True)


def bag(mode, offsets=(0, 2, 2, 5), weights=None, last=False, padding=-1):
    """Arguments of _embedding_bag over 6 indices."""
    return [T(5, 3), L([1, 0, 4, 1, 3, 2]), L(offsets), False, mode, False, weights, last, padding]


CASES = [
    Case("aten::embedding", T(5, 3), I(2, 4, high=5), dtypes=FLOATS),
    Case("aten::embedding", T(5, 3), I(high=5, dtype=torch.int32), name="int32 scalar"),
    Case("aten::embedding", T(5, 3), L([[0, 2, 0]]), 0, name="padding"),
    Case("aten::embedding", T(5, 3), T(0, dtype=torch.int64), name="no indices"),
    Case(
        "aten::embedding_dense_backward",
        T(6, 3),
        I(6, high=5),
        5,
        -1,
        False,
        dtypes=FLOATS,
        exact=True,
    ),
    Case(
        "aten::embedding_dense_backward",
        T(2, 3, 4),
        L([[0, 1, 1], [4, 0, 1]]),
        5,
        1,
        False,
        name="padding",
        exact=True,
    ),
    Case(
        "aten::embedding_dense_backward",
        T(4, 3),
        L([2, 2, 0, 2]),
        5,
        -1,
        True,
        name="by frequency",
        exact=True,
    ),
    Case(
        "aten::embedding_dense_backward",
        T(0, 3),
        T(0, dtype=torch.int64),
        5,
        -1,
        False,
        name="none",
        backward=False,  # PyTorch's formula reshapes to [0, -1], which it refuses
    ),
] + [
    Case(f"embedding_bag {mode}", T(5, 3), fn=fn, name=name, dtypes=F32_F64)
    for mode in ("sum", "mean", "max")
    for name, fn in (
        (
            "offsets",
            lambda w, mode=mode: torch.nn.functional.embedding_bag(
                torch.tensor([1, 0, 4, 1, 3, 2], device=w.device),
                w,
                torch.tensor([0, 2, 2, 5], device=w.device),
                mode=mode,
            ),
        ),
        (
            "padding",
            lambda w, mode=mode: torch.nn.functional.embedding_bag(
                torch.tensor([[1, 0, 4], [1, 1, 2]], device=w.device), w, mode=mode, padding_idx=1
            ),
        ),
        (
            "last offset",
            lambda w, mode=mode: torch.nn.functional.embedding_bag(
                torch.tensor([1, 0, 4, 1], device=w.device),
                w,
                torch.tensor([0, 3, 4], device=w.device),
                mode=mode,
                include_last_offset=True,
            ),
        ),
    )
]
CASES += [
    Case(
        "embedding_bag weighted",
        T(5, 3),
        T(4),
        fn=lambda w, s: torch.nn.functional.embedding_bag(
            torch.tensor([1, 0, 4, 1], device=w.device),
            w,
            torch.tensor([0, 2], device=w.device),
            mode="sum",
            per_sample_weights=s,
        ),
        dtypes=F32_F64,
    ),
]
CASES += [
    # offset2bag, bag_size and max_indices are for the backward of the same device only.
    Case(
        f"_embedding_bag mode {mode}",
        *bag(mode),
        fn=lambda *args: torch.ops.aten._embedding_bag(*args)[0],
        dtypes=F32_F64,
        backward=False,
    )
    for mode in (0, 1, 2)
]
test_embedding = cases_to_tests(CASES)


def test_max_bag_of_the_last_offset():
    weight = torch.tensor([[-1.0], [-2.0], [-3.0]], device=DEVICE)
    ids, offsets = torch.tensor([1, 0, 2], device=DEVICE), torch.tensor([0, 2], device=DEVICE)
    out = torch.nn.functional.embedding_bag(ids, weight, offsets, mode="max")
    assert out.tolist() == [[-1.0], [-3.0]]


def test_many_paddings_leave_no_gradient():
    weight = torch.ones(4, 2, device=DEVICE, requires_grad=True)
    ids = torch.zeros(2000, dtype=torch.int64)
    ids[7] = 1
    torch.nn.functional.embedding(ids.to(DEVICE), weight, padding_idx=0).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0])
def test_max_norm_renormalises_the_rows_that_are_used(norm_type):
    def run(device):
        weight = torch.arange(12.0).view(4, 3).to(device)
        ids = torch.tensor([3, 1, 3], device=device)
        out = torch.nn.functional.embedding(ids, weight, max_norm=2.0, norm_type=norm_type)
        return out.cpu(), weight.cpu()

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        torch.testing.assert_close(got, want)
