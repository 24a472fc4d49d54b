# Softmax and log-softmax.
import torch
from harness import FLOATS, Case, T, V, cases_to_tests

INF, NAN = float("inf"), float("nan")
F32 = (torch.float32,)
EDGES = V([[1.0, -INF, 2.0], [-INF, -INF, -INF], [INF, 1.0, 2.0], [NAN, 1.0, 2.0]])

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
