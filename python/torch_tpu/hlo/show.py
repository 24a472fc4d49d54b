"""A module by operator: which instructions each ATen operator became, with Python lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from torch_tpu.hlo.canonical import kind_of
from torch_tpu.hlo.locations import Locations, Place, without

_NO_PLACE = "(no operator)"
_HEAD = re.compile(r"^\s*(?:(?:ENTRY )?%?[\w.-]+.*\{|.*\bfunc\.func\b.*|HloModule\b.*|module\b.*)$")
_LOCATION = re.compile(r"^\s*#loc")
_OPCODE = re.compile(r"=\s*(?:\([^=]*?\)|\S+)\s+([\w-]+)\(|\"?((?:stablehlo|chlo|mhlo)\.\w+)")


class Instruction(NamedTuple):
    """One line of a module."""

    section: str
    """Function or computation that it stands in."""
    place: Place
    code: str
    opcode: str


def instructions(text: str) -> Iterator[Instruction]:
    """Instructions in the order of the text. Raises BadModule."""
    is_hlo = kind_of(text) == "hlo"
    places = Locations(text)
    section = ""
    for line in text.splitlines():
        if _LOCATION.match(line):
            continue
        code = without(line).strip().rstrip(",")
        if _HEAD.match(code) and "=" not in code.partition("(")[0]:
            if code.startswith(("HloModule", "module")):
                continue
            section = re.sub(r"\s*\{$", "", code)
            continue
        opcode = _OPCODE.search(code)
        if not opcode:
            continue
        name = opcode[1] if is_hlo else opcode[2]
        if name:
            yield Instruction(section, places.of_line(line), code, name)


def by_operator(text: str) -> str:
    """The text that `python -m torch_tpu.hlo show` prints. Raises BadModule."""
    found = list(instructions(text))
    out = []
    for section, inside in groupby(found, lambda i: i.section):
        out.append(section)
        for place, group in groupby(inside, lambda i: i.place):
            title = "  ".join(part for part in (place.operator or _NO_PLACE, place.source) if part)
            out.append(f"  {title}")
            out += [f"      {i.code}" for i in group]
    out.append("")
    out += _totals(found)
    return "\n".join(out)


def _totals(found: list[Instruction]) -> list[str]:
    counts: dict[str, dict[str, int]] = {}
    for i in found:
        opcodes = counts.setdefault(i.place.operator or _NO_PLACE, {})
        opcodes[i.opcode] = opcodes.get(i.opcode, 0) + 1
    lines = [f"{len(found)} instructions of {len(counts)} operators"]
    for operator, opcodes in sorted(counts.items(), key=lambda item: -sum(item[1].values())):
        most = sorted(opcodes.items(), key=lambda item: (-item[1], item[0]))
        what = ", ".join(f"{name} {n}" if n > 1 else name for name, n in most)
        lines.append(f"{sum(opcodes.values()):6} {operator}: {what}")
    return lines
