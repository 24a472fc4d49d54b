# Eigenvalues and singular values: programs (eigh, svd), host operators (eig), and their users.
import warnings

import pytest
import torch
from harness import Case, T, cases_to_tests
from support import DEVICE, ON_TPU, assert_same

# strides=False for svd: Meta gives Vh the strides that it has on CUDA, and the device follows Meta.
WIDE = (torch.float64, torch.float32, torch.complex128, torch.complex64)
TOL = {
    torch.float32: (1e-3, 1e-4),
    torch.float64: (1e-8, 1e-9),
    torch.complex64: (1e-3, 1e-4),
    torch.complex128: (1e-8, 1e-9),
}


def case(name, fn, *args, dtypes=WIDE, **options):
    op, _, variant = name.partition(" ")
    return Case(op, *args, fn=fn, name=variant, dtypes=dtypes, tol=TOL, **options)


def raw(op, *args, name="", dtypes=WIDE, **options):
    """The overload itself: vectors are compared without their signs or phases."""

    def check(actual, expected):
        rtol, atol = TOL[expected.dtype]
        torch.testing.assert_close(actual.abs(), expected.abs(), rtol=rtol, atol=atol)

    return Case(
        op, *args, name=name, dtypes=dtypes, check=check, backward=False, out_dtype=False, **options
    )


def hermitian(a):
    return a + a.mH


def eigh(a):
    values, vectors = torch.linalg.eigh(hermitian(a))
    return values, vectors.abs(), (vectors * values.unsqueeze(-2).exp().to(a.dtype)) @ vectors.mH


def svd(a, full=False):
    u, s, vh = torch.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    return (
        s,
        u[..., :k].abs(),
        vh[..., :k, :].abs(),
        (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :],
    )


def eig(a):
    values, vectors = torch.linalg.eig(a)
    order = values.detach().cpu().abs().argsort(dim=-1).to(values.device)
    return values.gather(-1, order), vectors @ (values.unsqueeze(-1) * torch.linalg.inv(vectors))


def rank_one(a):
    return a[..., :1] @ a[..., :1].mH


CASES = [
    raw("aten::_linalg_eigh", T(3, 5, 5)),
    raw("aten::_linalg_eigh", T(4, 4), "U", name="upper"),
    raw("aten::_linalg_eigh", T(3, 3), "L", False, name="values only"),
    raw("aten::_linalg_svd", T(2, 5, 3), strides=False),
    raw("aten::_linalg_svd", T(3, 5), name="wide", strides=False, dtypes=WIDE[:1]),
    raw("aten::_linalg_svd", T(2, 4, 3), False, False, name="values only"),
    case("eigh", eigh, T(2, 4, 4)),
    case("eigh odd", eigh, T(7, 7), dtypes=WIDE[:1]),
    case("eigvalsh", lambda a: torch.linalg.eigvalsh(a), T(2, 5, 5)),
    case("eigvalsh upper", lambda a: torch.linalg.eigvalsh(a, UPLO="U"), T(3, 3)),
    case("eigh of nothing", torch.linalg.eigvalsh, T(0, 0), backward=False),
    case("eigh of no matrices", torch.linalg.eigvalsh, T(0, 3, 3), backward=False),
    case("eigh of a number", eigh, T(1, 1)),
    case("svd", svd, T(2, 4, 4), strides=False),
    case("svd tall", svd, T(2, 6, 3), strides=False),
    case("svd wide", svd, T(3, 5), strides=False),
    case("svd tall full", lambda a: svd(a, True), T(6, 3), backward=False, strides=False),
    case("svd wide full", lambda a: svd(a, True), T(2, 3, 5), backward=False, strides=False),
    case("svdvals", torch.linalg.svdvals, T(2, 5, 3)),
    case(
        "svd of nothing",
        lambda a: torch.linalg.svd(a, full_matrices=True),
        T(2, 3, 0),
        backward=False,
    ),
    case("nuclear norm", lambda a: torch.linalg.matrix_norm(a, "nuc"), T(2, 4, 3)),
    case("spectral norm", lambda a: torch.linalg.matrix_norm(a, 2), T(2, 4, 3)),
    case("smallest norm", lambda a: torch.linalg.matrix_norm(a, -2), T(4, 3)),
    case("cond", torch.linalg.cond, T(2, 4, 4)),
    case("cond of fro", lambda a: torch.linalg.cond(a, "fro"), T(4, 4), backward=False),
    case("pinv", torch.linalg.pinv, T(2, 5, 3)),
    case("pinv hermitian", lambda a: torch.linalg.pinv(hermitian(a), hermitian=True), T(4, 4)),
    case(
        "pinv of rank one",
        lambda a: torch.linalg.pinv(rank_one(a)),
        T(4, 4),
        forms=("functional", "strided"),  # debug mode rounds what is zero elsewhere differently
    ),
    case("matrix_rank", torch.linalg.matrix_rank, T(2, 5, 3)),
    case("matrix_rank one", lambda a: torch.linalg.matrix_rank(rank_one(a)), T(5, 5)),
    case(
        "matrix_rank hermitian",
        lambda a: torch.linalg.matrix_rank(rank_one(a), hermitian=True),
        T(5, 5),
    ),
    case("eig", eig, T(2, 4, 4)),
    case("eigvals", lambda a: torch.linalg.eigvals(a).abs().sort().values, T(2, 4, 4)),
    raw("aten::linalg_eig", T(2, 4, 4)),
    raw("aten::_linalg_eigvals", T(3, 3)),
    raw("aten::linalg_eigvals", T(3, 3)),
]

test_linalg_eigen = cases_to_tests(CASES)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("n", [16, 33])
def test_decompositions_hold_to_working_precision(n, dtype):
    """Residuals and orthogonality, in units of rounding."""
    a = torch.randn(n, n, dtype=dtype, generator=torch.Generator().manual_seed(n)).to(DEVICE)
    bound = 40 * n**0.5 * torch.finfo(dtype).eps
    identity = torch.eye(n, dtype=dtype)

    def small(difference, size):
        assert (difference.cpu().abs().max() / size).item() < bound

    h = hermitian(a)
    values, vectors = torch.linalg.eigh(h)
    norm = values.cpu().abs().max()
    small(h @ vectors - vectors * values.to(dtype), norm)
    small((vectors.mH @ vectors).cpu() - identity, 1)
    u, s, vh = torch.linalg.svd(a)
    small((u * s.to(dtype)) @ vh - a, s.cpu().max())
    small((u.mH @ u).cpu() - identity, 1)
    small((vh @ vh.mH).cpu() - identity, 1)


def test_singular_matrices_and_full_bases_have_orthonormal_vectors():
    rows = torch.arange(1.0, 7.0, dtype=torch.float64)
    for a in (torch.zeros(4, 4, dtype=torch.float64), torch.outer(rows, rows[:4])):  # 6 x 4
        u, s, vh = torch.linalg.svd(a.to(DEVICE))
        assert_same(u.mT @ u, torch.eye(len(u), dtype=a.dtype))
        assert_same(vh @ vh.mT, torch.eye(len(vh), dtype=a.dtype))
        assert_same(s, torch.linalg.svdvals(a), rtol=1e-12, atol=1e-12)
        assert_same((u[:, :4] * s) @ vh, a, rtol=1e-12, atol=1e-12)


def test_repeated_eigenvalues():
    a = torch.eye(5, dtype=torch.float64)
    a[0, 1] = a[1, 0] = 1.0
    values, vectors = torch.linalg.eigh(a.to(DEVICE))
    assert_same(values, torch.tensor([0.0, 1, 1, 1, 2], dtype=a.dtype), rtol=0, atol=1e-15)
    assert_same((vectors * values) @ vectors.mT, a, rtol=0, atol=1e-15)
    assert_same(torch.linalg.eigvalsh(torch.zeros(3, 3, device=DEVICE)), torch.zeros(3))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_extreme_entries(scale):
    a = torch.tensor([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]]) * scale
    assert_same(torch.linalg.eigvalsh(a.to(DEVICE)), torch.linalg.eigvalsh(a), rtol=1e-5, atol=0)
    assert_same(torch.linalg.svdvals(a.to(DEVICE)), torch.linalg.svdvals(a), rtol=1e-5, atol=0)


@pytest.mark.skipif(not ON_TPU, reason="asks for the tpu device, which cpu stands in for")
def test_non_finite_matrices_end_in_nan_and_raise_in_debug_mode():
    a = torch.full((3, 3), float("nan"), device=DEVICE)
    assert torch.linalg.eigvalsh(a).isnan().all()
    assert torch.linalg.svdvals(a).isnan().all()
    with torch.tpu.eager_mode("debug"), pytest.raises(RuntimeError, match="non-finite"):
        torch.linalg.eigvalsh(a)


def test_wrong_arguments():
    for run in (torch.linalg.eigvalsh, torch.linalg.eigvals, torch.linalg.inv):
        with pytest.raises(RuntimeError, match="square matrices"):
            run(torch.ones(2, 3, device=DEVICE))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        torch.linalg.svd(torch.ones(3, device=DEVICE))
    with pytest.raises(RuntimeError, match="UPLO"):
        torch.linalg.eigh(torch.ones(2, 2, device=DEVICE), UPLO="X")


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
def test_lstsq(shape, driver):
    gen = torch.Generator().manual_seed(1)
    a = torch.randn(shape, generator=gen, dtype=torch.float64)
    b = torch.randn(*shape[:-1], 2, generator=gen, dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = torch.linalg.lstsq(a.to(DEVICE), b.to(DEVICE), driver=driver)
    want = torch.linalg.lstsq(a, b, driver=driver)
    for name in ("solution", "residuals", "rank", "singular_values"):
        assert_same(getattr(got, name), getattr(want, name))


def test_lstsq_gradients():
    gen = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 5, 3, generator=gen), torch.randn(2, 5, 2, generator=gen)

    def gradients(device):
        x, y = a.to(device).requires_grad_(), b.to(device).requires_grad_()
        return torch.autograd.grad(torch.linalg.lstsq(x, y).solution.sum(), (x, y))

    for got, want in zip(gradients(DEVICE), gradients("cpu"), strict=True):
        assert_same(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("hermitian_factors", [False, True])
def test_ldl(hermitian_factors):
    a = hermitian(torch.randn(2, 4, 4, dtype=torch.complex128)).to(DEVICE)
    if not hermitian_factors:
        a = a + a.mT
    b = torch.ones(2, 4, 2, dtype=torch.complex128, device=DEVICE)
    factors = torch.linalg.ldl_factor(a, hermitian=hermitian_factors)
    want = torch.linalg.ldl_factor(a.cpu(), hermitian=hermitian_factors)
    assert_same(factors.LD, want.LD)
    assert_same(factors.pivots, want.pivots)
    x = torch.linalg.ldl_solve(*factors, b, hermitian=hermitian_factors)
    assert_same(a @ x, b.cpu())
