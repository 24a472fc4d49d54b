"""Includes in src/ go one way only, and PyTorch stays above the seam. Mended by hand."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each layer may include, next to itself.
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "pjrt": {"base"},
    "shlo": {"base"},
    "views": {"base", "shlo"},
    "cache": {"base", "pjrt"},
    "aot": {"base", "pjrt"},
    "ops": {"base", "shlo", "views"},
    "graph": {"base", "pjrt", "shlo", "views", "cache", "ops"},
    "device": {"base", "pjrt", "shlo", "views", "cache", "ops", "graph"},
    "bindings": {"base", "pjrt", "shlo", "views", "cache", "ops", "graph", "device"},
}
TORCH_LAYERS = {"device", "bindings"}
PYTHON_LAYERS = {"bindings"}
PJRT_HEADER_LAYERS = {"pjrt"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
PYTHON = re.compile(r"^(pybind11/|Python\.h)")


def problem_of(layer: str, include: str) -> str | None:
    """What is wrong with `include` in a file of `layer`, or None."""
    first = include.partition("/")[0]
    if TORCH.match(include) or PYTHON.match(include):
        if include == "torch/extension.h":
            return "torch/extension.h costs a minute a file: include the thin headers"
        if layer not in TORCH_LAYERS:
            return f"{layer}/ is free of PyTorch and Python; move the code up to device/"
        if PYTHON.match(include) and layer not in PYTHON_LAYERS:
            return f"{layer}/ does not know Python; move the code up to bindings/"
        return None
    if "pjrt_c_api" in include and layer not in PJRT_HEADER_LAYERS:
        return "the C API stays inside pjrt/; use its classes"
    if first in ALLOWED and first != layer and first not in ALLOWED[layer]:
        return f"{layer}/ may include {', '.join(sorted(ALLOWED[layer])) or 'nothing but itself'}"
    return None


def problems() -> list[str]:
    """All wrong includes as "file:line: include: why"."""
    found = []
    for path in sorted([*ROOT.glob("src/*/**/*.h"), *ROOT.glob("src/*/**/*.cc")]):
        layer = path.relative_to(ROOT / "src").parts[0]
        if layer not in ALLOWED:
            found.append(
                f"{path.relative_to(ROOT)}: layer {layer}/ is not in tools/check_layers.py"
            )
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and (why := problem_of(layer, match[1])):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[1]}: {why}")
    return found


def main() -> int:
    """Prints the problems; the exit status is 1 when there are any."""
    found = problems()
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
