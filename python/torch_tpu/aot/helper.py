"""Runs the helper executable: StableHLO modules in, results in files out.

The compiler is never loaded into this process. When it aborts or takes too long, the module that
was being compiled gets a result that says so, and a new process goes on with the rest.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from torch_tpu.aot.topology import known

OptionValue = str | bool | int | float
FAST = 9
"""Optimisation level (xla::ExecutionOptions::EffortLevel O0) of the fast mode."""
_PROGRESS_AFTER = 2.0
_STDERR_LINES = 12
_GRACE = 120.0
"""Seconds after which a helper that has not ended itself at its time limit is ended."""


class HelperFailed(RuntimeError):
    """The compiler could not be started or does not know the topology."""


@dataclass(frozen=True)
class Settings:
    """What a program is compiled for and with."""

    topology: str
    """As libtpu knows it."""
    library: str
    """Path of libtpu."""
    helper: str
    """Path of the helper executable."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Compiler flags by name ("xla_tpu_...")."""
    topology_options: Mapping[str, OptionValue] = field(default_factory=dict)
    num_replicas: int = 1
    num_partitions: int = 1
    use_spmd: bool = False
    use_shardy: bool = False
    device_assignment: Sequence[int] = ()
    """Device ids, replica-major; empty: the compiler's choice."""
    optimization_level: int = 0
    """0: the compiler's default; 9: fast."""
    timeout: float = 600.0
    """Seconds for each module."""


@dataclass(frozen=True)
class Job:
    """One module to compile."""

    name: str
    module: Path
    directory: Path
    """Gets result.json, optimized.hlo and executable.bin."""


def request_text(settings: Settings, jobs: Sequence[Job]) -> str:
    """The request in the form that src/aot/request.h describes."""
    rows: list[tuple[object, ...]] = [
        ("plugin", settings.library),
        ("topology", settings.topology),
        ("replicas", settings.num_replicas),
        ("partitions", settings.num_partitions),
        ("spmd", int(settings.use_spmd)),
        ("shardy", int(settings.use_shardy)),
        ("optimization", settings.optimization_level),
        ("time_limit", max(1, round(settings.timeout))),
        *(("device", d) for d in settings.device_assignment),
    ]
    for word, options in (
        ("topology_option", settings.topology_options),
        ("option", settings.options),
    ):
        rows += [(word, name, *_typed(name, value)) for name, value in options.items()]
    rows += [("job", job.name, job.module, job.directory) for job in jobs]
    lines = []
    for row in rows:
        cells = [str(cell) for cell in row]
        if bad := [cell for cell in cells if "\t" in cell or "\n" in cell]:
            raise ValueError(f"{bad[0]!r} has a tab or a line end in it")
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def _typed(name: str, value: OptionValue) -> tuple[str, str]:
    if isinstance(value, bool):
        return "bool", str(int(value))
    for kind, word in ((int, "int"), (float, "real"), (str, "string")):
        if isinstance(value, kind):
            return word, str(value)
    raise TypeError(f"option {name}: expected str, bool, int or float, got {value!r}")


class Run:
    """Compiles modules, several to a process. `topology` is what the compiler said of it."""

    def __init__(self, settings: Settings, scratch: Path, progress: TextIO | None = None) -> None:
        self.settings = settings
        self.topology: dict[str, Any] = {}
        self._scratch = scratch
        self._overdue = False
        self._progress = progress

    def results(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Each job with its result (the object of result.json), in the order given."""
        left = list(jobs)
        while left:
            finished = 0
            for job, result in self._process(left):
                finished += 1
                yield job, result
            left = left[finished:]

    def _process(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Results until all jobs are done or the process is lost; the lost job has one too."""
        request = self._scratch / "request"
        request.write_text(request_text(self.settings, jobs))
        with open(self._scratch / "stderr", "w+b") as errors:
            process = subprocess.Popen(
                [self.settings.helper, str(request)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            try:
                current: Job | None = None
                waiting = iter(jobs)
                for line in self._lines(process, jobs):
                    word, _, rest = line.partition(" ")
                    if word == "topology":
                        self.topology = json.loads(rest)
                    elif word == "start":
                        current = next(waiting)
                    elif word == "done" and current is not None:
                        text = (current.directory / "result.json").read_text()
                        yield current, json.loads(text)
                        current = None
                    elif word == "error":
                        raise HelperFailed(_with_known(rest))
                process.wait()
                if process.returncode == 0:
                    return
                status, reason = self._loss(process.returncode, errors)
                if current is None:
                    raise HelperFailed(f"{status} {reason}")
                yield current, {"name": current.name, "status": status, "message": reason}
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
                if process.stdout:
                    process.stdout.close()

    def _lines(self, process: subprocess.Popen[bytes], jobs: Sequence[Job]) -> Iterator[str]:
        """Lines of the process's output; in the pauses the progress line is written."""
        assert process.stdout is not None
        start = heard = time.monotonic()
        shown = False
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                if time.monotonic() - heard > self.settings.timeout + _GRACE:
                    self._overdue = True
                    process.kill()
                if selector.select(timeout=0.5):
                    heard = time.monotonic()
                    data = os.read(process.stdout.fileno(), 1 << 16)
                    if not data:
                        break
                    pending += data
                    *lines, pending = pending.split(b"\n")
                    for line in lines:
                        yield line.decode("utf-8", "replace")
                elapsed = time.monotonic() - start
                if elapsed > _PROGRESS_AFTER and self._progress and len(jobs) == 1:
                    shown = self._show(f"{jobs[0].name}: {elapsed:.0f} s", shown)
        if shown and self._progress and self._progress.isatty():
            self._progress.write("\n")

    def _show(self, what: str, shown: bool) -> bool:
        """One line that is rewritten on a terminal; written once elsewhere."""
        assert self._progress is not None
        line = f"compiling for {self.settings.topology}, {what} of {self.settings.timeout:.0f} s"
        if self._progress.isatty():
            self._progress.write(f"\r{line}")
        elif not shown:
            self._progress.write(f"{line.rsplit(', ', 1)[0]} ...\n")
        self._progress.flush()
        return True

    def _loss(self, returncode: int, errors: Any) -> tuple[str, str]:
        """Status name and reason of a process that ended without an answer."""
        if returncode == -signal.SIGALRM or self._overdue:
            self._overdue = False
            seconds = f"{self.settings.timeout:.0f}"
            return "DEADLINE_EXCEEDED", (
                f"not compiled within {seconds} s; give more time (timeout=) or use fast=True"
            )
        errors.seek(0)
        lines = errors.read().decode("utf-8", "replace").splitlines()
        checks = [line for line in lines if "Check failed" in line]
        said = " | ".join((checks or lines[-_STDERR_LINES:])[:_STDERR_LINES]) or "it said nothing"
        how = f"exit status {returncode}"
        if returncode < 0:
            how = signal.Signals(-returncode).name
        return "ABORTED", f"the compiler ended its process ({how}) on this module: {said}"


def _with_known(reason: str) -> str:
    """A refused topology's reason, with the names that are known to work."""
    return f"{reason}; {known()}" if " topology '" in reason else reason


def terminal() -> TextIO:
    """Where progress goes."""
    return sys.stderr
