"""`python -m torch_tpu.operators [name]`: how each ATen operator resolves on the tpu device.

The answers are read from PyTorch's dispatcher and from the lowerings in this build, never typed in.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from torch_tpu import _C, _decompositions, _excluded

LOWERING = "lowering"
DECOMPOSITION = "decomposition"
DEVICE = "device"
HOST = "host"
COMPOSITE = "composite"
EXCLUDED = "excluded"
MISSING = "missing"

MEANING = {
    LOWERING: "a lowering of this project builds its program",
    DECOMPOSITION: "PyTorch's decomposition is traced into one program",
    DEVICE: "a kernel of the device layer: copies, views, storage, random state",
    HOST: "a declared host operator: copied to the CPU, run there and copied back",
    COMPOSITE: "PyTorch's default kernel, made of other operators",
    EXCLUDED: "left out on purpose, with a reason; raises NotImplementedError",
    MISSING: "raises NotImplementedError",
}

_COMPOSITE_KEYS = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


@dataclass(frozen=True)
class Resolution:
    """How one overload runs on the device."""

    name: str
    """Dispatcher name, "aten::add.Tensor"; a default overload has no dot."""
    kind: str
    """One of the keys of `MEANING`."""
    detail: str
    """File and line of the lowering, or why the host runs it or nothing does, or empty."""


def split(name: str) -> tuple[str, str]:
    """("add", "Tensor") of "aten::add.Tensor"."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    return base, overload


def functional_base(base: str) -> str:
    """Base name of the functional form: "add" for "add", "add_" and "_foreach_add_"."""
    base = base.removeprefix("_foreach_")
    return base[:-1] if base.endswith("_") and not base.startswith("__") else base


def overloads() -> list[str]:
    """Every ATen overload that this PyTorch has, sorted."""
    names = torch._C._dispatch_get_all_op_names()
    return sorted(n for n in names if n.startswith("aten::"))


def in_scope() -> list[str]:
    """Overloads that a device must supply: a CPU kernel and no default made of other operators."""
    return [name for name in overloads() if _has(name, "CPU") and not _is_composite(name)]


def is_core(name: str) -> bool:
    """Whether PyTorch tags this overload `core`."""
    overload = _decompositions.find_overload(name)
    return overload is not None and torch.Tag.core in overload.tags


def resolve_all(names: Iterable[str]) -> Iterator[Resolution]:
    """Resolutions in the order of `names`."""
    lowerings = _lowerings()
    for name in names:
        yield _resolve(name, lowerings)


def _lowerings() -> dict[str, str]:
    places: dict[str, str] = {}
    for name, file, line in _C._lowerings():
        place = f"src/{file.rpartition('/src/')[2].removeprefix('src/')}:{line}"
        places[name] = place
        places.setdefault(f"aten::{split(name)[0]}", place)
    return places


def _resolve(name: str, lowerings: dict[str, str]) -> Resolution:
    base, overload = split(name)
    functional = f"aten::{functional_base(base)}"
    reason = _C._host_operators().get(functional_base(base))
    if reason and _has(name, "CPU"):
        return Resolution(name, HOST, reason)
    if _has(name, "PrivateUse1") or not _is_composite(name):
        place = lowerings.get(f"{functional}.{overload}") or lowerings.get(functional)
        if place:
            return Resolution(name, LOWERING, place)
        if any(_decompositions.lookup(n) for n in _candidates(name, functional, overload)):
            return Resolution(name, DECOMPOSITION, "")
    if _has(name, "PrivateUse1"):
        return Resolution(name, DEVICE, "")
    if _is_composite(name):
        return Resolution(name, COMPOSITE, "")
    if left_out := _excluded.reason(functional_base(base)):
        return Resolution(name, EXCLUDED, left_out)
    return Resolution(name, MISSING, "")


def _candidates(name: str, functional: str, overload: str) -> tuple[str, ...]:
    if overload.endswith("out"):
        functional_overload = overload.removesuffix("out").removesuffix("_")
        suffix = f".{functional_overload}" if functional_overload else ""
        return name, f"{functional}{suffix}"
    return name, f"{functional}.{overload}" if overload else functional


def _has(name: str, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def _is_composite(name: str) -> bool:
    return any(_has(name, key) for key in _COMPOSITE_KEYS)


def _print_matches(wanted: str) -> int:
    base = split(wanted)[0]
    names = [n for n in overloads() if n == wanted or split(n)[0] == base]
    if not names:
        near = [n for n in overloads() if base and base in n]
        print(f"PyTorch has no operator aten::{base}.", *near[:10], sep="\n  ")
        return 1
    for resolution in resolve_all(names):
        detail = f"  {resolution.detail}" if resolution.detail else ""
        print(f"{resolution.name:48} {resolution.kind}{detail}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the overloads of one operator, or all that a device must supply, with totals."""
    parser = argparse.ArgumentParser(prog="python -m torch_tpu.operators", description=__doc__)
    parser.add_argument("name", nargs="?", help='operator, for instance "add" or "aten::add.out"')
    name = parser.parse_args(argv).name
    if name:
        return _print_matches(name)
    counts: Counter[str] = Counter()
    for resolution in resolve_all(in_scope()):
        counts[resolution.kind] += 1
        print(f"{resolution.name:64} {resolution.kind}")
    print()
    for kind, meaning in MEANING.items():
        print(f"{counts[kind]:5} {kind:14} {meaning}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
