# Fake quantisation in plain floats, and products of float8 and int8 factors with scales.
import pytest
import torch
from harness import FLOATS, Case, P, T, V, cases_to_tests
from support import DEVICE, assert_same

F32 = (torch.float32,)
NAN, INF = float("nan"), float("inf")
HALF = {torch.bfloat16: (2e-2, 2e-2), torch.float16: (4e-3, 4e-3)}
X = V([-3.0, -0.26, 0.24, 0.25, 0.76, 9.0, NAN])
ROWS = V([[-3.0, -0.26, 0.24, 0.25], [0.76, 9.0, 1.25, NAN]])


def single(*numbers, dtype=torch.float32, grad=True):
    return V(list(numbers), dtype=dtype, grad=grad)


FIXED = {"grad": False}
PER_TENSOR = "aten::fake_quantize_per_tensor_affine_cachemask"
QPARAMS = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
PER_CHANNEL = "aten::fake_quantize_per_channel_affine_cachemask"
QUANTIZE = [
    Case(PER_TENSOR, X, 0.5, 1, 0, 7, dtypes=(torch.float32, torch.float64)),
    Case(PER_TENSOR, V([INF, -INF]), 0.5, 1, 0, 7, name="infinite", dtypes=F32),
    Case(QPARAMS, X, single(0.5, **FIXED), single(1, dtype=torch.int32, **FIXED),
         single(1, dtype=torch.int64, **FIXED), 0, 7, name="on", dtypes=F32),
    Case(QPARAMS, X, single(0.5, **FIXED), single(1, dtype=torch.int32, **FIXED),
         single(0, dtype=torch.int64, **FIXED), 0, 7, name="off", dtypes=F32),
    Case(PER_CHANNEL, ROWS, single(0.5, 0.25, **FIXED), single(1, 2, dtype=torch.int32, **FIXED),
         0, 0, 7, name="whole zero points", strides="plain", dtypes=F32),
    Case(PER_CHANNEL, ROWS, single(0.5, 0.25, 1.0, 0.1, **FIXED),
         single(1.4, 2.0, 0.5, 0.0, **FIXED), 1, 0, 7, name="float zero points", strides="plain",
         dtypes=F32),
    *[
        Case("aten::_fake_quantize_learnable_per_tensor_affine", X, single(0.5), single(z), 0, 7,
             2.0, name=f"zero point {z}", dtypes=F32)
        for z in (1.4, 1.5, 2.5, -2.0)
    ],
    *[
        Case("aten::_fake_quantize_learnable_per_channel_affine", ROWS, single(0.5, 0.25),
             single(*z), 0, 0, 7, 2.0, name=f"zero points {z}", strides="plain", dtypes=F32)
        for z in ((1.4, 2.5), (-2.0, 9.0))
    ],
]  # fmt: skip


def float8(low, high):
    return lambda x: x.clamp(low, high).to(torch.float8_e4m3fn)


def scaled(a, b, *scales, **options):
    to8 = float8(-8, 8)
    return torch._scaled_mm(to8(a), to8(b).t().contiguous().t(), *scales, **options)


BF16 = {"out_dtype": torch.bfloat16}
SCALES = (P(grad=False), P(grad=False))
FORWARD = {"dtypes": F32, "backward": False, "tol": (2e-2, 2e-2)}
ROUNDED = {**FORWARD, "tol": (2e-2, 0.25)}  # CPU rounds the product before it scales
PRODUCTS = [
    Case("scaled", T(4, 16), T(16, 16), *SCALES, **FORWARD,
         fn=lambda a, b, s, t: scaled(a, b, s, t, out_dtype=torch.float32)),
    Case("scaled to bfloat16", T(4, 16), T(16, 16), *SCALES, T(16), **ROUNDED,
         fn=lambda a, b, s, t, bias: scaled(a, b, s, t, bias=bias.bfloat16(), **BF16)),
    Case("scaled rows", T(4, 16), T(16, 16), P(4, 1), P(1, 16), **ROUNDED,
         fn=lambda a, b, s, t: scaled(a, b, s, t, **BF16)),
    Case("aten::_weight_int8pack_mm", T(4, 16), T(8, 16, low=-128, high=127, dtype=torch.int8),
         P(8, grad=False), dtypes=FLOATS[:3], backward=False,
         forms=("functional", "out"), tol={**HALF,
         torch.float32: (1e-5, 1e-4), torch.bfloat16: (2e-2, 4.0), torch.float16: (4e-3, 1.0)}),
    Case("aten::hash_tensor", T(3, 4), [1], dtypes=(torch.float32, torch.int32, torch.uint8,
         torch.float16, torch.int64), backward=False),
    Case("aten::hash_tensor", T(3, 4), name="all", dtypes=F32, backward=False),
]  # fmt: skip

test_fake_quantize = cases_to_tests(QUANTIZE + PRODUCTS)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rows", [False, True])
def test_observer_follows_the_inputs(rows, symmetric):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 5) * scale for scale in (1.0, 4.0, 1e-6)]

    def run(device):
        n = 3 if rows else 1
        state = [torch.full((n,), v, device=device) for v in (INF, -INF, 1.0)]
        state.append(torch.zeros(n, dtype=torch.int32, device=device))
        results = []
        for x, (observe, quantise) in zip(inputs, ((1, 0), (1, 1), (0, 1)), strict=True):
            switches = [torch.tensor([flag], device=device) for flag in (observe, quantise)]
            results += torch.ops.aten._fused_moving_avg_obs_fq_helper(
                x.to(device), *switches, *state, 0.1, 0, 255, 0, rows, symmetric
            )
            results += [t.clone() for t in state]
        return results

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        assert_same(got, want)


@pytest.mark.parametrize(
    ("eight", "value", "most"),
    [(torch.float8_e4m3fn, 8.0, 448.0), (torch.float8_e5m2, 128.0, float("inf"))],
)
def test_scaled_products_of_eight_bits_saturate_without_infinity(eight, value, most):
    a = torch.full((16, 16), value).to(eight)
    b = torch.full((16, 16), value).to(torch.float8_e4m3fn).t()  # CPU takes no other second factor
    one = torch.ones(())
    expected = torch._scaled_mm(a, b, one, one)
    assert expected[0, 0].float() == most
    got = torch._scaled_mm(*(t.to(DEVICE) for t in (a, b, one, one)))
    assert got.dtype == eight
    assert torch.equal(got.cpu().float(), expected.float())
