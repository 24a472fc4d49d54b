"""MLIR locations and HLO metadata: which operator and Python line an instruction comes from."""

from __future__ import annotations

import re
from typing import NamedTuple

_ALIAS = re.compile(r"^\s*(#loc\w*)\s*=\s*(loc\()", re.MULTILINE)
_NAMED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\(|$)')
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)(?::\d+)?')
_REFERENCE = re.compile(r"#loc\w*")
_METADATA = re.compile(r"metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*)\}")
_FIELD = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')


class Place(NamedTuple):
    """Operator and source line; empty where not known."""

    operator: str = ""
    source: str = ""


class Locations:
    """The locations of one module; aliases (`#loc1`) are looked up at its end."""

    def __init__(self, text: str) -> None:
        self._aliases = {}
        for match in _ALIAS.finditer(text):
            end = closing(text, match.end() - 1)
            self._aliases[match[1]] = text[match.end() : end]

    def of_line(self, line: str) -> Place:
        """Where an instruction, written on one line, comes from."""
        if metadata := _METADATA.search(line):
            fields = {k: a or b for k, a, b in _FIELD.findall(metadata[1])}
            source = fields.get("source_file", "")
            if source and source != "-":
                source += f":{fields.get('source_line', '0')}"
            return Place(fields.get("op_name", ""), "" if source == "-" else source)
        start = line.rfind("loc(")
        if start < 0:
            return Place()
        return self._read(line[start + 4 : closing(line, start + 3)])

    def _read(self, location: str, depth: int = 0) -> Place:
        if depth < 20:
            # A definition may refer to others; the first operator and the first line count.
            location = _REFERENCE.sub(
                lambda m: self._expand(self._aliases.get(m[0], ""), depth), location
            )
        source = _FILE.search(location)
        rest = _FILE.sub("", location)
        name = _NAMED.search(rest)
        return Place(name[1] if name else "", f"{source[1]}:{source[2]}" if source else "")

    def _expand(self, location: str, depth: int) -> str:
        if depth >= 20:
            return ""
        return _REFERENCE.sub(
            lambda m: self._expand(self._aliases.get(m[0], ""), depth + 1), location
        )


def closing(text: str, opening: int) -> int:
    """Index of the parenthesis that closes the one at `opening`; the end when there is none."""
    depth = 0
    in_string = False
    i = opening
    while i < len(text):
        c = text[i]
        if in_string:
            if c == "\\":
                i += 1
            in_string = c != '"'
        elif c == '"':
            in_string = True
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return len(text)


def without(line: str) -> str:
    """The line without its locations, metadata and comment."""
    line = _METADATA.sub("", line)
    result = ""
    i = 0
    while i < len(line):
        c = line[i]
        if c == '"':
            end = i + 1
            while end < len(line) and line[end] != '"':
                end += 2 if line[end] == "\\" else 1
            result += line[i : end + 1]
            i = end + 1
        elif line.startswith("//", i):
            break
        elif line.startswith("loc(", i) and not (result[-1:].isalnum() or result[-1:] in "_.%@"):
            i = closing(line, i + 3) + 1
            result = result.rstrip()
        else:
            result += c
            i += 1
    return result
