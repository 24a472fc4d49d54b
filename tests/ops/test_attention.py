# Scaled dot product attention: values and gradients, masks, causality, grouped heads, dropout.
import pytest
import torch
from harness import Case, T, V, cases_to_tests
from support import DEVICE, assert_same
from torch.nn import functional as F

F32 = (torch.float32,)
FLOATS = (torch.float32, torch.bfloat16, torch.float64)
TOL = {
    torch.float32: (1e-4, 1e-5),
    torch.bfloat16: (1.6e-2, 4e-3),  # probabilities are rounded to it, here and on CPU
    torch.float64: (1e-6, 1e-6),
}
MASK = V([[True, False, True, True], [False] * 4, [True] * 4], dtype=torch.bool, grad=False)
sdpa = F.scaled_dot_product_attention


def attention(name, q, k, *rest, dtypes=F32, **options):
    fn = (lambda q, k, v, *m: sdpa(q, k, v, *m, **options)) if options else sdpa
    # The result of permuted queries has the layout of the queries here, is row-major on CPU.
    return Case(
        name, T(*q), T(*k), T(*k), *rest, fn=fn, dtypes=dtypes, tol=TOL, exact=True, strides="plain"
    )


CASES = [
    attention("plain", (2, 3, 5, 8), (2, 3, 6, 8), dtypes=FLOATS),
    attention("causal", (2, 3, 5, 8), (2, 3, 5, 8), dtypes=FLOATS, is_causal=True),
    attention("causal longer keys", (2, 3, 4, 8), (2, 3, 6, 8), is_causal=True),
    attention("scale", (2, 3, 5, 8), (2, 3, 6, 8), scale=0.3),
    attention("bias", (2, 3, 5, 8), (2, 3, 6, 8), T(5, 6)),
    attention("bias of heads", (2, 3, 5, 8), (2, 3, 6, 8), T(1, 3, 5, 6)),
    attention("no heads dim", (3, 5, 8), (3, 6, 8)),
    attention("grouped", (1, 8, 5, 8), (1, 2, 5, 8), enable_gqa=True, is_causal=True),
    attention("reported sizes", (1, 32, 14, 128), (1, 32, 14, 128), is_causal=True),
    attention("one query", (2, 4, 1, 8), (2, 4, 9, 8)),
    attention("mask", (1, 2, 3, 8), (1, 2, 4, 8), MASK),
]

test_attention = cases_to_tests(CASES)


def leaves(*shapes):
    torch.manual_seed(0)
    return [torch.randn(s).to(DEVICE).requires_grad_() for s in shapes]


def test_fully_masked_rows_are_zero_with_finite_gradients():
    q, k, v = leaves((1, 2, 3, 8), (1, 2, 4, 8), (1, 2, 4, 8))
    mask = torch.tensor([[True, False, True, True], [False] * 4, [True] * 4]).to(DEVICE)
    y = sdpa(q, k, v, mask)
    y.sum().backward()
    assert_same(y[:, :, 1], torch.zeros(1, 2, 8))
    for x in (q, k, v):
        assert x.grad.cpu().isfinite().all()
    assert_same(q.grad[:, :, 1], torch.zeros(1, 2, 8))


def test_large_negative_bias_gives_the_mean():
    q, k, v = leaves((1, 1, 2, 8), (1, 1, 4, 8), (1, 1, 4, 8))
    bias = torch.full((2, 4), torch.finfo(torch.float32).min).to(DEVICE)
    y = sdpa(q, k, v, bias)
    assert_same(
        y.detach(), v.detach().cpu().mean(2, keepdim=True).expand(1, 1, 2, 8), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("p", [0.25, 1.0])
def test_dropout_drops_the_same_in_backward(p):
    """With the identity as values the output is the dropped probabilities themselves."""
    size = 32
    q, k, v = leaves((1, 2, size, 8), (1, 2, size, 8), (1, 2, size, size))
    with torch.no_grad():
        v.copy_(torch.eye(size).expand_as(v))
    y = sdpa(q, k, v, dropout_p=p)
    kept = y.detach().cpu() != 0
    dy = torch.randn(y.shape)
    y.backward(dy.to(DEVICE))
    assert abs(kept.float().mean().item() - (1 - p)) < 0.05

    cpu = [x.detach().cpu().requires_grad_() for x in (q, k, v)]
    probabilities = torch.softmax(cpu[0] @ cpu[1].mT / 8**0.5, -1)
    want = (probabilities * kept / (1 - p) if p < 1 else probabilities * 0) @ cpu[2]
    want.backward(dy)
    assert_same(y.detach(), want.detach(), rtol=1e-4, atol=1e-5)
    for got, ref in zip((q, k, v), cpu, strict=True):
        assert_same(got.grad, ref.grad, rtol=1e-3, atol=1e-4)


def test_dropout_differs_from_call_to_call_and_follows_the_seed():
    q, k, v = leaves((1, 1, 16, 8), (1, 1, 16, 8), (1, 1, 16, 8))
    torch.manual_seed(3)
    first, second = sdpa(q, k, v, dropout_p=0.5), sdpa(q, k, v, dropout_p=0.5)
    torch.manual_seed(3)
    again = sdpa(q, k, v, dropout_p=0.5)
    assert not torch.equal(first.cpu(), second.cpu())
    assert torch.equal(first.cpu(), again.cpu())


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("mask", [None, "padding", "source"])
def test_encoder_layer_inference(norm_first, activation, mask):
    """Without gradients PyTorch takes one fused operator for the whole layer."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(
        8, 2, 16, activation=activation, batch_first=True, norm_first=norm_first
    ).eval()
    x = torch.randn(2, 5, 8)
    options = {}
    if mask == "padding":
        options["src_key_padding_mask"] = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    if mask == "source":
        options["src_mask"] = torch.ones(5, 5).triu(1).bool()
    with torch.no_grad():
        want = layer(x, **options)
        got = layer.to(DEVICE)(x.to(DEVICE), **{k: m.to(DEVICE) for k, m in options.items()})
    assert_same(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_multihead_attention_inference(average, need_weights):
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(2, 5, 8)
    options = {"need_weights": need_weights, "average_attn_weights": average}
    with torch.no_grad():
        want = layer(x, x, x, **options)
        x = x.to(DEVICE)
        got = layer.to(DEVICE)(x, x, x, **options)
    assert_same(got[0], want[0], rtol=1e-4, atol=1e-5)
    assert (got[1] is None) == (want[1] is None)
    if need_weights:
        assert_same(got[1], want[1], rtol=1e-4, atol=1e-5)
