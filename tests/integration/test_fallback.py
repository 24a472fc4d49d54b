# The CPU fallback: off by default, on inside a context, one warning per operator, counted.
import warnings

import pytest
import torch
from support import DEVICE, equals, tpu_only

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
