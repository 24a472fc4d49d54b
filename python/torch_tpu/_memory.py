"""Memory figures of `torch.tpu`, in bytes. They count what live handles hold on the device."""

import os

import torch

from torch_tpu import _C
from torch_tpu._index import DeviceLike, device_index


def memory_stats(device: DeviceLike = None) -> dict[str, int]:
    """All figures by name. Empty before the first tensor."""
    device_index(device)
    return dict(sorted(_C._memory_stats().items())) if _C._is_initialized() else {}


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes held by live tensors."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Largest `memory_allocated` since the start or the last `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes taken from the device. The plugin owns the pool, so it is what tensors hold."""
    return memory_allocated(device)


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Peak of `memory_reserved`."""
    return max_memory_allocated(device)


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Peak figures restart from what is held now."""
    device_index(device)
    if _C._is_initialized():
        _C._reset_peak_memory_stats()


def empty_cache() -> None:
    """Drops what is kept for reuse only: materialised views and made constants."""
    if _C._is_initialized():
        _C._empty_cache()


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """(free, total) bytes of the device; those of the host where the plugin computes on it.

    Raises NotImplementedError where the plugin does not tell.
    """
    index = device_index(device)
    _C._initialize()
    if _C._runtime_info()["platform"] != "cpu":
        return torch.accelerator.get_memory_info(index)
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
