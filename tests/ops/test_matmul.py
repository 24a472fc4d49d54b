# Matrix products and the fused forms that add to another tensor.
import torch
from harness import COMPLEX, FLOATS, INTS, Case, T, V, cases_to_tests
from support import DEVICE, assert_same

NAN = float("nan")
F32 = (torch.float32,)
NUMBERS = FLOATS + INTS + COMPLEX
# PyTorch's CPU kernels round half products to half before they add; here the sum is rounded once.
HALF = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}
BETA_ALPHA = {"beta": 0.3, "alpha": 1.7}
INTEGER = {"beta": 3, "alpha": 2}

PRODUCTS = [
    Case("aten::mm", T(3, 4), T(4, 5), dtypes=NUMBERS, tol=HALF),
    Case("aten::mm", T(3, 0), T(0, 5), name="nothing to sum"),
    Case("aten::mm", T(0, 3), T(3, 5), name="no rows"),
    Case("aten::mm", T(2, 3), T(4, 5), raises=RuntimeError, name="wrong sizes"),
    Case("aten::mm", T(2, 3), T(3, 2, dtype=torch.int64), raises=RuntimeError, name="wrong dtypes"),
    Case("aten::bmm", T(2, 3, 4), T(2, 4, 5), dtypes=NUMBERS, tol=HALF),
    Case("aten::bmm", T(0, 3, 4), T(0, 4, 5), name="no batch"),
    Case("aten::bmm", T(2, 3, 0), T(2, 0, 5), name="nothing to sum"),
    Case("aten::mv", T(3, 4), T(4), dtypes=NUMBERS, tol=HALF),
    Case("aten::dot", T(4), T(4), dtypes=NUMBERS, tol=HALF),
    Case("aten::dot", T(0), T(0), name="no elements"),
    Case("aten::vdot", T(4), T(4), dtypes=FLOATS + COMPLEX, tol=HALF),
    Case("matmul vector", T(2, 3, 4), T(4), fn=torch.matmul, tol=HALF),
    Case("matmul of a conjugate", T(2, 3, 4), fn=lambda a: a @ a.mH, dtypes=COMPLEX),
    Case("dot of a conjugate", T(4), T(4), fn=lambda a, b: a.conj().dot(b), dtypes=COMPLEX),
    Case("matmul broadcast", T(2, 1, 3, 4), T(5, 4, 2), fn=torch.matmul, tol=HALF),
    Case("linear", T(2, 3, 4), T(5, 4), T(5), fn=torch.nn.functional.linear, tol=HALF),
    Case(
        "einsum",
        T(2, 3, 4),
        T(4, 3, 5),
        tol=HALF,
        fn=lambda a, b: torch.einsum("bij,jik->bk", a, b),
    ),
    Case("outer", T(3), T(4), fn=torch.outer, dtypes=NUMBERS),
]

FUSED = [
    Case("aten::addmm", T(5), T(3, 4), T(4, 5), dtypes=NUMBERS, tol=HALF),
    Case("aten::addmm", T(3, 1), T(3, 4), T(4, 5), kwargs=BETA_ALPHA, name="numbers", tol=HALF),
    Case("aten::addmm", T(3, 5), T(3, 4), T(4, 5), kwargs=INTEGER, name="integers", dtypes=INTS),
    Case(
        "aten::addmm", V([NAN, 1.0]), T(3, 4), T(4, 2), kwargs={"beta": 0}, name="nan", dtypes=F32
    ),
    Case("aten::addmm", T(3, 5), T(3, 0), T(0, 5), kwargs={"beta": 0.3}, name="nothing to sum"),
    Case("aten::baddbmm", T(2, 3, 5), T(2, 3, 4), T(2, 4, 5), kwargs=BETA_ALPHA, tol=HALF),
    Case(
        "aten::baddbmm",
        V([[[NAN]]]),
        T(1, 1, 4),
        T(1, 4, 1),
        kwargs={"beta": 0},
        name="nan",
        dtypes=F32,
    ),
    Case("aten::addbmm", T(3, 5), T(2, 3, 4), T(2, 4, 5), kwargs=BETA_ALPHA, tol=HALF),
    Case("aten::addmv", T(3), T(3, 4), T(4), kwargs=BETA_ALPHA, tol=HALF),
    Case("aten::addmv", V([NAN]), T(1, 4), T(4), kwargs={"beta": 0}, name="nan", dtypes=F32),
    Case("aten::addr", T(3, 4), T(3), T(4), kwargs=BETA_ALPHA, tol=HALF),
    Case("aten::addr", T(4), T(3), T(4), kwargs=INTEGER, name="integers", dtypes=INTS),
    Case("aten::_addmm_activation", T(5), T(3, 4), T(4, 5), backward=False, tol=HALF),
    Case(
        "aten::_addmm_activation",
        T(5),
        T(3, 4),
        T(4, 5),
        kwargs={"use_gelu": True},
        name="gelu",
        backward=False,
        tol=HALF,
    ),
]

test_matmul = cases_to_tests(PRODUCTS + FUSED)


def test_baddbmm_with_a_wider_result():
    a = torch.full((2, 3, 4), 0.5, dtype=torch.bfloat16).to(DEVICE)
    b = torch.full((2, 4, 5), 3.0, dtype=torch.bfloat16).to(DEVICE)
    bias = torch.full((2, 3, 5), 1.25).to(DEVICE)
    got = torch.baddbmm(bias, a, b, torch.float32, beta=2, alpha=0.5)
    assert_same(got, torch.full((2, 3, 5), 5.5))
