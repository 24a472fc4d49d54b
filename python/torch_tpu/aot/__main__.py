"""`python -m torch_tpu.aot path.py:model`: compile for a TPU that need not be there, and report.

`path.py:name` names a module or a callable of that file, or a function without arguments that
returns a module, or a module and its inputs. Inputs are those, or the variable `example_inputs` of
the file, or the one that --inputs names. The exit status is 0 when it compiles, 1 when it does not,
and 2 when the command cannot be understood or libtpu is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from torch_tpu.aot import library, topology
from torch_tpu.aot.captured import Captured
from torch_tpu.aot.compiler import compile_captured
from torch_tpu.aot.helper import HelperFailed, OptionValue
from torch_tpu.aot.library import LibtpuNotFound
from torch_tpu.aot.recording import capture
from torch_tpu.aot.report import Report

COMPILED, FAILED, BAD = 0, 1, 2
_INPUTS = "example_inputs"
_LOSS = "loss_fn"


class BadUse(ValueError):
    """What was asked for cannot be understood; the message says what to write instead."""


def load(path: str) -> ModuleType:
    """The file as a module; files next to it can be imported by it."""
    file = Path(path)
    if not file.is_file():
        raise BadUse(f"there is no file {path!r}")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise BadUse(f"{path!r} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadUse(f"{path} failed: {type(error).__name__}: {error}") from error
    return module


def named(module: ModuleType, name: str) -> Any:
    """A variable of the file."""
    if hasattr(module, name):
        return getattr(module, name)
    there = ", ".join(n for n in vars(module) if not n.startswith("_")) or "nothing"
    raise BadUse(f"{module.__file__} has no {name!r}; it has {there}")


def chosen(module: ModuleType, name: str, inputs_name: str | None) -> tuple[Any, Any]:
    """What to compile, and its inputs."""
    function = named(module, name)
    given: Any = None
    if not isinstance(function, torch.nn.Module | torch.export.ExportedProgram):
        if not callable(function):
            raise BadUse(f"{name} is a {type(function).__name__}, expected a module or a function")
        if not _required(function):
            function, given = _made(name, function)
    if inputs_name is not None or given is None:
        given = getattr(module, inputs_name or _INPUTS, None)
    if given is None:
        where = f"{module.__file__} has no variable {inputs_name or _INPUTS!r}"
        raise BadUse(f"no inputs: {where}; write one, such as `{_INPUTS} = (torch.zeros(8, 4),)`")
    if isinstance(given, torch.Tensor):
        given = (given,)
    if not isinstance(given, Sequence | Mapping) or isinstance(given, str):
        kind = type(given).__name__
        raise BadUse(f"inputs must be a tuple, a mapping by argument or a tensor, got {kind}")
    return function, given


def _required(function: Callable[..., Any]) -> list[str]:
    """Parameters that a call must give."""
    kinds = inspect.Parameter
    return [
        name
        for name, p in inspect.signature(function).parameters.items()
        if p.default is kinds.empty and p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    ]


def _made(name: str, function: Callable[[], Any]) -> tuple[Any, Any]:
    """Module, and inputs where there are some, that a function without arguments makes."""
    made = function()
    if callable(made):
        return made, None
    if isinstance(made, tuple) and len(made) == 2 and callable(made[0]):
        return made
    kind = type(made).__name__
    raise BadUse(f"{name}() returned a {kind}, expected a module, or a module and its inputs")


def option(text: str) -> tuple[str, OptionValue]:
    """A compiler option `name=value`; true, false and numbers are values of their type."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return name, kind(value)
    return name, value


def _optimizer(module: ModuleType, name: str) -> Callable[..., torch.optim.Optimizer]:
    found = getattr(module, name, None) or getattr(torch.optim, name, None)
    if not callable(found):
        raise BadUse(
            f"--train {name}: neither torch.optim nor the file has it; write AdamW, SGD or the "
            "name of a function of the file that makes an optimizer of a list of parameters"
        )
    maker: Callable[..., torch.optim.Optimizer] = found
    return maker


def _capture(arguments: argparse.Namespace) -> Captured:
    path, colon, name = arguments.model.rpartition(":")
    if not colon or not name or not path:
        raise BadUse(f"{arguments.model!r} is not of the form path.py:model")
    where = torch.device("meta") if arguments.meta else contextlib.nullcontext()
    with where:
        module = load(path)
        function, inputs = chosen(module, name, arguments.inputs)
    loss, optimizer = None, None
    if arguments.train:
        optimizer = _optimizer(module, arguments.train)
        loss = getattr(module, _LOSS, None)
    if arguments.loss:
        loss = named(module, arguments.loss)
    return capture(function, inputs, loss_fn=loss, optimizer=optimizer, name=name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m torch_tpu.aot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("model", help="path.py:name")
    add("--topology", default="v5e:1x1", help=f"default v5e:1x1; {topology.known()}")
    add("--inputs", metavar="NAME", help=f"variable with the inputs (default {_INPUTS})")
    add("--meta", action="store_true", help="load the file with tensors that have no memory")
    add("--loss", metavar="NAME", help="function of the output: compile forward and backward")
    add(
        "--train",
        metavar="OPTIMIZER",
        nargs="?",
        const="AdamW",
        help="compile a training step; AdamW by default. The loss is --loss, or the file's "
        f"{_LOSS}, or the output itself",
    )
    add("--fast", action="store_true", help="compile quickly, optimise little")
    add("--option", metavar="K=V", type=option, action="append", default=[], help="for libtpu")
    add("--timeout", metavar="SECONDS", type=float, default=600.0)
    add("--html", metavar="FILE", help="write the report as a page")
    add("--json", metavar="FILE", help="write the report's figures")
    add("--hlo", metavar="FILE", help="write the optimised module")
    return parser


def _write(report: Report, arguments: argparse.Namespace) -> None:
    texts: list[tuple[str | None, Callable[[], str]]] = [
        (arguments.html, report.to_html),
        (arguments.json, lambda: json.dumps(report.to_dict(), indent=1) + "\n"),
        (arguments.hlo, lambda: report.hlo),
    ]
    for path, text in texts:
        if path:
            Path(path).write_text(text(), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; see the module for the result."""
    arguments = _parser().parse_args(argv)
    try:
        topology.resolve(arguments.topology)
        library.find_libtpu()
        captured = _capture(arguments)
    except (BadUse, TypeError, topology.UnknownTopology, LibtpuNotFound) as error:
        print(error, file=sys.stderr)
        return BAD
    except Exception as error:
        print(f"{arguments.model} cannot be captured: {type(error).__name__}: {error}")
        return FAILED
    try:
        report = compile_captured(
            captured,
            arguments.topology,
            options=dict(arguments.option),
            fast=arguments.fast,
            timeout=arguments.timeout,
        )
        print(report)
        _write(report, arguments)
    except (HelperFailed, OSError) as error:
        print(error, file=sys.stderr)
        return BAD
    return COMPILED if report.compiled else FAILED


if __name__ == "__main__":
    raise SystemExit(main())
