# In-place writes seen through views, aliases and autograd.
import pytest
import torch
from support import equals


def test_write_through_a_view_reaches_the_base_and_its_other_views(device):
    base = torch.zeros(3, 4, device=device)
    row, column, corner = base[1], base[:, 2], base[1:, 2:]
    column.fill_(5)
    equals(row, [0, 0, 5, 0])
    corner.add_(1)
    equals(base, [[0, 0, 5, 0], [0, 0, 6, 1], [0, 0, 6, 1]])
    row.zero_()
    equals(base, [[0, 0, 5, 0], [0, 0, 0, 0], [0, 0, 6, 1]])
    equals(corner, [[0, 0], [6, 1]])


def test_write_to_the_base_is_seen_by_views(device):
    base = torch.arange(6.0, device=device)
    view = base.view(2, 3).t()
    base.mul_(10)
    equals(view, [[0, 30], [10, 40], [20, 50]])
    base[0] = -1
    equals(view[0], [-1, 30])


def test_steps_flips_and_diagonals(device):
    x = torch.zeros(4, 4, device=device)
    x.diagonal().fill_(1)
    x[::2, 1::2] = 7
    equals(x, [[1, 7, 0, 7], [0, 1, 0, 0], [0, 7, 1, 7], [0, 0, 0, 1]])
    x.diagonal(1).add_(2)
    equals(x, [[1, 9, 0, 7], [0, 1, 2, 0], [0, 7, 1, 9], [0, 0, 0, 1]])


def test_expand_and_overlapping_writes(device):
    x = torch.zeros(2, 1, device=device)
    wide = x.expand(2, 3)
    x.add_(1)
    equals(wide, [[1, 1, 1], [1, 1, 1]])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        wide.add_(1)
    wide.fill_(4)
    equals(x, [[4], [4]])


def test_input_and_output_may_overlap_only_wholly(device):
    x = torch.arange(4.0, device=device)
    torch.add(x, 1, out=x)
    equals(x, [1, 2, 3, 4])
    with pytest.raises(RuntimeError, match="written-to tensor refer to a single memory location"):
        torch.add(x[:-1], 1, out=x[1:])


def test_dtype_views(device):
    x = torch.tensor([1.0, -2.0], device=device)
    bits = x.view(torch.int32)
    equals(bits, [0x3F800000, -0x40000000])
    bits[0] = 0x40400000
    equals(x, [3, -2])
    halves = torch.tensor([0x00020001], dtype=torch.int32, device=device).view(torch.int16)
    equals(halves, [1, 2], torch.int16)
    halves[1] = 5
    equals(halves, [1, 5])


def test_real_and_complex_views(device):
    x = torch.zeros(2, 2, device=device)
    z = torch.view_as_complex(x)
    z.copy_(torch.tensor([1 + 2j, 3 + 4j]))
    equals(x, [[1, 2], [3, 4]])
    z.imag.mul_(10)
    equals(x, [[1, 20], [3, 40]])
    torch.view_as_real(z)[1, 0] = 0
    equals(z, [1 + 20j, 40j])


def test_masked_and_indexed_writes(device):
    x = torch.arange(6.0, device=device).view(2, 3)
    x[x > 3] = 0
    equals(x, [[0, 1, 2], [3, 0, 0]])
    x[:, torch.tensor([0, 2], device=device)] = torch.tensor([8.0, 9.0], device=device)
    equals(x, [[8, 1, 9], [8, 0, 9]])
    view = x.t()
    view[torch.tensor([True, False, True], device=device)] += 1
    equals(x, [[9, 1, 10], [9, 0, 10]])
    x[-1, -1] = 5
    x[0] = torch.tensor([1.0, 1.0, 1.0])  # from the CPU, as PyTorch allows in assignments
    equals(x, [[1, 1, 1], [9, 0, 5]])


def test_swap_and_set(device):
    x, y = torch.zeros(2, device=device), torch.ones(3, device=device)
    x.set_(y)
    x.add_(1)
    equals(y, [2, 2, 2])
    z = torch.empty(0, device=device)
    z.set_(y.untyped_storage(), 1, (2,), (1,))
    z.fill_(7)
    equals(y, [2, 7, 7])


def test_resize(device):
    x = torch.arange(6.0, device=device)
    x.resize_(2, 2)
    equals(x, [[0, 1], [2, 3]])
    x.resize_(3, 2)
    equals(x, [[0, 1], [2, 3], [4, 5]])
    x.resize_(2, 5)
    assert x.shape == (2, 5)
    equals(x.view(-1)[:6], [0, 1, 2, 3, 4, 5])


def test_autograd_versions(device):
    x = torch.ones(3, device=device, requires_grad=True)
    y = x * 2
    z = y.exp()
    y.detach().zero_()
    z.sum().backward()  # exp keeps its result, so writing to its input is harmless
    w = x * 2
    loss = (w * w).sum()
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_gradient_through_in_place_on_a_view(device):
    x = torch.ones(4, device=device, requires_grad=True)
    y = x * 1
    y[1:3].mul_(5)
    y.sum().backward()
    equals(x.grad, [1, 5, 5, 1])


def test_in_place_on_a_leaf_raises(device):
    x = torch.ones(2, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
    with torch.no_grad():
        x.add_(1)
    equals(x, [2, 2])


def test_foreach_writes_reach_views(device):
    a, b = torch.zeros(4, device=device), torch.ones(2, 2, device=device)
    torch._foreach_add_([a[1:3], b.t()], 2)
    equals(a, [0, 2, 2, 0])
    equals(b, [[3, 3], [3, 3]])
    torch._foreach_mul_([a[:2], a[2:]], [10.0, 100.0])
    equals(a, [0, 20, 200, 0])


def test_chain_of_views_survives_the_base_going_out_of_scope(device):
    def make():
        base = torch.arange(24.0, device=device).view(2, 3, 4)
        return base[1].t()[1:3]

    view = make()
    view.add_(100)
    equals(view, [[113, 117, 121], [114, 118, 122]])
