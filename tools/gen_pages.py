"""Writes docs/operators.md and docs/env-vars.md from the installed wheel; --check compares."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch
from torch_tpu import env, operators

ROOT = Path(__file__).resolve().parent.parent
SWEEP = ROOT / "docs" / "tpu_sweep.json"
CONFORMANCE = ROOT / "docs" / "conformance.json"

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

The column TPU names the generations for which a program of the operator compiles, and the dtypes
that a compiler refuses; empty: no program of the sweep has the operator. Nothing was run on a TPU.
{sweep}

The column conformance counts the checks of PyTorch's operator database that passed, of those that
CPU could judge, over all entries whose calls reach the operator.
{conformance}

Written by `tools/gen_pages.py` from PyTorch's dispatcher, the lowerings of the build,
`docs/tpu_sweep.json`, which `make aot` writes, and `docs/conformance.json`, which `make
conformance` writes.

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


class Sweep:
    """What the sweep of the TPU compilers found."""

    def __init__(self, path: Path) -> None:
        found = json.loads(path.read_text(encoding="utf-8"))
        self.totals: dict[str, dict[str, int]] = found["totals"]
        self._compiled: dict[str, set[str]] = {}
        self._refused: dict[str, dict[str, set[str]]] = {}
        for name, topologies in found["compiled"].items():
            base = functional(name)
            self._compiled.setdefault(base, set()).update(map(generation, topologies))
        for name, reasons in found["refused"].items():
            for program in reasons:
                topology, _, dtype = program.partition(" ")
                dtypes = self._refused.setdefault(functional(name), {})
                dtypes.setdefault(dtype, set()).add(generation(topology))

    def summary(self) -> str:
        """Programs compiled for each topology."""
        counts = [
            f"{total['compiled']} of {total['programs']} programs compile for {topology}"
            for topology, total in self.totals.items()
        ]
        return "In the last sweep\n" + ",\n".join(counts) + "."

    def cell(self, base: str) -> str:
        """Generations and refused dtypes of an operator: "v5e, v6e; v5e not float64"."""
        order = [generation(topology) for topology in self.totals]
        name = functional(f"aten::{base}")
        parts = [", ".join(g for g in order if g in self._compiled.get(name, ()))]
        for dtype, where in sorted(self._refused.get(name, {}).items()):
            parts.append(f"{', '.join(g for g in order if g in where)} not {dtype}")
        return "; ".join(part for part in parts if part)


class Conformance:
    """What the conformance suite found; empty where it has not been recorded."""

    def __init__(self, path: Path) -> None:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._operators: dict[str, list[int]] = found.get("operators", {})
        self._totals: dict[str, list[int]] = found.get("totals", {})
        self._run, self._all = found.get("coverage", {}).get("nodes", (0, 0))

    def summary(self) -> str:
        """Checks passed, by kind."""
        passed = sum(total[0] for total in self._totals.values())
        judged = sum(total[1] for total in self._totals.values())
        kinds = [f"{kind} {p} of {n}" for kind, (p, n) in self._totals.items() if n]
        return (
            f"{self._run} of {self._all} checks have been run, and {passed} of the {judged}\n"
            "that CPU could judge passed:\n" + ",\n".join(kinds) + "."
        )

    def cell(self, base: str) -> str:
        """ "12/12", or nothing for an operator that no entry reaches."""
        counts = self._operators.get(base)
        return f"{counts[0]}/{counts[1]}" if counts else ""


def functional(name: str) -> str:
    """ "add" of "aten::_foreach_add_.List": what its lowering is called after."""
    return operators.functional_base(operators.split(name)[0])


def generation(topology: str) -> str:
    """ "v5e" of "v5e:1x1"."""
    return topology.partition(":")[0]


def by_base(
    resolutions: Sequence[operators.Resolution],
    kind: str,
    sweep: Sweep | None,
    conformance: Conformance,
) -> str:
    """Overloads of one kind, a line for each operator; with a sweep, a table."""
    grouped: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for r in resolutions:
        if r.kind == kind:
            base, overload = operators.split(r.name)
            grouped.setdefault(base, []).append(overload or "(default)")
            reasons[base] = r.detail
    if kind == operators.HOST:
        head = "| operator | overloads | on the host because | conformance |\n|---|---|---|---|\n"
        return head + "".join(
            f"| `{base}` | {', '.join(names)} | {reasons[base]} | {conformance.cell(base)} |\n"
            for base, names in sorted(grouped.items())
        )
    if sweep is None:
        return "".join(
            f"- `{base}`: {', '.join(names)}\n" for base, names in sorted(grouped.items())
        )
    return "| operator | overloads | TPU | conformance |\n|---|---|---|---|\n" + "".join(
        f"| `{base}` | {', '.join(names)} | {sweep.cell(base)} | {conformance.cell(base)} |\n"
        for base, names in sorted(grouped.items())
    )


def operators_page() -> str:
    """docs/operators.md."""
    scope = list(operators.resolve_all(operators.in_scope()))
    core = Counter(r.kind for r in operators.resolve_all(core_overloads()))
    counts = Counter(r.kind for r in scope)
    sweep = Sweep(SWEEP)
    conformance = Conformance(CONFORMANCE)
    page = OPERATORS_HEAD.format(
        torch=torch.__version__.partition("+")[0],
        sweep=sweep.summary(),
        conformance=conformance.summary(),
    )
    for kind, meaning in operators.MEANING.items():
        page += f"| {kind} | {counts[kind]} | {core[kind]} | {meaning} |\n"
    page += f"| all | {counts.total()} | {core.total()} | |\n"
    for kind in operators.MEANING:
        if counts[kind]:
            page += f"\n## {kind.capitalize()}\n\n"
            if kind == operators.EXCLUDED:
                page += excluded(scope)
                continue
            missing = kind == operators.MISSING
            page += by_base(scope, kind, None if missing else sweep, conformance)
    return page


def excluded(resolutions: Sequence[operators.Resolution]) -> str:
    """Operators that are left out, by reason."""
    by_reason: dict[str, set[str]] = {}
    for r in resolutions:
        if r.kind == operators.EXCLUDED:
            by_reason.setdefault(r.detail, set()).add(operators.split(r.name)[0])
    return "".join(
        f"- {reason}: {', '.join(f'`{base}`' for base in sorted(bases))}\n"
        for reason, bases in sorted(by_reason.items())
    )


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
