# The deferred mode: what sends the calls that wait, and what is never computed.
from pathlib import Path

import pytest
import torch
from defercases import defer
from support import DEVICE, equals, launch_count, run_python, tpu_only
from torch_tpu import _C

ROOT = Path(__file__).parents[2]
pytestmark = tpu_only


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0, 4.0]).to(DEVICE)


# Reading.

READS = {
    "cpu": (lambda y: y.cpu().tolist(), [4, 6, 10]),
    "item": (lambda y: y[1].item(), 6),
    "bool": (lambda y: bool(y[0] == 4), True),
    "float": (lambda y: float(y.sum()), 20),
    "tolist": (lambda y: y.tolist(), [4, 6, 10]),
    "repr": (lambda y: "[ 4.,  6., 10.]" in repr(y), True),
    "format": (lambda y: f"{y[2]:.1f}", "10.0"),
    "numpy": (lambda y: y.cpu().numpy().tolist(), [4, 6, 10]),
    "copy_ to the host": (lambda y: torch.empty(3).copy_(y).tolist(), [4, 6, 10]),
    "nonzero": (lambda y: list((y > 5).nonzero().shape), [2, 1]),
    "boolean index": (lambda y: list(y[y > 5].shape), [2]),
    "masked_select": (lambda y: list(y.masked_select(y > 9).shape), [1]),
    "unique": (lambda y: list(y.unique().shape), [3]),
    "equal": (lambda y: torch.equal(y, y + 0), True),
    "allclose": (lambda y: torch.allclose(y, y), True),
    "is_nonzero": (lambda y: torch.is_nonzero(y[0]), True),
    "len of a loop": (lambda y: [v.item() for v in y], [4, 6, 10]),
}


@pytest.mark.parametrize("read", READS)
def test_reading_sends(x, read):
    work, expected = READS[read]
    with defer():
        y = (x + 1) * 2
        before = launch_count()
        assert work(y) == expected
        assert launch_count() > before


WAITS = {
    "event record": lambda: torch.Event(device=DEVICE).record(),
    "stream synchronise": lambda: torch.tpu.current_stream().synchronize(),
    "device synchronise": lambda: torch.tpu.synchronize(),
    "stream query": lambda: torch.tpu.current_stream().query(),
}


@pytest.mark.parametrize("wait", WAITS)
def test_waiting_sends(x, wait):
    with defer():
        y = (x + 1) * 2
        before = launch_count()
        WAITS[wait]()
        torch.tpu.synchronize()
        assert launch_count() - before == 1
        equals(y, [4, 6, 10])
        assert launch_count() - before == 1


def test_nothing_is_launched_before(x):
    before = launch_count()
    with defer():
        y = x
        for _ in range(9):
            y = y * 0.5 + x
        z = y.view(3, 1).t().softmax(-1)
        z.shape, z.dtype, z.stride(), z.numel(), y.is_contiguous(), z.data_ptr()
        assert launch_count() == before
    torch.tpu.synchronize()
    assert launch_count() - before == 1
    assert z.sum().item() == pytest.approx(1)


def test_leaving_the_mode_sends(x):
    before = launch_count()
    with defer():
        y = (x + 1) * 2
        assert launch_count() == before
    torch.tpu.synchronize()
    assert launch_count() - before == 1
    equals(y, [4, 6, 10])


def test_leaving_by_an_exception_sends(x):
    with pytest.raises(KeyError), defer():
        y = (x + 1) * 2
        raise KeyError
    assert torch.tpu.get_eager_mode() == "strict"
    equals(y, [4, 6, 10])


def test_dead_results_are_never_computed(x):
    before = launch_count()
    with defer():
        y = (x + 1) * 2
        del y
        torch.tpu.synchronize()
    torch.tpu.synchronize()
    assert launch_count() == before


def log_of(code):
    """Lines that say what was sent: [(calls, text)]."""
    done = run_python("import torch\n" + code, TORCH_TPU_LOG_LEVEL="debug")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "as one program" in line]
    return [(int(line.split("launching ")[1].split()[0]), line) for line in lines]


def test_live_siblings_are_computed_and_dead_ones_are_not():
    sent = log_of("""
x = torch.ones(3).to("tpu")
with torch.tpu.eager_mode("defer"):
    y = x + 1
    live = y.exp()
    dead = y.sin()
    del dead
    read = y * 2
    assert read.tolist() == [4, 4, 4]
""")
    assert [calls for calls, _ in sent] == [3], sent  # add, exp, mul
    assert "aten::add" in sent[0][1]


def test_a_live_sibling_needs_no_second_launch(x):
    with defer():
        y = x + 1
        a, b = y * 2, y * 3
        before = launch_count()
        equals(a, [4, 6, 10])
        equals(b, [6, 9, 15])
        assert launch_count() - before == 1


def test_live_bytes_are_capped():
    large = (64 << 20) // 4
    _C._take_region_keys()
    with defer():
        held = []
        for _ in range(15):  # 64 MiB each; the cap is 1 GiB
            held.append(torch.rand(large, device=DEVICE))
            assert not _C._take_region_keys()
        held += [torch.rand(large, device=DEVICE) for _ in range(2)]
        assert len(_C._take_region_keys()) == 1
