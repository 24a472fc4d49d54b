# Settings of the whole Python suite: markers, options, the device fixture.
import collections
import os
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, os.path.dirname(__file__))

from support import DEVICE

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


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: full dtype and layout matrices; run with --slow")


def pytest_collection_modifyitems(config, items):
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
