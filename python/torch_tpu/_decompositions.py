"""Looks PyTorch's own decompositions up for the boxed kernel, by overload name."""

from collections.abc import Callable
from typing import Any

import torch


def lookup(name: str) -> Callable[..., Any] | None:
    """The decomposition of `aten::foo` or `aten::foo.bar`, or None.

    What it returns takes the arguments of the overload and calls other operators. Called once per
    new signature, never on a hit.
    """
    overload = find_overload(name)
    return None if overload is None else torch._decomp.decomposition_table.get(overload)


def find_overload(name: str) -> torch._ops.OpOverload | None:
    """The operator overload with this dispatcher name, or None where torch has none."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, overload or "default", None)
