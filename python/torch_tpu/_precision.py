"""Precision of float32 products: `torch.tpu.precision` and `torch.backends.tpu`."""

import contextlib
import types
from collections.abc import Iterator

from torch_tpu import _C


@contextlib.contextmanager
def precision(level: str) -> Iterator[None]:
    """Computes float32 products and convolutions of the block at a precision; blocks nest.

    `"medium"` (a TPU's default): one pass over bfloat16 parts. `"high"`: three passes. `"highest"`:
    six, as exact as float32. Holds for this thread and for the backward passes of what runs in the
    block only if they run in it too. CPU plugins compute in float32 whatever the level. Raises
    ValueError for another name.
    """
    previous = _C._set_thread_precision(level)
    try:
        yield
    finally:
        _C._set_thread_precision(previous)


def get_precision() -> str:
    """The precision in force on this thread: "medium", "high" or "highest"."""
    return _C._current_precision()


class _Backend(types.ModuleType):
    """`torch.backends.tpu`: settings of the device for the whole process."""

    @property
    def matmul_precision(self) -> str | None:
        """Precision of float32 products where no `torch.tpu.precision` block is open.

        None, as at the start, leaves it to `torch.set_float32_matmul_precision`, and where that was
        not called to "medium".
        """
        return _C._default_precision()

    @matmul_precision.setter
    def matmul_precision(self, level: str | None) -> None:
        _C._set_default_precision(level)

    @staticmethod
    def is_built() -> bool:
        """Whether this build has the device: it has."""
        return True

    @staticmethod
    def is_available() -> bool:
        """Whether a plugin was found, as `torch.tpu.is_available()`."""
        from torch_tpu import _device

        return _device.is_available()


backend = _Backend("torch.backends.tpu")
