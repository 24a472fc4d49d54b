# Factorisations and solves with gradients, determinants, and errors for singular matrices.
import pytest
import torch
from harness import Case, T, cases_to_tests
from support import DEVICE, assert_same

F32 = (torch.float32,)
WIDE = (torch.float64, torch.float32, torch.complex128)
TOL = {torch.float32: (1e-2, 1e-2), torch.float64: (1e-7, 1e-7), torch.complex128: (1e-7, 1e-7)}
A, B = T(2, 4, 4), T(2, 4, 3)


def shifted(a):
    return a + 4 * torch.eye(4, dtype=a.dtype, device=a.device)


def positive(a):
    return a @ a.mH + torch.eye(4, dtype=a.dtype, device=a.device)


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
        strides=False,  # CPU's are LAPACK's
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
