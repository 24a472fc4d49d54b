# The CPU fallback (off by default, one warning per operator, counted) and declared host operators.
import warnings

import pytest
import torch
from support import DEVICE, assert_same, equals, run_python, tpu_only

pytestmark = tpu_only

NAME = "torch_tpu_fallback_test"


@pytest.fixture(scope="module")
def ops():
    """Operators that only the CPU will ever have."""
    library = torch.library.Library(NAME, "DEF")
    library.define("triple(Tensor x) -> Tensor")
    library.define("triple_(Tensor(a!) x) -> Tensor(a!)")
    library.define("pair(Tensor[] xs, int n) -> (Tensor, Tensor)")
    library.impl("triple", lambda x: x * 3, "CPU")
    library.impl("triple_", lambda x: x.mul_(3), "CPU")
    library.impl("pair", lambda xs, n: (sum(xs), xs[0] * n), "CPU")
    yield getattr(torch.ops, NAME)
    library._destroy()


def test_off_by_default(ops):
    with pytest.raises(NotImplementedError, match=f"{NAME}::triple"):
        ops.triple(torch.ones(2, device=DEVICE))


def test_on_inside_the_context_only(ops):
    x = torch.ones(2, device=DEVICE)
    with torch.tpu.cpu_fallback(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = ops.triple(x)
        with torch.tpu.cpu_fallback(False), pytest.raises(NotImplementedError):
            ops.triple(x)
        equals(ops.triple(out), [9, 9])
    assert out.device.type == "tpu"
    equals(out, [3, 3])
    with pytest.raises(NotImplementedError):
        ops.triple(x)


def test_in_place_and_lists(ops):
    x = torch.ones(4, device=DEVICE)
    with torch.tpu.cpu_fallback(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ops.triple_(x[1:3])
        equals(x, [1, 3, 3, 1])
        total, scaled = ops.pair([x, x + 1], 5)
    equals(total, [3, 7, 7, 3])
    equals(scaled, [5, 15, 15, 5])


def test_counts_every_use(ops):
    x = torch.ones(2, device=DEVICE)
    before = torch.tpu.fallback_counts().get(f"{NAME}::triple", 0)
    with torch.tpu.cpu_fallback(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            ops.triple(x)
    assert torch.tpu.fallback_counts()[f"{NAME}::triple"] - before == 3


def test_warns_once_per_operator(ops, capfd):
    library = torch.library.Library(NAME, "FRAGMENT")
    library.define("fresh(Tensor x) -> Tensor")
    library.impl("fresh", lambda x: x + 1, "CPU")
    x = torch.ones(2, device=DEVICE)
    with warnings.catch_warnings(record=True) as seen, torch.tpu.cpu_fallback():
        warnings.simplefilter("always")
        for _ in range(4):
            ops.fresh(x)
    # Through torch.ops, PyTorch sends warnings of C++ to stderr instead of Python's filters.
    lines = [str(w.message) for w in seen] + capfd.readouterr().err.splitlines()
    texts = [line for line in lines if f"{NAME}::fresh" in line]
    assert len(texts) == 1
    assert "CPU" in texts[0]


def test_host_operator_needs_no_switch_and_is_counted():
    a = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    before = torch.tpu.host_operator_counts().get("_linalg_eigvals", 0)
    fallbacks = torch.tpu.fallback_counts()
    got = torch.linalg.eigvals(a.to(DEVICE))
    assert_same(got, torch.linalg.eigvals(a))
    assert torch.tpu.host_operator_counts()["_linalg_eigvals"] == before + 1
    assert torch.tpu.fallback_counts() == fallbacks


def test_host_operator_gives_one_notice():
    done = run_python(
        """
import warnings, torch
a = torch.eye(3, device="tpu")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(3):
        torch.linalg.eig(a)
        torch.linalg.eigvals(a)
for w in seen:
    print(w.message)
"""
    )
    lines = [line for line in done.stdout.splitlines() if "runs on the host" in line]
    assert [line.split()[0] for line in lines] == ["aten::linalg_eig", "aten::_linalg_eigvals"]
    assert "because the eigenvalues of a matrix that is not symmetric" in lines[0]


def test_host_operator_keeps_strides_and_writes_into_views():
    a = torch.diag(torch.tensor([3.0, 2.0, 1.0]))
    values, vectors = torch.linalg.eig(a.to(DEVICE))
    assert vectors.stride() == torch.linalg.eig(a)[1].stride()
    out = torch.zeros(6, dtype=torch.complex64, device=DEVICE)
    assert torch.linalg.eigvals(a.to(DEVICE), out=out[::2]) is not None
    equals(out, [3, 0, 2, 0, 1, 0])
    resized = (
        torch.empty(0, dtype=torch.complex64, device=DEVICE),
        torch.empty(0, dtype=torch.complex64, device=DEVICE),
    )
    torch.linalg.eig(a.to(DEVICE), out=resized)
    assert_same(resized[0], values.cpu())
    assert_same(resized[1], vectors.cpu())


def test_host_operator_raises_what_the_cpu_raises():
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            torch.linalg.eig(torch.full((2, 2), float("nan"), device=device))
    with pytest.raises(RuntimeError, match="same device"):
        torch.linalg.ldl_solve(
            torch.eye(2, device=DEVICE),
            torch.ones(2, dtype=torch.int32, device=DEVICE),
            torch.ones(2, 2),
        )


def test_host_operator_cannot_be_captured():
    from torch_tpu.aot import capture

    with pytest.raises(NotImplementedError, match=r"linalg_eig.*cannot be part of a captured"):
        capture(lambda x: torch.linalg.eig(x + 1), (torch.eye(3),))


def test_host_operators_are_listed():
    from torch_tpu import operators

    found = {r.name: r for r in operators.resolve_all(operators.overloads())}
    assert found["aten::linalg_eig.out"].kind == operators.HOST
    assert "symmetric" in found["aten::linalg_eig"].detail
    assert found["aten::linalg_lstsq"].kind == operators.COMPOSITE
    assert found["aten::linalg_lstsq.out"].kind == operators.HOST
    assert found["aten::_linalg_eigh.eigenvalues"].kind == operators.LOWERING
