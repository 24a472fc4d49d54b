"""Execution modes of this thread, the CPU fallback switch, and the counters of the runtime."""

import contextlib
from collections.abc import Iterator

from torch_tpu import _C

_MODES = ("strict", "debug", "defer")


@contextlib.contextmanager
def eager_mode(mode: str) -> Iterator[None]:
    """Runs the block in a mode, for this thread; blocks nest.

    `"strict"`: one operator, one program, asynchronous (the default). `"debug"`: each operator is
    waited for, index bounds are checked, and errors name the operator and its Python line.
    `"defer"`: operators are collected and sent as fused programs when a value is asked for, when
    blocks of operators repeat, or when the block ends. Raises ValueError for another name.
    """
    if mode not in _MODES:
        raise ValueError(f"unknown eager mode {mode!r}; expected one of {', '.join(_MODES)}")
    _C._push_mode(mode)
    try:
        yield
    finally:
        _C._pop_mode()


def get_eager_mode() -> str:
    """The mode of this thread: "strict", "debug" or "defer"."""
    return _C._get_mode()


@contextlib.contextmanager
def cpu_fallback(enabled: bool = True) -> Iterator[None]:
    """Lets operators that the device lacks run on the CPU inside the block.

    Off by default: a missing operator raises NotImplementedError. Each operator that falls back
    warns once; `fallback_counts()` counts all uses.
    """
    previous = _C._set_cpu_fallback(enabled)
    try:
        yield
    finally:
        _C._set_cpu_fallback(previous)


def fallback_counts() -> dict[str, int]:
    """How often each operator ran on the CPU instead, by name."""
    return dict(sorted(_C._fallback_counts().items()))


def host_operator_counts() -> dict[str, int]:
    """How often each declared host operator ran, by name; `torch_tpu.operators` says why there."""
    return dict(sorted(_C._host_operator_counts().items()))


def counters() -> dict[str, int]:
    """All counters of the runtime since the start or the last `reset_counters()`."""
    return dict(sorted(_C._counters().items()))


def compile_count() -> int:
    """Programs compiled so far."""
    return _C._counters()["compiles"]


def launch_count() -> int:
    """Programs sent to the device so far."""
    return _C._counters()["launches"]


def reset_counters() -> None:
    """Sets every counter to zero."""
    _C._reset_counters()
