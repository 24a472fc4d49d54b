# Reported cases, part A6: linear algebra.
import pytest
import torch
from support import assert_same, tpu_only

pytestmark = tpu_only


def spd(*size):
    a = torch.randn(*size, generator=torch.Generator().manual_seed(0))
    return a @ a.mT + 3 * torch.eye(size[-1])


def test_case_094_svd_of_ones_and_of_nothing():
    x = torch.ones(2, 3, 3, device="tpu")
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    expected = torch.tensor([3.0, 0.0, 0.0]).expand(2, 3)
    torch.testing.assert_close(s.cpu(), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close((u * s[:, None]).matmul(vh), x, rtol=1e-5, atol=1e-5)
    shapes = [t.shape for t in torch.linalg.svd(torch.empty(0, 0, device="tpu"))]
    assert shapes == [(0, 0), (0,), (0, 0)]


def test_case_095_inverse_of_many():
    x = 2 * torch.eye(3).expand(5000, 3, 3)
    got = torch.inverse(x.to("tpu"))
    assert_same(got, (0.5 * torch.eye(3)).expand(5000, 3, 3))


@pytest.mark.parametrize(
    "f",
    [
        torch.linalg.cholesky,
        torch.linalg.eigvalsh,
        torch.det,
        torch.pinverse,
        lambda x: torch.linalg.eigh(x)[0],
        lambda x: torch.linalg.solve(x, torch.ones_like(x)),
        lambda x: torch.linalg.svdvals(x),
        lambda x: torch.linalg.qr(x)[1].abs(),
        lambda x: torch.linalg.eigvals(x).real.sort().values,
    ],
    ids=["cholesky", "eigvalsh", "det", "pinverse", "eigh", "solve", "svd", "qr", "eigvals"],
)
def test_case_095_values_and_gradients(f):
    x = spd(4, 4)
    results = []
    for device in ("cpu", "tpu"):
        leaf = x.to(device, copy=True).requires_grad_()
        y = f(leaf)
        (y * torch.arange(1.0, 1 + y.numel(), device=device).view_as(y)).sum().backward()
        results.append((y.detach().cpu(), leaf.grad.cpu()))
    for got, expected in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-3)
