"""A progress bar for compiles that take longer than two seconds, where stderr is a terminal."""

import importlib.util
import sys
import time
from typing import Any

from torch_tpu import _C


class _Bar:
    def __init__(self) -> None:
        self._bar: Any = None

    def report(self, started: int, done: int, seconds: float, over: bool) -> None:
        """Shows how many of the programs that were asked for are compiled."""
        if self._bar is None:
            from tqdm import tqdm

            # The delay keeps it from drawing a bar of nothing now.
            self._bar = tqdm(
                desc="compiling", unit=" programs", leave=False, file=sys.stderr, delay=1e-3
            )
        # The stretch began before its bar.
        self._bar.start_t = time.time() - seconds
        self._bar.total = started
        self._bar.n = done
        self._bar.refresh()
        if over:
            self._bar.close()
            self._bar = None


def install() -> None:
    """Replaces the line on stderr by a bar where one can be drawn. Imports nothing yet."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    if importlib.util.find_spec("tqdm") is not None:
        _C._set_compile_progress(_Bar().report)
