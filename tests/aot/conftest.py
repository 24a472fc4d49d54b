# Fixtures of the tests of ahead-of-time compilation.
import sys
from pathlib import Path

import pytest
from torch_tpu.aot import LibtpuNotFound, library

sys.path.insert(0, str(Path(__file__).parent))

from aotsupport import stand_in


@pytest.fixture
def libtpu():
    """Path of libtpu; skips the test, with the way to get it, where there is none."""
    try:
        return library.find_libtpu()
    except LibtpuNotFound as missing:
        pytest.skip(str(missing))


@pytest.fixture
def helper_stand_in(tmp_path, monkeypatch):
    """Compiles are answered by a script instead of libtpu; gives the script's log."""
    path, log = stand_in(tmp_path)
    monkeypatch.setattr(library, "find_helper", lambda: path)
    monkeypatch.setattr(library, "find_libtpu", lambda: "/no/libtpu.so")
    return log
