"""The module that PyTorch knows as `torch.tpu`."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from torch_tpu import _C, compilation_cache
from torch_tpu._index import DeviceLike, device_index
from torch_tpu._memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)
from torch_tpu._modes import (
    compile_count,
    counters,
    cpu_fallback,
    eager_mode,
    fallback_counts,
    get_eager_mode,
    host_operator_counts,
    launch_count,
    reset_counters,
)
from torch_tpu._precision import get_precision, precision  # noqa: F401
from torch_tpu._random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)

__all__ = [
    "Event",
    "Stream",
    "compilation_cache",
    "compile_count",
    "counters",
    "cpu_fallback",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "eager_mode",
    "empty_cache",
    "fallback_counts",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_eager_mode",
    "get_rng_state",
    "get_rng_state_all",
    "host_operator_counts",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "launch_count",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_counters",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]

Stream = torch.Stream
Event = torch.Event
default_generators = (_C._default_generator(),)

_bad_fork = False


def _mark_bad_fork() -> None:
    global _bad_fork
    _bad_fork = _C._is_initialized()


os.register_at_fork(after_in_child=_mark_bad_fork)


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one whose device client was running."""
    return _bad_fork


def is_available() -> bool:
    """Whether this process has a device. Starts no client: safe before a fork."""
    return device_count() > 0


def device_count() -> int:
    """Devices that this process sees: one. Starts no client."""
    return 1


def is_initialized() -> bool:
    """Whether the device client is running."""
    return _C._is_initialized()


def __getattr__(name: str) -> Any:
    # torch.utils.checkpoint reads this attribute to decide whether there is random state to save.
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.tpu' has no attribute {name!r}")


def init() -> None:
    """Starts the device client now instead of at the first tensor."""
    _lazy_init()


def _lazy_init() -> None:
    _C._initialize()


def _lazy_call(call: Callable[[], Any], **_: Any) -> None:
    """Runs `call` at once: nothing that PyTorch defers (seeding) needs a running client."""
    call()


def current_device() -> int:
    """Index of the current device: 0."""
    return 0


def set_device(device: DeviceLike) -> None:
    """Accepts the one device; raises for any other index."""
    device_index(device)


class device:
    """Context manager that selects a device. There is one, so it only checks the argument."""

    def __init__(self, device: DeviceLike) -> None:
        self.idx = device_index(device)

    def __enter__(self) -> "device":
        return self

    def __exit__(self, *_: object) -> None:
        return None


class device_of(device):
    """`device` of a tensor's device; does nothing for a tensor that is elsewhere."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == "tpu" else None)


def synchronize(device: DeviceLike = None) -> None:
    """Waits for all work sent to the device. Raises what failed since the last wait."""
    device_index(device)
    if _C._is_initialized():
        _C._synchronize()


def current_stream(device: DeviceLike = None) -> torch.Stream:
    """The stream that calls of this thread go to."""
    return torch.accelerator.current_stream(device_index(device))


def default_stream(device: DeviceLike = None) -> torch.Stream:
    """The stream that is current where none was set."""
    index = device_index(device)
    return torch.Stream(
        stream_id=0, device_index=index, device_type=int(torch._C._autograd.DeviceType.PrivateUse1)
    )


def set_stream(stream: torch.Stream) -> None:
    """Makes `stream` the current one of this thread."""
    torch.accelerator.set_stream(stream)


def stream(stream: torch.Stream | None) -> contextlib.AbstractContextManager[Any]:
    """Context manager that makes `stream` current; None changes nothing."""
    return contextlib.nullcontext() if stream is None else stream


@dataclass(frozen=True)
class DeviceProperties:
    """What the plugin says about the device."""

    name: str
    """Device kind, for instance "TPU v5 lite" or "cpu"."""
    platform: str
    """Platform of the plugin: "tpu", "cpu" or another."""
    plugin: str
    """Path of the plugin's shared library."""
    api_version: str
    """PJRT C API version of the plugin, "major.minor"."""
    total_memory: int
    """Bytes of device memory."""


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    """Name, platform, plugin and memory of the device. Starts the client."""
    device_index(device)
    _C._initialize()
    info = _C._runtime_info()
    return DeviceProperties(
        name=info["device_kind"],
        platform=info["platform"],
        plugin=info["plugin"],
        api_version=info["pjrt_api"],
        total_memory=mem_get_info()[1],
    )


def get_device_name(device: DeviceLike = None) -> str:
    """The device kind that the plugin reports. Starts the client."""
    return get_device_properties(device).name


def get_device_capability(device: DeviceLike = None) -> dict[str, Any]:
    """What `torch.accelerator.get_device_capability` says: the supported dtypes."""
    return torch.accelerator.get_device_capability(device_index(device))


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Dtypes that `torch.autocast("tpu")` accepts."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Every TPU computes in bfloat16."""
    return True
