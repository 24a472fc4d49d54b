"""A PyTorch function as one StableHLO module, before it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """An input or output of a captured program."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """PyTorch's name without the module: "float32"."""


@dataclass(frozen=True)
class Captured:
    """A program and what its parts are called.

    Locations of the form `loc("aten::mm"("model.py":12:0))` in `text` carry operator and Python
    line; the compiler keeps both in the metadata of what it makes of them.
    """

    text: str
    """StableHLO module."""
    inputs: list[Value] = field(default_factory=list)
    """In the order of the parameters of `@main`."""
    outputs: list[Value] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    """ATen operators in the order of their calls."""
    name: str = "program"

    def __post_init__(self) -> None:
        for which in ("inputs", "outputs"):
            values = [v if isinstance(v, Value) else Value(*v) for v in getattr(self, which)]
            object.__setattr__(self, which, values)
