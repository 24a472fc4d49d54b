"""`python -m torch_tpu.env`: every environment variable, its value here, default and meaning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from torch_tpu import _C


def variables() -> list[_C.EnvVariable]:
    """The registry, in the order of the documentation."""
    return _C._env_variables()


def _describe(variable: _C.EnvVariable) -> str:
    value = variable["value"]
    shown = f"{variable['name']}={value}"
    if value != variable["default"]:
        shown += f"  (default: {variable['default'] or 'empty'})"
    return f"{shown}\n    {variable['type']}, {variable['stage']}. {variable['help']}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the variables whose name contains the argument; all without one."""
    parser = argparse.ArgumentParser(prog="python -m torch_tpu.env", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="part of a variable's name")
    wanted = parser.parse_args(argv).name.upper()
    found = [v for v in variables() if wanted in v["name"]]
    if not found:
        print(f"no variable has {wanted} in its name")
        return 1
    print("\n".join(_describe(v) for v in found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
