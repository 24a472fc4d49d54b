"""From a StableHLO module to a report."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from torch_tpu.aot import fit, helper, library
from torch_tpu.aot.captured import Captured
from torch_tpu.aot.recording import OptimizerLike, capture
from torch_tpu.aot.report import Report
from torch_tpu.aot.topology import resolve
from torch_tpu.hlo import locations

_MODULE_LINE = re.compile(r'(?:^|[\s("\'])"?-"?:(\d+):\d+|(?:^|: )line (\d+)\b')


def compile_text(
    text: str,
    topology: str = "v5e:1x1",
    *,
    name: str = "program",
    options: Mapping[str, helper.OptionValue] | None = None,
    fast: bool = False,
    num_replicas: int = 1,
    num_partitions: int = 1,
    device_assignment: Sequence[int] = (),
    use_spmd: bool | None = None,
    use_shardy: bool | None = None,
    topology_options: Mapping[str, helper.OptionValue] | None = None,
    timeout: float = 600.0,
    progress: bool = True,
    captured: Captured | None = None,
) -> Report:
    """Compiles a StableHLO module for a TPU that need not be there.

    The number of devices is `num_replicas * num_partitions`; `use_spmd` defaults to whether there
    are several partitions and `use_shardy` to whether the module has Shardy attributes. `timeout`
    is in seconds. A module that does not compile gives a report that says why; an abort of the
    compiler is such a reason. Raises UnknownTopology, LibtpuNotFound, or HelperFailed when the
    compiler does not start or refuses the topology.
    """
    settings = helper.Settings(
        topology=resolve(topology),
        library=library.find_libtpu(),
        helper=library.find_helper(),
        options=options or {},
        topology_options=topology_options or {},
        num_replicas=num_replicas,
        num_partitions=num_partitions,
        use_spmd=num_partitions > 1 if use_spmd is None else use_spmd,
        use_shardy="sdy." in text if use_shardy is None else use_shardy,
        device_assignment=device_assignment,
        optimization_level=helper.FAST if fast else 0,
        timeout=timeout,
    )
    with tempfile.TemporaryDirectory(prefix="torch_tpu_aot_") as folder:
        scratch = Path(folder)
        module = scratch / "module.mlir"
        module.write_text(text, encoding="utf-8")
        run = helper.Run(settings, scratch, helper.terminal() if progress else None)
        ((_, result),) = run.results([helper.Job(name, module, scratch)])
        return _report(run, result, text, scratch, fast=fast, captured=captured)


def compile(
    function: Callable[..., Any] | torch.export.ExportedProgram,
    example_inputs: Sequence[Any] | Mapping[str, Any] = (),
    topology: str = "v5e:1x1",
    *,
    loss_fn: Callable[[Any], torch.Tensor] | None = None,
    optimizer: OptimizerLike | None = None,
    **arguments: Any,
) -> Report:
    """Compiles a function, a module or an exported program for a TPU that need not be there.

    Without `loss_fn` and `optimizer` the program is the forward pass; see `capture` for them and
    for the inputs, which may be `meta` or fake tensors. `arguments` are those of `compile_text`:
    `options` (compiler options by name), `fast` (compile quickly, optimise little), `timeout` in
    seconds and others.
    """
    name = arguments.pop("name", None)
    captured = capture(function, example_inputs, loss_fn=loss_fn, optimizer=optimizer, name=name)
    return compile_captured(captured, topology, **arguments)


def compile_captured(captured: Captured, topology: str = "v5e:1x1", **arguments: Any) -> Report:
    """`compile_text` of a captured function; buffers of arguments carry their names.

    A program whose arguments alone are larger than a device's HBM is not given to the compiler,
    which would take minutes to say the same.
    """
    arguments.setdefault("name", captured.name)
    if arguments.get("num_partitions", 1) == 1:
        report = fit.too_large(captured, arguments["name"], resolve(topology))
        if report is not None:
            return report
    return compile_text(captured.text, topology, captured=captured, **arguments)


def _report(
    run: helper.Run,
    result: Mapping[str, Any],
    text: str,
    scratch: Path,
    *,
    fast: bool,
    captured: Captured | None,
) -> Report:
    def read(file: str) -> bytes:
        path = scratch / file
        return path.read_bytes() if path.exists() else b""

    return Report.from_result(
        result,
        run.topology,
        topology=run.settings.topology,
        num_devices=run.settings.num_replicas * run.settings.num_partitions,
        fast=fast,
        failed_at=failed_at(result.get("message", ""), text),
        hlo=read("optimized.hlo").decode("utf-8", "replace"),
        executable=read("executable.bin"),
        captured=captured,
    )


def failed_at(message: str, text: str) -> str:
    """What the line of the module that `message` names stands for: operator, Python line, code."""
    found = _MODULE_LINE.search(message)
    lines = text.splitlines()
    number = int(found[1] or found[2]) if found else 0
    if not 0 < number <= len(lines):
        return ""
    line = lines[number - 1]
    place = locations.Locations(text).of_line(line)
    code = locations.without(line).strip()
    return ", ".join(part for part in (place.operator, place.source, code) if part)
