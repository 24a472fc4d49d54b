# Reported cases, part A5: nn, losses, convolution, pooling, attention, recurrent layers.
import math

import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, ON_TPU, assert_same, equals, near, run_python, to_device
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def test_case_072_cross_entropy_ignore_index(anywhere):
    labels = torch.tensor([-1, -1, 3], device=anywhere)
    near(
        F.cross_entropy(torch.ones(3, 5, device=anywhere), labels, ignore_index=-1),
        1.6094,
        atol=1e-4,
    )


def test_case_073_all_labels_ignored(anywhere):
    x = torch.zeros(2, 3, device=anywhere, requires_grad=True)
    loss = F.nll_loss(x, torch.tensor([0, 0], device=anywhere), ignore_index=0)
    assert math.isnan(loss.item())
    loss.backward()
    equals(x.grad, [[0, 0, 0], [0, 0, 0]])


def test_case_075_batch_norm_eval(anywhere):
    bn = nn.BatchNorm1d(3).to(anywhere).eval()
    x = torch.randn(4, 3, 5, device=anywhere, requires_grad=True)
    bn(x).sum().backward()
    near(x.grad, torch.full((4, 3, 5), 1 / math.sqrt(1 + 1e-5)).tolist())


def test_case_075_batch_norm_running_statistics(anywhere):
    bn = nn.BatchNorm1d(2).to(anywhere)
    x = torch.tensor([[0.0, 1.0], [2.0, 5.0]], device=anywhere)
    near(bn(x), [[-1, -1], [1, 1]], rtol=1e-4)
    near(bn.running_mean, [0.1, 0.3])  # 0.9 * 0 + 0.1 * mean
    near(bn.running_var, [1.1, 1.7])  # 0.9 * 1 + 0.1 * unbiased variance (2 and 8)
    equals(bn.num_batches_tracked, 1, torch.int64)
    bn.eval()
    near(bn(x)[0], [-0.1 / math.sqrt(1.1 + 1e-5), 0.7 / math.sqrt(1.7 + 1e-5)])
    near(bn.running_mean, [0.1, 0.3])


def test_case_076_max_pool_ceil_mode(anywhere):
    x = torch.arange(80.0, device=anywhere).view(1, 1, 8, 10)
    equals(F.max_pool2d(x, 3, 4, ceil_mode=True), [[[[22, 26, 29], [62, 66, 69]]]])
    y = torch.arange(30.0, device=anywhere).view(1, 1, 5, 6)
    equals(F.max_pool2d(y, 1, 2, ceil_mode=True), [[[[0, 2, 4], [12, 14, 16], [24, 26, 28]]]])


def test_case_077_max_pool_indices_are_per_plane(anywhere):
    x = torch.arange(16.0, device=anywhere).view(1, 1, 4, 4).expand(1, 2, 4, 4)
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    equals(indices, [[[[5, 7], [13, 15]]] * 2], torch.int64)
    equals(values, [[[[5, 7], [13, 15]]] * 2])


def test_case_077_max_pool_indices_with_ties_and_dilation(device):
    tied = torch.zeros(1, 1, 4, 4)
    equals(F.max_pool2d(tied.to(device), 2, return_indices=True)[1], [[[[0, 2], [8, 10]]]])
    x = torch.randn(1, 2, 7, 7, generator=torch.Generator().manual_seed(1))
    for got, want in zip(
        F.max_pool2d(x.to(device), 3, dilation=2, return_indices=True),
        F.max_pool2d(x, 3, dilation=2, return_indices=True),
        strict=True,
    ):
        assert_same(got, want)


def test_case_079_embedding_bag_max_without_gradient(anywhere):
    weight = torch.tensor([[-1.0], [-2.0], [-3.0]], device=anywhere)
    ids, offsets = torch.tensor([1, 0, 2], device=anywhere), torch.tensor([0, 2], device=anywhere)
    equals(F.embedding_bag(ids, weight, offsets, mode="max"), [[-1], [-3]])


def test_case_080_embedding_padding(anywhere):
    layer = nn.Embedding(4, 2, padding_idx=0).to(anywhere)
    layer(torch.tensor([[0, 1, 0]], device=anywhere)).sum().backward()
    equals(layer.weight.grad, [[0, 0], [1, 1], [0, 0], [0, 0]])


def test_case_080_embedding_with_many_pads(anywhere):
    layer = nn.Embedding(4, 2, padding_idx=0).to(anywhere)
    ids = torch.zeros(1500, dtype=torch.int64)
    ids[7], ids[8] = 3, 3
    layer(ids.to(anywhere)).sum().backward()
    equals(layer.weight.grad, [[0, 0], [0, 0], [0, 0], [2, 2]])


def test_case_081_double_backward_of_a_strided_convolution(device):
    torch.manual_seed(0)
    conv, x = nn.Conv2d(3, 4, 3, 2, 1), torch.randn(2, 3, 8, 8)

    def penalty(where):
        layer = nn.Conv2d(3, 4, 3, 2, 1).to(where)
        layer.load_state_dict(conv.state_dict())
        y = x.to(where).requires_grad_()
        out = layer(y).pow(2).sum()
        (grad,) = torch.autograd.grad(out, y, create_graph=True)
        grad.pow(2).sum().backward()
        return layer.weight.grad, y.grad

    for got, want in zip(penalty(device), penalty("cpu"), strict=True):
        assert torch.isfinite(want).all()
        assert_same(got, want, rtol=1e-4, atol=1e-3)


def conv_input_gradient(dilation, where):
    x = torch.arange(81.0).view(1, 1, 9, 9).to(where).requires_grad_()
    weight = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]).to(where)
    F.conv2d(x, weight, stride=3, dilation=dilation).sum().backward()
    return x.grad.cpu()


def test_case_082_dilation_is_part_of_the_cache_key(device):
    assert torch.equal(conv_input_gradient(1, device), conv_input_gradient(1, "cpu"))
    after = conv_input_gradient(2, device)
    assert torch.equal(after, conv_input_gradient(2, "cpu"))
    fresh = run_python(
        "import torch, torch.nn.functional as F\n"
        f"x = torch.arange(81.0).view(1, 1, 9, 9).to('{DEVICE}').requires_grad_()\n"
        f"w = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]).to('{DEVICE}')\n"
        "F.conv2d(x, w, stride=3, dilation=2).sum().backward()\n"
        "print(x.grad.flatten().tolist())"
    )
    assert after.flatten().tolist() == [float(v) for v in fresh.stdout.strip(" []\n").split(",")]


@pytest.mark.parametrize("output_padding", [(1, 0), (0, 1), (1, 1)])
def test_case_084_conv_transpose_output_padding(device, output_padding):
    gen = torch.Generator().manual_seed(1)
    x, weight = torch.randn(1, 2, 3, 3, generator=gen), torch.randn(2, 2, 3, 3, generator=gen)
    options = {"stride": 2, "padding": 1, "output_padding": output_padding}
    expected = F.conv_transpose2d(x, weight, **options)
    assert expected[0, 0, -1].abs().min() > 0
    actual = F.conv_transpose2d(x.to(device), weight.to(device), **options)
    assert_same(actual, expected, rtol=1e-5, atol=1e-5)


def test_case_085_attention_with_a_fully_masked_row(device):
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 1, 3, 4).to(device).requires_grad_() for _ in range(3))
    mask = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=torch.bool, device=device)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    equals(out[0, 0, 1], [0, 0, 0, 0])
    out.sum().backward()
    for t in (q, k, v):
        assert torch.isfinite(t.grad).all().item()
    large = torch.zeros(3, 3).index_fill(0, torch.tensor([1]), torch.finfo(torch.float32).min)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=large.to(device))
    near(out[0, 0, 1], v[0, 0].mean(0).tolist(), atol=1e-5)


def test_case_086_causal_attention_and_grouped_queries(device):
    gen = torch.Generator().manual_seed(1)
    q = torch.randn(1, 32, 14, 128, generator=gen)
    k, v = (torch.randn(1, 8, 14, 128, generator=gen) for _ in range(2))
    wide_k, wide_v = k.repeat_interleave(4, 1), v.repeat_interleave(4, 1)
    expected = F.scaled_dot_product_attention(q, wide_k, wide_v, is_causal=True)
    actual = F.scaled_dot_product_attention(*to_device((q, wide_k, wide_v)), is_causal=True)
    assert_same(actual, expected, rtol=1e-4, atol=1e-5)
    grouped = F.scaled_dot_product_attention(*to_device((q, k, v)), is_causal=True, enable_gqa=True)
    assert_same(grouped, expected, rtol=1e-4, atol=1e-5)


def test_case_087_rotate_half(anywhere):
    def rotate(x):
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), -1)

    equals(rotate(torch.arange(4.0, device=anywhere)), [-2, -3, 0, 1])
    x = torch.randn(1, 32, 128, 64)
    assert torch.equal(rotate(x.to(anywhere)).cpu(), rotate(x))


def test_case_089_matmul_precision(device):
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        a = torch.tensor([[0.1, 0.7], [1.3, -0.9]])
        b = torch.tensor([[1.1, 0.3], [-0.2, 2.5]])
        assert_same(a.to(device) @ b.to(device), a @ b, rtol=1e-6, atol=1e-6)
        batched = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1)).to(device)
        right = torch.randn(7, 4, generator=torch.Generator().manual_seed(2)).to(device)
        row = batched[1:2, 2:3] @ right
        assert_same(row[0], (batched @ right)[1, 2:3].cpu(), rtol=1e-6, atol=1e-6)
    finally:
        torch.set_float32_matmul_precision(before)


def test_case_090_einsum_matmul_linear_agree(device):
    gen = torch.Generator().manual_seed(1)
    x, w = torch.randn(4, 6, generator=gen), torch.randn(5, 6, generator=gen)
    results = []
    for contract in (
        lambda a, b: torch.einsum("ij,kj->ik", a, b),
        lambda a, b: a @ b.t(),
        F.linear,
    ):
        a, b = x.to(device).requires_grad_(), w.to(device).requires_grad_()
        out = contract(a, b)
        out.pow(2).sum().backward()
        results.append((out.detach(), a.grad, b.grad))
    for other in results[1:]:
        for got, want in zip(other, results[0], strict=True):
            assert_same(got, want.cpu(), rtol=1e-5, atol=1e-5)


def test_case_091_packed_lstm(device):
    torch.manual_seed(0)
    lstm = nn.LSTM(2, 3, batch_first=True).to(device)
    x, lengths = torch.randn(2, 4, 2).to(device), torch.tensor([4, 2])
    optimizer = torch.optim.SGD(lstm.parameters(), lr=0.5)
    losses = []
    for _ in range(3):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        out, back = pad_packed_sequence(lstm(packed)[0], batch_first=True)
        assert out.shape == (2, 4, 3)
        equals(out[1, 2:], [[0, 0, 0], [0, 0, 0]])
        assert back.tolist() == [4, 2]
        loss = (out - 0.3).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]


def test_case_093_pad_with_none(anywhere):
    x = torch.ones(1, 1, 2, 2, device=anywhere, requires_grad=True)
    out = F.pad(x, (1, 0, 0, 1), value=None)
    equals(out, [[[[0, 1, 1], [0, 1, 1], [0, 0, 0]]]])
    out.sum().backward()
    equals(x.grad, [[[[1, 1], [1, 1]]]])


def test_case_089_flag_is_accepted_while_a_device_is_in_use(device):
    if not ON_TPU:
        pytest.skip("asks whether changing the flag recompiles on the tpu device")
    a = torch.ones(2, 2, device=device)
    before = torch.get_float32_matmul_precision()
    try:
        for level in ("highest", "high", "medium"):
            torch.set_float32_matmul_precision(level)
            equals(a @ a, [[2, 2], [2, 2]])
    finally:
        torch.set_float32_matmul_precision(before)
