# Copies between host and device and within the device: dtypes, layouts, asynchrony, 64 bits.
import pytest
import torch
from support import ON_TPU, assert_same, equals

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
]


def ids(dtype):
    return str(dtype).removeprefix("torch.")


def sample(dtype):
    if dtype == torch.bool:
        return torch.tensor([[True, False, True], [False, False, True]])
    if dtype.is_complex:
        return torch.tensor([[1 + 2j, -3.5j, 0], [2, float("inf"), 1j]], dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor([[1.5, -2, 0], [float("inf"), float("nan"), 0.1]], dtype=dtype)
    info = torch.iinfo(dtype)
    return torch.tensor([[info.min, info.max, 0], [1, 2, 3]], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=ids)
def test_round_trip(device, dtype):
    x = sample(dtype)
    there = x.to(device)
    assert there.dtype == dtype
    assert there.stride() == x.stride()
    assert_same(there, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=ids)
def test_round_trip_of_a_transposed_source_and_target(device, dtype):
    x = sample(dtype)
    assert_same(x.t().to(device), x.t())
    target = torch.zeros(3, 2, dtype=dtype, device=device).t()
    target.copy_(x)
    assert_same(target, x)
    host = torch.zeros(2, 6, dtype=dtype)
    host[:, ::2].copy_(x.to(device))
    assert torch.equal(
        host[:, ::2].nan_to_num() if dtype.is_floating_point else host[:, ::2],
        x.nan_to_num() if dtype.is_floating_point else x,
    )
    assert not host[:, 1::2].bool().any()


@pytest.mark.parametrize("target", DTYPES, ids=ids)
@pytest.mark.parametrize("source", [torch.float32, torch.int64, torch.bool], ids=ids)
def test_dtype_changing_copies(device, source, target):
    x = torch.tensor([0, 1, 3, 100], dtype=source)
    assert_same(x.to(device).to(target), x.to(target))
    assert_same(x.to(device, target), x.to(target))
    there = torch.zeros(4, dtype=target, device=device)
    there.copy_(x)
    assert_same(there, x.to(target))
    back = torch.zeros(4, dtype=target)
    back.copy_(x.to(device))
    assert torch.equal(back, x.to(target))


def test_float8_round_trip(device):
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        x = torch.tensor([1.0, -0.5, 16.0]).to(dtype)
        there = x.to(device)
        assert there.dtype == dtype
        assert torch.equal(there.cpu().float(), x.float())


@pytest.mark.parametrize(
    "source", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int32]
)
def test_float8_e4m3fn_holds_at_most_448(device, source):
    """As PyTorch's conversion; infinity too, and a NaN stays one."""
    numbers = [3.0, 448.0, 449.0, -470.0, 60000.0]
    expected = [3.0, 448.0, 448.0, -448.0, 448.0]
    if source.is_floating_point:
        numbers += [float("inf"), -float("inf"), float("nan")]
        expected += [448.0, -448.0, float("nan")]
    x = torch.tensor(numbers, dtype=source)
    there = x.to(device).to(torch.float8_e4m3fn).cpu()
    assert torch.equal(there.view(torch.uint8), x.to(torch.float8_e4m3fn).view(torch.uint8))
    assert torch.allclose(there.float(), torch.tensor(expected), equal_nan=True)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
def test_zero_size(device, shape):
    x = torch.empty(shape, dtype=torch.int32)
    there = x.to(device)
    assert there.shape == shape
    assert there.cpu().shape == shape
    there.copy_(x)
    x.copy_(there)
    assert (there + 1).shape == shape


def test_64_bit_values_are_exact(device):
    ints = torch.tensor([2**63 - 1, -(2**63), 2**53 + 1])
    assert torch.equal((ints.to(device) + 0).cpu(), ints)
    floats = torch.tensor([1 + 2**-52, 1e308, 5e-324], dtype=torch.float64)
    assert torch.equal(floats.to(device).cpu(), floats)
    assert (torch.tensor(2**53, device=device) + 1).item() == 2**53 + 1
    assert torch.tensor(1 / 3, dtype=torch.float64, device=device).item() == 1 / 3


def test_source_may_change_after_a_non_blocking_copy(device):
    source = torch.arange(100_000)
    for i in range(20):
        there = source.to(device, non_blocking=True, copy=True)
        source.add_(1)
        assert there[0].item() == i
        assert there[-1].item() == 99_999 + i


def test_source_view_may_change_after_a_non_blocking_copy(device):
    base = torch.zeros(64, 64)
    there = torch.empty(64, 32, device=device)
    there.copy_(base[:, ::2], non_blocking=True)
    base.fill_(1)
    assert there.abs().max().item() == 0


def test_non_blocking_copy_to_host_is_complete_after_synchronize(device):
    x = torch.randn(256, 256)
    host = torch.empty(256, 256)
    host.copy_(x.to(device) * 2, non_blocking=True)
    if ON_TPU:
        torch.tpu.synchronize()
    assert torch.equal(host, x * 2)


def test_device_to_device(device):
    x = torch.arange(6.0).view(2, 3).to(device)
    y = torch.zeros(3, 2, device=device)
    y.copy_(x.t())
    equals(y, [[0, 3], [1, 4], [2, 5]])
    z = torch.zeros(2, 3, dtype=torch.int32, device=device)
    z.copy_(x)
    equals(z, [[0, 1, 2], [3, 4, 5]], torch.int32)
    z.copy_(torch.tensor([7, 8, 9], device=device))
    equals(z, [[7, 8, 9], [7, 8, 9]])
    with pytest.raises(RuntimeError, match="size"):
        z.copy_(torch.zeros(4, device=device))


def test_clone_is_independent(device):
    x = torch.arange(4.0).to(device)
    y = x.clone()
    x.add_(1)
    equals(y, [0, 1, 2, 3])
    y[1] = 9
    equals(x, [1, 2, 3, 4])


def test_overlapping_copy_within_one_storage(device):
    x = torch.arange(6.0).to(device)
    y = x.clone()
    y[1:].copy_(x[:-1])
    equals(y, [0, 0, 1, 2, 3, 4])


def test_memory_formats(device):
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    there = x.to(device)
    assert there.stride() == x.stride()
    assert there.is_contiguous(memory_format=torch.channels_last)
    assert_same(there, x)
    plain = there.contiguous()
    assert plain.is_contiguous()
    assert_same(plain, x)
    assert there.clone().stride() == x.stride()


def test_conjugate_and_negative_views(device):
    x = torch.tensor([1 + 2j, 3 - 1j])
    there = x.to(device)
    assert_same(there.conj(), x.conj().resolve_conj())
    equals(x.conj().to(device).cpu().resolve_conj(), [1 - 2j, 3 + 1j])
    assert_same(there.imag, x.imag)
    assert_same(there.conj().imag, -x.imag)
    there.conj()[0] = 5 + 5j
    equals(there, [5 - 5j, 3 - 1j])


def test_scalars_out(device):
    assert torch.tensor(3, device=device).item() == 3
    assert torch.tensor(True, device=device).item() is True
    assert torch.tensor([[2.5]], device=device).item() == 2.5
    assert torch.tensor(1 - 2j, device=device).item() == 1 - 2j
    assert bool(torch.tensor([1], device=device))
    assert int(torch.tensor(7, device=device)) == 7
    assert float(torch.tensor(0.5, dtype=torch.bfloat16, device=device)) == 0.5
    assert torch.arange(3, device=device).tolist() == [0, 1, 2]


def test_from_a_source_without_gradient_history(device):
    x = torch.ones(2, requires_grad=True)
    y = x.to(device)
    (y * 3).sum().backward()
    equals(x.grad, [3, 3])
    assert x.grad.device.type == "cpu"


@pytest.mark.parametrize("from_host", [False, True])
def test_shapes_without_elements_must_broadcast_too(device, from_host):
    source = torch.ones(0, device="cpu" if from_host else device)
    with pytest.raises(RuntimeError, match=r"tensor a \(4\) must match the size of tensor b \(0\)"):
        torch.ones(0, 4, 4, device=device).copy_(source)


def test_overlapping_slices_are_refused(device):
    x = torch.arange(6.0, device=device)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        x[1:].copy_(x[:-1])
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
