# Softmax and log-softmax.
import torch
from harness import FLOATS, B, Case, T, V, cases_to_tests

INF, NAN = float("inf"), float("nan")
F32 = (torch.float32,)
HALF = {torch.bfloat16: (2e-2, 1e-2), torch.float16: (4e-3, 2e-3)}
EDGES = V([[1.0, -INF, 2.0], [-INF, -INF, -INF], [INF, 1.0, 2.0], [NAN, 1.0, 2.0]])
DENSE = T(2, 2, 3, 3, contiguous=True)  # CPU misreads a strided one

CASES = [
    Case("aten::_softmax", T(3, 4), 1, False, exact=True),
    Case("aten::_softmax", T(3, 4, 5), -2, False, name="middle", dtypes=F32),
    Case("aten::_softmax", T(), 0, False, name="scalar", dtypes=F32),
    Case("aten::_softmax", T(0, 3), 1, False, name="no rows", dtypes=F32),
    Case("aten::_softmax", T(3, 0), 1, False, name="no elements", dtypes=F32),
    Case("aten::_softmax", EDGES, 1, False, name="edges", dtypes=F32, backward=False),
    Case("aten::_log_softmax", T(3, 4), 1, False, exact=True),
    Case("aten::_log_softmax", T(3, 4, 5), 0, False, name="first", dtypes=F32),
    Case("aten::_log_softmax", T(), 0, False, name="scalar", dtypes=F32),
    Case("aten::_log_softmax", EDGES, 1, False, name="edges", dtypes=F32, backward=False),
    Case("aten::_log_softmax", V([[1e4, -1e4, 0.0]]), 1, False, name="far apart", dtypes=F32),
    Case("aten::_masked_softmax", DENSE, B(2, 2, 3, 3), 3, 2, tol=HALF, strides="plain"),
    Case("aten::_masked_softmax", T(2, 2, 3, 3), B(2, 2, 3, 3), name="defaults", dtypes=F32),
    Case(
        "aten::_masked_softmax",
        T(2, 2, 3, 3),
        B(3, 3),
        3,
        0,
        name="of lengths",
        dtypes=F32,
        backward=False,
    ),
    Case(
        "aten::_masked_softmax",
        T(2, 2, 3, 3),
        B(2, 3),
        3,
        1,
        name="of keys",
        dtypes=F32,
        backward=False,
    ),
    Case(
        "aten::_masked_softmax",
        T(2, 3),
        V([[True, True, True], [True, False, False]], dtype=torch.bool, grad=False),
        1,
        2,
        name="nothing left",
        dtypes=F32,
    ),
    Case("aten::_masked_softmax", T(2, 3), B(3, 3), 1, 2, name="size", raises=RuntimeError),
    Case("aten::_safe_softmax", T(3, 4), 1, exact=True),
    Case("aten::_safe_softmax", EDGES, 1, name="edges", dtypes=F32, backward=False),
    Case(
        "softmax dtype", T(3, 4), fn=lambda x: torch.softmax(x, 1, dtype=torch.float32), exact=True
    ),
    Case(
        "log_softmax dtype",
        T(3, 4),
        fn=lambda x: torch.log_softmax(x, 1, dtype=torch.float32),
        dtypes=FLOATS,
        exact=True,
    ),
]

test_softmax = cases_to_tests(CASES)
