# Factorisations and solves with gradients, determinants, and errors for singular matrices.
import pytest
import torch
from harness import Case, T, cases_to_tests
from support import DEVICE, assert_same

F32 = (torch.float32,)
WIDE = (torch.float64, torch.float32, torch.complex128)
TOL = {
    torch.float32: (1e-2, 1e-2),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1e-2, 1e-2),
    torch.complex128: (1e-7, 1e-7),
    torch.bfloat16: (5e-2, 5e-2),
}
A, B = T(2, 4, 4), T(2, 4, 3)
ALL = (*WIDE, torch.complex64)
LAPACK = {"strides": False, "out_dtype": False, "tol": TOL}  # CPU's results are stored by columns


def shifted(a):
    return a + 4 * torch.eye(4, dtype=a.dtype, device=a.device)


def positive(a):
    return a @ a.mH + torch.eye(4, dtype=a.dtype, device=a.device)


def packed_qr(a):
    return torch.geqrf(a.detach())


def case(name, fn, *args, dtypes=WIDE, **options):
    op, _, variant = name.partition(" ")  # the fast set runs the forms once for each operator
    return Case(op, *args, fn=fn, name=variant, dtypes=dtypes, tol=TOL, **options)


CASES = [
    case("cholesky", lambda a: torch.linalg.cholesky(positive(a)), A),
    case("cholesky upper", lambda a: torch.linalg.cholesky(positive(a), upper=True), A),
    case(
        "cholesky_solve",
        lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(positive(a))),
        A,
        B,
    ),
    case(
        "cholesky_inverse", lambda a: torch.cholesky_inverse(torch.linalg.cholesky(positive(a))), A
    ),
    case("solve", lambda a, b: torch.linalg.solve(shifted(a), b), A, B),
    case("solve right", lambda a, b: torch.linalg.solve(shifted(a), b.mT, left=False), A, B),
    case("solve vector", lambda a, b: torch.linalg.solve(shifted(a), b), T(4, 4), T(4)),
    case("solve transposed view", lambda a, b: torch.linalg.solve(shifted(a).mT, b), A, B),
    case("inv", lambda a: torch.linalg.inv(shifted(a)), A),
    case("det", torch.linalg.det, A),
    case("det transposed view", lambda a: torch.linalg.det(a.mT), A),
    case("slogdet", lambda a: torch.linalg.slogdet(a), A),
    case("slogdet transposed view", lambda a: torch.linalg.slogdet(a.mT), A),
    case("det of nothing", torch.linalg.det, T(0, 0), backward=False),
    case("lu_factor", lambda a: torch.linalg.lu_factor(a), A),
    case("lu tall", lambda a: torch.linalg.lu(a), T(2, 5, 3), backward=False),
    case("lu wide", lambda a: torch.linalg.lu(a), T(3, 5), backward=False),
    case("lu_solve", lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), A, B),
    case(
        "lu_solve adjoint right",
        lambda a, b: torch.linalg.lu_solve(
            *torch.linalg.lu_factor(a), b.mT, left=False, adjoint=True
        ),
        A,
        B,
    ),
    case(
        "solve_triangular",
        lambda a, b: torch.linalg.solve_triangular(shifted(a), b, upper=True),
        A,
        B,
    ),
    case(
        "solve_triangular unit right",
        lambda a, b: torch.linalg.solve_triangular(
            a, b.mT, upper=False, left=False, unitriangular=True
        ),
        A,
        B,
    ),
    Case("aten::geqrf", T(2, 5, 3), dtypes=ALL, backward=False, **LAPACK),
    Case("aten::geqrf", T(3, 5), dtypes=ALL, name="wide", backward=False, **LAPACK),
    Case("aten::linalg_qr", T(2, 5, 3), dtypes=ALL, out_dtype=False),
    Case("aten::linalg_qr", T(2, 3, 5), dtypes=ALL, name="wide"),
    Case("aten::linalg_qr", T(5, 3), "complete", dtypes=ALL, name="complete", backward=False),
    Case("aten::linalg_qr", T(4, 4), "r", dtypes=ALL, name="r", backward=False),
    case("qr of nothing", lambda a: torch.linalg.qr(a, mode="complete"), T(3, 0), backward=False),
    case("qr of no columns", torch.linalg.qr, T(2, 0, 3), backward=False),
    case("qr of zeros", lambda a: torch.linalg.qr(a * 0), T(4, 3), backward=False),
    Case("aten::linalg_householder_product", T(2, 5, 3), T(2, 3), dtypes=ALL, **LAPACK),
    Case("aten::linalg_householder_product", T(5, 4), T(2), dtypes=ALL, name="fewer", **LAPACK),
    case(
        "ormqr of factors",
        lambda a, b: torch.ormqr(*packed_qr(a), b),
        T(2, 4, 3),
        B,
        dtypes=ALL,
        strides=False,
    ),
    Case("aten::ormqr", T(4, 3), T(3), T(4, 2), dtypes=ALL, **LAPACK),
    Case("aten::ormqr", T(4, 3), T(3), T(4, 2), True, True, name="adjoint", dtypes=ALL, **LAPACK),
    Case("aten::ormqr", T(4, 3), T(3), T(2, 4), False, name="right", dtypes=ALL, **LAPACK),
    Case("aten::ormqr", T(3, 3), T(3), T(2, 3), False, True, name="both", dtypes=ALL, **LAPACK),
    Case("aten::linalg_matrix_exp", A, dtypes=(*ALL, torch.bfloat16), tol=TOL, exact=True),
    case("matrix_exp of a number", torch.linalg.matrix_exp, T(3, 1, 1)),
    case("matrix_exp of nothing", torch.linalg.matrix_exp, T(2, 0, 0), backward=False),
    case("matrix_exp large", lambda a: torch.linalg.matrix_exp(a * 9), T(3, 5, 5)),
    case(
        "matrix_exp of unlike sizes",
        lambda a: torch.linalg.matrix_exp(
            a * torch.tensor([0, 1e-3, 8.0], device=a.device).view(3, 1, 1)
        ),
        T(3, 4, 4),
        dtypes=F32,
    ),
    Case(  # real ones only: CPU misreads complex coefficients
        "aten::_compute_linear_combination",
        T(3, 2, 2),
        T(4, 3),
        dtypes=WIDE[:2],
        forms=("functional", "strided"),
    ),
    case("old cholesky", lambda a: torch.cholesky(positive(a)), A),
    case("old cholesky upper", lambda a: torch.cholesky(positive(a), upper=True), A),
    Case("aten::linalg_cross", T(4, 3), T(4, 3)),
    Case("aten::linalg_cross", T(3, 4), T(3, 1), kwargs={"dim": 0}, name="first", dtypes=F32),
    Case("cross", T(2, 3), T(2, 3), fn=torch.linalg.cross, dtypes=F32),
]

test_linalg = cases_to_tests(CASES)


def test_cholesky_names_the_minor():
    bad = torch.diag(torch.tensor([1.0, 1.0, -1.0, 1.0])).to(DEVICE)
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 3"):
        torch.linalg.cholesky(bad)
    both = torch.stack([torch.eye(4).to(DEVICE), bad])
    assert torch.linalg.cholesky_ex(both).info.tolist() == [0, 3]


def test_linear_combination_adds_to_out():
    out = torch.full((1, 2), 10.0, device=DEVICE)
    terms = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE)
    torch._compute_linear_combination(terms, torch.tensor([[2.0, 1.0]], device=DEVICE), out=out)
    assert out.tolist() == [[15.0, 18.0]]


def test_old_cholesky():
    a = torch.tensor([[4.0, 2.0], [2.0, 5.0]], device=DEVICE)
    out = torch.empty(0, device=DEVICE)
    torch.cholesky(a, out=out)
    assert out.tolist() == [[2.0, 0.0], [1.0, 2.0]]
    assert torch.cholesky(torch.ones(0, 3, device=DEVICE)).shape == (0, 3)
    with pytest.raises(torch.linalg.LinAlgError, match=r"cholesky.*leading minor of order 2"):
        torch.cholesky(torch.tensor([[1.0, 2.0], [2.0, 1.0]], device=DEVICE))
    with pytest.raises(RuntimeError, match="square matrices"):
        torch.cholesky(torch.ones(2, 3, device=DEVICE))


def test_singular_matrices():
    ones = torch.ones(3, 3, device=DEVICE)
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        torch.linalg.inv(ones)
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        torch.linalg.solve(ones, torch.ones(3, device=DEVICE))
    assert torch.linalg.det(ones).item() == 0
    sign, log = torch.linalg.slogdet(ones)
    assert (sign.item(), log.item()) == (0.0, -float("inf"))


def test_inverse_of_many_matrices():
    many = (2 * torch.eye(3)).expand(5000, 3, 3).contiguous().to(DEVICE)
    assert_same(torch.linalg.inv(many), 0.5 * torch.eye(3).expand(5000, 3, 3))
