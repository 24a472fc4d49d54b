"""Names of TPU topologies: what a user may write, and what libtpu calls it.

A topology is a generation and a grid of chips, `"v5e:2x2"`. Aliases stand for one of those:
the generation alone (`"v6e"`, one chip where that exists), marketing names (`"trillium"`), and the
accelerator types of Google Cloud (`"v5litepod-8"`, `"v4-8"`), which count cores before v5e and
chips from then on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnknownTopology(ValueError):
    """A topology name that cannot be understood; the message lists those that can."""


@dataclass(frozen=True)
class Generation:
    """What is known of a TPU generation without having one."""

    name: str
    smallest: str
    """Grid of the smallest topology."""
    largest: str
    """Largest grid that has been compiled for; the compiler may know larger ones."""
    dimensions: int
    """Of the grid."""
    peak_flops: float | None = None
    """bfloat16 operations a second and device that the compiler's cost model implies."""
    peak_bytes: float | None = None
    """Bytes a second and device between HBM and core that the cost model implies."""
    hbm: int | None = None
    """Bytes of HBM that a device's program may use, as libtpu 0.0.52 says."""


GENERATIONS: dict[str, Generation] = {
    g.name: g
    for g in (
        Generation("v2", "2x2", "2x2", 2),
        Generation("v3", "2x2", "2x2", 2),
        Generation("v4", "2x2x1", "2x2x1", 3),
        Generation("v5e", "1x1", "16x16", 2, 197e12, 737e9, 16_909_336_064),
        Generation("v5p", "2x2x1", "4x4x4", 3, 394e12, 2350e9, 102_786_660_352),
        Generation("v6e", "1x1", "16x16", 2, 918e12, 1638e9, 33_546_042_880),
        Generation("tpu7x", "1x1x1", "2x2x1", 3, 996e12, 3686e9, 101_724_453_888),
    )
}

_OTHER_NAMES = {"v5": "v5p", "v5litepod": "v5e", "trillium": "v6e", "ironwood": "tpu7x"}

# Grid for a number of chips, where Google Cloud offers one.
_GRIDS_2D = {
    1: "1x1",
    4: "2x2",
    8: "2x4",
    16: "4x4",
    32: "4x8",
    64: "8x8",
    128: "8x16",
    256: "16x16",
}
_GRIDS_3D = {1: "1x1x1", 4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4"}
_COUNTS_CORES = {"v2", "v3", "v4", "v5p"}


def resolve(name: str) -> str:
    """The name that libtpu knows, "v5e:2x2", for a name or an alias.

    Raises UnknownTopology, which lists the known names, when `name` is neither. Whether the
    generation has that grid is for the compiler to say.
    """
    text = name.strip().lower()
    grid = re.fullmatch(r"([a-z0-9]+):(\d+(?:x\d+){1,2})", text)
    if grid and (generation := _generation(grid[1])):
        return f"{generation.name}:{grid[2]}"
    if generation := _generation(text):
        return f"{generation.name}:{generation.smallest}"
    counted = re.fullmatch(r"([a-z0-9]+)-(\d+)", text)
    if counted and (generation := _generation(counted[1])):
        chips = int(counted[2])
        # tpu7x types count its two devices a chip.
        if generation.name in _COUNTS_CORES or generation.name == "tpu7x":
            chips //= 2
        grids = _GRIDS_2D if generation.dimensions == 2 else _GRIDS_3D
        if chips in grids:
            return f"{generation.name}:{grids[chips]}"
    raise UnknownTopology(f"topology {name!r} is not known; {known()}")


def _generation(name: str) -> Generation | None:
    return GENERATIONS.get(_OTHER_NAMES.get(name, name))


def generation_of(topology: str) -> Generation:
    """Generation of a resolved name."""
    return GENERATIONS[topology.partition(":")[0]]


def known() -> str:
    """What may be written, as the end of a sentence."""
    grids = ", ".join(f"{g.name}:{g.smallest} to {g.largest}" for g in GENERATIONS.values())
    return (
        f"known are {grids}; a generation alone ('v6e') means its smallest grid; other names: "
        f"{', '.join(sorted(_OTHER_NAMES))}, and accelerator types such as v5litepod-8, v4-8, v6e-4"
    )
