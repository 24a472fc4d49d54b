# Reported cases, part A3: dtypes and promotion.
import pytest
import torch
from support import equals, near
from torch import nn


def test_case_038_cat_promotes(anywhere):
    out = torch.cat(
        [
            torch.ones(2, 3, dtype=torch.int64, device=anywhere),
            torch.full((2, 1), 0.5, device=anywhere),
        ],
        1,
    )
    equals(out, [[1, 1, 1, 0.5], [1, 1, 1, 0.5]], torch.float32)


def test_case_039_bfloat16_pow(anywhere):
    out = torch.arange(10, dtype=torch.bfloat16, device=anywhere) ** 3.0
    assert out.dtype == torch.bfloat16
    assert out[7].item() == 344
    assert out[9].item() == 728


def test_case_040_wrapped_numbers(anywhere):
    equals(torch.tensor([1, 2], dtype=torch.int32, device=anywhere) * 2.0, [2, 4], torch.float32)
    scalar = torch.tensor(0.5, dtype=torch.float64, device=anywhere)
    equals(scalar * torch.ones(2, device=anywhere), [0.5, 0.5], torch.float32)
    half = torch.ones(2, dtype=torch.float16, device=anywhere)
    assert (half * 2.0).dtype == torch.float16
    assert (half + torch.tensor(1.0, device=anywhere)).dtype == torch.float16
    assert (torch.ones(2, dtype=torch.bool, device=anywhere) + 1).dtype == torch.int64
    assert (torch.ones(2, dtype=torch.uint8, device=anywhere) * 2).dtype == torch.uint8
    assert (torch.ones(2, dtype=torch.int64, device=anywhere) / 2).dtype == torch.float32


def test_case_040_cpu_scalar_tensor_with_device_tensor(anywhere):
    equals(torch.ones(2, device=anywhere) * torch.tensor(3.0), [3, 3], torch.float32)
    equals(torch.ones(2, device=anywhere).mul_(torch.tensor(3)), [3, 3], torch.float32)


def test_case_041_bool_and_uint8(anywhere):
    out = torch.tensor([True, False], device=anywhere) & torch.tensor(
        [1, 3], dtype=torch.uint8, device=anywhere
    )
    equals(out, [1, 0], torch.uint8)


def test_case_043_sum_of_bools(anywhere):
    a = torch.tensor([True, False], device=anywhere)
    b = torch.tensor([True, True], device=anywhere)
    equals(torch.cat([a, b]).sum(), 3, torch.int64)


def test_case_044_uint8_wraps(anywhere):
    x = torch.tensor([255], dtype=torch.uint8, device=anywhere)
    equals(x + 1 == 0, [True])
    y = torch.tensor([3], dtype=torch.uint8, device=anywhere)
    equals(y - 5, [254], torch.uint8)
    equals((y - 5).to(torch.int32) + 1, [255], torch.int32)
    equals((y - 5) // 2, [127], torch.uint8)


def test_case_046_integer_division(anywhere):
    a = torch.tensor([-47], dtype=torch.int16, device=anywhere)
    b = torch.tensor([47], dtype=torch.int16, device=anywhere)
    equals(torch.div(a, b, rounding_mode="trunc"), [-1], torch.int16)
    x = torch.tensor([-7, 7], device=anywhere)
    equals(torch.div(x, torch.tensor([2, -2], device=anywhere), rounding_mode="floor"), [-4, -4])
    y = torch.tensor([2, -3], device=anywhere)
    equals(torch.remainder(x, y), [1, -2])
    equals(torch.fmod(x, y), [-1, 1])
    equals(2401 // torch.tensor(49, device=anywhere), 49)


def test_case_048_shift_by_a_device_scalar(anywhere):
    x = torch.tensor([256, -256], dtype=torch.int32, device=anywhere)
    equals(x >> torch.tensor(4, device=anywhere), [16, -16], torch.int32)


def test_case_049_in_place_cast_rule(anywhere):
    x = torch.tensor([2, 3], dtype=torch.int32, device=anywhere)
    with pytest.raises(RuntimeError, match=r"result type Float can't be cast to .*Int"):
        x.mul_(2.5)
    equals(x, [2, 3], torch.int32)


def test_case_050_addcmul_promotes(anywhere):
    base = torch.tensor([1.0], dtype=torch.float64, device=anywhere)
    factor = torch.tensor([2.0], device=anywhere)
    equals(torch.addcmul(base, factor, factor), [5], torch.float64)
    out = torch.addcmul(
        factor, factor, torch.tensor([1 + 2j], dtype=torch.complex128, device=anywhere)
    )
    equals(out, [4 + 4j], torch.complex128)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_case_051_module_dtype_after_device(anywhere, dtype):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3), nn.ReLU()).to(anywhere).to(dtype)
    ids = torch.tensor([[1, 2]], device=anywhere)
    for _ in range(3):
        out = model(ids)
        assert out.dtype == dtype
        assert out.device.type == anywhere.type


def test_case_053_64_bit_values_are_exact(anywhere):
    big = torch.tensor([2**40 + 1, -(2**62) - 1])
    equals((big.to(anywhere) + 0).cpu(), [2**40 + 1, -(2**62) - 1], torch.int64)
    fine = torch.tensor([1 + 2**-40], dtype=torch.float64)
    assert (fine.to(anywhere) + 0).cpu().item() == 1 + 2**-40


def test_case_054_bfloat16_scalar_in_place(anywhere):
    x = torch.ones(3, dtype=torch.bfloat16, device=anywhere, requires_grad=True)
    y = x * 1
    y *= 0.5
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    equals(x.grad, [0.5] * 3, torch.bfloat16)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_case_056_wider_unsigned_types(anywhere, dtype):
    x = torch.zeros(3, dtype=dtype, device=anywhere)
    x.fill_(torch.iinfo(dtype).max - 1)
    assert x.tolist() == [torch.iinfo(dtype).max - 1] * 3
    y = torch.tensor([7, 8, 9], dtype=dtype).to(anywhere)
    assert y.cpu().tolist() == [7, 8, 9]
    equals(y == 8, [False, True, False], torch.bool)


def test_case_057_float16_kernels(anywhere):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float16, device=anywhere)
    equals(x @ x, [[7, 10], [15, 22]], torch.float16)
    near(x.softmax(-1), [[0.26894, 0.73106], [0.26894, 0.73106]], rtol=2e-3)
    out = nn.functional.layer_norm(x, (2,))
    assert out.dtype == torch.float16
    near(out, [[-1, 1], [-1, 1]], rtol=2e-3)


def test_case_058_unknown_dtypes_do_not_break_others(anywhere):
    # Whatever dtypes this torch has, asking for them either works or raises; nothing else suffers.
    for name in sorted(vars(torch)):
        dtype = getattr(torch, name)
        if isinstance(dtype, torch.dtype):
            try:
                torch.empty(2, dtype=dtype, device=anywhere)
            except (RuntimeError, TypeError) as error:
                assert str(error), name
    equals(torch.ones(2, device=anywhere) + 1, [2, 2])
