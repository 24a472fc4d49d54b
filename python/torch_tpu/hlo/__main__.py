"""`python -m torch_tpu.hlo`: `diff A B` compares two modules, `show FILE` prints one by operator.

The exit status of `diff` is 0 when the modules are the same but for names, numbers, locations,
metadata and the module's name, 1 when they differ, and 2 when a file is no module. Two folders are
compared file by file, by name.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from torch_tpu.hlo.canonical import BadModule, Line, canonical, kind_of
from torch_tpu.hlo.show import by_operator

SAME, DIFFERENT, BAD = 0, 1, 2


def _read(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadModule(f"{path}: {error}") from error


def _canonical(path: str) -> tuple[str, list[Line]]:
    text = _read(path)
    try:
        return kind_of(text), canonical(text)
    except BadModule as error:
        raise BadModule(f"{path}: {error}") from error


def diff(path_a: str, path_b: str, context: int = 3) -> int:
    """Prints the differences of the canonical forms; see the module for the result."""
    kind_a, a = _canonical(path_a)
    kind_b, b = _canonical(path_b)
    if kind_a != kind_b:
        raise BadModule(f"{path_a} is a {kind_a} module and {path_b} a {kind_b} module")
    texts_a, texts_b = ([line.text for line in lines] for lines in (a, b))
    if texts_a == texts_b:
        print(f"the same: {len(a)} lines")
        return SAME
    for tag, a0, _, b0, _ in difflib.SequenceMatcher(None, texts_a, texts_b, False).get_opcodes():
        if tag != "equal":
            line_a, line_b = _line_number(a, a0), _line_number(b, b0)
            print(f"first difference: line {line_a} of {path_a}, line {line_b} of {path_b}")
            break
    print(*difflib.unified_diff(texts_a, texts_b, path_a, path_b, n=context, lineterm=""), sep="\n")
    return DIFFERENT


def diff_folders(path_a: Path, path_b: Path) -> int:
    """Names the modules of two folders that differ or that one of them lacks."""
    names_a, names_b = ({f.name for f in p.iterdir() if f.is_file()} for p in (path_a, path_b))
    different = 0
    for name in sorted(names_a | names_b):
        if name not in names_a or name not in names_b:
            where = path_a if name in names_a else path_b
            print(f"{name}: only in {where}")
        elif [line.text for line in _canonical(str(path_a / name))[1]] != [
            line.text for line in _canonical(str(path_b / name))[1]
        ]:
            print(f"{name}: differs")
        else:
            continue
        different += 1
    print(f"{len(names_a | names_b)} modules, {different} of them not the same")
    return DIFFERENT if different else SAME


def _line_number(lines: list[Line], index: int) -> str:
    return str(lines[index].number) if index < len(lines) else "end"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one of the commands."""
    parser = argparse.ArgumentParser(
        prog="python -m torch_tpu.hlo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    compare = commands.add_parser("diff", help="compare two modules, or two folders of them")
    compare.add_argument("a", help="a file, - for standard input, or a folder")
    compare.add_argument("b")
    compare.add_argument("-U", "--context", type=int, default=3, help="lines around a difference")
    shown = commands.add_parser("show", help="print a module by operator, with source lines")
    shown.add_argument("file", help="a file, or - for standard input")
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "diff":
            folders = [Path(p) for p in (arguments.a, arguments.b) if Path(p).is_dir()]
            if len(folders) == 2:
                return diff_folders(*folders)
            return diff(arguments.a, arguments.b, arguments.context)
        print(by_operator(_read(arguments.file)))
        return SAME
    except BadModule as error:
        print(error, file=sys.stderr)
        return BAD


if __name__ == "__main__":
    raise SystemExit(main())
