# Automatic mixed precision: the autocast lists, casts of weights, GradScaler.
import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, equals, near, tpu_only
from torch import nn

LOW = {
    "mm": lambda a: a @ a,
    "bmm": lambda a: torch.bmm(a[None], a[None]),
    "linear": lambda a: F.linear(a, a),
    "addmm": lambda a: torch.addmm(a, a, a),
    "conv2d": lambda a: F.conv2d(a[None, None], a[None, None]),
    "sdpa": lambda a: F.scaled_dot_product_attention(a[None, None], a[None, None], a[None, None]),
}
HIGH = {
    "softmax": lambda a: a.softmax(-1),
    "log_softmax": lambda a: a.log_softmax(-1),
    "exp": torch.exp,
    "log": torch.log,
    "pow": lambda a: a**3,
    "sum": lambda a: a.sum(),
    "cumsum": lambda a: a.cumsum(0),
    "layer_norm": lambda a: F.layer_norm(a, (2,)),
    "mse_loss": lambda a: F.mse_loss(a, a),
    "norm": lambda a: a.norm(),
}
UNCHANGED = {
    "add": lambda a: a + a,
    "relu": F.relu,
    "view": lambda a: a.view(4),
    "max": lambda a: a.amax(0),
}


@pytest.fixture
def ones(device):
    return torch.ones(2, 2, device=device)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", LOW)
def test_lower_precision_list(ones, name, dtype):
    with torch.autocast(DEVICE, dtype=dtype):
        assert LOW[name](ones).dtype == dtype
    assert LOW[name](ones).dtype == torch.float32


@tpu_only
@pytest.mark.parametrize("name", HIGH)
def test_float32_list(ones, name):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert HIGH[name](ones.bfloat16()).dtype == torch.float32


@pytest.mark.parametrize("name", UNCHANGED)
def test_everything_else_keeps_its_dtype(ones, name):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert UNCHANGED[name](ones).dtype == torch.float32
        assert UNCHANGED[name](ones.bfloat16()).dtype == torch.bfloat16


@tpu_only
def test_widest_type_list(ones):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert torch.cat([ones, ones.bfloat16()]).dtype == torch.float32
        assert torch.addcmul(ones, ones.bfloat16(), ones.bfloat16()).dtype == torch.float32


@tpu_only
def test_banned_operator_says_what_to_use(ones):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        with pytest.raises(RuntimeError, match="binary_cross_entropy_with_logits"):
            F.binary_cross_entropy(ones * 0.5, ones)
        assert F.binary_cross_entropy_with_logits(ones, ones).dtype == torch.float32


def test_training_under_autocast(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(16, 4).to(device), torch.randint(0, 2, (16,)).to(device)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            out = model(x)
            assert out.dtype == torch.bfloat16
            loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(p.dtype == p.grad.dtype == torch.float32 for p in model.parameters())
    assert losses[-1] < losses[0]


@tpu_only
def test_autocast_state():
    assert not torch.is_autocast_enabled("tpu")
    with torch.autocast("tpu"):
        assert torch.is_autocast_enabled("tpu")
        assert torch.get_autocast_dtype("tpu") == torch.bfloat16
    with pytest.warns(UserWarning, match="[Ss]upported"), torch.autocast("tpu", dtype=torch.int32):
        assert not torch.is_autocast_enabled("tpu")


def test_grad_scaler_skips_a_step_with_infinite_gradients(device):
    p = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
    optimizer = torch.optim.Adam([p], lr=0.1)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=16.0)
    for factor, moved in ((float("inf"), False), (1.0, True), (float("nan"), False)):
        before = p.detach().cpu().clone()
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(p.detach().cpu(), before) is not moved
    assert scaler.get_scale() == 4.0
    near(p, [0.9, 1.9])


def test_grad_scaler_with_clipping(device):
    p = torch.tensor([3.0, 4.0], device=device, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=1024.0)
    scaler.scale((p * p).sum() / 2).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_([p], 1.0)
    assert norm.item() == pytest.approx(5.0)
    scaler.step(optimizer)
    torch.testing.assert_close(p.detach().cpu(), torch.tensor([2.4, 3.2]), rtol=1e-4, atol=1e-4)
    state = scaler.state_dict()
    other = torch.amp.GradScaler(DEVICE)
    other.load_state_dict(state)
    assert other.get_scale() == 1024.0


def test_custom_function_decorators(device):
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type=DEVICE)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @torch.amp.custom_bwd(device_type=DEVICE)
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad @ x.t() + x.t() @ grad

    x = torch.ones(2, 2, device=device, requires_grad=True)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        out = Product.apply(x)
    assert out.dtype == torch.bfloat16
    out.float().sum().backward()
    equals(x.grad, [[4, 4], [4, 4]])
