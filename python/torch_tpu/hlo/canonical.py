"""Canonical form of a module: equal for modules that differ only in names, numbers and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from torch_tpu.hlo.locations import without


class BadModule(ValueError):
    """A text that is neither a StableHLO nor an HLO module."""


class Line(NamedTuple):
    """A line of the canonical form and the line of the text (from 1) that it was made of."""

    text: str
    number: int


_STRING = r'"(?:[^"\\]|\\.)*"'
_MLIR_NAME = re.compile(rf"({_STRING})|%([\w$.-]+)(:\d+)?(#\d+)?|(\^\w+)|@([\w$.-]+)")
_MLIR_FUNCTION = re.compile(r"\bfunc\.func\b")
_MLIR_DEAD_LINE = re.compile(r"^\s*#loc\w*\s*=")
_HLO_NAME = re.compile(rf"({_STRING})|%([\w.-]+)")
_HLO_DEFINITION = re.compile(
    r"^\s*(?:ROOT\s+|ENTRY\s+)?([A-Za-z_][\w.-]*)\s*(?:=|\([^=]*\)\s*->|\{)"
)
_HLO_PLAIN = re.compile(rf"({_STRING})|([A-Za-z_][\w.-]*)(?![\w.=(\[-])")
# Parameters in the head of a computation have no % in either form.
_HLO_PARAMETER = re.compile(r"([(,]\s*)[\w.-]+:\s*")
# Attributes that number things, or that name them for the profiler.
_HLO_CHANNEL = re.compile(r"\bchannel_id=(\d+)")
_HLO_NOISE = re.compile(r",?\s*\b(?:frontend_attributes|origin|original_value)=\{[^{}]*\}")


def kind_of(text: str) -> str:
    """ "hlo" or "stablehlo". Raises BadModule."""
    if re.search(r"^HloModule\b", text, re.MULTILINE):
        return "hlo"
    if re.search(r"\bfunc\.func\b|^\s*module\b.*\{", text, re.MULTILINE):
        return "stablehlo"
    raise BadModule("this is neither a StableHLO module nor an HLO module in text form")


def canonical(text: str) -> list[Line]:
    """The canonical form, a line for each line that means something. Raises BadModule."""
    return _hlo(text) if kind_of(text) == "hlo" else _stablehlo(text)


def same(a: str, b: str) -> bool:
    """Whether two modules differ in names, numbers and metadata only. Raises BadModule."""
    return [line.text for line in canonical(a)] == [line.text for line in canonical(b)]


class _Names:
    """Numbers names in the order in which they are first seen."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.numbers: dict[str, int] = {}

    def of(self, name: str) -> str:
        return f"{self.prefix}{self.numbers.setdefault(name, len(self.numbers))}"


def _stablehlo(text: str) -> list[Line]:
    symbols = _Names("@f")
    values = _Names("%")
    blocks = _Names("^")

    def rename(match: re.Match[str]) -> str:
        string, value, pack, index, block, symbol = match.groups()
        if string:
            return string
        if value:
            return values.of(value) + (pack or "") + (index or "")
        if block:
            return blocks.of(block)
        return "@main" if symbol == "main" else symbols.of(symbol)

    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        if _MLIR_DEAD_LINE.match(raw):
            continue
        line = " ".join(without(raw).split())
        if re.match(r"module\b", line):
            line = re.sub(r"^module\s+@(?:[\w$.-]+|\"[^\"]*\")", "module", line)
        if _MLIR_FUNCTION.search(line):
            values, blocks = _Names("%"), _Names("^")
        line = _MLIR_NAME.sub(rename, line)
        if line:
            lines.append(Line(line, number))
    return lines


def _hlo(text: str) -> list[Line]:
    names = _Names("%")
    channels = _Names("channel_id=")
    rename = _hlo_renamer(text, names)
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(_HLO_NOISE.sub("", without(raw)).split())
        if not line:
            continue
        if line.startswith("HloModule"):
            line = re.sub(r"^HloModule\s+[^,\s]+", "HloModule", line)
        else:
            if line.endswith("{"):
                line = _HLO_PARAMETER.sub(r"\1", line)
            line = rename(line)
        line = _HLO_CHANNEL.sub(lambda m: channels.of(m[1]), line)
        line = re.sub(r"(,\s*)+(?=,|$)", "", line)
        lines.append(Line(line, number))
    return lines


def _hlo_renamer(text: str, names: _Names) -> Callable[[str], str]:
    """For texts with `%` before names, and for those without, where definitions tell the names."""
    if re.search(r"^\s*(?:ROOT |ENTRY )?%", text, re.MULTILINE):
        return lambda line: _HLO_NAME.sub(lambda m: m[1] or names.of(m[2]), line)
    defined = set()
    for line in text.splitlines():
        if not line.startswith("HloModule") and (match := _HLO_DEFINITION.match(line)):
            defined.add(match[1])
    return lambda line: _HLO_PLAIN.sub(
        lambda m: names.of(m[2]) if m[2] and m[2] in defined else m[0], line
    )
