# Max and average pooling, fixed and adaptive windows.
import torch
from harness import FLOATS, INTS, Case, T, V, cases_to_tests
from torch.nn import functional as F

NAN, INF = float("nan"), float("inf")
F32 = (torch.float32,)
HALF = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}


def max_pool(name, x, *args, rank=2, dtypes=F32, backward=True, **options):
    x = x if not isinstance(x, tuple) else T(*x, unique=True)
    op = f"aten::max_pool{rank}d_with_indices"
    return Case(op, x, *args, name=name, dtypes=dtypes, backward=backward, **options)


PLANES = V([[[[4.0 * i + j for j in range(4)] for i in range(4)]] * 2])
HOLES = V(
    [[[[1.0, NAN, 3.0, 0.0], [NAN, 2.0, 1.0, INF], [0.0, 1.0, 5.0, 2.0], [1.0, 1.0, 1.0, NAN]]]]
)

MAX = [
    max_pool("plain", (2, 3, 6, 8), [2, 2], dtypes=FLOATS),
    max_pool("integers", (2, 3, 6, 8), [2, 2], dtypes=INTS, backward=False),
    max_pool("per plane", PLANES, [2, 2]),
    max_pool("overlap", (2, 3, 9, 10), [3, 2], [2, 1], [1, 1]),
    max_pool("dilation", (2, 3, 9, 10), [3, 2], [2, 1], [1, 1], [2, 3]),
    max_pool("dilation default stride", (1, 2, 9, 10), [2, 2], [], [0, 0], [2, 2]),
    max_pool("ceil kernel 3 stride 4", (1, 1, 8, 10), [3, 3], [4, 4], [0, 0], [1, 1], True),
    max_pool("ceil kernel 1 stride 2", (1, 1, 5, 6), [1, 1], [2, 2], [0, 0], [1, 1], True),
    max_pool("unbatched", (3, 6, 8), [2, 2]),
    max_pool("large window", (1, 2, 20, 20), [9, 9], [2, 2], [3, 3]),
    max_pool("ties", V([[[[1.0] * 5] * 5]]), [3, 3], [1, 1], [1, 1]),
    max_pool("nan", HOLES, [2, 2], [1, 1], backward=False),
    max_pool("minus infinity", V([[[[-INF] * 4] * 4]]), [2, 2], [1, 1], [1, 1], backward=False),
    max_pool("no batch", (0, 3, 6, 8), [2, 2]),
    max_pool("three dims", (1, 2, 5, 6, 4), [2, 3, 2], [2, 1, 2], [0, 1, 1], rank=3),
    Case("max_pool1d", T(2, 3, 9, unique=True), fn=lambda x: F.max_pool1d(x, 3, 2, 1), dtypes=F32),
    Case("aten::adaptive_max_pool2d", T(2, 3, 7, 5, unique=True), [3, 4]),
    Case("aten::adaptive_max_pool2d", T(2, 3, 6, 8, unique=True), [3, 2], name="equal windows"),
    Case("aten::adaptive_max_pool2d", HOLES, [3, 3], name="nan", dtypes=F32, backward=False),
    Case("aten::adaptive_max_pool3d", T(1, 2, 5, 6, 7, unique=True), [2, 4, 3], dtypes=F32),
]


def avg_pool(name, shape, *args, rank=2, dtypes=F32, **options):
    return Case(
        f"aten::avg_pool{rank}d", T(*shape), *args, name=name, dtypes=dtypes, tol=HALF, **options
    )


AVG = [
    avg_pool("plain", (2, 3, 6, 8), [2, 2], dtypes=FLOATS),
    avg_pool("integers", (2, 3, 6, 8), [2, 2], dtypes=(torch.int64,), backward=False),
    avg_pool("padding", (2, 3, 7, 8), [3, 2], [2, 1], [1, 1]),
    avg_pool("without padding", (2, 3, 7, 8), [3, 2], [2, 1], [1, 1], False, False),
    avg_pool("ceil", (2, 3, 8, 8), [3, 3], [2, 2], [1, 1], True),
    avg_pool("ceil without padding", (2, 3, 8, 8), [3, 3], [2, 2], [1, 1], True, False),
    avg_pool("divisor", (2, 3, 7, 8), [3, 2], [2, 2], [1, 1], True, True, 5),
    avg_pool("unbatched", (3, 6, 8), [2, 2]),
    avg_pool("no batch", (0, 3, 6, 8), [2, 2]),
    avg_pool("three dims", (1, 2, 5, 6, 4), [2, 3, 2], [2, 1, 2], [1, 1, 0], True, False, rank=3),
    Case("aten::_adaptive_avg_pool2d", T(2, 3, 6, 8), [3, 2], tol=HALF),
    Case("aten::_adaptive_avg_pool2d", T(2, 3, 7, 5), [3, 4], name="unequal", tol=HALF),
    Case("aten::_adaptive_avg_pool2d", T(2, 3, 3, 4), [5, 9], name="larger", dtypes=F32),
    Case("aten::_adaptive_avg_pool3d", T(1, 2, 5, 6, 7), [2, 3, 4], dtypes=F32),
    Case("adaptive_avg_pool1d", T(2, 3, 7), fn=lambda x: F.adaptive_avg_pool1d(x, 3), dtypes=F32),
]

PLANE_SAMPLES = T(2, 3, 2, low=0, high=1, grad=False)
FRACTIONAL = [
    Case("aten::fractional_max_pool2d", T(2, 3, 9, 10, unique=True), [2, 3], [4, 3],
         PLANE_SAMPLES, dtypes=FLOATS, tol=HALF),
    Case("aten::fractional_max_pool2d", T(3, 6, 8, unique=True), [2, 2], [1, 4],
         T(1, 3, 2, low=0, high=1, grad=False), name="unbatched", dtypes=F32),
    Case("aten::fractional_max_pool2d", HOLES, [2, 2], [3, 3],
         T(1, 1, 2, low=0, high=1, grad=False), name="nan", dtypes=F32, backward=False),
    Case("aten::fractional_max_pool3d", T(2, 6, 9, 7, unique=True), [2, 3, 2], [2, 3, 3],
         T(1, 2, 3, low=0, high=1, grad=False), dtypes=F32),
    Case("adaptive_avg_pool2d out", T(2, 3, 7, 5), dtypes=F32, backward=False,
         fn=lambda x: torch.ops.aten.adaptive_avg_pool2d.out(x, [3, 4], out=x.new_empty(0))),
    Case("adaptive_avg_pool3d out", T(1, 2, 5, 6, 7), dtypes=F32, backward=False,
         fn=lambda x: torch.ops.aten.adaptive_avg_pool3d.out(x, [2, 3, 4], out=x.new_empty(0))),
    Case("adaptive_avg_pool3d_backward out", T(1, 2, 2, 3, 4), T(1, 2, 5, 6, 7), dtypes=F32,
         backward=False, fn=lambda dy, x: torch.ops.aten.adaptive_avg_pool3d_backward.grad_input(
             dy, x, grad_input=torch.empty_like(x))),
]  # fmt: skip

test_pool = cases_to_tests(MAX + AVG + FRACTIONAL)
