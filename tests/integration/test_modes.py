# Strict, Debug and Defer: switches, nesting, threads, and what each launches.
import threading

import pytest
import torch
from support import DEVICE, equals, launch_count, run_python, tpu_only

pytestmark = tpu_only


def test_strict_is_the_default_and_contexts_nest():
    assert torch.tpu.get_eager_mode() == "strict"
    with torch.tpu.eager_mode("debug"):
        assert torch.tpu.get_eager_mode() == "debug"
        with torch.tpu.eager_mode("strict"):
            assert torch.tpu.get_eager_mode() == "strict"
        assert torch.tpu.get_eager_mode() == "debug"
        with pytest.raises(RuntimeError, match="left"), torch.tpu.eager_mode("strict"):
            raise RuntimeError("left")
        assert torch.tpu.get_eager_mode() == "debug"
    assert torch.tpu.get_eager_mode() == "strict"


def test_unknown_mode():
    with pytest.raises(ValueError, match="strict, debug, defer"), torch.tpu.eager_mode("lazy"):
        pass


def test_mode_belongs_to_the_thread():
    seen = []
    with torch.tpu.eager_mode("debug"):
        thread = threading.Thread(target=lambda: seen.append(torch.tpu.get_eager_mode()))
        thread.start()
        thread.join()
    assert seen == ["strict"]


@pytest.mark.parametrize(("value", "mode"), [("1", "debug"), ("0", "strict"), (None, "strict")])
def test_environment_variable(value, mode):
    code = "import torch; print(torch.tpu.get_eager_mode())"
    assert run_python(code, TORCH_TPU_LAUNCH_BLOCKING=value).stdout.strip() == mode


@pytest.mark.parametrize(("blocking", "mode"), [(None, "defer"), ("1", "debug")])
def test_defer_variable_comes_after_launch_blocking(blocking, mode):
    code = "import torch; print(torch.tpu.get_eager_mode())"
    done = run_python(code, TORCH_TPU_DEFER_AND_FUSE="1", TORCH_TPU_LAUNCH_BLOCKING=blocking)
    assert done.stdout.strip() == mode


def test_context_beats_the_environment():
    code = (
        "import torch\n"
        "with torch.tpu.eager_mode('strict'):\n    print(torch.tpu.get_eager_mode())\n"
    )
    assert run_python(code, TORCH_TPU_LAUNCH_BLOCKING="1").stdout.strip() == "strict"


@pytest.mark.parametrize("mode", ["strict", "debug"])
def test_one_launch_per_operator(mode):
    x = torch.arange(4.0).to(DEVICE)
    with torch.tpu.eager_mode(mode):
        before = launch_count()
        y = x + 1
        z = y * x
        z.sub_(y)
        w = z.exp().sum()
        assert launch_count() - before == 5
    assert w.device.type == "tpu"


def test_one_launch_for_all_deferred_operators():
    x = torch.arange(4.0).to(DEVICE)
    before = launch_count()
    with torch.tpu.eager_mode("defer"):
        y = x + 1
        z = y * x
        z.sub_(y)
        w = z.exp().sum()
        assert launch_count() == before
    torch.tpu.synchronize()
    assert launch_count() - before == 1
    assert w.device.type == "tpu"


def test_no_launch_for_views_constants_and_clones():
    x = torch.arange(6.0).to(DEVICE)
    before = launch_count()
    y = x.view(2, 3).t()[1:]
    torch.zeros(100, device=DEVICE)
    torch.empty(5, device=DEVICE)
    x.clone()
    y.unsqueeze(0).expand(4, -1, -1)
    x.detach()
    assert launch_count() == before


@pytest.mark.parametrize("mode", ["strict", "debug", "defer"])
def test_results_are_the_same(mode):
    torch.manual_seed(0)
    x = torch.randn(5, 7)

    def run(t):
        t = t.clone()
        t[1:3, ::2].mul_(3)
        return (t.softmax(-1) @ t.t()).relu() + t.sum(1)

    with torch.tpu.eager_mode(mode):
        actual = run(x.to(DEVICE)).cpu()
    torch.testing.assert_close(actual, run(x))


@pytest.mark.parametrize("mode", ["debug", "defer"])
def test_backward(mode):
    with torch.tpu.eager_mode(mode):
        x = torch.ones(3, device=DEVICE, requires_grad=True)
        (x.exp() * x).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), torch.full((3,), 2 * 2.718281828))


def test_foreach_is_one_launch():
    tensors = [torch.ones(n, device=DEVICE) + 1 for n in (2, 3, 4)]
    before = launch_count()
    out = torch._foreach_add(tensors, 1)
    assert launch_count() - before == 1
    equals(out[1], [3, 3, 3])
