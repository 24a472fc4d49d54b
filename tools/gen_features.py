"""Writes docs/features.md from docs/features.toml (--fix), or checks that it is fresh (--check)."""

import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs/features.toml"
TARGET = ROOT / "docs/features.md"
STATUS = {
    "done": "a test that runs in this repository shows it",
    "partly": "a test shows a part; the note says what is missing",
    "planned": "not built yet",
    "hardware": "needs a TPU; not measured",
}
EXPECTED = 284

HEAD = """\
# Features

The published description of TorchTPU (October 2026) restated row by row, with the state of each row
in this project. Numbers in the feature column are the published ones, never measurements of ours.
How a row is verified: U unit test, G StableHLO text, C computed on a CPU plugin, A compiled for a
TPU without one, S simulated, D document or package, W hardware.

Written by `tools/gen_features.py` from `docs/features.toml`; edit that file.
"""


def problems(sections: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the source: wrong count, unknown status, a test that does not exist."""
    found = []
    rows = [(i, row) for s in sections for i, row in s["features"].items()]
    if len(rows) != EXPECTED or len({i for i, _ in rows}) != EXPECTED:
        found.append(f"{len(rows)} rows, expected {EXPECTED} with different ids")
    for identifier, row in rows:
        status, test = row["status"], row.get("test", "")
        if status not in STATUS:
            found.append(f"{identifier}: status {status!r} is not one of {', '.join(STATUS)}")
        if status in ("done", "partly") and not test:
            found.append(f"{identifier}: {status} without a test")
        if status == "partly" and not row.get("note"):
            found.append(f"{identifier}: partly without a note")
        found.extend(f"{identifier}: {why}" for why in missing(test))
    return found


def missing(test: str) -> list[str]:
    """Tests of "file, file::name" that do not exist."""
    found = []
    for item in filter(None, (part.strip() for part in test.split(","))):
        file, _, name = item.partition("::")
        path = ROOT / file
        if not path.exists():
            found.append(f"{file} does not exist")
        elif name and name not in path.read_text():
            found.append(f"{file} has no {name}")
    return found


def cell(text: str) -> str:
    """Text as it may stand in a table."""
    return text.replace("|", "\\|")


def link(test: str) -> str:
    """Tests as links from docs/."""
    parts = (part.strip() for part in test.split(",") if part.strip())
    return ", ".join(f"[{p.rpartition('/')[2]}](../{p.partition('::')[0]})" for p in parts)


def markdown(sections: list[dict[str, Any]]) -> str:
    """The page."""
    counts = Counter(row["status"] for s in sections for row in s["features"].values())
    lines = [HEAD, "| status | rows | meaning |", "|---|---|---|"]
    lines += [f"| {s} | {counts[s]} | {meaning} |" for s, meaning in STATUS.items()]
    for section in sections:
        lines += ["", f"## {section['title']}", ""]
        lines += [
            "| id | feature | verify | status | shown by | note |",
            "|---|---|---|---|---|---|",
        ]
        for identifier, row in section["features"].items():
            cells = (row["what"], row["verify"], row["status"], link(row.get("test", "")))
            note = row.get("note", "")
            lines.append(f"| {identifier} | {' | '.join(map(cell, (*cells, note)))} |")
    return "\n".join(lines) + "\n"


def main(mode: str) -> int:
    """Exit status 1 when the source is wrong, or when checking a page that is not fresh."""
    sections = tomllib.loads(SOURCE.read_text())["section"]
    if found := problems(sections):
        print(*found, sep="\n")
        return 1
    page = markdown(sections)
    if mode == "--fix":
        TARGET.write_text(page)
    elif not TARGET.exists() or TARGET.read_text() != page:
        print("docs/features.md is not fresh: make docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "--check"))
