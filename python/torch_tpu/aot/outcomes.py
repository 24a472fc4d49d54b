"""What became of the programs of a sweep: expected failures, the table, the committed record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch_tpu.aot.topology import resolve

_ANY = "*"


@dataclass
class Outcome:
    """What became of one program on one topology."""

    name: str
    topology: str
    status: str
    message: str = ""
    seconds: float = 0.0
    flops: float = 0.0
    bytes_accessed: float = 0.0
    peak: int = 0
    expected: str = ""
    """Reason of the expected failure, or empty."""

    @property
    def verdict(self) -> str:
        """ "ok", "FAILED", "expected" (failure), or "FIXED": expected to fail and does not."""
        if self.status == "OK":
            return "FIXED" if self.expected else "ok"
        return "expected" if self.expected else "FAILED"


@dataclass
class Expected:
    """The expected failures. In a name, `*` stands for any text: all these programs must fail."""

    reasons: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Expected:
        """From a file of `name | topology | reason` lines; `#` starts a comment line."""
        expected = cls()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split("|", 2)]
            if len(parts) != 3 or not all(parts):
                raise ValueError(f"{path}:{number}: expected 'name | topology or * | reason'")
            topology = parts[1] if parts[1] == _ANY else resolve(parts[1])
            expected.reasons[parts[0], topology] = parts[2]
        return expected

    def reason(self, names: Sequence[str], topology: str) -> str:
        """Why this may fail, by the first line that fits; empty when it must not."""
        for (pattern, where), reason in self.reasons.items():
            if where in (topology, _ANY) and any(_fits(pattern, name) for name in names):
                return reason
        return ""

    def without_program(self, names: Iterable[str]) -> list[str]:
        """Names that no program has: lines that are out of date."""
        known = list(names)
        patterns = {pattern for pattern, _ in self.reasons}
        return sorted(p for p in patterns if not any(_fits(p, name) for name in known))


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split(_ANY))), name) is not None


def table(outcomes: Sequence[Outcome]) -> str:
    """Markdown: a row for each program that failed anywhere, and the totals."""
    topologies = list(dict.fromkeys(o.topology for o in outcomes))
    rows: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.name, {})[outcome.topology] = outcome
    lines = []
    totals = ", ".join(
        f"{t} {sum(o.status == 'OK' for o in outcomes if o.topology == t)}" for t in topologies
    )
    for name, cells in rows.items():
        bad = [o for o in cells.values() if o.verdict != "ok"]
        if not bad:
            continue
        words = " | ".join(cells[t].verdict if t in cells else "" for t in topologies)
        why = bad[0].expected or " ".join(bad[0].message.split())[:160]
        lines.append(f"| `{name}` | {words} | {why.replace('|', '/')} |")
    head = [f"| program | {' | '.join(topologies)} | why |", "|---" * (len(topologies) + 2) + "|"]
    return "\n".join(
        [f"{len(rows)} programs; compiled: {totals}", *(["", *head, *lines] * bool(lines))]
    )


def record(
    outcomes: Sequence[Outcome], operators: Mapping[str, AbstractSet[str]]
) -> dict[str, Any]:
    """What docs/operators.md shows; `operators` are those of each program by its name.

    An operator compiles for a topology when a program that has it does. Of a program that fails,
    those operators are named that no compiled program has; where there is none, the one that the
    program is called after.
    """
    totals: dict[str, dict[str, int]] = {}
    compiled: dict[str, list[str]] = {}
    for outcome in outcomes:
        total = totals.setdefault(outcome.topology, {"compiled": 0, "programs": 0})
        total["programs"] += 1
        if outcome.status != "OK":
            continue
        total["compiled"] += 1
        for operator in operators[outcome.name]:
            where = compiled.setdefault(operator, [])
            if outcome.topology not in where:
                where.append(outcome.topology)
    refused: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.status == "OK":
            continue
        mine = operators[outcome.name]
        blamed = [o for o in mine if outcome.topology not in compiled.get(o, ())]
        own = outcome.name.partition(" ")[0].partition(".")[0]
        for operator in blamed or [o for o in mine if o.partition(".")[0] == own]:
            why = outcome.expected or " ".join(outcome.message.split())[:160]
            dtype = outcome.name.removesuffix(" backward").rpartition(" ")[2]
            refused.setdefault(operator, {})[f"{outcome.topology} {dtype}"] = why
    return {"totals": totals, "compiled": compiled, "refused": refused}


def write_record(path: Path, found: Mapping[str, Any]) -> None:
    """JSON with one line for each operator, sorted."""
    lines = []
    for key, value in found.items():
        if key in ("compiled", "refused"):
            rows = [f"  {json.dumps(o)}: {json.dumps(value[o])}" for o in sorted(value)]
            body = "{\n" + ",\n".join(rows) + "\n }" if rows else "{}"
        else:
            body = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {body}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
