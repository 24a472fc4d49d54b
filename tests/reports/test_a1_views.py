# Reported cases, part A1: views, in-place writes, strides, storage.
import pytest
import torch
import torch.nn.functional as F
from support import assert_same, equals, near, to_device
from torch import nn


def test_case_001_rebinding_data_leaves_views_alone(anywhere):
    x = torch.zeros(6, device=anywhere)
    y = x.view(2, 3)
    x.data = x.data + 1
    equals(y, [[0, 0, 0], [0, 0, 0]])
    equals(x, [1] * 6)


def test_case_001_in_place_through_data_reaches_views(anywhere):
    x = torch.zeros(6, device=anywhere)
    y = x.view(2, 3)
    x.data.add_(1)
    equals(y, [[1, 1, 1], [1, 1, 1]])


def test_case_002_data_rebound_to_another_shape(anywhere):
    x = torch.zeros(6, device=anywhere)
    y = x.view(-1)
    x.data = y[:4] + 1
    assert x.shape == (4,)
    equals(x, [1] * 4)
    equals(y, [0] * 6)


def test_case_003_as_strided_write(anywhere):
    x = torch.zeros(4, device=anywhere)
    v = x.as_strided((2,), (2,))
    v[0] = -1
    equals(x, [-1, 0, 0, 0])
    v[1] = 7
    equals(x, [-1, 0, 7, 0])


def test_case_004_overlapping_windows(anywhere):
    x = torch.tensor([10, 20, 30, 40], device=anywhere)
    equals(x.as_strided((2, 3), (1, 1)), [[10, 20, 30], [20, 30, 40]], torch.int64)
    equals(x.unfold(0, 3, 1), [[10, 20, 30], [20, 30, 40]])
    equals(x.unfold(0, 2, 2), [[10, 20], [30, 40]])
    x[1] = 0
    equals(x.as_strided((2, 3), (1, 1)), [[10, 0, 30], [0, 30, 40]])


def test_case_006_row_read_through_a_view(anywhere):
    x = torch.arange(8, device=anywhere).view(4, 2)
    equals(x[2].cpu(), [4, 5])
    equals(x[2].clone(), [4, 5])
    equals(x[2] + 0, [4, 5])
    assert x[2].storage_offset() == 4
    assert x[2].tolist() == [4, 5]
    assert x[2, 1].item() == 5


def test_case_007_offset_and_stride_read(anywhere):
    b = torch.arange(9.0, device=anywhere)[:, None].expand(9, 4).contiguous()
    s = b[1::2]
    assert s.stride() == (8, 1)
    assert s.storage_offset() == 4
    equals((s + s)[:, 0], [2, 6, 10, 14])


def test_case_008_expanded_tensor_to_cpu(anywhere):
    x = torch.arange(4.0).view(1, 4, 1).to(anywhere).expand(1, 4, 3)
    assert x.stride() == (4, 1, 0)
    equals(x.cpu(), [[[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]])
    assert x.untyped_storage().nbytes() == 16


def test_case_010_squeeze_keeps_the_offset(anywhere):
    x = torch.tensor([3.0, 9.0], device=anywhere)
    _, b = x.chunk(2)
    equals(b.squeeze(), 9.0)
    equals(x[1:2].squeeze(), 9.0)
    equals(x[1].unsqueeze(0).squeeze(), 9.0)
    b.squeeze().fill_(4)
    equals(x, [3, 4])


def test_case_011_transposed_view_mutated_and_returned(anywhere):
    x = torch.arange(6.0, device=anywhere).view(2, 3)
    y = x.t()
    y.mul_(2)
    equals(y, [[0, 6], [2, 8], [4, 10]])
    assert y.stride() == (1, 3)
    equals(x, [[0, 2, 4], [6, 8, 10]])


def test_case_013_pixel_shuffle_and_flatten_gradients(anywhere):
    x = torch.randn(1, 9, 4, 4, device=anywhere, requires_grad=True)
    out = nn.PixelShuffle(3)(x)
    assert out.shape == (1, 1, 12, 12)
    out.sum().backward()
    assert torch.equal(x.grad.cpu(), torch.ones(1, 9, 4, 4))
    leaf = torch.randn(2, 3, 4, device=anywhere, requires_grad=True)
    leaf.flatten(1).sum().backward()
    assert torch.equal(leaf.grad.cpu(), torch.ones(2, 3, 4))


def test_case_013_rrelu_in_training_has_a_gradient(anywhere):
    x = torch.tensor([-2.0, -1.0, 1.0, 2.0], device=anywhere, requires_grad=True)
    F.rrelu(x, 0.2, 0.4, training=True).sum().backward()
    grad = x.grad.cpu()
    assert (grad[:2] >= 0.2).all()
    assert (grad[:2] <= 0.4).all()
    equals(grad[2:], [1, 1])


def test_case_014_double_backward_through_split(anywhere):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=anywhere, requires_grad=True)
    parts = torch.split((x**3).view(-1), 1)
    (grad,) = torch.autograd.grad(parts, x, [torch.ones_like(p) for p in parts], create_graph=True)
    near(grad, [[3, 12], [27, 48]])
    (second,) = torch.autograd.grad(grad.sum(), x)
    near(second, [[6, 12], [18, 24]])


def test_case_016_out_into_a_transposed_tensor(anywhere):
    o = torch.empty(2, 2, device=anywhere).t()
    torch.neg(torch.arange(4.0, device=anywhere).view(2, 2), out=o)
    equals(o, [[0, -1], [-2, -3]])
    assert o.stride() == (1, 2)


def test_case_018_addcdiv_on_transposed_tensors(anywhere):
    x = torch.arange(6.0, device=anywhere).view(2, 3).t()
    y = torch.full((2, 3), 6.0, device=anywhere).t()
    z = torch.tensor([[1.0, 2.0], [3.0, 6.0], [2.0, 1.0]], device=anywhere)
    assert x.addcdiv_(y, z) is x
    equals(x, [[6, 6], [3, 5], [5, 11]])
    assert x.stride() == (1, 3)


@pytest.mark.parametrize("foreach", [False, True])
def test_case_018_adamw_on_a_transposed_parameter(device, foreach):
    def step(where):
        p = torch.arange(1.0, 7.0).to(where).view(2, 3).t().requires_grad_()
        grad = torch.linspace(-1, 1, 6).to(where).view(3, 2)
        optimizer = torch.optim.AdamW([p], lr=0.1, weight_decay=0.5, foreach=foreach)
        p.grad = grad
        optimizer.step()
        return p.detach()

    result = step(device)
    assert result.stride() == (1, 3)
    assert_same(result, step("cpu"))


def test_case_019_expand_with_minus_one(anywhere):
    x = torch.zeros(3, 3, device=anywhere).expand(1, 1, -1, -1)
    assert x.shape == (1, 1, 3, 3)
    assert x.cpu().sum().item() == 0


def test_case_020_int64_storage_is_honest(anywhere):
    x = torch.randint(0, 9, (1, 855))
    y = x.to(anywhere).unsqueeze(0)
    assert y.shape == (1, 1, 855)
    assert y.element_size() == 8
    assert y.untyped_storage().nbytes() >= 6840
    assert torch.equal(y.cpu()[0], x)


def test_case_021_zero_size(anywhere):
    assert torch.zeros(2, 3, 4, 5, device=anywhere)[:, :, :, 1][:, 1:1, :].shape == (2, 0, 4)
    x = torch.zeros(0, 1, 2, 0, device=anywhere)
    index = torch.zeros(0, 1, 2, 0, dtype=torch.int64, device=anywhere)
    assert x.gather(0, index).shape == (0, 1, 2, 0)
    none = torch.zeros(0, dtype=torch.int64, device=anywhere)
    assert x.index_select(0, none).shape == (0, 1, 2, 0)
    assert torch.empty(0, 3, device=anywhere).stride() == (3, 1)
    back = torch.empty(0, 64).to(anywhere).cpu()
    assert back.shape == (0, 64)


@pytest.mark.parametrize("non_blocking", [False, True])
def test_case_023_source_is_read_at_the_call(device, non_blocking):
    for _ in range(100):
        c = torch.ones(2**18)
        d = c.to(device, non_blocking=non_blocking, copy=True)
        c.add_(1)
        assert d.min().item() == 1
        assert d.max().item() == 1


def test_case_023_large_source_is_read_at_the_call(device):
    c = torch.ones(2**22)
    d = c.to(device, non_blocking=True, copy=True)
    c.add_(1)
    assert torch.equal(d.cpu(), torch.ones(2**22))


def test_case_023_to_device_makes_views_of_nothing(device):
    c = torch.ones(4)
    d = to_device(c, device) if device.type != "cpu" else c.clone()
    d.add_(1)
    equals(c, [1, 1, 1, 1])
