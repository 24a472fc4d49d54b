"""Where libtpu is on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from torch_tpu import _plugins

_VARIABLE = "TPU_LIBRARY_PATH"
HOW_TO_GET = (
    "install it with `pip install --no-deps libtpu` (137 MB, x86-64 Linux, under the Google Cloud "
    f"terms that come with it; this project does not redistribute it), or set {_VARIABLE} to a "
    "libtpu.so"
)


class LibtpuNotFound(RuntimeError):
    """There is no libtpu on this machine; the message says how to get it."""


def find_libtpu() -> str:
    """Path of libtpu.so: `TPU_LIBRARY_PATH`, else the installed package `libtpu`.

    Raises LibtpuNotFound. The package is not imported and the library not opened.
    """
    named = _plugins._setting(_VARIABLE)
    if named:
        if not os.path.isfile(named):
            raise LibtpuNotFound(f"{_VARIABLE} is {named!r}, which is no file; {HOW_TO_GET}")
        return str(Path(named).resolve())
    if found := _plugins.find_libtpu():
        return found
    raise LibtpuNotFound(f"compiling for a TPU needs libtpu, which was not found; {HOW_TO_GET}")


def find_helper() -> str:
    """Path of the helper executable, a part of this package. Raises RuntimeError without it."""
    path = Path(__file__).parent.parent / "bin" / "torch_tpu_aot"
    if not os.access(path, os.X_OK):
        raise RuntimeError(
            f"{path} is missing or not executable: this installation of torchtpu is damaged; "
            "install it again"
        )
    return str(path)
