"""Finds PJRT plugins on this machine without importing any package or loading any library.

A candidate is a name and the path of a shared library that exports `GetPjrtApi`. The order is the
order of preference: libtpu where a TPU is attached, then the CPU plugin, then whatever the entry
point group `xla_plugins` names. Which one is opened is decided in C++ when the first tensor is
made.
"""

import glob
import importlib.metadata
import importlib.util
import os
from pathlib import Path

from torch_tpu import _C

_CPU_PLUGIN = "xla_cpu_pjrt"
_PLUGIN_VARIABLE = "TORCH_TPU_PJRT_PLUGIN"
_TPU_DEVICE_FILES = ("/dev/accel*", "/dev/vfio/[0-9]*")


def candidates() -> list[tuple[str, str]]:
    """Plugins as (name, path), preferred first. Names are unique; paths exist."""
    found: dict[str, str] = {}
    if tpu_attached() and (libtpu := find_libtpu()):
        found["libtpu"] = libtpu
    if path := _library_in(f"xla_plugins.{_CPU_PLUGIN}"):
        found[_CPU_PLUGIN] = path
        found["cpu"] = path
    wanted = _setting(_PLUGIN_VARIABLE)
    if wanted and wanted not in found and os.sep not in wanted:
        # Reading every installed package's entry points costs milliseconds: only on demand.
        if wanted == "libtpu" and (libtpu := find_libtpu()):
            found["libtpu"] = libtpu
        for entry in importlib.metadata.entry_points(group="xla_plugins"):
            if path := _library_in(entry.module):
                found.setdefault(entry.name, path)
    return list(found.items())


def tpu_attached() -> bool:
    """Whether the kernel shows a TPU to this process."""
    return any(glob.glob(pattern) for pattern in _TPU_DEVICE_FILES)


def find_libtpu() -> str | None:
    """Path of libtpu: TPU_LIBRARY_PATH, else the installed `libtpu` package, else None."""
    path = _setting("TPU_LIBRARY_PATH")
    if path and os.path.isfile(path):
        return path
    return _library_in("libtpu", "libtpu.so")


def _setting(name: str) -> str:
    """Value of a variable of the C++ registry in this process; empty when it is not set."""
    return next((v["value"] for v in _C._env_variables() if v["name"] == name), "")


def _library_in(module: str, pattern: str = "*.so") -> str | None:
    """The shared library in a package's folder, or None. The package itself is not imported."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        libraries = sorted(Path(folder).glob(pattern))
        if libraries:
            return str(libraries[0])
    return None
