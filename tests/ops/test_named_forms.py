# Operators that PyTorch's own kernels call by name: slow convolutions, helpers, fused pieces.
import torch
from harness import FLOATS, Case, T, V, cases_to_tests
from support import DEVICE, assert_same

A = torch.ops.aten
F32 = (torch.float32,)
WIDE = (torch.float32, torch.float64)
HALF = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}
NAN, INF = float("nan"), float("inf")
LOOSE = {torch.float32: (1e-4, 1e-4)}

PLANE, VOLUME, BIAS = T(2, 3, 6, 7), T(2, 3, 4, 5, 6), T(4)
KERNEL2, KERNEL3 = T(4, 3, 3, 2), T(4, 3, 3, 2, 2)
BACK2, BACK3 = T(3, 4, 3, 2), T(3, 4, 3, 2, 2)
K2, K3 = [3, 2], [3, 2, 2]


def slow(op, *arguments, name="", **options):
    return Case(f"aten::{op}", *arguments, name=name, dtypes=F32, tol=LOOSE, **options)


CONVOLUTIONS = [
    slow("_slow_conv2d_forward", PLANE, KERNEL2, K2, BIAS, [2, 1], [1, 1]),
    slow("slow_conv_dilated2d", PLANE, KERNEL2, K2, BIAS, [1, 1], [1, 1], [2, 2]),
    slow("slow_conv_transpose2d", PLANE, BACK2, K2, BIAS, [2, 2], [1, 0], [1, 0], [1, 1]),
    slow("slow_conv3d_forward", VOLUME, KERNEL3, K3, None, [1, 1, 1], [1, 0, 1], strides=False,
         forms=("functional", "backward")),
    slow("slow_conv_dilated3d", VOLUME, KERNEL3, K3, BIAS, [1, 1, 1], [1, 1, 1], [1, 2, 2]),
    slow("slow_conv_transpose3d", VOLUME, BACK3, K3, BIAS, [2, 2, 2], [1, 0, 0], [1, 0, 0],
         [1, 1, 1], strides=False),
    slow("_slow_conv2d_forward", T(2, 2, 6, 7), KERNEL2, K2, None, [1, 1], [0, 0],
         name="other channels", raises=RuntimeError),
]  # fmt: skip

ODD = V([0.0, -0.0, 1.0, -3.5, 1e-3, 1e30, INF, -INF, NAN])
POINTWISE = [
    Case("aten::frexp.Tensor", T(3, 4), dtypes=FLOATS, strides="plain"),
    Case("aten::frexp.Tensor", ODD, name="edges", dtypes=(torch.float32, torch.float64),
         backward=False),
    Case("aten::frexp.Tensor", V([1e-40, -3e-45, 1e-39]), name="subnormal", dtypes=F32,
         backward=False),
    Case("aten::frexp.Tensor", T(3), name="integers", dtypes=(torch.int32,), raises=RuntimeError),
    Case("aten::_add_relu.Tensor", T(3, 4), T(3, 4), kwargs={"alpha": 2}, dtypes=(*WIDE,
         torch.int32), backward=False, strides="plain"),
    Case("aten::_add_relu.Tensor", V([1.0, NAN, -2.0]), V([1.0, 1.0, 1.0]), name="nan",
         dtypes=F32, backward=False),
    Case("aten::_add_relu.Scalar", T(3, 4), 0.5, dtypes=F32, backward=False, strides="plain"),
    Case("glu_backward_jvp", T(3, 4), T(3, 8), T(3, 4), T(3, 8), dtypes=WIDE,
         backward=False, fn=lambda dy, x, ddy, dx: A.glu_backward_jvp(
             A.glu_backward(dy, x, -1), dy, x, ddy, dx, -1)),
    Case("aten::_aminmax", T(3, 4), dtypes=FLOATS, backward=False),
    Case("aten::_aminmax", V([1.0, NAN, 2.0]), name="nan", dtypes=F32, backward=False),
    Case("aten::_aminmax.dim", T(3, 4), 1, True, dtypes=F32, backward=False),
    Case("aten::_aminmax.dim", T(3, 4), -2, dtypes=F32, name="dropped", backward=False),
    Case("range", T(1), dtypes=F32, backward=False,
         fn=lambda x: A.range.out(1, 6.2, 2, out=x.new_empty(0))),
    Case("range of integers", T(1), dtypes=F32, backward=False, fn=lambda x: A.range.out(
        7, 1, -2, out=x.new_empty(0, dtype=torch.int64))),
]  # fmt: skip

SAVED_NORM = V([[1.5], [0.5], [2.0]])
FUSED = [
    Case("aten::_weight_norm_interface_backward", T(3, 4), T(3, 4), T(3, 1), SAVED_NORM, 0,
         dtypes=WIDE, backward=False, forms=("functional",)),
    Case("weight norm", T(3, 4, 2, contiguous=True), T(3, 1, 1, contiguous=True), dtypes=F32,
         fn=lambda v, g: torch._weight_norm_interface(v, g, 0)[0]),
    Case("aten::_transform_bias_rescale_qkv", T(2, 5, 24), T(24), 4, dtypes=F32, backward=False),
    Case("aten::_upsample_lanczos2d_aa", T(2, 3, 9, 8), [5, 11], False, dtypes=WIDE, tol={
         torch.float32: (1e-4, 1e-5)}),
    Case("aten::_upsample_lanczos2d_aa", T(1, 2, 4, 5), [9, 3], True, name="corners", dtypes=F32,
         tol={torch.float32: (1e-4, 1e-5)}),
    *[
        # CPU reads the last dim as if it were dense, whatever its stride.
        Case(f"flash attention {causal}", T(2, 3, 4, 8, contiguous=True),
             T(2, 3, 5, 8, contiguous=True), T(2, 3, 5, 8, contiguous=True), dtypes=F32,
             tol=LOOSE, fn=lambda q, k, v, c=causal: (
                 A._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, c)[0]))
        for causal in (False, True)
    ],
    Case("aten::batch_norm_update_stats", T(4, 3, 5), None, None, 0.1, dtypes=WIDE,
         backward=False),
]  # fmt: skip

test_named_forms = cases_to_tests(CONVOLUTIONS + POINTWISE + FUSED)


def test_slow_conv2d_backward_writes_its_outputs():
    torch.manual_seed(0)
    dy, x, w = torch.randn(2, 4, 4, 6), torch.randn(2, 3, 6, 7), torch.randn(4, 3, 3, 2)
    arguments = (K2, [1, 1], [0, 0])

    def run(device):
        outs = [torch.zeros_like(t, device=device) for t in (x, w, torch.zeros(4))]
        on_device = [t.to(device) for t in (dy, x, w)]
        return A._slow_conv2d_backward.grad_input(
            *on_device, *arguments, grad_input=outs[0], grad_weight=outs[1], grad_bias=outs[2]
        )

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        assert_same(got, want, rtol=1e-4, atol=1e-4)


def test_update_stats_moves_the_running_statistics():
    torch.manual_seed(0)
    x = torch.randn(4, 3, 5)

    def run(device):
        mean, variance = torch.zeros(3, device=device), torch.ones(3, device=device)
        torch.batch_norm_update_stats(x.to(device), mean, variance, 0.1)
        return mean, variance

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        assert_same(got, want)


def test_cumulative_helpers_write_their_outputs():
    x = torch.tensor([[1.0, 3.0, 2.0], [NAN, 5.0, 1.0]])

    def run(device, helper):
        values = torch.zeros(2, 3, device=device)
        indices = torch.zeros(2, 3, dtype=torch.long, device=device)
        helper(x.to(device), values, indices, 1)
        return values, indices

    for helper in (A._cummax_helper, A._cummin_helper):
        for got, want in zip(run(DEVICE, helper), run("cpu", helper), strict=True):
            assert_same(got, want)
