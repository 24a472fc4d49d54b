"""Writes docs/operators.md and docs/env-vars.md from the installed wheel; --check compares."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch
from torch_tpu import env, operators

ROOT = Path(__file__).resolve().parent.parent

ENV_HEAD = """\
# Environment variables

Read once, when the process first needs one. `python -m torch_tpu.env` prints them with their
values. Stages: stable; experimental (may change); debug (to find faults); test (for this project's
tests).

Written by `tools/gen_pages.py` from the table in `src/base/env.cc`.

| variable | type | default | stage | meaning |
|---|---|---|---|---|
"""

OPERATORS_HEAD = """\
# Operators

How ATen operators run on the device, for torch {torch}. In scope are the overloads that a device
must supply: those with a CPU kernel and no default made of other operators. `python -m
torch_tpu.operators NAME` answers for one operator, in scope or not.

Written by `tools/gen_pages.py` from PyTorch's dispatcher and the lowerings of the build.

| resolution | in scope | tagged core | meaning |
|---|---|---|---|
"""


def env_page() -> str:
    """docs/env-vars.md."""
    rows = []
    for v in env.variables():
        default = f"`{v['default']}`" if v["default"] else ""
        kind = v["type"].replace("|", "\\|")
        rows.append(f"| `{v['name']}` | {kind} | {default} | {v['stage']} | {v['help']} |\n")
    return ENV_HEAD + "".join(rows)


def core_overloads() -> list[str]:
    """Overloads that PyTorch tags `core`."""
    return [name for name in operators.overloads() if operators.is_core(name)]


def by_base(resolutions: Sequence[operators.Resolution], kind: str) -> str:
    """Overloads of one kind, a line for each operator."""
    grouped: dict[str, list[str]] = {}
    for r in resolutions:
        if r.kind == kind:
            base, overload = operators.split(r.name)
            grouped.setdefault(base, []).append(overload or "(default)")
    return "".join(f"- `{base}`: {', '.join(names)}\n" for base, names in sorted(grouped.items()))


def operators_page() -> str:
    """docs/operators.md."""
    scope = list(operators.resolve_all(operators.in_scope()))
    core = Counter(r.kind for r in operators.resolve_all(core_overloads()))
    counts = Counter(r.kind for r in scope)
    page = OPERATORS_HEAD.format(torch=torch.__version__.partition("+")[0])
    for kind, meaning in operators.MEANING.items():
        page += f"| {kind} | {counts[kind]} | {core[kind]} | {meaning} |\n"
    page += f"| all | {counts.total()} | {core.total()} | |\n"
    for kind in operators.MEANING:
        if counts[kind]:
            page += f"\n## {kind.capitalize()}\n\n{by_base(scope, kind)}"
    return page


PAGES = {"docs/env-vars.md": env_page, "docs/operators.md": operators_page}


def main(mode: str) -> int:
    """Exit status 1 when checking and a page is not fresh."""
    stale = []
    for name, make in PAGES.items():
        path, page = ROOT / name, make()
        if mode == "--fix":
            path.write_text(page)
        elif not path.exists() or path.read_text() != page:
            stale.append(f"{name} is not fresh: make docs")
    print(*stale, sep="\n", end="\n" if stale else "")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "--check"))
