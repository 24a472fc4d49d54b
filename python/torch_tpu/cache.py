"""`python -m torch_tpu.cache`: look into stored programs, prune, clear, copy them."""

from __future__ import annotations

import argparse
import math
import os
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from torch_tpu import _C, _cache_remote

_UNITS = ("B", "kB", "MB", "GB")


def _storage(root: str | None, make: bool) -> _C._Storage:
    """The storage at `root`; by default tier 3, else tier 2, as the environment says.

    Only `make` makes a directory that is not there: a mistyped one is no empty cache.
    """
    root = root or os.environ.get("TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT")
    root = root or _C._cache_tier2_directory()
    if not root:
        raise ValueError(
            "no cache: give --root, or set TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT or "
            "TORCH_TPU_TIER2_COMPILATION_CACHE"
        )
    if _C._cache_is_url(root):
        return _cache_remote.serve(root)
    path = os.path.expanduser(root.removeprefix("file://"))
    if not make and not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist")
    return _C._cache_directory(path)


def _decode(storage: _C._Storage, name: str) -> dict[str, Any] | None:
    try:
        return _C._cache_decode(storage.read(name))
    except RuntimeError:
        return None


def _bytes(number: float) -> str:
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def _parse_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f"expected a number that is not negative, got {text!r}")
    return number


def _parse_bytes(text: str) -> int:
    """A number of bytes, also as this command prints it: "500MB"."""
    for power, unit in reversed(list(enumerate(_UNITS))):
        if text.lower().endswith(unit.lower()):
            return int(_parse_number(text[: -len(unit)]) * 1000**power)
    return int(_parse_number(text))


def _age(used: int) -> str:
    minutes = max(0.0, time.time() - used) / 60
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} d"


def stats(storage: _C._Storage, _: argparse.Namespace) -> int:
    """Programs, bytes, and the versions they were made by."""
    files = storage.list()
    print(f"{storage.description()}: {len(files)} programs, {_bytes(sum(f[1] for f in files))}")
    if not files:
        return 0
    print(f"last used {_age(files[-1][2])} to {_age(files[0][2])} ago")
    versions: Counter[tuple[str, str, str]] = Counter()
    damaged, seconds = 0, 0.0
    for name, _size, _used in files:
        entry = _decode(storage, name)
        if entry is None:
            damaged += 1
            continue
        pieces = entry["pieces"]
        seconds += entry["compile_microseconds"] / 1e6
        versions[pieces["plugin"], pieces["pytorch"], pieces["lowerings"]] += 1
    print(f"{seconds:.1f} s of compiling; {damaged} damaged")
    for (plugin, pytorch, lowerings), count in versions.most_common():
        print(f"{count:6d}  lowerings {lowerings}, PyTorch {pytorch}, {plugin}")
    return 0


def list_programs(storage: _C._Storage, options: argparse.Namespace) -> int:
    """One line a program, the least recently used first."""
    for name, size, used in storage.list():
        entry = _decode(storage, name)
        call = "damaged" if entry is None else f"{entry['name']}({entry['operands']})"
        key = name.split(".")[0]
        if options.text in call or options.text in key:
            print(f"{key}  {_bytes(size):>9}  {_age(used):>7}  {call}")
    return 0


def prune(storage: _C._Storage, options: argparse.Namespace) -> int:
    """Removes by age since the last use, then by size."""
    done = storage.prune(options.max_bytes, math.ceil(options.max_days * 86400))
    print(
        f"removed {done['removed']} programs, {_bytes(done['removed_bytes'])}; "
        f"kept {done['kept']}, {_bytes(done['kept_bytes'])}"
    )
    return 0


def clear(storage: _C._Storage, _: argparse.Namespace) -> int:
    """Removes everything."""
    files = storage.list()
    for name, _size, _used in files:
        storage.remove(name)
    print(f"{storage.description()}: removed {len(files)} programs")
    return 0


def export(storage: _C._Storage, options: argparse.Namespace) -> int:
    """Writes all whole programs into a tar file."""
    count = damaged = 0
    mode = "w:gz" if options.archive.endswith((".gz", ".tgz")) else "w"
    with tarfile.open(options.archive, mode) as archive:
        for name, _size, used in storage.list():
            try:
                data = storage.read(name)
                _C._cache_decode(data)
            except RuntimeError as error:
                print(f"left out {name}: {error}", file=sys.stderr)
                damaged += 1
                continue
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), used, 0o600
            archive.addfile(member, BytesIO(data))
            count += 1
    print(f"wrote {count} programs to {options.archive}, left out {damaged}")
    return 0


def import_programs(storage: _C._Storage, options: argparse.Namespace) -> int:
    """Reads programs from a tar file. Import only what you would run: it is machine code."""
    taken = refused = 0
    with tarfile.open(options.archive) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            data = file.read() if file is not None else b""
            try:
                entry = _C._cache_decode(data)
                if entry["file"] != member.name:
                    raise RuntimeError("its name is not its key")
            except RuntimeError as error:
                print(f"refused {member.name}: {error}", file=sys.stderr)
                refused += 1
                continue
            storage.write(member.name, data)
            taken += 1
    print(f"read {taken} programs, refused {refused}")
    return 0 if refused == 0 else 1


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    root = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    root.add_argument("--root", help="directory or URL; default: the environment's tier 3, else 2")
    parser = argparse.ArgumentParser(
        prog="python -m torch_tpu.cache",
        description="Looks into stored programs, prunes, clears and copies them.",
        parents=[root],
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any) -> argparse.ArgumentParser:
        # The root may stand before the command and behind it.
        sub = commands.add_parser(name, help=run.__doc__, description=run.__doc__, parents=[root])
        sub.set_defaults(run=run)
        return sub

    command("stats", stats)
    command("list", list_programs).add_argument(
        "text", nargs="?", default="", help="only programs with this in their call or key"
    )
    pruning = command("prune", prune)
    pruning.add_argument(
        "--max-bytes", type=_parse_bytes, default=0, help='to keep, as 500000000 or "500MB"'
    )
    pruning.add_argument("--max-days", type=_parse_number, default=0, help="since the last use")
    command("clear", clear)
    command("export", export).add_argument("archive", help="to write; .tar, .tar.gz or .tgz")
    command("import", import_programs).add_argument("archive", help="to read")
    options = parser.parse_args(argv)
    if options.run is prune and not (options.max_bytes or options.max_days):
        pruning.error("give --max-bytes or --max-days; 'clear' removes everything")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command."""
    options = _parse(argv)
    try:
        storage = _storage(getattr(options, "root", None), make=options.run is import_programs)
        return options.run(storage, options)
    except BrokenPipeError:
        # Whoever reads has seen enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, OSError, RuntimeError, ValueError, tarfile.TarError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
