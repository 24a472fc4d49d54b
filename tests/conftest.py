# Settings of the whole Python suite: markers, options, the device fixture.
import collections
import os
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, os.path.dirname(__file__))

from support import DEVICE, eager_mode

_covered = collections.Counter()


class _Recorder(TorchDispatchMode):
    """Counts the operators that reach the device below autograd."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tensors = torch.utils._pytree.tree_leaves((args, kwargs))
        if any(isinstance(t, torch.Tensor) and t.device.type == DEVICE for t in tensors):
            _covered[str(func)] += 1
        return func(*args, **(kwargs or {}))


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run tests marked slow")
    parser.addoption(
        "--ops-coverage", action="store_true", help="print which aten overloads ran on the device"
    )
    parser.addoption(
        "--mode",
        choices=("strict", "debug", "defer"),
        help="run each test in this eager mode; what counts launches or compiles is left out",
    )
    parser.addoption(
        "--one-an-operator",
        action="store_true",
        help="of the operator cases, only the first functional one of each operator",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: full dtype and layout matrices; run with --slow")
    config.addinivalue_line(
        "markers", "strict_only(reason): asserts what only strict mode does; left out with --mode"
    )


def _leave_out_strict_only(config, items):
    if config.getoption("--mode") in (None, "strict"):
        return
    for item in items:
        if marker := item.get_closest_marker("strict_only"):
            item.add_marker(pytest.mark.skip(reason=f"strict mode only: {marker.args[0]}"))


def _keep_one_an_operator(config, items):
    seen, kept = set(), []
    for item in items:
        values = getattr(item, "callspec", None) and item.callspec.params
        if values and {"case", "dtype", "form"} <= values.keys():
            if values["form"] != "functional" or values["case"].op in seen:
                continue
            seen.add(values["case"].op)
        kept.append(item)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
    items[:] = kept


def pytest_collection_modifyitems(config, items):
    _leave_out_strict_only(config, items)
    if config.getoption("--one-an-operator"):
        _keep_one_an_operator(config, items)
    if config.getoption("--slow") or "slow" in config.getoption("-m"):
        return
    skip = pytest.mark.skip(reason="slow: run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def device():
    return torch.device(DEVICE)


@pytest.fixture(autouse=True)
def _mode(request):
    mode = request.config.getoption("--mode")
    if mode is None:
        yield
        return
    with eager_mode(mode):
        yield


@pytest.fixture(autouse=True)
def _record_coverage(request):
    if not request.config.getoption("--ops-coverage"):
        yield
        return
    with _Recorder():
        yield


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("--ops-coverage"):
        return
    terminalreporter.section(f"{len(_covered)} aten overloads ran on {DEVICE}")
    for name, count in sorted(_covered.items()):
        terminalreporter.line(f"{count:6d} {name}")
