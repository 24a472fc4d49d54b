# Reported cases, part A9: mixed devices and errors.
import time

import pytest
import torch
from support import DEVICE, equals, tpu_only


@tpu_only
@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a + b,
        lambda a, b: b + a,
        lambda a, b: a.mul_(b),
        lambda a, b: b.mul_(a),
        lambda a, b: torch.mm(a.view(1, 2), b.view(2, 1)),
        lambda a, b: torch.cat([a, b]),
        lambda a, b: torch.where(a > 0, a, b),
        lambda a, b: torch.nn.functional.linear(a, b.view(1, 2)),
    ],
)
def test_case_113_mixed_devices_raise(call):
    a, b = torch.ones(2, device=DEVICE), torch.ones(2)
    with pytest.raises(RuntimeError, match=r"[Ee]xpected all tensors to be on the same device"):
        call(a, b)
    equals(a, [1, 1])
    equals(b, [1, 1])


@pytest.mark.parametrize(
    ("call", "wording"),
    [
        (
            lambda d: torch.ones(2, 4, 8, device=d).mm(torch.ones(8, 2, device=d)),
            "must be a matrix",
        ),
        (
            lambda d: torch.ones(2, 2, device=d) @ torch.ones(3, 2, device=d),
            r"mat1 and mat2 shapes cannot be multiplied \(2x2 and 3x2\)",
        ),
        (
            lambda d: torch.ones(2, 2, device=d).mm(torch.ones(2, 2, dtype=torch.int64, device=d)),
            "same dtype",
        ),
        (lambda d: torch.ones(2, device=d) + torch.ones(3, device=d), "must match the size"),
        (lambda d: torch.ones(2, 3, device=d).view(4), "invalid for input of size 6"),
        (
            lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)]),
            "Sizes of tensors must match",
        ),
    ],
)
def test_case_115_bad_shapes(anywhere, call, wording):
    with pytest.raises(RuntimeError, match=wording) as caught:
        call(anywhere)
    for word in ("stablehlo", "mlir", "xla"):
        assert word not in str(caught.value).lower()
    equals(torch.ones(2, device=anywhere) + 1, [2, 2])


def test_case_116_view_of_another_dtype(anywhere):
    x = torch.zeros(3, dtype=torch.uint8, device=anywhere)
    with pytest.raises(RuntimeError, match="divisible"):
        x.view(torch.int32)
    one = torch.ones(1, device=anywhere)
    equals(one.view(torch.int32), [0x3F800000], torch.int32)


@tpu_only
def test_case_118_far_too_big_a_tensor():
    start = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        x = torch.empty(2**46, device=DEVICE)
        x.fill_(1.5)
        x.add_(torch.rand(2**46, device=DEVICE))
        x.cpu()
    assert time.monotonic() - start < 20
    text = str(caught.value)
    assert "memory" in text.lower()
    assert any(size in text for size in ("281474976710656", "256.00 TiB", "256 TiB", "262144"))
    equals(torch.ones(2, device=DEVICE) + 1, [2, 2])
