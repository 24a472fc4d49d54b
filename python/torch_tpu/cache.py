"""`python -m torch_tpu.cache`: look into stored programs, prune, clear, copy them."""

from __future__ import annotations

import argparse
import os
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from torch_tpu import _C, _cache_remote


def _storage(root: str | None) -> _C._Storage:
    """The storage at `root`; by default tier 3, else tier 2, as the environment says."""
    root = root or os.environ.get("TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT")
    root = root or _C._cache_tier2_directory()
    if not root:
        raise SystemExit(
            "no cache: give --root, or set TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT or "
            "TORCH_TPU_TIER2_COMPILATION_CACHE"
        )
    if _C._cache_is_url(root):
        return _cache_remote.serve(root)
    return _C._cache_directory(root.removeprefix("file://"))


def _decode(storage: _C._Storage, name: str) -> dict[str, Any] | None:
    try:
        return _C._cache_decode(storage.read(name))
    except RuntimeError:
        return None


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def _age(used: int) -> str:
    hours = max(0.0, time.time() - used) / 3600
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} d"


def stats(storage: _C._Storage, _: argparse.Namespace) -> int:
    """Programs, bytes, and the versions they were made by."""
    files = storage.list()
    print(f"{storage.description()}: {len(files)} programs, {_bytes(sum(f[1] for f in files))}")
    if not files:
        return 0
    print(f"used {_age(files[-1][2])} to {_age(files[0][2])} ago")
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
        if options.filter in call:
            print(f"{name.split('.')[0]}  {_bytes(size):>9}  {_age(used):>5}  {call}")
    return 0


def prune(storage: _C._Storage, options: argparse.Namespace) -> int:
    """Removes by age since the last use, then by size."""
    done = storage.prune(options.max_bytes, int(options.max_days * 86400))
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
    print(f"removed {len(files)} programs")
    return 0


def export(storage: _C._Storage, options: argparse.Namespace) -> int:
    """Writes all whole programs into a tar file."""
    count = 0
    with tarfile.open(options.archive, "w") as archive:
        for name, _size, used in storage.list():
            data = storage.read(name)
            try:
                _C._cache_decode(data)
            except RuntimeError:
                continue
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), used, 0o600
            archive.addfile(member, BytesIO(data))
            count += 1
    print(f"wrote {count} programs to {options.archive}")
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


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command."""
    parser = argparse.ArgumentParser(prog="python -m torch_tpu.cache", description=__doc__)
    parser.add_argument("--root", help="directory or URL; default: the environment's tier 3 or 2")
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Any) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=run.__doc__)
        sub.set_defaults(run=run)
        return sub

    command("stats", stats)
    command("list", list_programs).add_argument("filter", nargs="?", default="")
    pruning = command("prune", prune)
    pruning.add_argument("--max-bytes", type=int, default=0, help="bytes to keep; 0: any")
    pruning.add_argument("--max-days", type=float, default=0, help="days since use; 0: any")
    command("clear", clear)
    command("export", export).add_argument("archive")
    command("import", import_programs).add_argument("archive")
    options = parser.parse_args(argv)
    return options.run(_storage(options.root), options)


if __name__ == "__main__":
    raise SystemExit(main())
