# The table of expected failures: strict, with a reason for every line.
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from . import nodes

PATH = Path(__file__).with_name("expected_failures.toml")
_KEYS = {"op", "dtype", "kind", "reason"}


@dataclass(frozen=True)
class Entry:
    """Patterns of nodes (a shell pattern or a list of them for each part) and why they fail."""

    op: object
    dtype: object
    kind: object
    reason: str

    def matches(self, node):
        return nodes.matches(node, self.op, self.dtype, self.kind)

    def __str__(self):
        return f"op={self.op!r} dtype={self.dtype!r} kind={self.kind!r}"


class Table:
    """Expected failures and what is out of scope."""

    def __init__(self, text):
        found = tomllib.loads(text)
        unknown = found.keys() - {"expected", "out_of_scope"}
        if unknown:
            raise ValueError(f"unknown tables: {sorted(unknown)}")
        self.expected = [_entry(line) for line in found.get("expected", [])]
        self.out_of_scope = [_entry(line) for line in found.get("out_of_scope", [])]

    def in_scope(self, node):
        return not any(e.matches(node) for e in self.out_of_scope)

    def judge(self, results, whole):
        """Sets "verdict" of each result: passed, unjudged, xfailed, or one of PROBLEMS. Returns
        entries that met no node, where `whole` says that all nodes have run."""
        used = Counter()
        for r in results:
            node = nodes.Node(r["op"], r["dtype"], r["kind"])
            entry = next((e for e in self.expected if e.matches(node)), None)
            if entry:
                used[entry.reason, str(entry)] += 1
            r["verdict"] = _verdict(r["status"], entry)
            if entry:
                r["reason"] = entry.reason
        if not whole:
            return []
        return [e for e in self.expected if not used[e.reason, str(e)]]


PROBLEMS = ("failed", "crashed", "hung", "passed unexpectedly")


def _verdict(status, entry):
    # A crash or a hang is never expected.
    if entry is None or status in ("crashed", "hung", "unjudged"):
        return status
    return "xfailed" if status == "failed" else "passed unexpectedly"


def _entry(line):
    unknown = line.keys() - _KEYS
    if unknown or not line.get("reason", "").strip() or "op" not in line:
        raise ValueError(f"an entry needs op and reason, may have dtype and kind: {line}")
    return Entry(line["op"], line.get("dtype", "*"), line.get("kind", "*"), line["reason"])


def load(path=PATH):
    return Table(path.read_text(encoding="utf-8") if path.exists() else "")
