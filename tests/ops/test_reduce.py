# Reductions: sum to one value, any, var, argmax, max with indices.
import pytest
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, Case, T, V, cases_to_tests
from support import DEVICE, assert_same

NAN, INF = float("nan"), float("inf")
NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32 = (torch.float32,)

SUMS = [
    Case("aten::sum", T(3, 4), dtypes=ALL + COMPLEX),
    Case("aten::sum", T(3, 4), kwargs={"dtype": torch.float64}, name="dtype", dtypes=ALL),
    Case(
        "aten::sum", V([True, False, True]), kwargs={"dtype": torch.bool}, name="bool", dtypes=BOOL
    ),
    Case("aten::sum", T(), name="scalar"),
    Case("aten::sum.dim_IntList", T(3, 4, 2), [1], dtypes=ALL + COMPLEX),
    Case("aten::sum.dim_IntList", T(3, 4, 2), [-1, 0], True, name="keepdim"),
    Case("aten::sum.dim_IntList", T(3, 4), [], name="empty list"),
    Case("aten::sum.dim_IntList", T(3, 4), None, name="none"),
    Case("aten::sum.dim_IntList", T(), [0], name="scalar"),
    Case("aten::sum.dim_IntList", T(0, 3), [0], name="no elements"),
    Case("aten::sum.dim_IntList", T(0, 3), [1], True, name="empty result"),
    Case("aten::sum", V([1.0, NAN, INF]), name="nan", dtypes=F32),
    Case("aten::nansum", V([1.0, NAN, -2.5]), name="nan", dtypes=F32),
    Case("aten::nansum", T(3, 4), [1], dtypes=NUMBERS),
    Case("aten::prod", T(3, 2), dtypes=ALL + COMPLEX, tol={torch.bfloat16: (3e-2, 3e-2)}),
    Case("aten::prod.dim_int", T(3, 2), 0, dtypes=ALL),
    Case("aten::prod.dim_int", T(3, 2), -1, True, name="keepdim"),
    Case("aten::prod.dim_int", T(0, 2), 0, name="no elements", backward=False),
    Case("aten::mean", T(3, 4), dtypes=FLOATS + COMPLEX),
    Case("aten::mean", T(3, 4, dtype=torch.int64), kwargs={"dtype": torch.float32}, name="dtype"),
    Case("aten::mean.dim", T(3, 4), [1], dtypes=FLOATS + COMPLEX),
    Case("aten::mean.dim", T(2, 3, 4), [0, -1], True, name="keepdim"),
    Case("aten::mean.dim", T(0, 5), [1], name="empty result"),
    Case("aten::mean", T(0, 5), name="no elements"),
    Case("aten::logsumexp", T(3, 4), [1]),
    Case("aten::logsumexp", T(3, 4), [0, 1], True, name="keepdim"),
    Case("aten::logsumexp", T(3, 4), [1], name="complex", dtypes=COMPLEX),
    Case(
        "aten::logsumexp", V([[INF, 1.0], [-INF, -INF], [NAN, 0.0]]), [1], name="edges", dtypes=F32
    ),
    Case("aten::trace", T(3, 4), dtypes=NUMBERS),
    Case("aten::trace", T(4, 2), name="tall"),
    Case("aten::count_nonzero", V([[0, 2, 0], [1, 1, 0]]), dtypes=ALL),
    Case("aten::count_nonzero", V([[0, 2, 0], [1, 1, 0]]), 1, name="dim", dtypes=ALL),
    Case("aten::count_nonzero.dim_IntList", V([[0.0, NAN], [1.0, 0.0]]), [0, 1], dtypes=F32),
]

EXTREMES = [
    Case("aten::amax", T(3, 4, unique=True), [1], dtypes=ALL),
    Case("aten::amin", T(3, 4, unique=True), [0], True, dtypes=ALL),
    Case("aten::amax", T(3, 4, unique=True), name="all"),
    Case("aten::amin", V([1.0, NAN, -INF]), name="nan", dtypes=F32),
    Case("aten::amax", V([-1.0, NAN, INF]), name="nan", dtypes=F32),
    Case("aten::amax", V([2.0, 2.0, 1.0]), name="ties", dtypes=F32),
    Case("aten::aminmax", T(3, 4, unique=True), dtypes=ALL),
    Case("aten::aminmax", T(3, 4, unique=True), kwargs={"dim": 1, "keepdim": True}, name="dim"),
    Case("aten::aminmax", V([1.0, NAN, 0.0]), name="nan", dtypes=F32),
    Case("aten::max", T(3, 4, unique=True), dtypes=ALL),
    Case("aten::min", T(3, 4, unique=True), dtypes=ALL),
    Case("aten::min", V([3.0, NAN]), name="nan", dtypes=F32),
    Case("aten::max.dim", T(3, 4, unique=True), 1, dtypes=ALL),
    Case("aten::min.dim", T(3, 4, unique=True), -2, True, dtypes=ALL),
    Case("aten::max.dim", V([[1, 5, 5], [2, 2, 0]]), 1, name="ties", dtypes=NUMBERS),
    Case("aten::min.dim", V([[NAN, 1.0, NAN], [-INF, 0.0, -INF]]), 1, name="nan", dtypes=F32),
    Case("aten::max.dim", V([[-INF, -INF], [1.0, NAN]]), 1, name="nan", dtypes=F32),
    Case("aten::max.dim", T(), 0, name="scalar"),
    Case("aten::argmax", T(3, 4, unique=True), dtypes=NUMBERS),
    Case("aten::argmax", T(3, 4, unique=True), None, True, name="keepdim"),
    Case("aten::argmax", T(3, 4, unique=True), 0, name="dim", dtypes=NUMBERS),
    Case("aten::argmin", T(3, 4, unique=True), -1, True, dtypes=NUMBERS),
    Case("aten::argmax", V([1.0, NAN, INF, NAN]), name="nan", dtypes=F32),
    Case("aten::argmin", V([2, 1, 1]), name="ties", dtypes=NUMBERS),
    Case("aten::argmax", V([-INF, -INF]), name="infinite", dtypes=F32),
    Case("aten::max", T(2, 3), T(2, 3), fn=torch.max, name="other"),
]

TRUTH = [
    Case("aten::any", V([[0, 0], [1, 0]]), dtypes=ALL),
    Case("aten::any.dim", V([[0, 0], [1, 0]]), 1, dtypes=ALL),
    Case("aten::any.dims", V([[0, 0], [1, 0]]), [0, 1], True, dtypes=ALL),
    Case("aten::any.dims", V([[0, 0], [1, 0]]), [], name="no dims", dtypes=ALL, strides="plain"),
    Case("aten::any.dims", V([[0, 0], [1, 0]]), None, name="none", dtypes=ALL),
    Case("aten::all", V([[2, 1], [1, 0]]), dtypes=ALL),
    Case("aten::all.dim", V([[2, 1], [1, 0]]), 0, True, dtypes=ALL),
    Case("aten::all.dims", V([[2, 1], [1, 0]]), [1], dtypes=ALL),
    Case("aten::all", T(0), name="no elements"),
    Case("aten::any", T(0, 2), name="no elements"),
    Case("aten::any", V([0.0, NAN]), name="nan", dtypes=F32),
]

SPREADS = [
    Case(f"aten::{op}.correction", T(3, 4), [1], kwargs={"correction": c}, name=f"by {c}")
    for op in ("var", "std", "var_mean", "std_mean")
    for c in (0, 1)
] + [
    Case("aten::var.correction", T(3, 4), None, kwargs={"keepdim": True}, name="default"),
    Case("aten::var.correction", T(3, 4), [0, 1], kwargs={"correction": 1.5}, name="fraction"),
    Case(
        "aten::var.correction",
        T(3),
        [0],
        kwargs={"correction": 3},
        name="too large",
        backward=False,
    ),
    Case("aten::var_mean.correction", T(3, 4), [1], kwargs={"keepdim": True}, name="keepdim"),
    Case("aten::std.correction", T(1), [0], name="one element", backward=False),
    Case("aten::var.correction", T(5), [0], name="complex", dtypes=COMPLEX),
    Case("aten::var_mean.correction", T(5), [0], name="complex", dtypes=COMPLEX),
    Case("aten::var.correction", T(0, 3), [0], name="no elements", backward=False),
]

CASES = SUMS + EXTREMES + TRUTH + SPREADS
test_reduce = cases_to_tests(CASES)


PICKS = [torch.max, torch.min, torch.median, torch.nanmedian, torch.prod, lambda x: x.prod(1)]
TIES = [[2.0, 0.0, 2.0], [0.0, 3.0, 1.0]]


@pytest.mark.parametrize("function", PICKS)
@pytest.mark.parametrize("values", [TIES, [[1.0, NAN], [NAN, 2.0]], [[1.0, 2.0], [3.0, 4.0]]])
def test_gradients_that_read_no_value_are_cpus_in_both_orders(function, values):
    def run(device):
        x = torch.tensor(values, device=device, requires_grad=True)
        (first,) = torch.autograd.grad(function(x).square().sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x)
        return first.detach(), second

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        assert_same(got, want)
