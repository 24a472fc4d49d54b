"""`torch.tpu.compilation_cache`: what the program cache of this process did."""

from torch_tpu import _C

_PREFIX = "cache_"


def stats() -> dict[str, int]:
    """Counters since the start or the last `torch.tpu.reset_counters()`.

    `compiles` is the number of programs the plugin compiled. What the cache itself counts (hits,
    misses, entries, bytes) stands beside it, without the prefix `cache_` that it has in
    `torch.tpu.counters()`.
    """
    counters = _C._counters()
    own = {k.removeprefix(_PREFIX): v for k, v in counters.items() if k.startswith(_PREFIX)}
    return {"compiles": counters["compiles"], **own}
