"""`python -m torch_tpu.aot.sweep MODULES`: compiles every module of a folder for several TPUs.

MODULES is a folder of `.mlir` files, whose first line names the program (`// aten::add.Tensor f32`;
the file's name where it does not), or a file of JSON lines with "name" and "text". Programs that
differ only in names and locations are compiled once.

Expected failures stand in a text file, one a line: `name | topology or * | reason`. They are
strict: one that compiles is a failure of the sweep until its line is removed. The exit status is 0
when everything went as expected, 1 when not, 2 when the sweep could not run.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from torch_tpu.aot import helper, library
from torch_tpu.aot.topology import UnknownTopology, resolve
from torch_tpu.hlo.canonical import BadModule, canonical

TOPOLOGIES = ("v5e:1x1", "v6e:1x1", "tpu7x:1x1x1")
_PER_PROCESS = 40
_ANY = "*"


@dataclass(frozen=True)
class Program:
    """A module and all the names under which it was found."""

    names: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


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
    """The expected failures, and which of them occurred."""

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
        """Why this may fail; empty when it must not."""
        for name in names:
            for key in ((name, topology), (name, _ANY)):
                if key in self.reasons:
                    return self.reasons[key]
        return ""

    def without_program(self, names: Iterable[str]) -> list[str]:
        """Names that no program has: lines that are out of date."""
        return sorted({name for name, _ in self.reasons} - set(names))


def read_programs(path: Path) -> list[Program]:
    """Programs of a folder or of a file of JSON lines, each different one once, by name."""
    if path.is_dir():
        pairs = [
            _named(p.read_text(encoding="utf-8"), p.stem) for p in sorted(path.rglob("*.mlir"))
        ]
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        pairs = [(row["name"], row["text"]) for row in rows]
    by_key: dict[str, tuple[list[str], str]] = {}
    for name, text in pairs:
        names, _ = by_key.setdefault(_key(text), ([], text))
        if name not in names:
            names.append(name)
    return sorted((Program(tuple(n), t) for n, t in by_key.values()), key=lambda p: p.name)


def _named(text: str, stem: str) -> tuple[str, str]:
    first, _, _ = text.partition("\n")
    return (first[2:].strip() or stem, text) if first.startswith("//") else (stem, text)


def _key(text: str) -> str:
    with contextlib.suppress(BadModule):  # the compiler will say so
        text = "\n".join(line.text for line in canonical(text))
    return hashlib.sha256(text.encode()).hexdigest()


def sample(programs: Sequence[Program], count: int) -> list[Program]:
    """`count` programs spread evenly over the list; all when there are fewer."""
    if count <= 0 or count >= len(programs):
        return list(programs)
    return [programs[i * len(programs) // count] for i in range(count)]


def sweep(
    programs: Sequence[Program],
    topologies: Sequence[str] = TOPOLOGIES,
    *,
    expected: Expected | None = None,
    timeout: float = 120.0,
    fast: bool = True,
    log: bool = True,
) -> list[Outcome]:
    """Compiles each program for each topology, many to a process.

    An abort of the compiler costs its own module only. Raises LibtpuNotFound, or HelperFailed when
    the compiler refuses a topology.
    """
    expected = expected or Expected()
    outcomes = []
    for topology in map(resolve, topologies):
        settings = helper.Settings(
            topology=topology,
            library=library.find_libtpu(),
            helper=library.find_helper(),
            optimization_level=helper.FAST if fast else 0,
            timeout=timeout,
        )
        start = time.monotonic()
        here = _one_topology(programs, settings, expected)
        outcomes += here
        if log:
            failed = sum(o.status != "OK" for o in here)
            took = time.monotonic() - start
            print(f"{topology}: {len(here)} programs, {failed} failed, {took:.0f} s", flush=True)
    return outcomes


def _one_topology(
    programs: Sequence[Program], settings: helper.Settings, expected: Expected
) -> list[Outcome]:
    outcomes = []
    for first in range(0, len(programs), _PER_PROCESS):
        part = programs[first : first + _PER_PROCESS]
        with tempfile.TemporaryDirectory(prefix="torch_tpu_sweep_") as folder:
            jobs = []
            for number, program in enumerate(part):
                directory = Path(folder) / str(number)
                directory.mkdir()
                module = directory / "module.mlir"
                module.write_text(program.text, encoding="utf-8")
                jobs.append(helper.Job(f"program_{number}", module, directory))
            results = helper.Run(settings, Path(folder)).results(jobs)
            for program, (_, result) in zip(part, results, strict=True):
                costs, memory = result.get("costs", {}), result.get("memory", {})
                why = expected.reason(program.names, settings.topology)
                outcomes += [
                    Outcome(
                        name=name,
                        topology=settings.topology,
                        status=result["status"],
                        message=result.get("message", ""),
                        seconds=result.get("compile_seconds", 0.0),
                        flops=costs.get("flops", 0.0),
                        bytes_accessed=costs.get("bytes accessed", 0.0),
                        peak=memory.get("peak", 0),
                        expected=why,
                    )
                    for name in program.names
                ]
    return outcomes


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


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a sweep from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m torch_tpu.aot.sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("modules", type=Path)
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES), help="separated by commas")
    parser.add_argument("--expected", type=Path, help="file of expected failures")
    parser.add_argument("--sample", type=int, default=0, help="only so many, spread evenly")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each program")
    parser.add_argument("--full", action="store_true", help="default optimisation, not fast mode")
    parser.add_argument("--json", type=Path, help="file that gets all outcomes")
    arguments = parser.parse_args(argv)
    try:
        programs = read_programs(arguments.modules)
        expected = Expected.read(arguments.expected) if arguments.expected else Expected()
        if not programs:
            raise ValueError(f"{arguments.modules}: no modules")
        outcomes = sweep(
            sample(programs, arguments.sample),
            [t for t in arguments.topologies.split(",") if t],
            expected=expected,
            timeout=arguments.timeout,
            fast=not arguments.full,
        )
    except (OSError, ValueError, KeyError, UnknownTopology, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1) + "\n")
    print(table(outcomes))
    return _conclude(outcomes, programs, expected)


def _conclude(outcomes: Sequence[Outcome], programs: Sequence[Program], expected: Expected) -> int:
    wrong = [o for o in outcomes if o.verdict in ("FAILED", "FIXED")]
    stale = expected.without_program(name for p in programs for name in p.names)
    for outcome in wrong:
        text = " ".join(outcome.message.split()) or "compiles now: remove its line"
        print(f"{outcome.verdict} {outcome.name} on {outcome.topology}: {text}")
    for name in stale:
        print(f"STALE {name}: expected to fail, and there is no such program")
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
