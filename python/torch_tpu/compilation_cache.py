"""`torch.tpu.compilation_cache`: where compiled programs are kept, and what the cache did."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from torch_tpu import _C, _cache_remote

_PREFIX = "cache_"
_TIERS = (2, 3)


@dataclass(frozen=True)
class Explanation:
    """Why the last program that was compiled was in no tier."""

    operator: str
    """The call that needed it: operator and operand types."""
    key: tuple[int, int, int]
    """Its key: structure, sizes, options."""
    components: tuple[str, ...]
    """Parts of the key that differ from the nearest known program; empty when none is known."""
    pieces: tuple[str, ...]
    """Where the options differ: which of them ("lowerings", "plugin", "precision", ...)."""
    neighbour: str | None
    """The nearest known program."""
    text: str

    def __str__(self) -> str:
        return self.text


def stats() -> dict[str, int]:
    """Counters of this process, by tier: hits, misses, bytes, what was rejected or pruned.

    `compiles` is the number of programs the plugin compiled since the start or the last
    `torch.tpu.reset_counters()`. The other counters of `torch.tpu.counters()` that concern the
    cache stand beside it without their prefix `cache_`.
    """
    counters = _C._counters()
    own = {k.removeprefix(_PREFIX): v for k, v in counters.items() if k.startswith(_PREFIX)}
    return {"compiles": counters["compiles"], **own, **_C._cache_stats()}


def explain() -> Explanation | None:
    """Why the last compile was needed, or None when there was none.

    Looks at the programs of this process and at those that tiers 2 and 3 hold.
    """
    why = _C._cache_explain()
    if why is None:
        return None
    near = why["neighbour"]
    return Explanation(
        operator=f"{why['miss']['name']}({why['miss']['operands']})",
        key=why["miss"]["key"],
        components=tuple(why["components"]),
        pieces=tuple(why["pieces"]),
        neighbour=None if near is None else f"{near['name']}({near['operands']})",
        text=why["text"],
    )


def set_root(root: str | Path | None) -> None:
    """Keeps programs under `root` between runs and hosts (tier 3): a directory, or a URL that
    fsspec opens (`gs://bucket/path`). None turns the tier off.

    Programs are machine code: a directory must belong to you and be writable by nobody else.
    """
    if root is not None and _C._cache_is_url(str(root)):
        _C._cache_set_tier3_remote(_cache_remote.serve(str(root)))
    else:
        _C._cache_set_tier3(_path(root))


def open_root() -> None:
    """Opens the URL that TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT gives; a directory opens itself."""
    wanted = os.environ.get("TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT", "")
    if not _C._cache_is_url(wanted):
        return
    try:
        set_root(wanted)
    except ImportError as error:
        warnings.warn(str(error), stacklevel=2)


def root() -> str | None:
    """Where tier 3 keeps its programs; None when it is off."""
    return _C._cache_tiers()[1] or None


def set_shared(directory: str | Path | None) -> None:
    """Shares programs with the other processes of this host (tier 2) through `directory`, which
    should lie in memory. None turns the tier off."""
    _C._cache_set_tier2(_path(directory))


def shared() -> str | None:
    """The directory of tier 2; None when it is off."""
    return _C._cache_tiers()[0] or None


def flush(timeout: float = 60.0) -> bool:
    """Waits until the programs compiled so far are stored; False when that takes longer."""
    return _C._cache_flush(timeout)


def prune(max_bytes: int = 0, max_days: float = 0, *, tier: int = 3) -> dict[str, int]:
    """Removes programs that were not used for `max_days`, then the least recently used ones until
    `max_bytes` are left; 0 is no limit. Returns how many were removed and kept, and their bytes."""
    storage = _C._cache_storage(_checked(tier))
    if storage is None:
        return {"removed": 0, "removed_bytes": 0, "kept": 0, "kept_bytes": 0}
    return storage.prune(max_bytes, int(max_days * 86400))


def clear(tier: int | None = None) -> None:
    """Forgets the programs of one tier, or of all: tier 1 is this process, 2 this host, 3 the root.

    Tensors that still hold a program keep it.
    """
    if tier in (None, 1):
        _C._cache_clear_tier1()
    for number in _TIERS if tier is None else (tier,):
        storage = None if number == 1 else _C._cache_storage(_checked(number))
        for name, _, _ in storage.list() if storage is not None else ():
            storage.remove(name)


def _path(directory: str | Path | None) -> str:
    return "" if directory is None else os.path.expanduser(directory)


def _checked(tier: int) -> int:
    if tier not in _TIERS:
        raise ValueError(f"expected tier 2 or 3, got {tier}")
    return tier
