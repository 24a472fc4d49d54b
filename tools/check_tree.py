"""Folders, file sizes, first lines, reads of the environment, wording. Mended by hand."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FOLDERS = {
    ".ci",
    "bench",
    "cmake",
    "docs",
    "examples",
    "python/torch_tpu",
    "python/torch_tpu/aot",
    "python/torch_tpu/hlo",
    "requirements",
    "src",
    "src/aot",
    "src/aot/helper",
    "src/base",
    "src/bindings",
    "src/cache",
    "src/device",
    "src/graph",
    "src/ops",
    "src/pjrt",
    "src/pjrt/fake",
    "src/shlo",
    "src/views",
    "tests",
    "tests/aot",
    "tests/bindings",
    "tests/conformance",
    "tests/device",
    "tests/integration",
    "tests/models",
    "tests/ops",
    "tests/reports",
    "tests/tools",
    "tests/views",
    "tools",
}
ROOT_FILES = {
    ".clang-format",
    ".clang-tidy",
    ".gitignore",
    ".shellcheckrc",
    "CMakeLists.txt",
    "CMakePresets.json",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "pyproject.toml",
}

MAX_LINES = {".cc": 450, ".h": 300, ".py": 450, ".sh": 200}
# Files that are longer, with the reason.
LONGER: dict[str, str] = {}

ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(")
ENVIRONMENT_FILES = {"src/base/env.cc"}
NOT_HERE = re.compile(r"\bTODO\b|\bFIXME\b|\bXXX\b")
COMMENT = {".cc": "//", ".h": "//", ".sh": "#", ".py": "#"}


def files() -> list[Path]:
    """Files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return [path for path in paths if path.is_file()]


def folder(path: Path, name: str) -> Iterator[str]:
    """Files lie in known folders; a new folder is a decision, made in this file."""
    parent = str(Path(name).parent)
    if parent == ".":
        if name not in ROOT_FILES:
            yield f"{name}: not in the list of files of the root"
    elif parent not in FOLDERS:
        yield f"{name}: folder {parent} is not in the list"


def size(path: Path, name: str) -> Iterator[str]:
    """Files stay short."""
    limit = MAX_LINES.get(path.suffix)
    if limit is None or name in LONGER:
        return
    lines = len(path.read_text().splitlines())
    if lines > limit:
        yield f"{name}: {lines} lines, at most {limit}: split it"


def first_line(path: Path, name: str) -> Iterator[str]:
    """The first line says what a file is for."""
    if path.suffix not in COMMENT:
        return
    lines = path.read_text().splitlines()
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    starts: tuple[str, ...] = (COMMENT[path.suffix],)
    if path.suffix == ".py":
        starts = ("# ", '"""')
    if lines and not lines[0].startswith(starts):
        yield f"{name}: the first line does not say what the file is for"


def environment(path: Path, name: str) -> Iterator[str]:
    """C++ reads the environment in one place."""
    if path.suffix not in (".cc", ".h") or name in ENVIRONMENT_FILES or name.endswith("_test.cc"):
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if ENVIRONMENT.search(line):
            yield f"{name}:{number}: variables are read through base/env.h"


def wording(path: Path, name: str) -> Iterator[str]:
    """No notes to self."""
    if path.suffix not in COMMENT or path == Path(__file__).resolve():
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if NOT_HERE.search(line):
            yield f"{name}:{number}: write an issue instead"


CHECKS: tuple[Callable[[Path, str], Iterator[str]], ...] = (
    folder,
    size,
    first_line,
    environment,
    wording,
)


def problems() -> list[str]:
    """What is wrong, one line each."""
    found: list[str] = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        for check in CHECKS:
            found.extend(check(path, name))
    return found


def main() -> int:
    """Prints the problems; the exit status is 1 when there are any."""
    found = problems()
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
