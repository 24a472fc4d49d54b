"""What a TPU compiler makes of our programs, next to the same models written in JAX.

Both modules go through the same libtpu with the same options; no TPU is needed. Without JAX our
figures alone are printed. `--wide` takes larger shapes than the tests have (minutes more).
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from torch_tpu import aot

from bench._aot_models import Case, cases
from bench.report import Cell, table, target

ROOT = Path(__file__).resolve().parent.parent
SIDE = ROOT / "build/jax-venv"
HOW_TO_GET = (
    "JAX is not here, so there is nothing to compare with. It goes into an environment of its own: "
    f"python3 -m venv {SIDE.relative_to(ROOT)} && "
    f"{SIDE.relative_to(ROOT)}/bin/pip install jax==0.10.2"
)
TOPOLOGY = "v5e:1x1"

Reports = dict[str, aot.Report]

# Bytes and peak at most 1.05 of JAX's; flops the same within 1 percent.
BOUNDS = {"flops": 1.01, "bytes": 1.05, "peak": 1.05}


def jax_python(named: str | None) -> str | None:
    """An interpreter that has JAX: the one named, this one, or the side environment's."""
    if named:
        return named
    if importlib.util.find_spec("jax"):
        return sys.executable
    found = SIDE / "bin/python"
    return str(found) if found.exists() else None


def jax_modules(python: str, chosen: Sequence[Case], folder: str) -> dict[str, str]:
    """StableHLO texts of the cases by name, as JAX lowers them for a TPU."""
    script = Path(__file__).with_name("_aot_jax.py")
    spec = json.dumps({case.name: case.shapes() for case in chosen})
    # JAX only lowers here: it need not, and must not, look for a TPU.
    environment = {k: v for k, v in os.environ.items() if k != "TPU_LIBRARY_PATH"}
    environment["JAX_PLATFORMS"] = "cpu"
    command = [python, str(script), folder]
    subprocess.run(command, input=spec, text=True, check=True, env=environment)
    return {case.name: Path(folder, f"{case.name}.mlir").read_text() for case in chosen}


def figures(report: aot.Report) -> dict[str, float]:
    """What is compared."""
    return {
        "flops": report.flops,
        "bytes": report.bytes_accessed,
        "peak": report.memory.peak,
        "HBM": report.memory.hbm,
        "cycles": report.estimated_cycles,
    }


def compiled(name: str, text: str, arguments: argparse.Namespace) -> aot.Report | None:
    """Report of one module; None, with the reason printed, where it does not compile."""
    report = aot.compile_text(text, arguments.topology, name=name, fast=arguments.fast)
    if arguments.keep:
        Path(arguments.keep, f"{name}.mlir").write_text(text)
        Path(arguments.keep, f"{name}.hlo").write_text(report.hlo)
    if not report.compiled:
        print(f"{name} does not compile: {report.status} {report.message}")
        return None
    return report


def show(ours: Reports, theirs: Reports) -> None:
    """A row for each model and figure, then the targets."""
    rows: list[list[Cell]] = []
    ratios: dict[str, float] = {}
    for name, report in ours.items():
        others = figures(theirs[name]) if name in theirs else {}
        for what, value in figures(report).items():
            other = others.get(what)
            ratio = value / other if other else None
            rows.append([f"{name} {what}", value, other, f"{ratio:.3f}" if ratio else None])
            if ratio and what in BOUNDS:
                # Fewer operations than JAX's are as unequal as more.
                ratios[f"{name}.{what}"] = max(ratio, 1 / ratio) if what == "flops" else ratio
    table("compiled for a TPU; cycles are estimates", ["model", "ours", "jax", "ratio"], rows)
    for name, ratio in ratios.items():
        target(f"aot.{name}", ratio, BOUNDS[name.rpartition(".")[2]])


def write_golden(path: str, ours: Reports) -> None:
    """Our figures, as tests/aot/test_models.py reads them."""
    data = {
        "compiler": next(iter(ours.values())).compiler,
        "cases": {
            name: {what: value for what, value in figures(report).items() if what in BOUNDS}
            for name, report in ours.items()
        },
    }
    Path(path).write_text(json.dumps(data, indent=1) + "\n")


def compare(chosen: Sequence[Case], python: str | None, arguments: argparse.Namespace) -> None:
    """Compiles both sides one model after the other, and prints."""
    ours: Reports = {}
    theirs: Reports = {}
    with tempfile.TemporaryDirectory(prefix="bench_aot_") as folder:
        texts = jax_modules(python, chosen, folder) if python else {}
    for case in chosen:
        sides = [(ours, "ours", case.capture().text)]
        if case.name in texts:
            sides.append((theirs, "jax", texts[case.name]))
        for reports, side, text in sides:
            if report := compiled(f"{case.name}.{side}", text, arguments):
                reports[case.name] = report
    show(ours, theirs)
    if arguments.golden:
        write_golden(arguments.golden, ours)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; a missing libtpu or JAX is told and is no failure."""
    parser = argparse.ArgumentParser(prog="python -m bench.aot", description=__doc__)
    parser.add_argument("models", nargs="*", help="only these, such as gpt_train")
    parser.add_argument("--topology", default=TOPOLOGY)
    parser.add_argument("--wide", action="store_true", help="larger shapes than the tests'")
    parser.add_argument("--fast", action="store_true", help="the compiler's fast mode")
    parser.add_argument("--jax", metavar="PYTHON", help="an interpreter that has JAX")
    parser.add_argument("--golden", metavar="FILE", help="write our figures for tests/aot")
    parser.add_argument("--keep", metavar="FOLDER", help="keep both modules and what became of it")
    arguments = parser.parse_args(argv)
    try:
        aot.find_libtpu()
    except aot.LibtpuNotFound as missing:
        print(missing)
        return 0
    every = list(cases(arguments.wide))
    names = arguments.models or [case.name for case in every]
    if unknown := set(names) - {case.name for case in every}:
        parser.error(f"{unknown.pop()} is none of {', '.join(case.name for case in every)}")
    python = jax_python(arguments.jax)
    if python is None:
        print(HOW_TO_GET)
    compare([case for case in every if case.name in names], python, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
