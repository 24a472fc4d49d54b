"""`python -m torch_tpu.aot.sweep MODULES`: compiles every module of a folder for several TPUs.

MODULES is a folder of `.mlir` files, whose first line names the program (`// aten::add.Tensor f32`;
the file's name where it does not), or a file of JSON lines with "name" and "text". Programs that
differ only in names and locations are compiled once.

Expected failures stand in a text file, one a line: `name | topology or * | reason`; a `*` in the
name stands for any text. They are strict: one that compiles is a failure of the sweep until its
line is removed. The exit status is 0 when everything went as expected, 1 when not, 2 when the sweep
could not run.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch_tpu.aot import helper, library
from torch_tpu.aot.outcomes import Expected, Outcome, record, table, write_record
from torch_tpu.aot.topology import UnknownTopology, resolve
from torch_tpu.hlo.canonical import BadModule, canonical

TOPOLOGIES = ("v5e:1x1", "v6e:1x1", "tpu7x:1x1x1")
_PER_PROCESS = 200
_PROGRESS_EVERY = 30.0
_OPERATOR = re.compile(r'"(aten::[\w.]+)"')


@dataclass(frozen=True)
class Program:
    """A module and all the names under which it was found."""

    names: tuple[str, ...]
    text: str
    key: str = ""
    """The same for programs that differ only in names and locations."""
    operators: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)
    """ATen operators by the name of the program, as its locations and its name tell them."""

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


def read_programs(path: Path) -> list[Program]:
    """Programs of a folder or of a file of JSON lines, each different one once, by name."""
    if path.is_dir():
        pairs = [
            _named(p.read_text(encoding="utf-8"), p.stem) for p in sorted(path.rglob("*.mlir"))
        ]
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        pairs = [(row["name"], row["text"]) for row in rows]
    by_key: dict[str, tuple[dict[str, frozenset[str]], str]] = {}
    for name, text in pairs:
        operators, _ = by_key.setdefault(_key(text), ({}, text))
        found = frozenset(_OPERATOR.findall(f'"{name.partition(" ")[0]}" {text}'))
        operators[name] = operators.get(name, frozenset()) | found
    programs = [Program(tuple(o), text, key, o) for key, (o, text) in by_key.items()]
    return sorted(programs, key=lambda p: p.name)


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


class Cache:
    """Results of earlier sweeps, in a file of JSON lines that grows; without a path, none.

    Results of another compiler, topology or optimisation level do not count.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._results: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):  # the line at which a sweep was ended
                    row = json.loads(line)
                    self._results[row["key"]] = row["result"]

    @staticmethod
    def key(program: Program, settings: helper.Settings) -> str:
        """What a result depends on."""
        size = os.path.getsize(settings.library) if os.path.exists(settings.library) else 0
        parts = (program.key, settings.topology, settings.optimization_level, size)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The result, unless it was a matter of time."""
        found = self._results.get(key)
        return None if found is None or found["status"] == "DEADLINE_EXCEEDED" else found

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Keeps a result, also for later sweeps."""
        if self._path is None:
            return
        kept = {k: result.get(k) for k in ("status", "message", "compile_seconds")}
        kept["costs"], kept["memory"] = result.get("costs", {}), result.get("memory", {})
        self._results[key] = kept
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "result": kept}) + "\n")


def sweep(
    programs: Sequence[Program],
    topologies: Sequence[str] = TOPOLOGIES,
    *,
    expected: Expected | None = None,
    timeout: float = 120.0,
    fast: bool = True,
    log: bool = True,
    cache: Cache | None = None,
) -> list[Outcome]:
    """Compiles each program for each topology, many to a process.

    An abort of the compiler costs its own module only. Raises LibtpuNotFound, or HelperFailed when
    the compiler refuses a topology.
    """
    expected, cache = expected or Expected(), cache or Cache(None)
    outcomes = []
    for topology in map(resolve, topologies):
        settings = helper.Settings(
            topology=topology,
            library=library.find_libtpu(),
            helper=library.find_helper(),
            optimization_level=helper.FAST if fast else 0,
            timeout=timeout,
        )
        start = said = time.monotonic()
        here: list[Outcome] = []
        for number, (program, result) in enumerate(_results(programs, settings, cache), 1):
            here += _outcomes(program, topology, result, expected)
            now = time.monotonic()
            if log and (now - said > _PROGRESS_EVERY or number == len(programs)):
                said = now
                print(_progress(number, len(programs), here, now - start), flush=True)
        outcomes += here
    return outcomes


def _progress(number: int, total: int, here: Sequence[Outcome], seconds: float) -> str:
    failed = sum(o.status != "OK" for o in here)
    return (
        f"{here[0].topology}: {number} of {total} programs with {len(here)} names, {failed} names "
        f"failed, {seconds:.0f} s, {number / max(seconds, 0.001):.1f} a second"
    )


def _outcomes(
    program: Program, topology: str, result: dict[str, Any], expected: Expected
) -> list[Outcome]:
    costs, memory = result.get("costs", {}), result.get("memory", {})
    why = expected.reason(program.names, topology)
    return [
        Outcome(
            name=name,
            topology=topology,
            status=result["status"],
            message=result.get("message", ""),
            seconds=result.get("compile_seconds") or 0.0,
            flops=costs.get("flops", 0.0),
            bytes_accessed=costs.get("bytes accessed", 0.0),
            peak=memory.get("peak", 0),
            expected=why,
        )
        for name in program.names
    ]


def _results(
    programs: Sequence[Program], settings: helper.Settings, cache: Cache
) -> Iterator[tuple[Program, dict[str, Any]]]:
    """Each program with its result: first those that the cache has."""
    left = []
    for program in programs:
        found = cache.get(cache.key(program, settings))
        if found is None:
            left.append(program)
        else:
            yield program, found
    for first in range(0, len(left), _PER_PROCESS):
        part = left[first : first + _PER_PROCESS]
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
                cache.add(cache.key(program, settings), result)
                yield program, result


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a sweep from the command line."""
    arguments = _parser().parse_args(argv)
    try:
        programs = read_programs(arguments.modules)
        expected = Expected.read(arguments.expected) if arguments.expected else Expected()
        if not programs:
            raise ValueError(f"{arguments.modules}: no modules")
        chosen = sample(programs, arguments.sample)
        outcomes = sweep(
            chosen,
            [t for t in arguments.topologies.split(",") if t],
            expected=expected,
            timeout=arguments.timeout,
            fast=not arguments.full,
            cache=Cache(arguments.cache),
        )
    except (OSError, ValueError, KeyError, UnknownTopology, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1) + "\n")
    if arguments.record:
        operators = {name: found for p in programs for name, found in p.operators.items()}
        write_record(arguments.record, record(outcomes, operators))
    print(table(outcomes))
    return _conclude(outcomes, programs, expected)


def _parser() -> argparse.ArgumentParser:
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
    parser.add_argument(
        "--cache", type=Path, help="file that keeps results from one sweep to the next"
    )
    parser.add_argument(
        "--record", type=Path, help="file for docs/operators.md: which operators compile for what"
    )
    return parser


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
