# Running reductions.
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, Case, T, V, cases_to_tests

NAN, INF = float("nan"), float("inf")
NUMBERS = FLOATS + INTS
F32 = (torch.float32,)

CASES = [
    Case("aten::cumsum", T(3, 5), 1, dtypes=NUMBERS + BOOL + COMPLEX),
    Case("aten::cumsum", T(3, 5), 0, kwargs={"dtype": torch.float64}, name="dtype", dtypes=NUMBERS),
    Case("aten::cumsum", T(), 0, name="scalar"),
    Case("aten::cumsum", T(3, 0), 1, name="no elements"),
    Case("aten::cumsum", T(1000), 0, name="long", exact=True),
    Case(
        "aten::cumsum",
        V([1.0, INF, -INF, 2.0]),
        0,
        name="infinite",
        dtypes=F32,
        out_dtype=False,  # an infinite number as an integer is any number
    ),
    Case(
        "aten::cumprod",
        T(3, 5),
        -1,
        dtypes=NUMBERS + COMPLEX,
        exact=True,
        # The gradient is made of several operators, each rounded.
        tol={torch.bfloat16: (1.6e-2, 1e-2), torch.float16: (4e-3, 1e-3)},
    ),
    Case("aten::cumprod", V([2.0, 0.0, 3.0]), 0, name="zero", dtypes=F32),
    Case("aten::cummax", T(3, 5, unique=True), 1, dtypes=NUMBERS),
    Case("aten::cummin", T(3, 5, unique=True), 0, dtypes=NUMBERS),
    Case("aten::cummax", V([1, 1, 1]), 0, name="ties", dtypes=NUMBERS),
    Case("aten::cummin", V([2, 1, 2, 1]), 0, name="ties", dtypes=NUMBERS),
    Case("aten::cummax", V([1.0, NAN, 2.0, NAN, 3.0]), 0, name="nan", dtypes=F32),
    Case("aten::cummin", V([1.0, NAN, 2.0, NAN, 3.0]), 0, name="nan", dtypes=F32),
    Case("aten::cummax", V([-INF, -INF, 0.0]), 0, name="infinite", dtypes=F32),
    Case("aten::cummax", V([False, True, False]), 0, name="bool", dtypes=BOOL),
    Case("aten::cummax", T(2, 0), 0, name="no elements"),
    Case("aten::cummax", T(), 0, name="scalar"),
    Case("aten::cummax", T(700), 0, name="long"),
    Case("aten::cummin", T(2, 300), 1, name="long", dtypes=(torch.int32,)),
    Case("aten::logcumsumexp", T(3, 5), 1),
    Case("aten::_logcumsumexp", T(3, 5), 1, forms=("functional",)),
    Case("aten::logcumsumexp", T(300), 0, name="long"),
    Case("aten::logcumsumexp", V([-INF, 1.0, INF, 2.0, NAN]), 0, name="edges", dtypes=F32),
    Case("aten::logcumsumexp", T(4, 9), 1, name="complex", dtypes=COMPLEX),
    # The phase passes pi and goes on; the larger third element starts anew from its own.
    Case(
        "aten::logcumsumexp",
        V([1 + 3j, 1 + 4j, 5 - 7j, 1 + 2j, 5 - 9j, 5 - 10j, 5 - 11j]),
        0,
        name="phase",
        dtypes=COMPLEX,
        backward=False,
    ),
]
test_scan = cases_to_tests(CASES)
